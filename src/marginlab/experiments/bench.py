"""Timings of ours against peers: one table for all parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from marginlab.errors import UserError
from marginlab.figures import COLORS, new_figure, save_figure
from marginlab.tables import write_table

__all__ = ["BENCH_COLUMNS", "read_benches", "report_benches", "run_bench"]

BENCH_COLUMNS = (
    "comparison",
    "size",
    "ours_seconds",
    "peer_seconds",
    "ratio",
    "ours_peak_mb",
    "peer_peak_mb",
)


def run_bench(part: str, *, quick: bool, mirror: str = "", cache: str = "") -> pd.DataFrame:
    """Run the timings of one part.

    Parameters
    ----------
    part : str
        "data", "subsvms", "grid", "span", "mrc-samples", "mrc-classes" or "mrc-text".
    quick : bool
        Small sizes, seconds instead of minutes.
    mirror, cache : str
        Folders of data; empty for the environment's.

    Returns
    -------
    DataFrame
        Columns of `BENCH_COLUMNS`; ratio is the peer's time over ours.
    """
    for name, folder in (("MARGINLAB_MIRROR", mirror), ("MARGINLAB_CACHE", cache)):
        if folder:
            os.environ[name] = folder
    frame = _driver(part)(quick)
    return frame.reindex(columns=list(BENCH_COLUMNS)).assign(part=part)


def _driver(part: str) -> Callable[[bool], pd.DataFrame]:
    # Each imports its own peers, so a part is imported only when it runs.
    if part == "data":
        from marginlab.experiments.bench_data import run as run_data

        return run_data
    if part == "subsvms":
        from marginlab.experiments.bench_subsvms import run as run_subsvms

        return run_subsvms
    if part == "grid":
        from marginlab.experiments.bench_grid import run as run_grid

        return run_grid
    if part == "span":
        from marginlab.experiments.bench_span import run as run_span

        return run_span
    if part in ("mrc-samples", "mrc-classes", "mrc-text"):
        from marginlab.experiments.bench_mrc import run as run_mrc

        return lambda quick: run_mrc(quick, part.removeprefix("mrc-"))
    raise UserError(
        f"there is no bench {part!r}; choose data, subsvms, grid, span, mrc-samples, "
        "mrc-classes or mrc-text"
    )


def read_benches(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Join the parts' timings."""
    return pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)


def report_benches(frame: pd.DataFrame, table: str | Path, figure: str | Path) -> None:
    """Write the table and the figure of all timings.

    Parameters
    ----------
    frame : DataFrame
        Columns of `BENCH_COLUMNS` and ``part``.
    table, figure : str or Path
        Stems of the files.
    """
    shown = frame[["part", *BENCH_COLUMNS]].rename(
        columns={
            "ours_seconds": "ours [s]",
            "peer_seconds": "peer [s]",
            "ratio": "peer / ours",
            "ours_peak_mb": "ours peak [MB]",
            "peer_peak_mb": "peer peak [MB]",
        }
    )
    write_table(
        shown,
        table,
        "Time and peak memory of ours and of peers, same run, one thread, medians",
        float_format="%.4g",
    )
    _draw(frame.dropna(subset=["ratio"]), figure)


def _draw(frame: pd.DataFrame, figure: str | Path) -> None:
    frame = frame.iloc[::-1].reset_index(drop=True)
    labels = [f"{row.comparison} [{row.size_label}]" for row in _labelled(frame).itertuples()]
    fig, axes = new_figure(1, 1, size=(8.0, max(2.5, 0.2 * len(frame) + 1.0)))
    axis = axes[0, 0]
    parts = list(dict.fromkeys(frame["part"]))
    for index, part in enumerate(reversed(parts)):
        rows = np.flatnonzero(frame["part"] == part)
        ratios = frame["ratio"].to_numpy()[rows]
        axis.barh(rows, ratios - 1, left=1, color=COLORS[index % len(COLORS)], label=part)
    axis.set_yticks(range(len(frame)), labels, fontsize=6)
    axis.axvline(1, color="black", linewidth=0.8)
    axis.set(xscale="log", xlabel="peer's time / our time (right of 1: ours is faster)")
    # A logarithmic axis of bars begins at 1 by itself and would hide where ours is slower.
    axis.set_xlim(min(0.5, 0.7 * frame["ratio"].min()), max(2.0, 1.5 * frame["ratio"].max()))
    axis.set_ylim(-0.8, len(frame) - 0.2)
    axis.grid(axis="y", visible=False)
    axis.legend(loc="lower right")
    save_figure(fig, figure)


def _labelled(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(size_label=frame["size"].astype(str))
