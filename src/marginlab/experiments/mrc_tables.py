"""Paper 3's tables: data, times and accuracy (Tables I to III), errors, checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from marginlab.experiments.mrc_summary import POINT, cell, median, ratio

__all__ = ["check_classes", "check_table", "data_table", "error_table", "time_table"]

Job = Mapping[str, Any]
OWN = "interior"  # needs no solver: shown once, in HiGHS's line
#: Methods that are checked: solver, eps_1, allowed difference.
_CHECKED = {
    "ccg-cbc": ("CBC", "1e-2", 1e-3),
    "ccg-cbc-exact": ("CBC", "1e-7", 1e-3),
    "ccg-highs": ("HiGHS", "1e-2", 1e-3),
    "ccg-highs-exact": ("HiGHS", "1e-7", 1e-6),
    OWN: ("own", "gap 1e-6", 2e-6),
}
_SVM = ("SVM-CCG", "SVM-LP", "SVM-MULTI")


def data_table(
    listed: pd.DataFrame, names: Sequence[str], missing: Mapping[str, str]
) -> pd.DataFrame:
    """Table I: samples, features and classes of each data set, or "no data" and why.

    Parameters
    ----------
    listed : DataFrame
        The table of all data sets of the run (rule list_data).
    names : sequence of str
        Data sets of paper 3 in the table's order.
    missing : mapping
        Data set -> why it cannot be had.
    """
    rows = []
    known = listed.set_index("dataset")
    for name in names:
        if name in missing or name not in known.index or pd.isna(known.loc[name, "n_train"]):
            note = missing.get(name, "it is not among the run's data sets")
            rows.append({"dataset": name, "samples": "no data", "note": note})
            continue
        facts = known.loc[name]
        rows.append(
            {
                "dataset": name,
                "samples": f"{int(facts['n_train'] + facts['n_test'])}",
                "features": f"{int(facts['n_features'])}",
                "classes": f"{int(facts['classes'])}",
                "note": str(facts["title"]),
            }
        )
    columns = ["dataset", "samples", "features", "classes", "note"]
    return pd.DataFrame(rows, columns=columns).fillna("")


def time_table(
    runs: pd.DataFrame,
    jobs: Iterable[Job],
    methods: Mapping[str, Job],
    labels: Sequence[str],
    absent: Sequence[str] = (),
) -> pd.DataFrame:
    """Tables II and III: CPU seconds and |objective - R*|, one line a data set and solver.

    Parameters
    ----------
    runs : DataFrame
        As `with_risk` returns.
    jobs : iterable of mapping
        The table's jobs, defaults filled in.
    methods : mapping
        Settings of the methods.
    labels : sequence of str
        Methods in the order of the columns.
    absent : sequence of str
        Data sets without data: a line of "no data" each.

    Returns
    -------
    DataFrame
    """
    rows: list[dict[str, Any]] = []
    for job in jobs:
        mine = runs[runs["job"] == job["name"]]
        if not len(mine):
            rows.append({"data set": job["dataset"], "solver": "no data"})
            continue
        for solver in ("cbc", "highs"):
            rows.append(_time_row(mine, job, methods, labels, solver))
    rows += [{"data set": name, "solver": "no data"} for name in absent]
    return pd.DataFrame(rows).fillna("")


def _time_row(
    mine: pd.DataFrame, job: Job, methods: Mapping[str, Job], labels: Sequence[str], solver: str
) -> dict[str, Any]:
    first = mine.iloc[0]
    row: dict[str, Any] = {
        "data set": job["dataset"],
        "solver": {"cbc": "CBC (PuLP)", "highs": "HiGHS"}[solver],
        "features": job["features"].replace("_", " "),
        "n": f"{int(first['n'])}",
        "m": f"{int(first['m'])}",
        "classes": f"{int(first['classes'])}",
        "R*": _risk(mine.loc[mine["repeat"] == 0, "best"].median()),
    }
    for label in labels:
        each = mine[mine["method"] == _method_of(label, solver, methods, mine)]
        row[f"{label} s"] = cell(each, "seconds_cpu", "%.2f", job) + _times(each, label)
        if label != "MRC-compact":
            row[f"{label} AE"] = cell(each, "off", "%.1e", job) if _solved(each) else "-"
    fast = f"ccg-{solver}"
    rivals = [
        name
        for name, settings in methods.items()
        if settings["label"] == "MRC-LP" and settings["solver"].startswith(solver)
    ]
    found = [(ratio(mine, name, fast), name) for name in rivals]
    found = [pair for pair in found if np.isfinite(pair[0])]
    row["LP / CCG"] = "{:.3g}x ({})".format(*min(found)) if found else "-"
    row["own interior point s"] = ""
    if solver == "highs":
        own = mine[mine["method"] == OWN]
        row["own interior point s"] = cell(own, "seconds_cpu", "%.2f", job) + _times(own, OWN)
    return row


def _solved(each: pd.DataFrame) -> bool:
    return bool((each["status"] == 0).any())


def _risk(value: float) -> str:
    return f"{value:.4f}" if np.isfinite(value) else "not known to 1e-4"


def _times(each: pd.DataFrame, label: str) -> str:
    """How many repetitions stand behind a median, and the subgradient method's iterations."""
    count = int((each["status"] == 0).sum())
    if not count:
        return ""
    if label == "MRC-SUB":
        return f" ({median(each, 'rounds'):.0f} it., x{count})"
    how = ", interior point" if (each["solver"] == "highs-ipm").all() else ""
    return f" (x{count}{how})"


