"""CPU seconds of the span-rule and of cross-validation for one model, interleaved."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from marginlab.svm.dual import DualSolution, train_on_kernel
from marginlab.svm.libsvm import gram, train_libsvm
from marginlab.svm.span_qp import qp_span
from marginlab.svm.span_rules import non_empty_sets, support_order
from marginlab.svm.spans import SupportKernel, closed_spans

__all__ = ["ModelTimes", "kernel_of_rows", "time_model", "train_once"]

Array = NDArray[np.float64]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]

#: Training rows above which the kernel matrix is not held and LIBSVM trains the model.
_IN_MEMORY = 8192


@dataclass(frozen=True)
class ModelTimes:
    """CPU seconds for one model.

    Attributes
    ----------
    closed : float
        Kernel of the support vectors and all spans in closed form.
    qp, boxed_qp : float
        All spans by cvxopt without and with the box: a sample of the support vectors, scaled by
        their number.
    cv : float
        K fits of LIBSVM from the rows, with prediction of the held-out rows.
    cv_compiled : float
        The same by the compiled solver, kernel matrices of the folds included; NaN above 8192 rows.
    n_in_bound, n_support : int
    """

    closed: float
    qp: float
    boxed_qp: float
    cv: float
    cv_compiled: float
    n_in_bound: int
    n_support: int


def train_once(X: Any, y: Array, C: Array, gamma: float) -> DualSolution:
    """The model whose spans are timed, trained to 1e-6 (LIBSVM above 8192 rows)."""
    if y.size <= _IN_MEMORY:
        return train_on_kernel(gram(X, None, "rbf", gamma), y, C)
    return train_libsvm(X, y, C, "rbf", gamma, tol=1e-6)


def kernel_of_rows(solution: DualSolution, X: Any, gamma: float) -> SupportKernel:
    """What spans need, computed from the rows of the support vectors alone."""
    order, n = support_order(solution), int(solution.in_bound.sum())
    inside, outside = X[order[:n]], X[order[n:]]
    full = n > 0 and order.size > n
    return SupportKernel(
        K_FF=gram(inside, None, "rbf", gamma) if n else np.empty((0, 0)),
        K_FB=gram(inside, outside, "rbf", gamma) if full else np.empty((n, order.size - n)),
        diag_B=np.ones(order.size - n),
        y=solution.y[order],
        alpha=solution.alpha[order],
        C=solution.C[order],
    )


def time_model(
    X: Any,
    y: Array,
    C: Array,
    gamma: float,
    folds: Sequence[Fold],
    sample: int,
    generator: np.random.Generator,
) -> ModelTimes | None:
    """Time the ways to an error estimate of one model, one after the other.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (l, d)
    y, C : ndarray of shape (l,)
    gamma : float
    folds : sequence of (train rows, test rows)
    sample : int
        Support vectors whose programmes are solved.
    generator : numpy.random.Generator
        Draws that sample.

    Returns
    -------
    ModelTimes or None
        None when the model has no in-bound support vector.
    """
    solution = train_once(X, y, C, gamma)
    n = int(solution.in_bound.sum())
    if n == 0:
        return None
    kernel = kernel_of_rows(solution, X, gamma)
    closed = min(
        _seconds(lambda: closed_spans(kernel_of_rows(solution, X, gamma))) for _ in range(3)
    )
    filled = np.flatnonzero(non_empty_sets(solution))
    pick = generator.choice(filled, size=min(sample, filled.size), replace=False)
    scale = kernel.size / max(pick.size, 1)
    qp = scale * _seconds(lambda: [qp_span(kernel, int(p), box=False) for p in pick])
    boxed = scale * _seconds(lambda: [qp_span(kernel, int(p), box=True) for p in pick])
    cv = _seconds(lambda: [_libsvm_fold(X, y, C, gamma, fold) for fold in folds])
    compiled = float("nan")
    if y.size <= _IN_MEMORY:
        compiled = _seconds(lambda: [_compiled_fold(X, y, C, gamma, fold) for fold in folds])
    return ModelTimes(closed, qp, boxed, cv, compiled, n, kernel.size)


def _seconds(work: Callable[[], Any]) -> float:
    # CPU time: other jobs on the machine do not change it, and there is one thread
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _libsvm_fold(X: Any, y: Array, C: Array, gamma: float, fold: Fold) -> float:
    train, test = fold
    machine = SVC(C=1.0, kernel="rbf", gamma=gamma, cache_size=200)
    machine.fit(X[train], y[train], sample_weight=C[train])
    return float(np.mean(machine.predict(X[test]) != y[test]))


def _compiled_fold(X: Any, y: Array, C: Array, gamma: float, fold: Fold) -> float:
    train, test = fold
    solution = train_on_kernel(gram(X[train], None, "rbf", gamma), y[train], C[train], tol=1e-3)
    values = solution.beta @ gram(X[train], X[test], "rbf", gamma) + solution.intercept
    return float(np.mean(values * y[test] <= 0))
