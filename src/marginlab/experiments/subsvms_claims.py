"""Paper 1's claims in words: our evidence for each, and a verdict by a stated rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from marginlab.errors import DataError
from marginlab.experiments.subsvms_claims_theory import THEORY_RULES, Finding, grade
from marginlab.experiments.subsvms_report import L1_METHOD, LEAD, PAPER_SETTINGS, mean_scores
from marginlab.experiments.subsvms_synthetic import curves, method_name
from marginlab.files import write_csv
from marginlab.results import read_results

__all__ = ["judge_claims", "write_claims"]

_OTHERS = ["Oracle-SVM", "Blind-SVM", "Bag-SVM", "CV-SVM"]
_STRONGER = ("Oracle-SVM (W searched)", "CV-SVM (BAC)")  # rows of ours beside the paper's
_IMBALANCED = ("a1a", "a2a", "a3a", "a4a", "a5a", "w1a", "w2a", "w3a", "w4a", "w5a")
_LOW = 0.02  # a difference that two printed digits can hide


_NOTHING = Finding("not measured", "the run has no rows for it", "no data")


class Evidence(NamedTuple):
    """Rows on real data, and the curves on Gaussians."""

    rows: pd.DataFrame
    curves: pd.DataFrame

    def cells(self, measure: str, methods: list[str], settings: tuple[str, ...]) -> pd.DataFrame:
        """One row a (setting, data set), one column a method; complete rows only."""
        means = mean_scores(self.rows, measure).stack().unstack("method")
        kept = means[means.index.get_level_values("setting").isin(settings)]
        return kept.reindex(columns=methods).dropna()


def write_claims(
    published: str | Path,
    rows: Iterable[str | Path],
    gaussians: Iterable[str | Path],
    out: str | Path,
) -> None:
    """Judge every claim of the published list and write the table.

    Parameters
    ----------
    published : path
        Columns claim, place, says.
    rows, gaussians : iterable of path
        Tidy results on real data and on Gaussians.
    out : path
    """
    table = judge_claims(pd.read_csv(published), read_results(rows), read_results(gaussians))
    write_csv(table, out)


def judge_claims(
    published: pd.DataFrame, rows: pd.DataFrame, gaussians: pd.DataFrame
) -> pd.DataFrame:
    """Evidence and verdict for each claim.

    Parameters
    ----------
    published : DataFrame
        Columns claim, place, says.
    rows, gaussians : DataFrame
        Tidy results; either may lack what a claim needs, which is then "no data".

    Returns
    -------
    DataFrame
        Columns claim, place, published, ours, evidence, verdict.

    Raises
    ------
    DataError
        If the list names a claim that has no rule here.
    """
    evidence = Evidence(rows, curves(gaussians) if len(gaussians) else pd.DataFrame())
    records = []
    for claim in published.itertuples():
        name = str(claim.claim)
        if name in THEORY_RULES:
            found = THEORY_RULES[name]()
        elif name in _RULES:
            found = _RULES[name](evidence)
        else:
            raise DataError(f"claim {name!r} has no rule; correct the list of claims")
        records.append((claim.claim, claim.place, claim.says, *found))
    names = ["claim", "place", "published", "ours", "evidence", "verdict"]
    return pd.DataFrame(records, columns=names)


# --- Gaussians ----------------------------------------------------------------------


def _pooled(evidence: Evidence, sampling: str, C: float) -> pd.DataFrame:
    # over all dimensions: the worst data set, and the mean
    frame = evidence.curves
    if not len(frame):
        return frame
    own = frame[frame["method"] == method_name(sampling, C)]
    return own.groupby("machines").agg(worst=("worst", "min"), average=("average", "mean"))


def _near_perfect(evidence: Evidence) -> Finding:
    found = {C: _pooled(evidence, "balanced", C) for C in (1.0, 100.0)}
    if any(128 not in frame.index for frame in found.values()):
        return _NOTHING
    (average, worst), (average_100, worst_100) = (
        (frame.loc[128, "average"], frame.loc[128, "worst"]) for frame in found.values()
    )
    return Finding(
        "yes with C = 1, less so with C = 100; the paper gives no C here",
        f"at J = 128: mean {average:.3f}, worst {worst:.3f} with C = 1; "
        f"mean {average_100:.3f}, worst {worst_100:.3f} with C = 100",
        grade(average >= 0.99 and worst >= 0.95, average >= 0.95),
    )


def _decay(evidence: Evidence) -> Finding:
    frame = _pooled(evidence, "balanced", 1.0)
    if 64 not in frame.index:
        return _NOTHING
    errors = 1 - frame["average"]
    early = errors.loc[[1, 2, 4, 8, 16, 32, 64]]
    falling = bool((early.diff().dropna() <= 1e-4).all())
    # exponential means a constant factor for each further machine, without a floor
    floor = errors.iloc[-1] / errors.loc[32]
    last = int(errors.index[-1])
    return Finding(
        "a fast fall, then a floor that more machines do not lower",
        f"mean error {errors.loc[1]:.4f} at J = 1, {errors.loc[8]:.4f} at 8, "
        f"{errors.loc[32]:.4f} at 32, {errors.iloc[-1]:.4f} at {last}",
        grade(falling and floor < 0.1, falling),
    )


def _uniform(evidence: Evidence) -> Finding:
    balanced, uniform = (_pooled(evidence, kind, 1.0) for kind in ("balanced", "uniform"))
    if not len(balanced) or not len(uniform):
        return _NOTHING
    worst, average = 100 * (balanced.iloc[-1] - uniform.iloc[-1])[["worst", "average"]]
    return Finding(
        f"worse by {worst:.0f} points in the worst case and {average:.0f} on average",
        f"at J = {balanced.index[-1]}, C = 1: worst {balanced.iloc[-1]['worst']:.3f} against "
        f"{uniform.iloc[-1]['worst']:.3f}, mean {balanced.iloc[-1]['average']:.3f} against "
        f"{uniform.iloc[-1]['average']:.3f}",
        grade(abs(worst - 60) <= 10 and abs(average - 20) <= 5, worst > 20 and average > 5),
    )


# --- real data ------------------------------------------------------------------------


def _leads(evidence: Evidence) -> Finding:
    table = evidence.cells("bac", [*_OTHERS, "SubSVMs"], PAPER_SETTINGS)
    if not len(table):
        return _NOTHING
    gap = table["SubSVMs"] - table[_OTHERS].max(axis=1)
    ahead, behind = int((gap >= LEAD).sum()), int((gap <= -LEAD).sum())
    text = f"ahead by 0.05 in {ahead} of {len(gap)} cells, behind by 0.05 in {behind}"
    for peer in _STRONGER:
        pair = evidence.cells("bac", [peer, "SubSVMs"], PAPER_SETTINGS)
        if len(pair):
            lead = pair["SubSVMs"] - pair[peer]
            text += (
                f"; against our {peer} ahead by 0.05 in {int((lead >= LEAD).sum())} of "
                f"{len(lead)}, behind in {int((lead <= -LEAD).sum())}"
            )
    share = ahead / len(gap)
    return Finding(
        f"ahead in {share:.0%} of the cells" + ("" if behind else ", never far behind"),
        text,
        grade(share >= 0.8 and not behind, share >= 0.5 and behind <= 0.05 * len(gap)),
    )


def _lead_by_alpha(evidence: Evidence) -> Finding:
    table = evidence.cells("bac", [*_OTHERS, "SubSVMs"], PAPER_SETTINGS[1:])
    if not len(table):
        return _NOTHING
    gap = (table["SubSVMs"] - table[_OTHERS].max(axis=1)).rename("gap").reset_index()
    gap["skew"] = np.where(gap["dataset"].isin(_IMBALANCED), "imbalanced", "balanced")
    means = gap.pivot_table(index="skew", columns="setting", values="gap", aggfunc="mean")
    order = [name for name in PAPER_SETTINGS[1:] if name in means.columns]
    if len(order) < 2 or len(means) < 2:
        return _NOTHING
    rising = means.loc["imbalanced", order].is_monotonic_increasing
    text = "; ".join(
        f"{skew}: " + ", ".join(f"{name} {row[name]:+.3f}" for name in order)
        for skew, row in means.iterrows()
    )
    positive = bool((means[order].mean(axis=1) > 0).all())
    return Finding(
        "the mean lead over the best other method " + ("grows" if rising else "does not only grow"),
        text,
        grade(rising and positive, rising or positive),
    )


def _oracle_blind(evidence: Evidence) -> Finding:
    parts, worst = [], []
    for measure in ("accuracy", "bac"):
        table = evidence.cells(measure, ["Oracle-SVM", "Blind-SVM"], PAPER_SETTINGS)
        if not len(table):
            return _NOTHING
        gap = table["Oracle-SVM"] - table["Blind-SVM"]
        parts.append(
            f"{measure}: {(gap >= -1e-9).mean():.0%} of the cells, lowest {gap.min():+.3f}"
        )
        worst.append(gap.min())
    return Finding(
        "in accuracy, for which both are tuned, and nearly always in balanced accuracy",
        "; ".join(parts),
        grade(min(worst) > -_LOW, worst[0] > -_LOW),
    )


def _beat_cv(evidence: Evidence) -> Finding:
    table = evidence.cells("bac", _OTHERS, PAPER_SETTINGS)
    if not len(table):
        return _NOTHING
    gaps = table[_OTHERS[:3]].sub(table["CV-SVM"], axis=0)
    shares = (gaps >= -1e-9).mean()
    text = ", ".join(f"{name}: mean {gaps[name].mean():+.3f}, {shares[name]:.0%}" for name in gaps)
    return Finding(
        f"on average {gaps.to_numpy().mean():+.3f} in balanced accuracy",
        f"lead over CV-SVM and share of cells not behind it: {text}",
        grade(bool((shares >= 0.9).all()), bool((gaps.mean() > 0).all())),
    )


def _bag_oracle(evidence: Evidence) -> Finding:
    table = evidence.cells("bac", ["Oracle-SVM", "Bag-SVM"], PAPER_SETTINGS)
    return _similar(table["Oracle-SVM"], table["Bag-SVM"], "balanced accuracy", "no benefit seen")


def _similar(one: pd.Series, other: pd.Series, what: str, ours: str) -> Finding:
    if not len(one):
        return _NOTHING
    gap = (one - other).abs()
    return Finding(
        ours,
        f"{what}: mean difference {gap.mean():.3f}, largest {gap.max():.3f}, {len(gap)} cells",
        grade(gap.mean() <= _LOW and gap.max() <= LEAD, gap.mean() <= LEAD),
    )


def _cv_worst(evidence: Evidence) -> Finding:
    methods = [*_OTHERS, "SubSVMs"]
    table = evidence.cells("bac", methods, PAPER_SETTINGS)
    if not len(table):
        return _NOTHING
    others = table.drop(columns="CV-SVM")
    last = (table["CV-SVM"] <= others.min(axis=1) + 0.005).mean()
    far = (others.max(axis=1) - table["CV-SVM"] >= LEAD).mean()
    return Finding(
        f"last or level with the last in {last:.0%} of the cells",
        f"behind the best by 0.05 or more in {far:.0%} of {len(table)} cells",
        grade(last >= 0.8 and far >= 0.5, last >= 0.4 or far >= 0.5),
    )


def _sif(evidence: Evidence) -> Finding:
    methods = [*_OTHERS, "SubSVMs"]
    sif, bac = (evidence.cells(name, methods, PAPER_SETTINGS) for name in ("sif", "bac"))
    if not len(sif) or len(sif) != len(bac):
        return _NOTHING
    same = (sif.idxmax(axis=1) == bac.idxmax(axis=1)).mean()
    won = ((sif.idxmax(axis=1) == "SubSVMs").mean(), (bac.idxmax(axis=1) == "SubSVMs").mean())
    return Finding(
        f"the same method is best in {same:.0%} of the cells",
        f"SubSVMs is best in {won[0]:.0%} of {len(sif)} cells by SIF and in {won[1]:.0%} by BAC",
        grade(same >= 0.75, same >= 0.5),
    )


def _auc(evidence: Evidence) -> Finding:
    table = evidence.cells("auc", [*_OTHERS, "SubSVMs"], PAPER_SETTINGS)
    if not len(table):
        return _NOTHING
    gap = table["SubSVMs"] - table[_OTHERS].max(axis=1)
    return Finding(
        f"on average {gap.mean():+.3f} against the best other method",
        f"lowest {gap.min():+.3f}; behind by more than 0.05 in {(gap < -LEAD).mean():.0%} "
        f"of {len(gap)} cells",
        grade(gap.min() >= -LEAD, gap.mean() >= -LEAD),
    )


def _retraining(evidence: Evidence) -> Finding:
    vote, again = (
        evidence.cells(name, ["SubSVMs"], PAPER_SETTINGS)["SubSVMs"]
        for name in ("bac", "bac_retrained")
    )
    return _similar(vote, again, "balanced accuracy, vote against retrained SVM", "similar")


def _losses(evidence: Evidence) -> Finding:
    table = evidence.cells("bac", ["SubSVMs", L1_METHOD], PAPER_SETTINGS)
    return _similar(
        table["SubSVMs"], table[L1_METHOD], "balanced accuracy, L2 against L1", "similar"
    )


def _fastest(evidence: Evidence) -> Finding:
    table = evidence.cells("seconds_train", [*_OTHERS, "SubSVMs"], PAPER_SETTINGS)
    if not len(table):
        return _NOTHING
    ratio = table[_OTHERS].div(table["SubSVMs"], axis=0)
    lowest = ratio.min()
    text = ", ".join(f"{name} {ratio[name].median():.3g} ({lowest[name]:.3g})" for name in ratio)
    return Finding(
        "against baselines that share factorisations here: "
        + ("faster everywhere" if lowest.min() > 1 else "not faster everywhere"),
        f"time over that of SubSVMs, median (least): {text}",
        grade(lowest.min() >= 2, ratio.median().min() >= 1),
    )


def _recovery(evidence: Evidence) -> Finding:
    means = mean_scores(evidence.rows, "recovery_accuracy_corrected")
    before = mean_scores(evidence.rows, "recovery_accuracy_noisy")
    noisy = [name for name in PAPER_SETTINGS[1:] if name in means.index.get_level_values(0)]
    if not noisy:
        return _NOTHING
    gain = (means - before).xs("SubSVMs", level="method").loc[noisy].stack()
    balanced = mean_scores(evidence.rows, "recovery_bac_corrected") - mean_scores(
        evidence.rows, "recovery_bac_noisy"
    )
    bac_gain = balanced.xs("SubSVMs", level="method").loc[noisy].stack()
    better, better_bac = (gain > 0).mean(), (bac_gain > 0).mean()
    return Finding(
        f"more labels are right than before in {better:.0%} of the cells; "
        f"balanced agreement rises in {better_bac:.0%}",
        f"change of plain agreement {gain.min():+.3f} to {gain.max():+.3f}, "
        f"of balanced agreement {bac_gain.min():+.3f} to {bac_gain.max():+.3f}",
        grade(better == 1, better_bac >= 0.5),
    )


_RULES: dict[str, Callable[[Evidence], Finding]] = {
    "near_perfect_at_128": _near_perfect,
    "errors_decay_with_machines": _decay,
    "uniform_sampling_is_worse": _uniform,
    "subsvms_leads": _leads,
    "lead_on_balanced_and_imbalanced": _lead_by_alpha,
    "oracle_not_below_blind": _oracle_blind,
    "test_tuned_beat_cv": _beat_cv,
    "bag_like_oracle": _bag_oracle,
    "cv_is_worst": _cv_worst,
    "sif_like_bac": _sif,
    "auc_comparable": _auc,
    "vote_like_retraining": _retraining,
    "l1_like_l2": _losses,
    "subsvms_is_fastest": _fastest,
    "labels_are_recovered": _recovery,
}
