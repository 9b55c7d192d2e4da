"""Published against ours: every number and every claim, with a verdict."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from marginlab.errors import DataError

__all__ = [
    "AGREES",
    "CLAIM_COLUMNS",
    "NEAR",
    "compare_scores",
    "compare_times",
    "join_claims",
    "print_summary",
    "summarise",
]

#: A score agrees within this difference (the papers print two digits) ...
AGREES = 0.02
#: ... and is near within this one.
NEAR = 0.05

CLAIM_COLUMNS = ("claim", "place", "published", "ours", "evidence", "verdict")
_KEY = ["measure", "setting", "method", "dataset"]
_TIMES = {"train_seconds", "train_seconds_mean"}
_OUR_TIME = "seconds_train"
_NO_DATA = "no data"


def compare_scores(published: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Published scores beside ours.

    Parameters
    ----------
    published : DataFrame
        Columns paper_table, measure, setting, method, dataset, value.
    ours : DataFrame
        Tidy results (see `marginlab.results`); repeats are averaged.

    Returns
    -------
    DataFrame
        One row a published score: published, ours, difference, spread (standard
        deviation over repeats), repeats, verdict (agrees within .02, near within .05,
        differs, no data).
    """
    scores = published[~published["measure"].isin(_TIMES)]
    groups = ours.groupby(_KEY)["value"]
    means = groups.agg(ours="mean", spread=_spread, repeats="size").reset_index()
    joined = scores.rename(columns={"value": "published"}).merge(means, on=_KEY, how="left")
    joined["difference"] = joined["ours"] - joined["published"]
    joined["verdict"] = [_score_verdict(value) for value in joined["difference"]]
    return joined


def _spread(values: pd.Series) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def _score_verdict(difference: float) -> str:
    if not np.isfinite(difference):
        return _NO_DATA
    # Published scores are rounded to two digits: half a digit is no difference,
    # and a sum of binary fractions must not turn .02 into .0200000001.
    size = abs(difference) - 1e-9
    return "agrees" if size <= AGREES else "near" if size <= NEAR else "differs"


def compare_times(published: pd.DataFrame, ours: pd.DataFrame) -> pd.DataFrame:
    """Published training times beside ours, as ratios to SubSVMs' own time.

    Seconds of two machines do not compare; the order does. A row agrees when the
    method is slower (or faster) than SubSVMs here as in the paper.

    Returns
    -------
    DataFrame
        One row a published time: seconds and ratio to SubSVMs, published and ours;
        verdict agrees, differs or no data.
    """
    times = published[published["measure"].isin(_TIMES)].rename(columns={"value": "published"})
    joined = times.merge(_our_times(ours), on=["setting", "method", "dataset"], how="left")
    for side in ("published", "ours"):
        own = joined[joined["method"] == "SubSVMs"].set_index(["paper_table", "setting", "dataset"])
        keys = pd.MultiIndex.from_frame(joined[["paper_table", "setting", "dataset"]])
        joined[f"{side}_ratio"] = joined[side].to_numpy() / own[side].reindex(keys).to_numpy()
    joined["verdict"] = [
        _time_verdict(row.published_ratio, row.ours_ratio, row.method, row.published, row.ours)
        for row in joined.itertuples()
    ]
    return joined


def _our_times(ours: pd.DataFrame) -> pd.DataFrame:
    rows = ours[ours["measure"] == _OUR_TIME]
    each = rows.groupby(["setting", "method", "dataset"])["value"].mean().rename("ours")
    noisy = rows[rows["setting"].isin(["alpha=1.0", "alpha=0.5", "alpha=0.0"])]
    mean = noisy.groupby(["method", "dataset"])["value"].mean().rename("ours").reset_index()
    mean["setting"] = "mean over corruptions"
    return pd.concat([each.reset_index(), mean], ignore_index=True)


def _time_verdict(
    published: float, ours: float, method: str, seconds_published: float, seconds_ours: float
) -> str:
    if method == "SubSVMs":
        if not np.isfinite(seconds_ours):
            return _NO_DATA
        return "agrees" if seconds_ours <= seconds_published else "differs"
    if not np.isfinite(ours):
        return _NO_DATA
    return "agrees" if (published >= 1) == (ours >= 1) else "differs"


