"""A job of paper 3: methods compared on one data set, repetition by repetition, in turn."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from marginlab.experiments.mrc_budget import FAILED, OK, OVER_MEMORY, OVER_TIME, Outcome, run_within
from marginlab.experiments.mrc_folds import make_fold, read_pool
from marginlab.experiments.mrc_methods import Answer, Task, method_call, wrong_share
from marginlab.files import write_csv
from marginlab.progress import progress
from marginlab.results import Results, read_results

__all__ = ["CURVE_COLUMNS", "STATUS", "read_runs", "run_job"]

#: Value of the measure "status".
STATUS = {OK: 0, OVER_TIME: 1, OVER_MEMORY: 2, FAILED: 3}
CURVE_COLUMNS = ["dataset", "features", "method", "label", "repeat", "seconds_cpu", "risk"]
#: Settings of a job that may take several values, one after the other.
_VARIED = ("rows", "n_classes", "per_class", "lambda_0", "n_components")


def run_job(
    data: str | Path,
    table: str | Path,
    curves: str | Path,
    *,
    job: Mapping[str, Any],
    methods: Mapping[str, Mapping[str, Any]],
    defaults: Mapping[str, Any],
    run: str,
    seed: int,
) -> None:
    """Run every method of a job and write what came of it.

    Parameters
    ----------
    data : path
        Prepared data set.
    table : path
        Tidy results: objective, bounds, test error, times, memory, sizes, status.
    curves : path
        R^k against CPU seconds for every run of a job with ``curves: true``.
    job : mapping
        features, runs (method -> repetitions), and any of rows, n_classes, per_class,
        lambda_0, n_components (a value, or a list to go through), fraction, budget.
    methods : mapping
        Method's name -> its settings (``mrc.methods`` of the configuration).
    defaults : mapping
        What a job or a method does not set itself.
    run : str
        Name of the run.
    seed : int
        Base seed.
    """
    results = Results(run, "mrc")
    lines: list[dict[str, Any]] = []
    filled = {**defaults, **job}
    for point in _points(filled):
        _run_point(data, {**filled, **point}, methods, results, lines, seed)
    results.write(table)
    write_csv(pd.DataFrame(lines, columns=CURVE_COLUMNS), curves)


def _points(job: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    varied = {key: job[key] for key in _VARIED if isinstance(job[key], list)}
    for values in itertools.product(*varied.values()):
        yield dict(zip(varied, values, strict=True))


def _run_point(
    data: str | Path,
    job: Mapping[str, Any],
    methods: Mapping[str, Mapping[str, Any]],
    results: Results,
    lines: list[dict[str, Any]],
    seed: int,
) -> None:
    subset = {key: job[key] for key in ("rows", "n_classes", "per_class")}
    pool = read_pool(data, seed=seed, **subset)
    for repeat in progress(range(max(job["runs"].values())), f"{pool.name} {job['features']}"):
        fold = make_fold(
            pool,
            job["features"],
            fraction=job["fraction"],
            repeat=repeat,
            seed=seed,
            n_components=job["n_components"],
        )
        task = Task(fold, fold.problem(job["lambda_0"]), job["budget"], job["memory_mb"])
        names = [name for name, count in job["runs"].items() if repeat < count]
        # Each repetition starts with another method, so that none always goes first.
        shift = repeat % len(names)
        for name in names[shift:] + names[:shift]:
            settings = {**job, **methods[name]}
            outcome = run_within(method_call(task, settings), job["budget"], job["memory_mb"])
            tag = _setting(job, task, settings)
            _report(pool.name, name, tag, repeat, outcome)
            _record(results, (pool.name, name, tag, repeat), outcome, task)
            if job["curves"] and outcome.status == OK:
                lines += _curve(pool.name, name, settings, repeat, outcome.value)


def _setting(job: Mapping[str, Any], task: Task, settings: Mapping[str, Any]) -> str:
    fold = task.fold
    facts = {
        "features": job["features"],
        "solver": settings.get("solver", "own"),
        "n": fold.psi_train.shape[0],
        "m": task.problem.phi.n_features,
        "classes": fold.n_classes,
        "lambda_0": job["lambda_0"],
    }
    return ";".join(f"{key}={value}" for key, value in facts.items())


def _report(name: str, method: str, tag: str, repeat: int, outcome: Outcome) -> None:
    print(
        f"{name} {tag} repeat {repeat} {method}: {outcome.status} in {outcome.cpu:.2f} CPU s "
        f"({outcome.seconds:.2f} s) {outcome.message}"
    )


def _record(results: Results, key: tuple[str, str, str, int], outcome: Outcome, task: Task) -> None:
    results.add(*key, "status", STATUS[outcome.status])
    results.add(*key, "seconds", outcome.seconds)
    results.add(*key, "seconds_cpu", outcome.cpu)
    results.add(*key, "peak_mb", outcome.peak_mb)
    if outcome.status != OK:
        return
    answer: Answer = outcome.value
    for measure in ("objective", "lower", "upper", "rounds", "constraints", "features"):
        results.add(*key, measure, getattr(answer, measure), outcome.seconds)
    results.add(*key, "error", wrong_share(task.fold, answer.weights))


def _curve(
    name: str, method: str, settings: Mapping[str, Any], repeat: int, answer: Answer
) -> list[dict[str, Any]]:
    frame = answer.history
    if len(frame) > 400:
        # The subgradient method logs thousands of rows; its curve needs fewer.
        frame = frame.iloc[:: len(frame) // 400 + 1]
    return [
        {
            "dataset": name,
            "features": settings["features"],
            "method": method,
            "label": settings["label"],
            "repeat": repeat,
            "seconds_cpu": row.cpu_seconds,
            "risk": row.risk,
        }
        for row in frame.itertuples()
    ]


def read_runs(paths: list[str]) -> pd.DataFrame:
    """Read jobs' tables, one row a run, the facts of the setting as columns.

    Parameters
    ----------
    paths : list of path

    Returns
    -------
    DataFrame
        Columns job, dataset, method, repeat, features, solver, n, m, width_m, classes and lambda_0,
        and one a measure; NaN where a run has none. First repetitions come first in each job.
    """
    frames = []
    for path in paths:
        frame = read_results([path])
        keys = ["dataset", "method", "setting", "repeat"]
        wide = frame.set_index([*keys, "measure"])["value"].unstack("measure").reset_index()
        # Text has another m in each repetition, so settings alone would not keep their order.
        wide = wide.sort_values("repeat", kind="stable")
        frames.append(wide.assign(job=Path(path).stem))
    runs = pd.concat(frames, ignore_index=True)
    facts = runs["setting"].str.split(";").map(lambda parts: dict(p.split("=") for p in parts))
    columns = pd.DataFrame(facts.tolist())
    numbers = ["n", "m", "classes", "lambda_0"]
    columns[numbers] = columns[numbers].astype(float)
    named = runs.drop(columns=["setting", "features"], errors="ignore")
    columns["width_m"] = columns["m"].where(columns["features"] != "text", 0.0)
    named = named.assign(columns_used=runs.get("features"))
    return pd.concat([named, columns], axis=1)
