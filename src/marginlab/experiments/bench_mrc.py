"""Constraint generation and our interior point against whole linear programs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.optimize import linprog
from sklearn.model_selection import train_test_split

from marginlab.datasets import load_dataset
from marginlab.errors import DataError, SolverError
from marginlab.experiments.isolated import Run, run_apart
from marginlab.mrc.ccg import CcgOptions, solve_ccg
from marginlab.mrc.choice import MANY_FEATURES, choose
from marginlab.mrc.compact import solve_compact
from marginlab.mrc.estimates import MrcProblem, make_problem
from marginlab.mrc.estimator import MASTERS
from marginlab.mrc.features import FourierFeatures, hstack_ones, unique_rows
from marginlab.mrc.full_lp import all_constraints, solve_full_lp
from marginlab.mrc.ipm import solve_interior

__all__ = ["problem_of", "run"]

LIMIT = 300.0  # seconds a run may take
MEMORY_MB = 12_000.0  # memory that a whole program may need
LONG = 20.0  # a peer slower than this is not repeated
REPEATS = 3
MRCPY = "MARGINLAB_MRCPY_PYTHON"  # interpreter with mrcpy 3.0.0, which needs its own packages

Solve = Callable[[MrcProblem], float]


def run(quick: bool, group: str) -> pd.DataFrame:
    """Time generation against whole linear programs, in turn, each solve in its own process.

    Sets that are not at hand are left out; so is a peer that finds no solution within
    300 s or 12 GB, whose row then says so. The ratio of a peer that was stopped by its
    time is a lower bound: the CPU seconds it had used over ours.

    Parameters
    ----------
    quick : bool
        Small sizes, seconds instead of an hour.
    group : {"samples", "classes", "text"}
        Many samples; many classes, and mrcpy; sparse text with many columns.

    Returns
    -------
    DataFrame
        Columns comparison, size, ours_seconds, peer_seconds, ratio, ours_peak_mb,
        peer_peak_mb. Seconds are CPU seconds of one thread.
    """
    rows: list[dict[str, object]] = []
    for case in _cases(quick)[group]:
        try:
            problem = problem_of(**case["data"])
        except DataError:
            continue
        long: dict[str, Run] = {}
        rows += [_row(case["label"], problem, ours, peer, long) for ours, peer in case["pairs"]]
    if group == "classes":
        rows.append(_mrcpy(quick))
    return pd.DataFrame(rows)


def problem_of(
    name: str,
    *,
    fourier: int = 0,
    scaled: bool = False,
    lambda_0: float = 0.01,
    n: int = 0,
    classes: int = 0,
    per_class: int = 0,
    text: bool = False,
) -> MrcProblem:
    """Training fold 0 (80%, stratified) of a data set as a minimax risk problem.

    Parameters
    ----------
    name : str
        Data set of the registry.
    fourier : int
        Number of random Fourier features; 0 keeps the columns.
    scaled : bool
        Standardise the columns.
    lambda_0 : float
    n : int
        Number of samples, drawn in the classes' shares; 0 keeps the fold.
    classes, per_class : int
        Keep the first classes, and so many samples of each; 0 keeps all.
    text : bool
        Logarithm of counts, rows of length one, unused columns dropped.
    """
    data = load_dataset(name)
    X, y = data.X_train, np.unique(data.y_train, return_inverse=True)[1]
    if classes:
        X, y = X[y < classes], y[y < classes]
    if per_class:
        rows = np.concatenate([np.flatnonzero(y == c)[:per_class] for c in range(y.max() + 1)])
        X, y = X[rows], y[rows]
    elif not text:
        size = n if n else 0.8
        X, _, y, _ = train_test_split(X, y, train_size=size, stratify=y, random_state=0)
    if text:
        X = _log_rows(sp.csr_array(X))
    if scaled:
        X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    if fourier:
        gamma = 1.0 / (X.shape[1] * X.var())
        X = FourierFeatures.draw(X.shape[1], fourier, gamma, np.random.RandomState(0))(X)
    return make_problem(hstack_ones(X), y, int(y.max()) + 1, lambda_0, unique_rows(X))


def _log_rows(X: sp.csr_array) -> sp.csr_array:
    X = sp.csr_array(X[:, np.flatnonzero(np.asarray((X != 0).sum(axis=0)).ravel())], dtype=float)
    X.data = np.log1p(X.data)
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_array(sp.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ X)


def _cases(quick: bool) -> dict[str, list[dict[str, Any]]]:
    """The comparisons of each group: label, data and pairs (ours, peer)."""
    if quick:
        two, six = {"classes": 2, "fourier": 40}, {"classes": 6, "per_class": 40}
        pairs = [("ccg highs", "lp highs"), ("ccg cbc", "lp cbc"), ("ccg highs", "linprog")]
        many = [("ccg highs", "lp highs"), ("compact ipm", "compact highs")]
        return {
            "samples": [_case("letter, 2 of 26", {"name": "letter", **two}, pairs)],
            "classes": [_case("letter, 6 of 26", {"name": "letter", **six}, many)],
            "text": [],
        }
    return {"samples": _many_samples(), "classes": _many_classes(), "text": _text()}


def _many_samples() -> list[dict[str, Any]]:
    whole, cbc = ("lp highs", "lp highs-ipm"), ("lp cbc-mps", "lp cbc")
    both = [("ccg highs", p) for p in whole] + [("ccg cbc", p) for p in cbc]
    both += [(ours, p) for ours in ("ccg highs 1e-6", "compact ipm") for p in whole]
    scaled = [(ours, "lp highs-ipm") for ours in ("compact ipm", "ccg ipm", "ccg highs")]
    pulsar, house16 = ({"name": name, "fourier": 400} for name in ("pulsar", "house16"))
    cases = [
        _case("pulsar raw Fourier 400", pulsar, [*both, ("ccg highs", "linprog")]),
        _case("house16 raw Fourier 400", house16, both),
        _case("pulsar, 4000 samples", {**pulsar, "n": 4000}, [("ccg cbc", "lp cbc")]),
        _case("house16 scaled Fourier 400", {**house16, "scaled": True}, scaled),
    ]
    for n in (2500, 5000, 10_000, 18_000):
        pairs = [(ours, "lp highs-ipm") for ours in ("ccg highs", "compact ipm")]
        cases.append(_case(f"growth, house16 n={n}", {**house16, "n": n}, pairs))
    return cases


def _many_classes() -> list[dict[str, Any]]:
    ours = ("ccg highs", "compact ipm 1e-3", "compact ipm")
    exponential = [(o, p) for p in ("lp highs", "lp highs-ipm") for o in ours]
    many = [(o, "compact highs-ipm") for o in ours]
    alone = [("auto", "")]
    satellite = {"name": "satellite", "scaled": True}
    return [
        _case("satellite, 1200 samples", {**satellite, "n": 1200}, exponential),
        _case("optdigits, 8 classes", {"name": "optdigits", "classes": 8, "n": 150}, exponential),
        _case("letter, 8 classes", {"name": "letter", "classes": 8, "n": 150}, exponential),
        _case("satellite, 6 classes", satellite, many),
        _case("optdigits, 10 classes", {"name": "optdigits"}, many),
        _case("letter, 26 classes", {"name": "letter"}, [("ccg highs", ""), *alone]),
        _case("satellite Fourier 400", {**satellite, "fourier": 400}, alone),
        _case("optdigits Fourier 400", {"name": "optdigits", "fourier": 400}, alone),
    ]


def _text() -> list[dict[str, Any]]:
    pays, loses, alone = [("ccg highs", "lp highs-ipm")], [("auto", "ccg highs")], [("auto", "")]
    widths = ((0.1, pays), (0.05, pays), (0.03, loses), (0.01, alone))
    text = {"name": "comp_vs_sci", "text": True}
    return [
        _case(f"comp_vs_sci lambda_0={width:g}", {**text, "lambda_0": width}, pairs)
        for width, pairs in widths
    ]


def _case(label: str, data: dict[str, Any], pairs: list[tuple[str, str]]) -> dict[str, Any]:
    return {"label": label, "data": data, "pairs": pairs}


def _row(
    label: str, problem: MrcProblem, ours: str, peer: str, long: dict[str, Run] | None = None
) -> dict[str, object]:
    """Both in turn; a long peer once, also for the further pairs of the same problem."""
    long = {} if long is None else long
    our_runs: list[Run] = []
    peer_runs: list[Run] = [long[peer]] if peer in long else []
    for _ in range(REPEATS):
        our_runs.append(run_apart(lambda: _solve(problem, ours), LIMIT))
        if peer and not (peer_runs and not peer_runs[0].seconds <= LONG):
            peer_runs.append(run_apart(lambda: _solve(problem, peer), LIMIT))
        if our_runs[0].seconds > LONG:
            break
    if peer_runs and not peer_runs[0].seconds <= LONG:
        long[peer] = peer_runs[0]
    mine, other = _median(our_runs), _median(peer_runs)
    against = f" against {peer}{_lost(mine, other)}" if peer else ""
    return {
        "comparison": f"{label}: {ours}{against}",
        "size": f"n={problem.phi.n_samples} m={problem.phi.n_features} |Y|={problem.n_classes}",
        "ours_seconds": mine.seconds,
        "peer_seconds": other.seconds,
        "ratio": _used(other) / mine.seconds,
        "ours_peak_mb": mine.peak_mb,
        "peer_peak_mb": other.peak_mb,
    }


def _used(run: Run) -> float:
    """CPU seconds of an answer, or of a run that was stopped by its time budget."""
    return run.seconds if np.isfinite(run.seconds) else run.stopped_after


def _lost(mine: Run, other: Run) -> str:
    """What the row says of a peer without an answer."""
    if np.isfinite(other.seconds):
        return ""
    bound = _used(other) / mine.seconds
    if np.isfinite(bound):
        return f" (no solution within {LIMIT:g} s: ratio > {np.floor(bound):g})"
    return " (no solution)"


def _median(runs: list[Run]) -> Run:
    good = [r for r in runs if np.isfinite(r.seconds)]
    if not good:
        stopped = [r.stopped_after for r in runs if np.isfinite(r.stopped_after)]
        return Run(np.nan, np.nan, np.nan, max(stopped, default=np.nan))
    seconds, peaks = [r.seconds for r in good], [r.peak_mb for r in good]
    return Run(float(np.median(seconds)), float(np.median(peaks)), good[0].value)


def _solve(problem: MrcProblem, what: str) -> float:
    """Minimax risk by the method of that name: "ccg highs 1e-6", "lp cbc", "auto", ..."""
    if what == "linprog":
        return _linprog(problem)
    if what == "auto":
        what = " ".join(choose(problem, "auto", "auto"))
    method, solver, *rest = what.split()
    if method == "lp":
        return solve_full_lp(problem, solver, LIMIT, MEMORY_MB).risk
    if method == "compact" and solver != "ipm":
        return solve_compact(problem, solver, LIMIT, MEMORY_MB).risk
    if method == "compact":
        return solve_interior(problem, float(rest[0]) if rest else 1e-6, LIMIT).risk
    psi = problem.phi.psi
    grow = sp.issparse(psi) and psi.shape[1] > MANY_FEATURES
    options = CcgOptions(
        eps_1=float(rest[0]) if rest else 1e-2,
        n_max=400 if grow else 50 if solver.startswith("cbc") else 100,
        m_max=100,
        max_rounds=1000,
        seconds=LIMIT,
        grow_features=grow,
    )
    return solve_ccg(problem, MASTERS[solver], options).risk


def _linprog(problem: MrcProblem) -> float:
    """The primal (6) as a user would hand it to SciPy."""
    samples, subsets = all_constraints(problem)
    rows = problem.phi.rows(samples, subsets)
    A = np.hstack([rows, -rows, -np.ones((len(rows), 1))])
    cost = np.concatenate([problem.lam - problem.tau, problem.lam + problem.tau, [1.0]])
    bounds = [(0, None)] * (2 * rows.shape[1]) + [(None, None)]
    done = linprog(cost, A, 1.0 / subsets.sum(axis=1) - 1.0, bounds=bounds, method="highs")
    if done.status != 0:
        raise SolverError(f"scipy.optimize.linprog: {done.message}")
    return float(done.fun)


def _mrcpy(quick: bool) -> dict[str, object]:
    """mrcpy's own generation, in the interpreter that MARGINLAB_MRCPY_PYTHON names."""
    row: dict[str, object] = dict.fromkeys(
        ("ours_seconds", "peer_seconds", "ratio", "ours_peak_mb", "peer_peak_mb"), np.nan
    )
    row["size"] = ""
    python = os.environ.get(MRCPY)
    if not python:
        return row | {"comparison": f"mrcpy 3.0.0: skipped, {MRCPY} is not set"}
    problem = problem_of("letter", classes=2 if quick else 6)
    ours = run_apart(lambda: _solve(problem, "ccg highs"), LIMIT)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "problem.npz"
        np.savez(file, psi=problem.phi.psi, tau=problem.tau, lam=problem.lam, k=problem.n_classes)
        seconds, reason = _peer_seconds(python, file)
    size = f"n={problem.phi.n_samples} m={problem.phi.n_features} |Y|={problem.n_classes}"
    if not np.isfinite(seconds):
        return row | {"comparison": f"mrcpy 3.0.0: no answer ({reason})", "size": size}
    return row | {
        "comparison": "ccg highs against mrcpy 3.0.0's generation",
        "size": size,
        "ours_seconds": ours.seconds,
        "peer_seconds": seconds,
        "ratio": seconds / ours.seconds,
        "ours_peak_mb": ours.peak_mb,
    }


def _peer_seconds(python: str, file: Path) -> tuple[float, str]:
    script = Path(__file__).with_name("mrcpy_peer.py")
    try:
        done = subprocess.run(
            [python, str(script), str(file)],
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
            env={**os.environ, "PYTHONPATH": ""},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return np.nan, type(error).__name__
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr)
        return np.nan, (done.stderr.strip().splitlines() or ["no message"])[-1][:120]
    return float(done.stdout.split()[-1]), ""
