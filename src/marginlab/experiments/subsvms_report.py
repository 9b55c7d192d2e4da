"""Paper 1's tables, from the tidy rows of SubSVMs and of all baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from marginlab.datasets import read_prepared
from marginlab.errors import ConfigError
from marginlab.results import read_results
from marginlab.tables import write_table

__all__ = [
    "L1_METHOD",
    "METHODS",
    "PAPER_SETTINGS",
    "folds_note",
    "mean_scores",
    "score_table",
    "settings_of",
    "write_dataset_table",
    "write_result_tables",
]

#: The paper's methods in its order; ours between them are Oracle-SVM with W searched and
#: CV-SVM chosen by balanced accuracy.
METHODS = (
    "Oracle-SVM",
    "Oracle-SVM (W searched)",
    "Blind-SVM",
    "Bag-SVM",
    "CV-SVM",
    "CV-SVM (BAC)",
    "SubSVMs",
)
L1_METHOD = "SubSVMs (L1 loss)"
#: Settings of the paper's tables; the other directions have a table of their own.
PAPER_SETTINGS = ("clean", "alpha=1.0", "alpha=0.5", "alpha=0.0")
#: A lead of this size counts as significant in the paper.
LEAD = 0.05

_ORACLES = (
    "Oracle-SVM fits W = 1, which is what the paper's row shows; with W searched it is a "
    "stronger opponent. CV-SVM (BAC) is ours too: C, W and gamma of the best balanced instead "
    "of plain accuracy on the same held-out, corrupted labels. Only the two CV-SVMs, SubSVMs "
    "and the peers below them do not see the test labels. Means over the corruptions; "
    "bold: ahead of all others by at least 0.05."
)


def mean_scores(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean of a measure over repeats: index (setting, method), one column a data set.

    Parameters
    ----------
    rows : DataFrame
        Tidy results.
    measure : str
    """
    chosen = rows[rows["measure"] == measure]
    return chosen.pivot_table(
        index=["setting", "method"], columns="dataset", values="value", aggfunc="mean"
    )


def score_table(
    rows: pd.DataFrame,
    measure: str,
    settings: Sequence[str],
    datasets: Sequence[str],
    methods: Sequence[str] | None = None,
) -> pd.DataFrame:
    """A table of the paper's form: settings and methods down, data sets across.

    Parameters
    ----------
    rows : DataFrame
        Tidy results.
    measure : str
    settings, datasets : sequence of str
        Those shown, in order; what was not measured is NaN.
    methods : sequence of str, optional
        By default the paper's methods and then the peers that have rows.

    Returns
    -------
    DataFrame
        Columns labels, method and one a data set.
    """
    means = mean_scores(rows, measure).reindex(columns=list(datasets))
    if methods is None:
        found = set(means.index.get_level_values("method")) - {L1_METHOD}
        methods = [*METHODS, *sorted(found - set(METHODS))]
    present = [setting for setting in settings if setting in means.index.get_level_values(0)]
    index = pd.MultiIndex.from_product([present, methods], names=["setting", "method"])
    table = means.reindex(index).reset_index()
    return table.rename(columns={"setting": "labels"}).rename_axis(columns=None)


def _leads(table: pd.DataFrame, lead: float = LEAD) -> pd.DataFrame:
    """Cells that are ahead of every other method of their setting by ``lead``."""
    marks = pd.DataFrame(False, index=table.index, columns=table.columns)
    for _, group in table.groupby("labels", sort=False):
        values = group.drop(columns=["labels", "method"]).to_numpy(dtype=float)
        if len(values) < 2:
            continue
        filled = np.where(np.isnan(values), -np.inf, values)
        ranked = np.sort(filled, axis=0)
        second = np.where(np.isfinite(ranked[-2]), ranked[-2], np.inf)
        ahead = (filled == ranked[-1]) & (filled >= second + lead - 1e-9)
        marks.loc[group.index, table.columns[2:]] = ahead
    return marks


def write_result_tables(
    names: Sequence[str],
    paths: Iterable[str | Path],
    folder: str | Path,
    datasets: Sequence[str],
) -> None:
    """Write the tables that are made from measured rows.

    Parameters
    ----------
    names : sequence of str
        Names of tables, which are also their files' names, such as "table2_bac".
    paths : iterable of path
        Tidy results.
    folder : path
        Folder of the tables.
    datasets : sequence of str
        Data sets of the run, in the paper's order.

    Raises
    ------
    ConfigError
        If there is no such table.
    """
    rows = read_results(paths)
    for name in names:
        if name not in _WRITERS:
            known = ", ".join(_WRITERS)
            raise ConfigError(f"there is no table {name!r}; choose one of {known}")
        _WRITERS[name](rows, Path(folder) / name, datasets)