def _method_of(label: str, solver: str, methods: Mapping[str, Job], mine: pd.DataFrame) -> str:
    """The first method of a label and solver that the job has runs of."""
    wanted = {"cbc": ("cbc",), "highs": ("highs", "highs-ipm")}[solver]
    for name, settings in methods.items():
        fits = settings["label"] == label and settings.get("solver", wanted[0]) in wanted
        if fits and (mine["method"] == name).any():
            return name
    return ""


def error_table(
    runs: pd.DataFrame, jobs: Iterable[Job], methods: Mapping[str, Job]
) -> pd.DataFrame:
    """Classification errors on the test part beside the minimax risk.

    Parameters
    ----------
    runs, jobs, methods
        As in `time_table`.

    Returns
    -------
    DataFrame
        One line a data set and kind of features; mean and, where there are several
        repetitions, standard deviation.
    """
    rows = []
    for job in jobs:
        mine = runs[(runs["job"] == job["name"]) & (runs["status"] == 0)]
        if not len(mine):
            continue
        row = {"data set": job["dataset"], "features": job["features"].replace("_", " ")}
        bound = mine[mine["method"] == "ccg-highs"]
        row["minimax risk R"] = _spread(bound, "objective")
        chosen = {"MRC-CCG": "ccg-highs", "MRC-CCG (CBC)": "ccg-cbc"}
        for label in ("MRC-LP", "MRC-SUB", *_SVM):
            chosen[label] = _method_of(label, "highs", methods, mine)
        for label, name in chosen.items():
            row[label] = _spread(mine[mine["method"] == name], "error")
        rows.append(row)
    return pd.DataFrame(rows).drop_duplicates()


def _spread(each: pd.DataFrame, measure: str) -> str:
    values = each[measure].dropna().to_numpy(dtype=float) if len(each) else np.zeros(0)
    if not len(values):
        return "-"
    if len(values) == 1:
        return f"{values[0]:.4f}"
    return f"{values.mean():.4f} ± {values.std(ddof=1):.4f}"


def check_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Generation against the exact programs: largest |R - R of the program| over repetitions.

    Parameters
    ----------
    runs : DataFrame
        Runs of the checks.

    Returns
    -------
    DataFrame
        One line a problem, solver and eps_1; "-" where an exact program was not run.
    """
    rows = []
    for point, mine in runs[runs["status"] == 0].groupby(POINT, sort=False):
        facts = dict(zip(POINT, point, strict=True))
        for name in _CHECKED:
            each = mine[mine["method"] == name]
            if len(each):
                rows.append(_check_row(facts, mine, each, name))
    return pd.DataFrame(rows)


def _check_row(
    facts: Mapping[str, Any], mine: pd.DataFrame, each: pd.DataFrame, name: str
) -> dict[str, Any]:
    full = _furthest(mine, each, "lp-")
    compact = _furthest(mine, each, "compact-")
    solver, eps, allowed = _CHECKED[name]
    worst = np.nanmax([full, compact])
    return {
        "data set": facts["dataset"],
        "features": str(facts["features"]).replace("_", " "),
        "n": int(facts["n"]),
        "m": int(mine["m"].iloc[0]),
        "classes": int(facts["classes"]),
        "solver": solver,
        "eps_1": eps,
        "R": f"{each['objective'].iloc[0]:.6f}",
        "|R - R of the LP|": "-" if np.isnan(full) else f"{full:.1e}",
        "|R - R of the compact LP|": "-" if np.isnan(compact) else f"{compact:.1e}",
        "allowed": f"{allowed:.0e}",
        "within": bool(worst <= allowed),
    }


def _furthest(mine: pd.DataFrame, each: pd.DataFrame, prefix: str) -> float:
    exact = mine[mine["method"].str.startswith(prefix)]
    both = each.merge(exact, on="repeat", suffixes=("", "_exact"))
    if not len(both):
        return float("nan")
    return float((both["objective"] - both["objective_exact"]).abs().max())


def check_classes(runs: pd.DataFrame) -> pd.DataFrame:
    """The compact program against the exponential one, class by class.

    Parameters
    ----------
    runs : DataFrame
        Runs of the job that goes through numbers of classes.
    """
    rows = []
    for classes, mine in runs[runs["status"] == 0].groupby("classes"):
        risk = {n: float(g["objective"].iloc[0]) for n, g in mine.groupby("method")}
        if not {"lp-highs", "compact-highs"} <= set(risk):
            continue
        n = int(mine["n"].iloc[0])
        rows.append(
            {
                "classes": int(classes),
                "n": n,
                "rows of (6)": n * (2 ** int(classes) - 1),
                "rows of the compact LP": n * (int(classes) + 1),
                "R of (6)": f"{risk['lp-highs']:.8f}",
                "R of the compact LP": f"{risk['compact-highs']:.8f}",
                "difference": f"{abs(risk['lp-highs'] - risk['compact-highs']):.1e}",
                "generation, eps_1 = 1e-7": f"{risk.get('ccg-highs-exact', np.nan):.8f}",
            }
        )
    return pd.DataFrame(rows)
