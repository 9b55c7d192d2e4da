"""The chain's questions, each with its answer, the evidence and a verdict by a stated rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from marginlab.errors import DataError
from marginlab.experiments.chain_data import CLEAN
from marginlab.experiments.chain_frames import (
    CHAIN,
    ORACLE,
    PLAIN,
    certificates,
    means,
    median_seconds,
    with_oracle,
)
from marginlab.files import write_csv
from marginlab.results import read_results

__all__ = ["HOLDS", "PARTLY", "judge_questions", "verdict_of", "write_claims"]

#: A statement holds if it is true in this share of the cases, partly from `PARTLY` on.
HOLDS, PARTLY = 0.9, 0.5
_CLEAR = 0.01  # differences up to this count as no change in the evidence


class Answer(NamedTuple):
    """What came out: the number in short, the evidence in a sentence, the verdict."""

    ours: str
    evidence: str
    verdict: str


_NOTHING = Answer("-", "the run has no rows for it", "no data")
Rule = Callable[["Evidence"], Answer]


class Evidence:
    """The rows of the chain, by (data set, setting) and mean over corruptions."""

    def __init__(self, rows: pd.DataFrame, settings: Mapping[str, Any]) -> None:
        self.rows, self.settings = rows, settings
        self.error = with_oracle(means(rows, "error"))
        self.bac = with_oracle(means(rows, "bac"))
        self.accuracy = means(rows, "accuracy")
        self.fits = certificates(rows)
        self.widths = settings["mrc"]["lambda_0"]

    def gains(
        self, frame: pd.DataFrame, new: str, old: str, sign: float, clean: bool = False
    ) -> pd.Series:
        """How much better ``new`` is than ``old`` in each case; positive is better."""
        if new not in frame or old not in frame:
            return pd.Series(dtype=float)
        kept = frame[(frame.index.get_level_values("setting") == CLEAN) == clean]
        return (sign * (kept[new] - kept[old])).dropna()


def verdict_of(share: float) -> str:
    """Verdict on a statement that is true in ``share`` of the cases."""
    if not np.isfinite(share):
        return "no data"
    return "holds" if share >= HOLDS else "partly" if share >= PARTLY else "fails"


def write_claims(
    published: str | Path,
    rows: Iterable[str | Path],
    out: str | Path,
    *,
    settings: Mapping[str, Any],
) -> None:
    """Answer every question of the list and write the table.

    Parameters
    ----------
    published : str or Path
        Columns claim (a rule of this module), place, says.
    rows : iterable of path
        Tidy rows of all three steps.
    out : str or Path
    settings : mapping
        Section ``chain`` of the configuration.
    """
    write_csv(judge_questions(pd.read_csv(published), read_results(rows), settings), out)


def judge_questions(
    published: pd.DataFrame, rows: pd.DataFrame, settings: Mapping[str, Any]
) -> pd.DataFrame:
    """Answer, evidence and verdict for every question.

    Parameters
    ----------
    published : DataFrame
        Columns claim, place, says.
    rows : DataFrame
        Tidy rows of the chain.
    settings : mapping
        Section ``chain`` of the configuration.

    Returns
    -------
    DataFrame
        Columns claim (the statement that is asked about), place, published ("-": no paper
        has the chain), ours, evidence, verdict.

    Raises
    ------
    DataError
        If a question has no rule here.
    """
    evidence = Evidence(rows, settings)
    table = []
    for claim, place, says in published[["claim", "place", "says"]].itertuples(index=False):
        if claim not in RULES:
            raise DataError(
                f"chain_claims.csv asks {claim!r}, which no rule answers; take the line out or "
                f"use one of {', '.join(RULES)}"
            )
        table.append((says, place, "-", *RULES[claim](evidence)))
    columns = ["claim", "place", "published", "ours", "evidence", "verdict"]
    return pd.DataFrame(table, columns=columns)


def _compare(gain: pd.Series, margin: float = 0.0) -> Answer:
    """Whether something is better, or behind by at most ``margin``, case by case."""
    if gain.empty:
        return _NOTHING
    true = gain > 0 if margin == 0 else gain >= -margin
    better, worse = int((gain > _CLEAR).sum()), int((gain < -_CLEAR).sum())
    by_set = gain.groupby(level="dataset").mean().sort_values()
    hurt = [f"{name} ({value:+.3f})" for name, value in by_set.items() if value < -_CLEAR]
    sentence = (
        f"{len(gain)} cases (data set x corruption): better by more than {_CLEAR:g} in {better}, "
        f"worse in {worse}; mean {gain.mean():+.3f}; best {by_set.index[-1]} "
        f"({by_set.iloc[-1]:+.3f}); "
        f"{'it hurts ' + ', '.join(hurt) if hurt else 'no data set loses on average'}"
    )
    share = float(true.mean())
    return Answer(f"true in {share:.1%} of the cases", sentence, verdict_of(share))


def _share(values: pd.Series, what: str, by: pd.Series) -> Answer:
    """How often something holds, and where it holds least."""
    if values.empty:
        return _NOTHING
    rates = values.groupby(by).mean().sort_values()
    low = ", ".join(f"{name} {rate:.0%}" for name, rate in rates.head(3).items())
    share = float(values.mean())
    sentence = f"{int(values.sum())} of {len(values)} {what}; least often: {low}"
    return Answer(f"true in {share:.1%}", sentence, verdict_of(share))


def _method(frame: str, new: str, old: str, margin: float = 0.0, clean: bool = False) -> Rule:
    def rule(evidence: Evidence) -> Answer:
        sign = -1.0 if frame == "error" else 1.0
        first, second = (name.replace("WIDTH", str(evidence.widths[0])) for name in (new, old))
        gain = evidence.gains(getattr(evidence, frame), first, second, sign, clean)
        return _compare(gain, margin)

    return rule


def _labels_clean(evidence: Evidence) -> Answer:
    frame = evidence.accuracy
    if "labels:corrected" not in frame:
        return _NOTHING
    changed = 1.0 - frame["labels:corrected"].xs(CLEAN, level="setting")
    sets = pd.Series(changed.index, index=changed.index)
    answer = _share(changed <= 0.05, "data sets", sets)
    listed = ", ".join(f"{name} {share:.1%}" for name, share in changed.sort_values().items())
    return answer._replace(evidence=f"labels changed although all were right: {listed}")


def _ranks(labels: str) -> Rule:
    def rule(evidence: Evidence) -> Answer:
        frame = means(evidence.rows, "rank_span")
        name = f"grid:{labels}"
        if name not in frame:
            return _NOTHING
        values = frame[name][frame.index.get_level_values("setting") != CLEAN].dropna()
        if values.empty:
            return _NOTHING
        sets = pd.Series(values.index.get_level_values("dataset"), index=values.index)
        answer = _share(values > 0.5, "cases", sets)
        alphas = values.groupby(values.index.get_level_values("setting")).mean().sort_values()
        ends = (
            f"; mean correlation {values.mean():.2f}, lowest at {alphas.index[0]} "
            f"({alphas.iloc[0]:.2f}), highest at {alphas.index[-1]} ({alphas.iloc[-1]:.2f})"
        )
        return answer._replace(evidence=answer.evidence + ends)

    return rule


def _certificate(labels: str, clean: bool, column: str = "holds", width: int = 0) -> Rule:
    def rule(evidence: Evidence) -> Answer:
        fits = evidence.fits
        kept = fits[(fits["labels"] == labels) & ((fits["setting"] == CLEAN) == clean)]
        kept = kept[kept["lambda_0"] == evidence.widths[width]]
        answer = _share(kept[column], "classifiers", kept["dataset"])
        if kept.empty:
            return answer
        sizes = (
            f"; mean risk {kept['risk'].mean():.3f}, mean test error {kept['error'].mean():.3f}, "
            f"lambda_0 = {evidence.widths[width]:g}"
        )
        return answer._replace(evidence=answer.evidence + sizes)

    return rule


def _certificate_repaired(evidence: Evidence) -> Answer:
    fits = evidence.fits
    kept = fits[(fits["setting"] != CLEAN) & (fits["lambda_0"] == evidence.widths[0])]
    rates = kept.groupby(["dataset", "setting", "labels"])["holds"].mean().unstack("labels")
    if not {"given", "corrected"} <= set(rates):
        return _NOTHING
    answer = _compare((rates["corrected"] - rates["given"]).dropna(), margin=1e-9)
    by_alpha = rates.groupby(rates.index.get_level_values("setting").str.split().str[0]).mean()
    listed = "; ".join(
        f"{name}: {row['given']:.0%} before, {row['corrected']:.0%} after"
        for name, row in by_alpha.iterrows()
    )
    return answer._replace(evidence=f"{listed}; {answer.evidence}")


def _ccg_equals_lp(evidence: Evidence) -> Answer:
    keys = ["dataset", "setting", "labels", "lambda_0", "repeat"]
    both = evidence.fits.merge(certificates(evidence.rows, "lp"), on=keys, suffixes=("", "_lp"))
    if both.empty:
        return _NOTHING
    tolerance = evidence.settings["mrc"]["eps_1"]
    apart = (both["risk"] - both["risk_lp"]).abs()
    share = float((apart <= tolerance).mean())
    verdict = "holds" if share == 1 else "fails"
    sentence = f"{len(both)} pairs; largest difference {apart.max():.1e}, tolerance {tolerance:g}"
    return Answer(f"true in {share:.1%}", sentence, verdict)


def _faster(fast: str, slow: str) -> Rule:
    def rule(evidence: Evidence) -> Answer:
        seconds = median_seconds(evidence.rows, evidence.settings)[[fast, slow]].dropna()
        if seconds.empty:
            return _NOTHING
        ratio = (seconds[slow] / seconds[fast]).sort_values()
        share = float((ratio > 1).mean())
        sentence = (
            f"medians by data set: {fast} {seconds[fast].median():.3f} s, {slow} "
            f"{seconds[slow].median():.3f} s; ratio {ratio.iloc[0]:.1f} ({ratio.index[0]}) to "
            f"{ratio.iloc[-1]:.1f} ({ratio.index[-1]})"
        )
        return Answer(f"ratio {ratio.median():.1f}", sentence, verdict_of(share))

    return rule


_MRC = "mrc:{}:ccg:WIDTH"
_SPAN = "svm:{}:{}:span"

#: One rule a question; each is true case by case, and the share of cases gives the verdict.
RULES: dict[str, Rule] = {
    "labels_accuracy": _method("accuracy", "labels:corrected", "labels:given"),
    "labels_bac": _method("bac", "labels:corrected", "labels:given"),
    "labels_clean": _labels_clean,
    "chain_bac": _method("bac", CHAIN, PLAIN),
    "chain_error": _method("error", CHAIN, PLAIN),
    "chain_near_clean": _method("error", CHAIN, ORACLE, margin=0.02),
    "mrc_bac": _method("bac", _MRC.format("corrected"), _MRC.format("given")),
    "mrc_error": _method("error", _MRC.format("corrected"), _MRC.format("given")),
    "clean_cost": _method("error", CHAIN, PLAIN, margin=0.01, clean=True),
    "weights_given": _method(
        "error", _SPAN.format("given", "votes"), _SPAN.format("given", "uniform")
    ),
    "weights_corrected": _method(
        "error", _SPAN.format("corrected", "votes"), _SPAN.format("corrected", "uniform")
    ),
    "span_like_cv": _method("error", "svm:given:either:span", "svm:given:either:cv", margin=0.01),
    "span_near_best": _method(
        "error", "svm:given:either:span", "svm:given:either:best", margin=0.02
    ),
    "span_ranks_given": _ranks("given"),
    "span_ranks_corrected": _ranks("corrected"),
    "checked_rule": _method("error", "svm:given:either:checked", "svm:given:either:span"),
    "certificate_clean": _certificate("given", clean=True),
    "certificate_given": _certificate("given", clean=False),
    "certificate_corrected": _certificate("corrected", clean=False),
    "certificate_repaired": _certificate_repaired,
    "certificate_sum": _certificate("given", clean=False, column="holds_with_label_errors"),
    "certificate_wider": _certificate("corrected", clean=False, width=-1),
    "ccg_equals_lp": _ccg_equals_lp,
    "ccg_faster": _faster("MRC by generation", "MRC in full"),
    "span_cheaper": _faster("SVM grid: span-rule", "SVM grid: cross-validate"),
    "correction_cheap": _faster("SubSVMs: correct", "SVM grid: cross-validate"),
}
