"""How large a run is, and how long it takes on more cores: from its own benchmark files.

With W the summed time of all jobs and P the longest chain of jobs that wait for each other, a run
on p equal cores takes at least max(W / p, P), and with any order of jobs that leaves no core idle
at most W / p + (1 - 1 / p) P (Graham 1966, "Bounds for certain multiprocessing anomalies").
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from marginlab.errors import DataError

__all__ = [
    "CORES",
    "busy_seconds",
    "chain",
    "import_seconds",
    "project",
    "read_jobs",
    "render_scale",
    "rule_graph",
    "sum_by_rule",
]

CORES = (1, 2, 8, 64, 512)
MODULES = ("sys", "numpy", "pandas", "numba", "matplotlib.pyplot", "sklearn.svm")
_DONE = re.compile(r"^done in ([\d.]+) s$", re.MULTILINE)
_NODE = re.compile(r'(\d+)\[label *= *"(\w+)')
_EDGE = re.compile(r"(\d+) -> (\d+)")
Graph = Mapping[str, set[str]]


def read_jobs(results: str | Path) -> pd.DataFrame:
    """Every job of a run that left a benchmark file.

    Parameters
    ----------
    results : str or Path
        ``results/<run>``.

    Returns
    -------
    DataFrame
        Columns rule; wall, cpu, work [s] (work: as the job's log says, without starting Python
        and importing); memory [MB]; end [s since the epoch].

    Raises
    ------
    DataError
        If there is no benchmark file.
    """
    folder = Path(results) / "benchmarks"
    rows = []
    for path in sorted(folder.rglob("*.tsv")):
        last = pd.read_csv(path, sep="\t", na_values=["-", "NA"]).iloc[-1]
        place = path.relative_to(folder)
        log = (Path(results) / "logs" / place).with_suffix(".log")
        work = _DONE.findall(log.read_text(encoding="utf-8")) if log.exists() else []
        rows.append(
            (
                place.parts[0].removesuffix(".tsv"),
                float(last["s"]),
                float(last.get("cpu_time", np.nan)),
                float(work[-1]) if work else np.nan,
                float(last["max_rss"]),
                path.stat().st_mtime,
            )
        )
    if not rows:
        raise DataError(f"{folder} holds no benchmark files; run the workflow first")
    return pd.DataFrame(rows, columns=["rule", "wall", "cpu", "work", "memory", "end"])


def sum_by_rule(jobs: pd.DataFrame) -> pd.DataFrame:
    """Jobs, times and peak memory of each rule, the most expensive first."""
    jobs = jobs.assign(start_up=(jobs["wall"] - jobs["work"]).clip(lower=0.0))
    grouped = jobs.groupby("rule").agg(
        jobs=("wall", "size"),
        wall=("wall", "sum"),
        longest=("wall", "max"),
        start_up=("start_up", "sum"),
        memory=("memory", "max"),
    )
    return grouped.sort_values("wall", ascending=False).reset_index()


def busy_seconds(jobs: pd.DataFrame) -> float:
    """Time in which at least one job ran: the run's length, pauses between resumes apart."""
    spans = sorted(zip(jobs["end"] - jobs["wall"], jobs["end"], strict=True))
    total, until = 0.0, -np.inf
    for start, end in spans:
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def rule_graph(root: str | Path, overlays: Sequence[str] = ()) -> dict[str, set[str]]:
    """Rules that each rule waits for, as Snakemake says.

    Parameters
    ----------
    root : str or Path
        The project.
    overlays : sequence of str
        Files behind --configfile, such as "config/quick.yaml".
    """
    command = [sys.executable, "-m", "snakemake", "--rulegraph", "--forceall"]
    command += ["--config", "unavailable=skip"]
    if overlays:
        command += ["--configfile", *overlays]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    if done.returncode:
        raise DataError(f"Snakemake could not draw the rules: {done.stderr.strip()[-300:]}")
    names = dict(_NODE.findall(done.stdout))
    graph: dict[str, set[str]] = {name: set() for name in names.values()}
    for source, target in _EDGE.findall(done.stdout):
        graph[names[target]].add(names[source])
    return graph