Writer = Callable[[pd.DataFrame, "str | Path", Sequence[str]], None]


def _scores(measure: str, title: str, notes: str = "", *, between: bool = False) -> Writer:
    def write(rows: pd.DataFrame, stem: str | Path, datasets: Sequence[str]) -> None:
        others = [name for name in settings_of(rows) if name not in PAPER_SETTINGS]
        table = score_table(rows, measure, others if between else PAPER_SETTINGS, datasets)
        text = f"{notes}{_ORACLES} {folds_note(rows, datasets)}".rstrip()
        write_table(table, stem, title, text, bold=_leads(table))

    return write


def folds_note(rows: pd.DataFrame, datasets: Sequence[str]) -> str:
    """On how many splits and corruptions the CV-SVMs stand, in a sentence.

    Parameters
    ----------
    rows : DataFrame
        Tidy results; measure cv_splits of CV-SVM, 0 where a corruption was left out.
    datasets : sequence of str

    Returns
    -------
    str
        Empty if nothing was cross-validated.
    """
    done = rows[(rows["measure"] == "cv_splits") & (rows["value"] > 0)]
    done = done[(done["setting"] != "clean") & done["dataset"].isin(datasets)]
    groups: dict[tuple[int, int], list[str]] = {}
    for name in datasets:
        own = done[done["dataset"] == name]
        if len(own):
            key = int(own["value"].max()), int(own["repeat"].nunique())
            groups.setdefault(key, []).append(name)
    parts = [
        f"{splits} random split{'s' * (splits > 1)} on {repeats} "
        f"corruption{'s' * (repeats > 1)} of each direction on {', '.join(names)}"
        for (splits, repeats), names in groups.items()
    ]
    return f"Cross-validation of both CV-SVMs: {'; '.join(parts)}." if parts else ""


def _write_l1(rows: pd.DataFrame, stem: str | Path, datasets: Sequence[str]) -> None:
    methods = ["SubSVMs", L1_METHOD]
    table = score_table(rows, "bac", settings_of(rows), datasets, methods)
    write_table(
        table,
        stem,
        "Table 2 under the L1 loss: balanced accuracy of SubSVMs with both losses",
        "The same subsets and corruptions; the paper reports similar results without figures.",
    )


def _write_recovery(rows: pd.DataFrame, stem: str | Path, datasets: Sequence[str]) -> None:
    chosen = rows[
        rows["measure"].str.startswith("recovery_") & (rows["method"] == "SubSVMs")
    ].assign(part=lambda frame: frame["measure"].str.removeprefix("recovery_"))
    means = chosen.pivot_table(
        index=["dataset", "setting"], columns="part", values="value", aggfunc="mean"
    )
    order = [
        (name, setting)
        for name in datasets
        for setting in settings_of(rows)
        if (name, setting) in means.index
    ]
    columns = ["accuracy_noisy", "accuracy_corrected", "bac_noisy", "bac_corrected"]
    table = means.reindex(order)[columns].reset_index()
    better = pd.DataFrame(False, index=table.index, columns=table.columns)
    for kind in ("accuracy", "bac"):
        better[f"{kind}_corrected"] = table[f"{kind}_corrected"] > table[f"{kind}_noisy"]
    names = [kind.replace("_", ", ").replace("bac", "BAC") for kind in columns]
    table.columns = better.columns = pd.Index(["dataset", "labels", *names])
    write_table(
        table,
        stem,
        "Label recovery: agreement of the training labels with the clean ones, "
        "before and after correction",
        "Bold: the corrected labels are nearer to the clean ones than the noisy ones were. "
        "On the imbalanced sets plain agreement often falls while balanced agreement rises: "
        "class-balanced votes give the minority more rows than it has.",
        bold=better,
    )


def settings_of(rows: pd.DataFrame) -> list[str]:
    """Settings of the rows: clean first, then by falling alpha."""
    found = set(rows["setting"])
    noisy = sorted(found - {"clean"}, key=lambda name: -float(name.removeprefix("alpha=")))
    return [*(["clean"] if "clean" in found else []), *noisy]


