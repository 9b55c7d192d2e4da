"""Timings of paper 2's parts against peers: spans, leave-one-out, training."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from marginlab.datasets.generators import ringnorm_unbalanced
from marginlab.datasets.scaling import scale_parts
from marginlab.experiments.span_timing import kernel_of_rows, train_once
from marginlab.seeds import rng
from marginlab.span import leave_one_out_errors
from marginlab.svm.dual import train_on_kernel, train_path
from marginlab.svm.libsvm import gram
from marginlab.svm.span_qp import qp_span
from marginlab.svm.spans import closed_spans

__all__ = ["run"]

Array = NDArray[np.float64]

_SEED = 20260101
_D = 20
_LOG2_C = (0.0, 4.0, 8.0)  # each leaves in-bound support vectors


def run(quick: bool) -> pd.DataFrame:
    """Time ours and the peer in turn, one thread, on the ringnorm variant with 20 features.

    Parameters
    ----------
    quick : bool
        Small sizes.

    Returns
    -------
    DataFrame
        Columns comparison, size, ours_seconds, peer_seconds, ratio, ours_peak_mb, peer_peak_mb;
        CPU seconds, medians over three class weights. Programmes and leave-one-out trainings are
        run for a sample of the support vectors and scaled by their number. Peaks are of Python
        and NumPy memory.
    """
    sizes = (256, 512) if quick else (512, 1024, 2048, 4096, 8192)
    return pd.DataFrame([row for size in sizes for row in _compare(size, 5 if quick else 20)])


def _compare(size: int, sample: int) -> list[dict[str, Any]]:
    X, y = _data(size)
    measured: dict[str, list[tuple[float, float, float, float]]] = {}
    for log2_C in _LOG2_C:
        C = np.where(y > 0, 2.0 ** (log2_C + 1), 2.0**log2_C)
        for name, (ours, peer, scale) in _pairs(X, y, C, sample).items():
            a, b = _measure(ours), _measure(peer)
            measured.setdefault(name, []).append((a[0], b[0] * scale, a[1], b[1]))
    return [_row(name, size, values) for name, values in measured.items()]


def _row(name: str, size: int, values: list[tuple[float, float, float, float]]) -> dict[str, Any]:
    ours, peer, ours_mb, peer_mb = (median(column) for column in zip(*values, strict=True))
    return {
        "comparison": name,
        "size": size,
        "ours_seconds": ours,
        "peer_seconds": peer,
        "ratio": median(b / a for a, b, *_ in values),
        "ours_peak_mb": ours_mb,
        "peer_peak_mb": peer_mb,
    }


def _data(size: int) -> tuple[Array, Array]:
    X, labels = ringnorm_unbalanced(size, rng(_SEED, "bench", "span", size), _D)
    return scale_parts({"minmax": [0, 1]}, X, X[:0])[0], labels.astype(np.float64)


Work = Callable[[], Any]


def _pairs(X: Array, y: Array, C: Array, sample: int) -> dict[str, tuple[Work, Work, float]]:
    """Ours, the peer, and the factor that scales the peer's sample to all support vectors."""
    gamma = 1.0 / _D
    solution = train_once(X, y, C, gamma)
    kernel = kernel_of_rows(solution, X, gamma)
    K = gram(X, None, "rbf", gamma)
    pick = rng(_SEED, "bench", "spans", y.size).choice(
        kernel.size, min(sample, kernel.size), replace=False
    )
    factor = kernel.size / pick.size
    order = np.flatnonzero(solution.in_bound | solution.bounded)
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))

    scaled = [C * 2.0**shift for shift in np.arange(-6.0, 2.1, 0.5)]

    def closed() -> Array:
        return closed_spans(kernel_of_rows(solution, X, gamma))

    def libsvm() -> SVC:
        return SVC(C=1.0, gamma=gamma, tol=1e-6).fit(X, y, sample_weight=C)

    def without(rows: Any) -> list[Any]:
        return [_error_rate(X, y, C, gamma, np.delete(np.arange(y.size), p), [p]) for p in rows]

    pairs: dict[str, tuple[Work, Work, float]] = {
        "all spans: closed form / cvxopt QPs": (
            closed,
            lambda: [qp_span(kernel, int(p), False) for p in pick],
            factor,
        ),
        "all spans: closed form / cvxopt QPs with box": (
            closed,
            lambda: [qp_span(kernel, int(p), True) for p in pick],
            factor,
        ),
        "span-rule / 5-fold cross-validation": (
            closed,
            lambda: [_error_rate(X, y, C, gamma, train, test) for train, test in folds],
            1.0,
        ),
        "span-rule / leave-one-out": (closed, lambda: without(order[:5]), order.size / 5),
        "17 weights: one path / SVC each": (
            lambda: list(train_path(gram(X, None, "rbf", gamma), y, scaled)),
            lambda: [SVC(C=1.0, gamma=gamma).fit(X, y, sample_weight=each) for each in scaled],
            1.0,
        ),
        "training to 1e-6 / SVC": (
            lambda: train_on_kernel(gram(X, None, "rbf", gamma), y, C),
            libsvm,
            1.0,
        ),
    }
    if y.size <= 512:
        pairs["leave-one-out: warm starts / SVC"] = (
            lambda: leave_one_out_errors(solution, K),
            lambda: without(order[:5]),
            order.size / 5,
        )
    return pairs


def _error_rate(X: Array, y: Array, C: Array, gamma: float, train: Any, test: Any) -> float:
    machine = SVC(C=1.0, gamma=gamma).fit(X[train], y[train], sample_weight=C[train])
    return float(np.mean(machine.predict(X[test]) != y[test]))


def _measure(work: Work) -> tuple[float, float]:
    """CPU seconds (median of up to eleven calls), and peak memory in MB of a traced call."""
    runs: list[float] = []
    while len(runs) < 11 and (not runs or sum(runs) < 0.1):  # short calls again, for the median
        begin = time.process_time()
        work()
        runs.append(time.process_time() - begin)
    seconds = median(runs)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    return max(seconds, 1e-9), peak
