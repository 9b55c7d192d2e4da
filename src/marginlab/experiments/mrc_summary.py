"""Paper 3's runs summed up: the certified R*, medians, ratios and the text of a cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from marginlab.experiments.mrc_budget import FAILED, OVER_MEMORY, OVER_TIME
from marginlab.experiments.mrc_runs import STATUS

__all__ = ["CERTIFIED", "KNOWN", "POINT", "cell", "median", "ratio", "with_risk"]

#: Generation to eps_1 = 1e-7 with HiGHS: both bounds on R* come from NumPy.
CERTIFIED = "ccg-highs-exact"
#: Width of the bounds up to which R* counts as known: a tenth of what the paper claims.
KNOWN = 1e-4
#: What makes two runs the same problem, whatever the repetition. Sparse text drops words that
#: a training part lacks, so its m differs between repetitions and is left out (width_m).
POINT = ["job", "dataset", "features", "n", "width_m", "classes", "lambda_0"]
_EXACT = ("lp-", "compact-", "interior")


def with_risk(runs: pd.DataFrame) -> pd.DataFrame:
    """Add R* (column ``best``), its width and the error of each run's objective.

    R* is the middle of the certified bounds of `CERTIFIED`, of the same repetition; where
    they are more than 1e-6 apart, of the exact program whose bounds are closest.

    Parameters
    ----------
    runs : DataFrame
        As `read_runs` returns.

    Returns
    -------
    DataFrame
        With columns ``best``, ``width`` (upper minus lower bound) and ``off`` = |objective -
        R*|; ``best`` and ``off`` are NaN where R* is unknown.
    """
    keys = [*POINT, "repeat"]
    solved = runs[(runs["status"] == 0) & runs["method"].map(_is_exact)].copy()
    solved["best"] = (solved["lower"] + solved["upper"]) / 2
    solved["width"] = solved["upper"] - solved["lower"]
    solved["rank"] = ((solved["method"] != CERTIFIED) | (solved["width"] > 1e-6)).astype(int)
    solved = solved.sort_values([*keys, "rank", "width"]).drop_duplicates(keys)
    joined = runs.merge(solved[[*keys, "best", "width"]], on=keys, how="left")
    joined.loc[joined["width"] > KNOWN, "best"] = np.nan
    joined["off"] = (joined["objective"] - joined["best"]).abs()
    return joined


def _is_exact(method: str) -> bool:
    return method == CERTIFIED or method.startswith(_EXACT)


def median(runs: pd.DataFrame, measure: str) -> float:
    """Median of a measure over the runs that were solved; NaN if there are none."""
    values = runs.loc[runs["status"] == 0, measure].to_numpy(dtype=float)
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else float("nan")


def ratio(runs: pd.DataFrame, slow: str, fast: str) -> float:
    """Median over repetitions of the CPU seconds of one method over another's.

    Parameters
    ----------
    runs : DataFrame
        Runs of one point.
    slow, fast : str
        Names of methods.

    Returns
    -------
    float
        Over the repetitions that both solved; NaN if there are none.
    """
    solved = runs[runs["status"] == 0]
    wide = solved.pivot(index="repeat", columns="method", values="seconds_cpu")
    if slow not in wide or fast not in wide:
        return float("nan")
    # Times have a resolution of a hundredth of a second.
    quotient = (wide[slow] / wide[fast].clip(lower=0.01)).dropna()
    return float(quotient.median()) if len(quotient) else float("nan")


def cell(runs: pd.DataFrame, measure: str, style: str, job: Mapping[str, Any]) -> str:
    """Text of a table's cell: the median, or why there is none.

    Parameters
    ----------
    runs : DataFrame
        Runs of one method at one point.
    measure : str
    style : str
        Format of the number.
    job : mapping
        The job's settings, with ``budget`` and ``memory_mb``.
    """
    if not len(runs):
        return "not run"
    value = median(runs, measure)
    if np.isfinite(value):
        return style % value
    if (runs["status"] == STATUS[OVER_TIME]).any():
        return f"no solution within {job['budget']:g} s"
    if (runs["status"] == STATUS[OVER_MEMORY]).any():
        return f"no solution within {job['memory_mb'] / 1000:g} GB"
    if (runs["status"] == STATUS[FAILED]).any():
        return "refused by its certificate"
    return "-"