def _write_times(rows: pd.DataFrame, stem: str | Path, datasets: Sequence[str]) -> None:
    _write_seconds(rows, stem, datasets, "Table 7: training times", PAPER_SETTINGS)


def _write_mean_times(rows: pd.DataFrame, stem: str | Path, datasets: Sequence[str]) -> None:
    noisy = rows[rows["setting"].isin(PAPER_SETTINGS[1:])].assign(setting="mean")
    title = "Table 3: training times, mean over the directions of attack"
    _write_seconds(noisy, stem, datasets, title, ("mean",))


def _write_seconds(
    rows: pd.DataFrame,
    stem: str | Path,
    datasets: Sequence[str],
    title: str,
    settings: Sequence[str],
) -> None:
    """Seconds, and below them the ratios to SubSVMs of the same setting."""
    seconds = score_table(rows, "seconds_train", settings, datasets)
    own = seconds[seconds["method"] == "SubSVMs"].set_index("labels")[list(datasets)]
    ratios = seconds.copy()
    ratios[list(datasets)] = (
        seconds[list(datasets)].to_numpy() / own.loc[seconds["labels"]].to_numpy()
    )
    seconds.insert(2, "unit", "s")
    ratios.insert(2, "unit", "ratio to SubSVMs")
    table = pd.concat([seconds, ratios[ratios["method"] != "SubSVMs"]], ignore_index=True)
    write_table(
        table.dropna(how="all", subset=list(datasets)),
        stem,
        title,
        "One thread, this machine: compare the ratios, not the seconds, with the paper's. "
        "SubSVMs: the time to train all machines, without votes. Both CV-SVMs: the grid and "
        "the folds of one split, which they share.",
        float_format="%.3g",
    )


_WRITERS: dict[str, Writer] = {
    "table2_bac": _scores("bac", "Table 2: balanced accuracy (L2 loss)"),
    "table4_sif": _scores("sif", "Table 4: skew-insensitive F-score (L2 loss)"),
    "table5_auc": _scores(
        "auc",
        "Table 5: area under the ROC curve (L2 loss)",
        "SubSVMs: an SVM (C = 100, W = 1) retrained on the corrected labels. ",
    ),
    "table6_accuracy": _scores("accuracy", "Table 6: accuracy (L2 loss)"),
    "between_alphas_bac": _scores(
        "bac", "Balanced accuracy at the directions of attack between the paper's", between=True
    ),
    "table2_l1_loss": _write_l1,
    "label_recovery": _write_recovery,
    "time_table3": _write_mean_times,
    "time_table7": _write_times,
}


def write_dataset_table(
    prepared: Iterable[str | Path],
    published: str | Path,
    stem: str | Path,
    datasets: Sequence[str],
) -> None:
    """Write Table 1: sizes of the data sets as we have them and as the paper prints them.

    Parameters
    ----------
    prepared : iterable of path
        Prepared data sets.
    published : path
        dataset, n_features, n_train, n_train_minority, n_test, n_test_minority.
    stem : path
    datasets : sequence of str
        All data sets of the run; those without a file are rows without numbers.
    """
    ours = pd.DataFrame([_sizes(path) for path in prepared], columns=_SIZES).set_index("dataset")
    paper = pd.read_csv(published).set_index("dataset")[_SIZES[1:]]
    table = ours.reindex(list(datasets)).astype("Int64")
    agrees = [
        "no data"
        if name not in ours.index
        else "-"
        if name not in paper.index
        else "yes"
        if (ours.loc[name] == paper.loc[name]).all()
        else f"paper: {', '.join(map(str, paper.loc[name]))}"
        for name in datasets
    ]
    table.columns = pd.Index(
        ["features", "training rows", "of the minority", "test rows", "of the minority (test)"]
    )
    write_table(
        table.reset_index().assign(**{"as in the paper": agrees}),
        stem,
        "Table 1: the data sets",
        "Counts of the files used here; the last column compares them with the paper's Table 1.",
    )


_SIZES = ["dataset", "n_features", "n_train", "n_train_minority", "n_test", "n_test_minority"]


def _sizes(path: str | Path) -> tuple[object, ...]:
    data = read_prepared(path)
    return (
        data.meta["name"],
        data.X_train.shape[1],
        *(len(data.y_train), int((data.y_train == 1).sum())),
        *(len(data.y_test), int((data.y_test == 1).sum())),
    )