def join_claims(paths: Mapping[str, str | Path]) -> pd.DataFrame:
    """The papers' claims with our evidence, one frame.

    Parameters
    ----------
    paths : mapping
        Paper name to its claims file (columns of `CLAIM_COLUMNS`).
    """
    frames = []
    for paper, path in paths.items():
        frame = pd.read_csv(path, keep_default_na=False)
        if list(frame.columns) != list(CLAIM_COLUMNS):
            raise DataError(f"{path} is not a claims table; delete it and run the workflow again")
        frames.append(frame.assign(paper=paper))
    if not frames:
        return pd.DataFrame(columns=["paper", *CLAIM_COLUMNS])
    return pd.concat(frames, ignore_index=True)[["paper", *CLAIM_COLUMNS]]


def summarise(scores: pd.DataFrame, times: pd.DataFrame, claims: pd.DataFrame) -> pd.DataFrame:
    """Counts of verdicts: a row a published table, and a row a paper's claims.

    Returns
    -------
    DataFrame
        Columns paper, item, values, agree, near, differ, no data, mean and largest
        absolute difference (scores only).
    """
    rows = [
        _score_row(f"Table {table} ({measure})", group)
        for (table, measure), group in scores.groupby(["paper_table", "measure"])
    ]
    rows += [
        _count_row("subsvms", f"Table {table} (training times, order)", group["verdict"])
        for table, group in times.groupby("paper_table")
    ]
    rows += [
        _count_row(str(paper), "claims of the text", group["verdict"])
        for paper, group in claims.groupby("paper", sort=False)
    ]
    return pd.DataFrame(rows)


def _score_row(item: str, group: pd.DataFrame) -> dict[str, Any]:
    size = group["difference"].abs()
    row = _count_row("subsvms", item, group["verdict"])
    row["mean |difference|"] = float(size.mean()) if size.notna().any() else np.nan
    row["largest |difference|"] = float(size.max()) if size.notna().any() else np.nan
    return row


def _count_row(paper: str, item: str, verdicts: pd.Series) -> dict[str, Any]:
    words: dict[str, Sequence[str]] = {
        "agree": ("agrees", "holds"),
        "near": ("near", "partly"),
        "differ": ("differs", "fails"),
        "no data": (_NO_DATA,),
    }
    counts = {name: int(verdicts.isin(list(those)).sum()) for name, those in words.items()}
    return {
        "paper": paper,
        "item": item,
        "values": len(verdicts),
        **counts,
        "mean |difference|": np.nan,
        "largest |difference|": np.nan,
    }


def print_summary(run: str, brief: bool = False, stream: TextIO | None = None) -> None:
    """Print the verdicts of a run.

    Parameters
    ----------
    run : str
        "paper" or "quick".
    brief : bool
        Ten lines at most, instead of the whole summary.
    stream : text file, optional
        Standard output by default.

    Raises
    ------
    DataError
        If the run has no summary yet.
    """
    out = sys.stdout if stream is None else stream
    path = Path("results", run, "compare", "summary.csv")
    if not path.exists():
        raise DataError(f"{path} does not exist; run `make` (quick) or `make paper` first")
    summary = pd.read_csv(path)
    if not brief:
        out.write(path.with_suffix(".md").read_text(encoding="utf-8"))
        return
    out.write(f"run {run!r}: published numbers and claims against ours\n")
    for paper, group in summary.groupby("paper", sort=False):
        numbers = group[group["item"] != "claims of the text"]
        claims = group[group["item"] == "claims of the text"]
        counts = _line("values", numbers) + _line("claims", claims)
        out.write(f"  {paper}: {counts.rstrip()}\n")
    out.write(f"  full table: {path.with_suffix('.md')}\n")


def _line(what: str, group: pd.DataFrame) -> str:
    if group.empty:
        return ""
    total = group[["values", "agree", "near", "differ", "no data"]].sum()
    return (
        f"{total['values']} {what}: {total['agree']} agree, {total['near']} near, "
        f"{total['differ']} differ, {total['no data']} no data. "
    )
