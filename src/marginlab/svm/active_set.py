"""Exact SVMs on many tiny subsets at once, compiled.

L2 loss: min 1/2 |w|^2 + 1/2 sum_i C_i xi_i^2, a hard margin on K + diag(1/C_i). With
beta_i = y_i alpha_i and A the points with y f < 1, the optimum satisfies

    (K_AA + D) beta_A + b = y_A,   sum beta = 0,   D = diag(1/C_i),

so each step solves one such system by Cholesky (right-hand sides y and 1), takes the
new A from the signs, and falls back on an exact line search where a full step
overshoots. Three or four steps are usual.

L1 loss: min 1/2 |w|^2 + sum_i C_i xi_i, by sequential minimal optimisation with
second-order working sets (Fan, Chen and Lin, 2005), run to the same tolerance.

Every answer comes with its KKT residual, recomputed from the answer alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from marginlab.errors import SolverError, UserError
from marginlab.svm.active_set_core import EPS, KKT_TOLERANCE, newton, smo, train
from marginlab.svm.subset_kernels import kernels_csr, kernels_dense

__all__ = ["KKT_TOLERANCE", "Machines", "solve_l1", "solve_l2", "train_subsets"]

_NUMBERS = 2**17  # kernel entries at a time: 1 MiB, which a cache holds


@dataclass(frozen=True)
class Machines:
    """J trained machines on subsets of s rows.

    Attributes
    ----------
    beta : ndarray of shape (J, s)
        y_i alpha_i of each drawn row; zero for points that are no support vectors.
    intercept : ndarray of shape (J,)
    residual : ndarray of shape (J,)
        KKT residual; zero for one-class subsets, which get a constant classifier.
    steps : ndarray of shape (J,)
        Newton steps (L2) or SMO updates (L1).
    """

    beta: NDArray[np.float64]
    intercept: NDArray[np.float64]
    residual: NDArray[np.float64]
    steps: NDArray[np.int64]


def train_subsets(
    X: Any,
    y: NDArray[np.float64],
    subsets: NDArray[np.int64],
    cost: NDArray[np.float64],
    gamma: float,
    loss: str = "l2",
) -> Machines:
    """Train one RBF SVM on each subset of rows.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d), float64
    y : ndarray of shape (n,)
        Labels -1 and +1.
    subsets : ndarray of shape (J, s)
        Row numbers; a row drawn twice is two points, each with its own slack.
    cost : ndarray of shape (n,)
        Penalty C_i of each row, positive.
    gamma : float
        Kernel exp(-gamma |x - z|^2).
    loss : {"l2", "l1"}

    Returns
    -------
    Machines

    Raises
    ------
    SolverError
        If a machine's KKT residual exceeds the tolerance.
    UserError
        If ``loss`` is unknown.
    """
    if loss not in ("l2", "l1"):
        raise UserError(f'loss is {loss!r}; choose "l2" or "l1"')
    n_machines, size = subsets.shape
    beta = np.zeros((n_machines, size))
    intercept, residual = np.zeros(n_machines), np.zeros(n_machines)
    steps = np.zeros(n_machines, dtype=np.int64)
    draws = np.ascontiguousarray(subsets, dtype=np.int64)
    fill = _kernels(X, gamma)
    at_once = max(1, min(n_machines, _NUMBERS // (size * size)))
    K = np.empty((at_once, size, size))
    for first in range(0, n_machines, at_once):
        part = slice(first, first + at_once)
        fill(draws[part], K)
        out = (beta[part], intercept[part], residual[part], steps[part])
        train(K, y, draws[part], cost, loss == "l2", *out)
    machines = Machines(beta, intercept, residual, steps)
    _check(machines, float(cost.max()))
    return machines


def _kernels(X: Any, gamma: float) -> Callable[[NDArray[np.int64], NDArray[np.float64]], None]:
    """What fills the kernel matrices of some subsets."""
    if not sp.issparse(X):
        rows = np.ascontiguousarray(X)
        return lambda draws, K: kernels_dense(rows, draws, gamma, K)
    parts = (X.data, X.indices.astype(np.int64, copy=False), X.indptr.astype(np.int64))
    return lambda draws, K: kernels_csr(*parts, X.shape[1], draws, gamma, K)


def solve_l2(
    K: NDArray[np.float64], y: NDArray[np.float64], cost: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float, float, int]:
    """One L2-loss SVM on a given kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (s, s)
        Kernel matrix, positive semidefinite.
    y : ndarray of shape (s,)
        Labels -1 and +1, both present.
    cost : ndarray of shape (s,)
        Penalty C_i of each point.

    Returns
    -------
    beta : ndarray of shape (s,)
    intercept, residual : float
    steps : int
    """
    beta = np.zeros(len(y))
    return beta, *newton(np.ascontiguousarray(K), y, cost, beta)


def solve_l1(
    K: NDArray[np.float64], y: NDArray[np.float64], cost: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float, float, int]:
    """One L1-loss SVM on a given kernel matrix; arguments and results as `solve_l2`."""
    beta = np.zeros(len(y))
    return beta, *smo(np.ascontiguousarray(K), y, cost, beta)


def _check(machines: Machines, largest_cost: float) -> None:
    # f is a sum of terms of size |beta|: beyond some C its rounding alone is larger
    rounding = 64 * EPS * np.abs(machines.beta).sum(axis=1)
    excess = machines.residual - np.maximum(KKT_TOLERANCE, rounding)
    worst = int(np.argmax(np.where(np.isnan(excess), np.inf, excess)))
    if not excess[worst] <= 0:
        raise SolverError(
            f"SVM {worst} of {len(excess)} reached a KKT residual of only "
            f"{machines.residual[worst]:.1e} with C up to {largest_cost:g}; "
            "scale the features or choose a smaller C"
        )