def chain(jobs: pd.DataFrame, graph: Graph) -> tuple[float, list[str]]:
    """The longest chain: its time and its rules, the longest job of a rule standing for it."""
    longest = jobs.groupby("rule")["wall"].max().to_dict()

    @lru_cache(maxsize=None)
    def until(rule: str) -> tuple[float, tuple[str, ...]]:
        before = max((until(name) for name in sorted(graph.get(rule, ()))), default=(0.0, ()))
        return before[0] + longest.get(rule, 0.0), (*before[1], rule)

    seconds, rules = max(until(rule) for rule in {*graph, *longest})
    return seconds, [rule for rule in rules if rule in longest]


def project(jobs: pd.DataFrame, graph: Graph, cores: Sequence[int] = CORES) -> pd.DataFrame:
    """Bounds on the time of the run by number of cores.

    Returns
    -------
    DataFrame
        Columns cores; at_least, at_most [s]; limited_by ("the work" or a rule); memory [MB] if
        the largest jobs meet.
    """
    work = float(jobs["wall"].sum())
    path, rules = chain(jobs, graph)
    longest = jobs.groupby("rule")["wall"].max()
    limit = max(rules, key=lambda rule: longest[rule])
    memory = jobs["memory"].sort_values(ascending=False)
    rows = [
        (
            p,
            max(work / p, path),
            work / p + (1 - 1 / p) * path,
            "the work" if work / p > path else limit,
            float(memory.head(p).sum()),
        )
        for p in cores
    ]
    return pd.DataFrame(rows, columns=["cores", "at_least", "at_most", "limited_by", "memory"])


def import_seconds(modules: Sequence[str], repeats: int = 3) -> dict[str, float]:
    """CPU seconds that a fresh Python takes to start and import a module: medians."""
    found = {}
    for module in modules:
        spent = []
        for _ in range(repeats):
            before = os.times()
            subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
            after = os.times()
            children = (after.children_user, after.children_system)
            spent.append(sum(children) - before.children_user - before.children_system)
        found[module] = float(np.median(spent))
    return found


def render_scale(root: str | Path, run: str) -> str:
    """The sizing page's tables for one run, as Markdown."""
    jobs = read_jobs(Path(root) / "results" / run)
    overlay = Path(root) / "config" / f"{run}.yaml"
    graph = rule_graph(root, [str(overlay)] if overlay.exists() else [])
    path, rules = chain(jobs, graph)
    start_up = (jobs["wall"] - jobs["work"]).clip(lower=0.0).sum()
    total = jobs["wall"].sum()
    texts = [
        f"Run `{run}`: {len(jobs)} jobs, {total / 60:.1f} core minutes, run within "
        f"{busy_seconds(jobs) / 60:.1f} minutes. Starting Python and importing took "
        f"{start_up / 60:.1f} of the core minutes ({start_up / total:.0%}). The longest chain of "
        f"jobs that wait for each other takes {path / 60:.1f} minutes: "
        f"{', '.join(f'`{rule}`' for rule in rules)}.",
        _rule_table(sum_by_rule(jobs)),
        _core_table(project(jobs, graph)),
    ]
    starts = ", ".join(f"`{name}` {value:.1f} s" for name, value in import_seconds(MODULES).items())
    texts.append(f"CPU time of a fresh Python that imports one module: {starts}.")
    return "\n\n".join(texts)


def _rule_table(frame: pd.DataFrame) -> str:
    lines = [
        "| Rule | Jobs | Sum [s] | Longest job [s] | of the sum: start-up [s] | Peak memory [MB] |",
        "| :--- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| `{row.rule}` | {row.jobs} | {row.wall:.1f} | {row.longest:.1f} | {row.start_up:.1f} "
        f"| {row.memory:.0f} |"
        for row in frame.itertuples()
    ]
    return "\n".join(lines)


def _core_table(frame: pd.DataFrame) -> str:
    lines = [
        "| Cores | At least [min] | At most [min] | Limited by | Largest jobs at once [GB] |",
        "| ---: | ---: | ---: | :--- | ---: |",
    ]
    lines += [
        f"| {row.cores} | {row.at_least / 60:.1f} | {row.at_most / 60:.1f} | {row.limited_by} "
        f"| {row.memory / 1000:.1f} |"
        for row in frame.itertuples()
    ]
    return "\n".join(lines)
