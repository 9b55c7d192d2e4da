"""Tables of the chain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from marginlab.experiments.chain_data import CLEAN, LABELS
from marginlab.experiments.chain_frames import (
    CHAIN,
    PLAIN,
    certificates,
    dataset_order,
    learner_methods,
    means,
    median_seconds,
    noise_settings,
    with_oracle,
)
from marginlab.experiments.chain_weights import CRITERIA, WEIGHTS
from marginlab.tables import write_table

__all__ = ["CLEAR", "summarise", "write_tables"]

#: Differences of BAC and error rate that count; smaller ones are called no change.
CLEAR = 0.01
_CRITERION_NAMES = {
    "span": "span-rule",
    "checked": "span-rule, checked by votes",
    "cv": "5-fold CV",
    "best": "best in grid",
}


def write_tables(rows: pd.DataFrame, folder: str | Path, settings: Mapping[str, Any]) -> None:
    """Write every table of the chain.

    Parameters
    ----------
    rows : DataFrame
        Tidy rows of all three steps.
    folder : str or Path
    settings : mapping
        Section ``chain`` of the configuration.
    """
    out = Path(folder)
    write_table(
        summarise(rows, settings),
        out / "summary",
        "The chain in one view: means over the data sets, by kind and share of label errors",
        "alpha: share of the wrong labels that were moved into the minority class; rho: wrong "
        "labels as a share of the minority class (0: clean labels). Labels right: agreement with "
        "the clean training labels. Plain: SVM on the labels as given, C by 5-fold "
        "cross-validation. Chain: SVM on corrected labels with weights from the votes, both "
        "chosen by the span-rule. Better, worse: data sets whose BAC changes by more than "
        f"{CLEAR:g}. Certificate: share of classifiers whose test error is at most the minimax "
        f"risk, lambda_0 = {settings['mrc']['lambda_0'][0]:g}.",
    )
    _label_recovery(rows, settings, out)
    _learners(rows, settings, out)
    _selection(rows, settings, out)
    _certificate(rows, settings, out)
    _ccg_against_lp(rows, settings, out)
    _time_steps(rows, settings, out)


def _all_settings(settings: Mapping[str, Any]) -> list[tuple[float, float, str]]:
    return [(np.nan, 0.0, CLEAN), *noise_settings(settings)]


def summarise(rows: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """One row a setting: labels, SVMs, minimax risk classifiers and certificates.

    Parameters
    ----------
    rows : DataFrame
        Tidy rows of all three steps.
    settings : mapping
        Section ``chain`` of the configuration.
    """
    right, bac, error = (means(rows, name) for name in ("accuracy", "bac", "error"))
    width = settings["mrc"]["lambda_0"][0]
    held = certificates(rows)
    held = held[held["lambda_0"] == width]
    table = []
    for alpha, rho, name in _all_settings(settings):
        here = {key: _at(frame, name) for key, frame in (("b", bac), ("e", error), ("r", right))}
        gain = _column(here["b"], CHAIN) - _column(here["b"], PLAIN)
        row = {"alpha": alpha, "rho": rho}
        for labels in LABELS:
            row[f"labels right, {labels}"] = _column(here["r"], f"labels:{labels}").mean()
        for measure, frame in (("BAC", here["b"]), ("error", here["e"])):
            row[f"SVM {measure}, plain"] = _column(frame, PLAIN).mean()
            row[f"SVM {measure}, chain"] = _column(frame, CHAIN).mean()
        row |= {"better": int((gain > CLEAR).sum()), "worse": int((gain < -CLEAR).sum())}
        for labels in LABELS:
            row[f"MRC error, {labels}"] = _column(here["e"], f"mrc:{labels}:ccg:{width}").mean()
        for labels in LABELS:
            kept = held[(held["setting"] == name) & (held["labels"] == labels)]
            row[f"certificate holds, {labels}"] = kept["holds"].mean()
        table.append(row)
    return pd.DataFrame(table)


def _at(frame: pd.DataFrame, setting: str) -> pd.DataFrame:
    return frame[frame.index.get_level_values("setting") == setting].droplevel("setting")


def _column(frame: pd.DataFrame, name: str) -> pd.Series:
    return frame[name] if name in frame else pd.Series(np.nan, index=frame.index)


def _label_recovery(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    frames = {"accuracy": means(rows, "accuracy"), "BAC": means(rows, "bac")}
    table = []
    for dataset in dataset_order(rows, settings):
        for alpha, rho, name in _all_settings(settings):
            row: dict[str, Any] = {"dataset": dataset, "alpha": alpha, "rho": rho}
            for measure, frame in frames.items():
                for labels in LABELS:
                    here = _column(_at(frame, name), f"labels:{labels}")
                    row[f"{measure}, {labels}"] = here.get(dataset, np.nan)
            table.append(row)
    write_table(
        pd.DataFrame(table),
        out / "label_recovery",
        "Training labels against the clean ones, as given and after correction",
        "Accuracy: share of labels that equal the clean ones. BAC: the same, averaged over the "
        "two classes. Means over the corruptions. rho = 0: SubSVMs on clean labels, where every "
        "change is a mistake.",
    )


def _learners(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    hardest = max(settings["rhos"])
    methods = learner_methods(settings)
    for measure, title, lowest in (("bac", "balanced accuracy", False), ("error", "error", True)):
        frame = with_oracle(means(rows, measure))
        table, marks = [], []
        for dataset in dataset_order(rows, settings):
            for alpha, rho, name in noise_settings(settings):
                if rho != hardest:
                    continue
                here = _at(frame, name).reindex([dataset])
                values = {label: _column(here, method).iloc[0] for label, method in methods.items()}
                table.append({"dataset": dataset, "alpha": alpha, **values})
                marks.append([False, False, *_best(list(values.values()), lowest)])
        shown = pd.DataFrame(table)
        write_table(
            shown,
            out / f"learners_{measure}",
            f"Test {title} of every learner under the most label errors (rho = {hardest:g})",
            "Means over the corruptions; bold: best of those that do not see the clean labels. "
            "Vote-weighted SVM: labels as given, weights by their agreement with the votes. "
            "SVM on clean labels: C by cross-validation. " + _caps(settings),
            bold=pd.DataFrame(marks, columns=shown.columns) if marks else None,
        )


def _best(values: list[float], lowest: bool) -> list[bool]:
    honest = np.array([*values[:-1], np.nan]) * (-1.0 if lowest else 1.0)
    if np.isnan(honest).all():
        return [False] * len(values)
    return list(np.nan_to_num(honest, nan=-np.inf) >= np.nanmax(honest) - 1e-12)


def _caps(settings: Mapping[str, Any]) -> str:
    return (
        f"All steps see at most {settings['max_train']} training rows (a stratified subsample "
        f"where a set has more) and {settings['max_test']} test rows."
    )


def _selection(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    error = means(rows, "error")
    ranks = {name: means(rows, f"rank_{name}") for name in CRITERIA[:-1]}
    table = []
    for labels in LABELS:
        for weights in WEIGHTS:
            for alpha, names in _by_alpha(settings).items():
                row: dict[str, Any] = {"labels": labels, "weights": weights, "alpha": alpha}
                for criterion in CRITERIA:
                    here = _within(error, names, f"svm:{labels}:{weights}:{criterion}")
                    # corrected labels checked by the votes are compared with themselves
                    told = criterion != "checked" or labels == "given"
                    row[f"error: {_CRITERION_NAMES[criterion]}"] = here.mean() if told else np.nan
                for criterion, frame in ranks.items():
                    value = _within(frame, names, f"grid:{labels}").mean()
                    told = weights == "either" and (criterion != "checked" or labels == "given")
                    row[f"rank: {_CRITERION_NAMES[criterion]}"] = value if told else np.nan
                table.append(row)
    write_table(
        pd.DataFrame(table),
        out / "selection",
        "Test error of the model that each criterion chooses, and how it ranks all models",
        "Means over data sets, shares of errors and corruptions; alpha '-': clean labels. "
        "Either: equal weights and weights from the votes in one grid. Checked by votes: the "
        "span-rule's leave-one-out predictions are compared with the corrected labels instead "
        "of the given ones. Best in grid knows the test labels. Rank: Spearman correlation of "
        "the criterion with the test error over the whole grid (both kinds of weights); 1 is "
        "perfect, below 0 the criterion prefers the worse models.",
    )


def _by_alpha(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    groups = {"-": [CLEAN]}
    for alpha, _, name in noise_settings(settings):
        groups.setdefault(f"{alpha:g}", []).append(name)
    return groups


def _within(frame: pd.DataFrame, names: list[str], column: str) -> pd.Series:
    kept = frame[frame.index.get_level_values("setting").isin(names)]
    return _column(kept, column)


def _certificate(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    fits = certificates(rows)
    table = []
    for labels in LABELS:
        for width in settings["mrc"]["lambda_0"]:
            for alpha, rho, name in _all_settings(settings):
                kept = fits[(fits["labels"] == labels) & (fits["lambda_0"] == width)]
                kept = kept[kept["setting"] == name]
                table.append(
                    {
                        "labels": labels,
                        "lambda_0": width,
                        "alpha": alpha,
                        "rho": rho,
                        "classifiers": len(kept),
                        "minimax risk": kept["risk"].mean(),
                        "test error": kept["error"].mean(),
                        "holds": kept["holds"].mean(),
                        "wrong labels": kept["wrong_labels"].mean(),
                        "holds with wrong labels added": kept["holds_with_label_errors"].mean(),
                    }
                )
    write_table(
        pd.DataFrame(table),
        out / "certificate",
        "Does the certificate hold: minimax risk beside the error on clean test labels",
        "Holds: share of the classifiers whose test error is at most their minimax risk. The "
        "risk speaks of the distribution of the labels it was trained on; with the share of "
        "wrong training labels added (known here, not in practice) it also covers the clean "
        "labels of that distribution.",
        formats={"lambda_0": "%g"},
    )


def _ccg_against_lp(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    keys = ["dataset", "setting", "labels", "lambda_0", "repeat"]
    both = certificates(rows, "ccg").merge(
        certificates(rows, "lp"), on=keys, suffixes=("_ccg", "_lp")
    )
    mrc = rows[rows["method"].str.startswith("mrc:")]
    table = []
    for dataset in dataset_order(rows, settings):
        kept, own = both[both["dataset"] == dataset], mrc[mrc["dataset"] == dataset]
        gap = own[(own["measure"] == "gap") & own["method"].str.contains(":ccg:")]["value"]
        table.append(
            {
                "dataset": dataset,
                "pairs": len(kept),
                "no checked answer": int(own[own["measure"] == "failed"]["value"].sum()),
                "largest |R difference|": (kept["risk_ccg"] - kept["risk_lp"]).abs().max(),
                "largest bound gap": gap.max(),
                "largest |error difference|": (kept["error_ccg"] - kept["error_lp"]).abs().max(),
            }
        )
    write_table(
        pd.DataFrame(table),
        out / "ccg_against_lp",
        "The same minimax risk by constraint generation and by the full linear program",
        f"Generation stops at a violation of eps_1 = {settings['mrc']['eps_1']:g}, which bounds "
        "the difference of the risks. Bound gap: upper minus lower bound on the optimum, both "
        "recomputed from the answer. Several optimal classifiers can share one risk; where many "
        "do, as with many wrong labels, their test errors differ.",
        float_format="%.1e",
    )


def _time_steps(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    table = median_seconds(rows, settings)
    cv = table["SVM grid: cross-validate"] / table["SVM grid: span-rule"]
    lp = table["MRC in full"] / table["MRC by generation"]
    table = table.assign(**{"CV / span-rule": cv, "full / generation": lp})
    write_table(
        table.rename_axis("dataset").reset_index(),
        out / "time_steps",
        "Seconds of each step of the chain for one corruption (medians)",
        "One thread. The SVM times are those of the whole grid on one label vector; training "
        "is needed by span-rule and cross-validation alike. Generation and full program solve "
        f"lambda_0 = {settings['mrc']['lambda_0'][0]:g} by turns in one job. " + _caps(settings),
    )
