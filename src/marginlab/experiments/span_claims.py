"""The sentences of the span paper, each with our evidence and a verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from marginlab.experiments.span_tables import (
    count_table,
    cv_name,
    premise_table,
    rmse_table,
    selection_table,
)
from marginlab.experiments.span_time import TIMES
from marginlab.experiments.span_time_tables import growth_frame, time_table

__all__ = ["Evidence", "judge_claims"]

_EPS = 1e-12


@dataclass(frozen=True)
class Evidence:
    """Tidy rows behind the claims.

    Attributes
    ----------
    by_class, by_score : DataFrame
        Grid runs of Experiments #1 and #2.
    premise : DataFrame
        Premise and leave-one-out runs.
    times, growth : DataFrame
        Timing runs of Experiments #5 and #6.
    """

    by_class: pd.DataFrame
    by_score: pd.DataFrame
    premise: pd.DataFrame
    times: pd.DataFrame
    growth: pd.DataFrame


Answer = tuple[str, str, str]  # ours, evidence, verdict


def judge_claims(claims: pd.DataFrame, evidence: Evidence) -> pd.DataFrame:
    """Every claim with what we found.

    Parameters
    ----------
    claims : DataFrame
        Columns claim, place, says.
    evidence : Evidence

    Returns
    -------
    DataFrame
        Columns claim, place, published, ours, evidence, verdict (holds, partly, fails, no data).
    """
    rows = []
    for claim, place, says in claims[["claim", "place", "says"]].itertuples(index=False):
        ours, source, verdict = _JUDGES[str(claim)](evidence)
        rows.append((claim, place, says, ours, source, verdict))
    names = ["claim", "place", "published", "ours", "evidence", "verdict"]
    return pd.DataFrame(rows, columns=names)


def _verdict(share: float, holds: float, partly: float) -> str:
    return "holds" if share >= holds else "partly" if share >= partly else "fails"


def _none(source: str) -> Answer:
    return "no data in this run", source, "no data"


def _share(wins: pd.Series, what: str, source: str, holds: float) -> Answer:
    ours = f"{what} on {int(wins.sum())} of {wins.size} data sets"
    return ours, source, _verdict(float(wins.mean()), holds, holds / 2)


def _rule_matches_cv(e: Evidence) -> Answer:
    table = selection_table(e.by_class)
    if table.empty:
        return _none("table2")
    wins = table["span-rule"] <= table[cv_name(e.by_class)] + _EPS
    return _share(wins, "at least as good", "table2", 10 / 12)


def _rule_near_best(e: Evidence) -> Answer:
    table = selection_table(e.by_class)
    if table.empty:
        return _none("table2")
    gap = table["span-rule"] - table["best possible"]
    ours = f"mean gap to the best possible {gap.mean():.4f}, largest {gap.max():.4f}"
    return ours, "table2", _verdict(float((gap <= 0.02).mean()), 0.75, 0.5)


def _bounds_inferior(e: Evidence) -> Answer:
    table = selection_table(e.by_class)
    if table.empty:
        return _none("table2")
    means = table.drop(columns="dataset").mean()
    good = max(means["span-rule"], means[cv_name(e.by_class)])
    worse = [name for name in ("span bound", "xi-alpha") if means[name] > good]
    ours = ", ".join(f"{name} {value:.4f}" for name, value in means.items())
    verdict = "holds" if len(worse) == 2 else "partly" if worse else "fails"
    return f"mean test error: {ours}", "table2", verdict


def _rule_wins_scores(e: Evidence) -> Answer:
    if e.by_score.empty:
        return _none("table3")
    table = selection_table(e.by_score)
    rivals = table.drop(columns=["dataset", "best possible", "span-rule"]).min(axis=1)
    return _share(table["span-rule"] <= rivals + _EPS, "best or equal", "table3", 1.0)


def _rule_best_overall(e: Evidence) -> Answer:
    parts = [selection_table(rows) for rows in (e.by_class, e.by_score) if not rows.empty]
    if not parts:
        return _none("table2, table3")
    table = pd.concat(parts)
    rivals = table.drop(columns=["dataset", "best possible", "span-rule"]).min(axis=1)
    return _share(table["span-rule"] <= rivals + _EPS, "best or equal", "table2, table3", 0.8)


def _all_rmse(e: Evidence) -> pd.DataFrame:
    parts = [rmse_table(rows) for rows in (e.by_class, e.by_score) if not rows.empty]
    return pd.concat(parts) if parts else pd.DataFrame()


def _rule_best_rmse(e: Evidence) -> Answer:
    table = _all_rmse(e)
    if table.empty:
        return _none("table4")
    rivals = table.drop(columns=["dataset", "span-rule"]).min(axis=1)
    return _share(table["span-rule"] <= rivals + _EPS, "smallest RMSE", "table4", 12 / 14)


def _rule_and_cv_low_rmse(e: Evidence) -> Answer:
    table = _all_rmse(e)
    if table.empty:
        return _none("table4")
    means = table.drop(columns="dataset").mean()
    cv = str(means.index[1])
    ours = f"mean RMSE: span-rule {means['span-rule']:.4f}, {cv} {means[cv]:.4f}"
    near = abs(means["span-rule"] - means[cv]) <= 0.02
    low = max(means["span-rule"], means[cv]) <= 0.05
    return ours, "table4", "holds" if near and low else "partly" if near or low else "fails"


def _xi_alpha_conservative(e: Evidence) -> Answer:
    table = _all_rmse(e)
    if table.empty:
        return _none("table4")
    ratio = (table["xi-alpha"] / table["span-rule"]).median()
    ours = f"RMSE {ratio:.1f} times that of the span-rule (median)"
    return ours, "table4, fig2 to fig4", "holds" if ratio >= 2 else "fails"


def _counts(e: Evidence) -> pd.DataFrame:
    parts = [count_table(rows) for rows in (e.by_class, e.by_score) if not rows.empty]
    return pd.concat(parts) if parts else pd.DataFrame()


def _empty_sets_rare(e: Evidence) -> Answer:
    table = _counts(e)
    if table.empty:
        return _none("table5")
    most = float(table["empty Lambda_p"].max())
    ours = f"at most {most:.3f} a model on average"
    return ours, "table5", "holds" if most < 1 else "fails"


def _in_bound_few(e: Evidence) -> Answer:
    table = _counts(e)
    if table.empty:
        return _none("table5")
    shares = table["in-bound share"]
    ours = f"{shares.median():.0%} of the SVs (median), {shares.min():.0%} to {shares.max():.0%}"
    return ours, "table5", _verdict(float((shares < 0.25).mean()), 0.75, 0.4)


def _premise_general(e: Evidence) -> Answer:
    if e.premise.empty:
        return _none("premise")
    table = premise_table(e.premise)
    means, binds = table["premise holds, mean"], table["box binds, mean"]
    most = int((means > 0.5).sum())
    ours = (
        f"it holds for {means.mean():.0%} of the SVs on average ({means.min():.0%} to "
        f"{means.max():.0%} by data set), for most of them on {most} of {len(table)} sets; "
        f"the box binds for {binds.mean():.0%}"
    )
    return ours, "premise", _verdict(most / len(table), 0.75, 0.4)


def _qps_slightly_slower(e: Evidence) -> Answer:
    if e.times.empty:
        return _none("time_table6")
    ratio = time_table(e.times)["QPs with box / CV"]
    slower = int((ratio > 1).sum())
    ours = f"QPs slower on {slower} of {ratio.size} data sets, median ratio {ratio.median():.1f}"
    verdict = _verdict(slower / ratio.size, 0.6, 0.4)
    if verdict == "holds" and ratio.median() > 3:
        verdict = "partly"  # slower, but not slightly
    return ours, "time_table6", verdict


def _qps_faster_mnist(e: Evidence) -> Answer:
    if e.times.empty:
        return _none("time_table6")
    table = time_table(e.times)
    mnist = table[table["dataset"].str.startswith("mnist")]
    if mnist.empty:
        return _none("time_table6")
    ratio = mnist[TIMES["cv"]] / mnist[TIMES["boxed_qp"]]
    ours = (
        f"{ratio.min():.2f} to {ratio.max():.2f} times faster at our 1000 training rows "
        f"(without the box {(mnist[TIMES['cv']] / mnist[TIMES['qp']]).median():.1f} times, median)"
    )
    return ours, "time_table6", _verdict(float((ratio > 1).mean()), 1.0, 0.25)


def _small_cv_faster(e: Evidence) -> Answer:
    if e.growth.empty:
        return _none("time_fig5")
    table = growth_frame(e.growth)
    small = table[table["l"] <= 1024]
    ratio = small[TIMES["boxed_qp"]] / small[TIMES["cv"]]
    ours = f"up to 1024 rows QPs take {ratio.median():.1f} times as long as CV (median)"
    verdict = "fails" if ratio.median() <= 1 else "holds" if ratio.median() <= 2 else "partly"
    return ours, "time_fig5", verdict


def _large_qps_faster(e: Evidence) -> Answer:
    if e.growth.empty:
        return _none("time_fig5")
    table = growth_frame(e.growth)
    large = table[table["l"] > 4096]
    if large.empty:
        return _none("time_fig5")
    ratio = large[TIMES["cv"]] / large[TIMES["boxed_qp"]]
    ours = f"beyond 4096 rows QPs are {ratio.min():.1f} to {ratio.max():.1f} times faster than CV"
    return ours, "time_fig5", _verdict(float((ratio > 1).mean()), 1.0, 0.5)


def _cv_grows_with_d(e: Evidence) -> Answer:
    if e.growth.empty:
        return _none("time_fig5")
    table = growth_frame(e.growth)
    table = table[table["l"] == table["l"].max()].sort_values("d")
    if len(table) < 2:
        return _none("time_fig5")
    rise = float(table[TIMES["cv"]].iloc[-1] / table[TIMES["cv"]].iloc[0])
    factor = table["d"].iloc[-1] / table["d"].iloc[0]
    ours = f"{factor:g} times the features take {rise:.2f} times as long at l = {table['l'].max()}"
    return ours, "time_fig5", "holds" if rise >= 1.5 else "partly" if rise > 1.1 else "fails"


_JUDGES: dict[str, Callable[[Evidence], Answer]] = {
    "rule_matches_cv": _rule_matches_cv,
    "rule_near_best": _rule_near_best,
    "bounds_inferior": _bounds_inferior,
    "rule_wins_scores": _rule_wins_scores,
    "rule_best_overall": _rule_best_overall,
    "rule_best_rmse": _rule_best_rmse,
    "rule_and_cv_low_rmse": _rule_and_cv_low_rmse,
    "xi_alpha_conservative": _xi_alpha_conservative,
    "empty_sets_rare": _empty_sets_rare,
    "premise_general": _premise_general,
    "in_bound_few": _in_bound_few,
    "qps_slightly_slower": _qps_slightly_slower,
    "qps_faster_mnist": _qps_faster_mnist,
    "small_cv_faster": _small_cv_faster,
    "large_qps_faster": _large_qps_faster,
    "cv_grows_with_d": _cv_grows_with_d,
}
