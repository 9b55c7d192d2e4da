"""What a run says about itself: verdict tables, deviations, run times, provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from marginlab.config import read_yaml
from marginlab.errors import ConfigError
from marginlab.figures import COLORS, new_figure, save_figure
from marginlab.provenance import environment
from marginlab.tables import write_table

__all__ = [
    "draw_differences",
    "read_deviations",
    "read_runtimes",
    "write_provenance",
    "write_runtimes",
]

_FIELDS = ("id", "paper", "place", "paper_says", "we_do", "why", "evidence")


def read_deviations(path: str | Path) -> pd.DataFrame:
    """The register of deviations as a frame.

    Raises
    ------
    ConfigError
        If an entry lacks a field, or has one too many.
    """
    entries: list[Mapping[str, Any]] = read_yaml(path) or []
    for number, entry in enumerate(entries, start=1):
        if set(entry) != set(_FIELDS):
            wrong = sorted(set(entry) ^ set(_FIELDS))
            raise ConfigError(
                f"entry {number} of {path} must have exactly the fields {', '.join(_FIELDS)}; "
                f"mend {', '.join(wrong)}"
            )
    rows = [[" ".join(str(entry[field]).split()) for field in _FIELDS] for entry in entries]
    return pd.DataFrame(rows, columns=list(_FIELDS))


def read_runtimes(folder: str | Path) -> pd.DataFrame:
    """Sum Snakemake's benchmark files by rule.

    Parameters
    ----------
    folder : str or Path
        Holds ``<rule>/<job>.tsv`` or ``<rule>.tsv``.

    Returns
    -------
    DataFrame
        Columns rule, jobs, wall seconds (sum, longest), CPU seconds, peak memory in MB.
    """
    rows = []
    for path in sorted(Path(folder).rglob("*.tsv")):
        table = pd.read_csv(path, sep="\t", na_values=["-", "NA"])
        rule = path.relative_to(folder).parts[0].removesuffix(".tsv")
        last = table.iloc[-1]
        rows.append((rule, last["s"], last.get("cpu_time", np.nan), last["max_rss"]))
    frame = pd.DataFrame(rows, columns=["rule", "wall", "cpu", "memory"])
    grouped = frame.groupby("rule").agg(
        jobs=("wall", "size"),
        wall=("wall", "sum"),
        longest=("wall", "max"),
        cpu=("cpu", "sum"),
        memory=("memory", "max"),
    )
    return grouped.sort_values("wall", ascending=False).reset_index()


def write_runtimes(folder: str | Path, table: str | Path, figure: str | Path) -> None:
    """Table and figure of the time and memory of every rule."""
    frame = read_runtimes(folder)
    total = frame["wall"].sum()
    shown = frame.rename(
        columns={
            "wall": "wall, sum [s]",
            "longest": "longest job [s]",
            "cpu": "CPU, sum [s]",
            "memory": "peak memory [MB]",
        }
    )
    write_table(
        shown,
        table,
        f"Time and memory by rule: {int(frame['jobs'].sum())} jobs, {total / 60:.1f} core minutes",
        "Sums over the jobs of a rule, one core each; from the benchmark files of this run.",
        float_format="%.1f",
    )
    top = frame.head(15).iloc[::-1]
    fig, axes = new_figure(1, 1, size=(6.4, 0.28 * len(top) + 1.0))
    axes[0, 0].barh(top["rule"], top["wall"] / 60, color=COLORS[0])
    axes[0, 0].set_xlabel("sum over jobs [minutes of one core]")
    axes[0, 0].set_title("Where the run's time goes")
    axes[0, 0].grid(axis="y", visible=False)
    save_figure(fig, figure)


def write_provenance(stem: str | Path, run: str, seed: int, data: Sequence[str | Path]) -> None:
    """Table of versions, machine, seed and the data files' sums."""
    facts = {"run": run, "base seed": str(seed), **environment()}
    rows = [("run", key, value) for key, value in facts.items()]
    rows += [("data", Path(path).stem, _sums(path)) for path in data]
    frame = pd.DataFrame(rows, columns=["kind", "what", "value"])
    write_table(frame, stem, "What this run was made with")


def _sums(path: str | Path) -> str:
    import hashlib

    return f"sha256 {hashlib.sha256(Path(path).read_bytes()).hexdigest()} (prepared file)"


def draw_differences(scores: pd.DataFrame, figure: str | Path) -> None:
    """Every published score against ours, and the spread of the differences by method."""
    known = scores.dropna(subset=["ours"])
    methods = list(dict.fromkeys(known["method"]))
    fig, axes = new_figure(1, 2, size=(7.2, 3.4))
    left, right = axes[0]
    for index, method in enumerate(methods):
        rows = known[known["method"] == method]
        left.plot(
            rows["published"],
            rows["ours"],
            linestyle="none",
            marker="os^Dv"[index % 5],
            color=COLORS[index % len(COLORS)],
            alpha=0.5,
            markersize=3,
            label=method,
        )
    left.plot([0, 1], [0, 1], color="#555555", linewidth=0.8)
    left.set(xlabel="published score", ylabel="our score", title="Scores, Tables 2, 4, 5, 6")
    if methods:
        left.legend(markerscale=1.6)
    sizes = [known.loc[known["method"] == m, "difference"].to_numpy() for m in methods]
    if methods:  # a run of other data sets has none of the published numbers
        right.boxplot(sizes, orientation="horizontal", tick_labels=methods, widths=0.6, sym=".")
    right.axvspan(-0.02, 0.02, color="#dddddd", zorder=0)
    right.set(xlabel="ours - published (band: agrees within .02)", title="Differences by method")
    right.invert_yaxis()
    save_figure(fig, figure)
