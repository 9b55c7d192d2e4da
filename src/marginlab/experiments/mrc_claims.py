"""The sentences of paper 3 against what was measured here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from marginlab.experiments.mrc_summary import CERTIFIED, POINT, ratio

__all__ = ["Evidence", "judge"]

NO_DATA = ("no data", "the jobs behind this claim had no data or no solution", "no data")
_LPS = {"cbc": ("lp-cbc", "lp-cbc-mps"), "highs": ("lp-highs", "lp-highs-ipm")}
Verdict = tuple[str, str, str]  # ours, evidence, verdict


@dataclass(frozen=True)
class Evidence:
    """What the claims are judged by.

    Attributes
    ----------
    runs : DataFrame
        All runs with R* (see `with_risk`).
    curves : DataFrame
        Rounds of the runs of Fig. 1, with a column ``job``.
    parts : mapping
        Part of the configuration -> names of its jobs.
    """

    runs: pd.DataFrame
    curves: pd.DataFrame
    parts: Mapping[str, list[str]]

    def of(self, *parts: str) -> pd.DataFrame:
        """Runs of the jobs of some parts."""
        names = [name for part in parts for name in self.parts[part]]
        return self.runs[self.runs["job"].isin(names)]


def judge(claims: pd.DataFrame, evidence: Evidence) -> pd.DataFrame:
    """Verdict on every claim.

    Parameters
    ----------
    claims : DataFrame
        Columns claim, place, says.
    evidence : Evidence

    Returns
    -------
    DataFrame
        Columns claim, place, published, ours, evidence, verdict (holds, partly, fails,
        no data).
    """
    rows = []
    for claim in claims.itertuples():
        ours, text, verdict = _JUDGES[str(claim.claim)](evidence)
        rows.append((claim.claim, claim.place, claim.says, ours, text, verdict))
    columns = ["claim", "place", "published", "ours", "evidence", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def _gains(runs: pd.DataFrame, rivals: Mapping[str, tuple[str, ...]]) -> dict[str, float]:
    """Ratio of the fastest rival to generation, for each point and solver that has both."""
    found: dict[str, float] = {}
    for _, mine in runs.groupby(POINT, sort=False):
        first = mine.iloc[0]
        for solver, names in rivals.items():
            ratios = [ratio(mine, name, f"ccg-{solver}") for name in names]
            ratios = [value for value in ratios if np.isfinite(value)]
            if ratios:
                key = f"{first['dataset']} {first['features']} ({solver.upper()}"
                found[f"{key}, n {first['n']:.0f}, {first['classes']:.0f} classes)"] = min(ratios)
    return found


def _verdict(gains: Mapping[str, float], wanted: float) -> str:
    reached = [value >= wanted for value in gains.values()]
    return "holds" if all(reached) else "partly" if any(reached) else "fails"


def _listed(gains: Mapping[str, float]) -> str:
    return "; ".join(f"{name} {value:.3g}x" for name, value in gains.items())


def _range(gains: Mapping[str, float]) -> str:
    low, high = min(gains.values()), max(gains.values())
    return f"{low:.3g}x to {high:.3g}x" if len(gains) > 1 else f"{low:.3g}x"


def _faster(runs: pd.DataFrame, wanted: float) -> Verdict:
    gains = _gains(runs, _LPS)
    if not gains:
        return NO_DATA
    text = f"CPU seconds of the fastest full LP of the same solver over MRC-CCG: {_listed(gains)}"
    return _range(gains), text, _verdict(gains, wanted)


def _large_n(evidence: Evidence) -> Verdict:
    runs = evidence.of("binary")
    return _faster(runs[runs["features"] != "text"], 10.0)


def _large_n_and_m(evidence: Evidence) -> Verdict:
    runs = evidence.of("binary")
    return _faster(runs[runs["features"] == "text"], 2.0)


def _many_classes(evidence: Evidence) -> Verdict:
    gains = _gains(evidence.of("multiclass", "growth"), _LPS)
    gains = {k: v for k, v in gains.items() if int(k.split(" classes")[0].split()[-1]) > 2}
    if not gains:
        return NO_DATA
    text = f"exponential LP over MRC-CCG: {_listed(gains)}"
    top = max(gains.values())
    return f"up to {top:.3g}x", text, "holds" if top >= 100 else "partly" if top >= 10 else "fails"


def _accuracy(evidence: Evidence) -> Verdict:
    runs = evidence.runs[evidence.runs["method"].isin(["ccg-cbc", "ccg-highs"])]
    off = runs["off"].dropna()
    if not len(off):
        return NO_DATA
    worst = runs.loc[off.idxmax()]
    text = (
        f"|R - R*| of the {len(off)} runs with eps_1 = 1e-2 whose R* is known; largest on "
        f"{worst['dataset']} ({worst['method']}), {int((off >= 1e-3).sum())} of them 1e-3 or more"
    )
    share = float((off < 1e-3).mean())
    verdict = "holds" if share == 1 else "partly" if share >= 0.8 else "fails"
    return f"{off.max():.1e}", text, verdict


def _monotone(evidence: Evidence) -> Verdict:
    curves = evidence.curves
    many = curves[(curves["features"] != "text") & curves["method"].str.startswith("ccg-")]
    if not len(many):
        return NO_DATA
    steps = many.groupby(["job", "method", "repeat"])["risk"].diff().dropna()
    # CBC hands back eight digits, so a fall below 1e-6 is rounding.
    falls = steps[steps < -1e-6]
    text = f"{len(steps)} steps from round to round, {len(falls)} of them down by more than 1e-6"
    return f"{max(0.0, -steps.min()):.1e}", text, "holds" if falls.empty else "fails"


def _convergence(evidence: Evidence, close: float = 1e-3) -> Verdict:
    parts, holds = [], []
    for job in evidence.parts["convergence"]:
        mine = evidence.runs[evidence.runs["job"] == job]
        curves = evidence.curves[evidence.curves["job"] == job]
        if not len(mine):
            continue
        best = mine.groupby("repeat")["best"].first().dropna()
        curves = curves[curves["repeat"].isin(best.index)]
        first = {m: _reached(curves[curves["method"] == m], best, close) for m in _RIVALS}
        rivals = {m: t for m, t in first.items() if m != "ccg-highs" and np.isfinite(t)}
        holds.append(first["ccg-highs"] < min(rivals.values(), default=np.inf))
        times = ", ".join(
            f"{m} {t:.2f} s" if np.isfinite(t) else f"{m} never" for m, t in first.items()
        )
        parts.append(f"{job}: {times}")
    if not parts:
        return NO_DATA
    text = f"CPU seconds until |R^k - R*| stays within {close:g}: " + "; ".join(parts)
    count = f"{sum(holds)} of {len(holds)} scenarios"
    return count, text, "holds" if all(holds) else "partly" if any(holds) else "fails"


_RIVALS = ("ccg-highs", "lp-highs", "compact-highs", "sub")


def _reached(curves: pd.DataFrame, best: pd.Series, close: float) -> float:
    """Median over repetitions of the time from which on a curve stays close to R*."""
    times = []
    for repeat, group in curves.groupby("repeat"):
        far = (group["risk"] - best[repeat]).abs().to_numpy() > close
        last = int(np.flatnonzero(far)[-1]) + 1 if far.any() else 0
        seconds = group["seconds_cpu"].to_numpy()
        times.append(seconds[last] if last < len(seconds) else np.inf)
    return float(np.median(times)) if times else float("inf")


def _growth(evidence: Evidence) -> Verdict:
    parts, holds = [], []
    for job in evidence.parts["growth"]:
        mine = evidence.runs[(evidence.runs["job"] == job) & (evidence.runs["status"] == 0)]
        if not len(mine):
            continue
        across = "classes" if mine["classes"].nunique() > 1 else "n"
        common = set(mine.loc[mine["method"] == "lp-highs", across])
        times = (
            mine[mine[across].isin(common)]
            .groupby(["method", across])["seconds_cpu"]
            .median()
            .clip(lower=0.01)
            .unstack()
        )
        if not {"ccg-highs", "lp-highs"} <= set(times.index) or times.shape[1] < 2:
            continue
        factor = times.iloc[:, -1] / times.iloc[:, 0]
        holds.append(bool(factor["ccg-highs"] < factor["lp-highs"]))
        parts.append(
            f"{job}: from {times.columns[0]:g} to {times.columns[-1]:g} {across}, MRC-CCG takes "
            f"{factor['ccg-highs']:.3g} times as long, MRC-LP {factor['lp-highs']:.3g} times"
        )
    if not parts:
        return NO_DATA
    count = f"{sum(holds)} of {len(holds)} scenarios"
    verdict = "holds" if all(holds) else "partly" if any(holds) else "fails"
    return count, "; ".join(parts), verdict


def _class_limit(evidence: Evidence) -> Verdict:
    runs = evidence.of("multiclass", "growth")
    certified = runs[(runs["method"] == CERTIFIED) & (runs["status"] == 0)]
    full = runs[runs["method"].str.startswith("lp-") & (runs["status"] == 0)]
    if not len(certified) or not len(full):
        return NO_DATA
    most = certified.loc[certified["classes"].idxmax()]
    limit = full["classes"].max()
    text = (
        f"{most['dataset']}, n {most['n']:.0f}: R* certified to {most['width']:.1e} in "
        f"{most['seconds_cpu']:.1f} CPU s; the full LP ends at {limit:.0f} classes in these runs"
    )
    good = most["classes"] > limit
    return f"{most['classes']:.0f} classes", text, "holds" if good else "fails"


def _svm_objective(evidence: Evidence) -> Verdict:
    runs = evidence.of("binary")
    solved = runs[(runs["status"] == 0) & runs["method"].str.startswith("svm-")]
    if not len(solved):
        return NO_DATA
    gap = (solved["upper"] - solved["lower"]) / solved["upper"].abs().clip(lower=1.0)
    low, high = solved["off"].min(), solved["off"].max()
    text = (
        f"{len(solved)} SVM solutions, their own bounds at most {gap.max():.1e} apart (relative): "
        "they are optimal for their own objective, a sum of hinge losses"
    )
    return f"AE {low:.3g} to {high:.3g}", text, "holds" if low > 1 else "partly"


def _empty_cells(evidence: Evidence) -> Verdict:
    runs = evidence.of("binary", "multiclass")
    if not len(runs):
        return NO_DATA
    empty = runs[runs["status"] > 0].drop_duplicates(["job", "method"])
    ours = empty[empty["method"].str.startswith("ccg-")]
    rivals = empty[~empty["method"].str.startswith("ccg-")]
    names = "; ".join(f"{r.method} on {r.job}" for r in rivals.itertuples())
    text = f"no solution: {names or 'none'}; MRC-CCG has {len(ours)} empty cells"
    verdict = "holds" if len(rivals) and not len(ours) else "partly" if len(rivals) else "fails"
    return f"{len(rivals)} cells", text, verdict


_JUDGES: dict[str, Callable[[Evidence], Verdict]] = {
    "large_n": _large_n,
    "large_n_and_m": _large_n_and_m,
    "many_classes": _many_classes,
    "accuracy": _accuracy,
    "monotone": _monotone,
    "convergence": _convergence,
    "growth": _growth,
    "class_limit": _class_limit,
    "svm_objective": _svm_objective,
    "empty_cells": _empty_cells,
}
