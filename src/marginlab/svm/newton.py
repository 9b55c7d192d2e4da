"""L2-loss SVMs on one large kernel matrix, for several label vectors.

The same active-set Newton method as `marginlab.svm.active_set`, with LAPACK's Cholesky
and a guess of the support set to start from: a few factorisations of the size of the
support set train one model.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from marginlab.errors import SolverError
from marginlab.svm.active_set import KKT_TOLERANCE

__all__ = ["train_l2"]

Array = NDArray[np.float64]
_MAX_STEPS = 60


def train_l2(
    K: NDArray[np.floating], y: Array, C: float, start: NDArray[np.bool_] | None = None
) -> tuple[Array, float]:
    """Train one SVM: min 1/2 |w|^2 + (C/2) sum xi^2.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    y : ndarray of shape (n,)
        Labels -1 and +1; one class alone gives the constant classifier.
    C : float
    start : ndarray of bool, shape (n,), optional
        Guess of the support vectors; all points by default.

    Returns
    -------
    beta : ndarray of shape (n,)
        f(x) = sum_i beta_i k(x_i, x) + b.
    b : float

    Raises
    ------
    SolverError
        If the KKT residual stays above the tolerance.
    """
    n = len(y)
    beta, f, b = np.zeros(n), np.zeros(n), 0.0
    if abs(y.sum()) == n:
        return beta, float(y[0])
    active = np.ones(n, dtype=bool) if start is None else start.copy()
    for step in range(_MAX_STEPS):
        if not (active & (y > 0)).any() or not (active & (y < 0)).any():
            active[:] = True
        new, f_new, b_new = _stationary(K, y, C, active)
        wanted = np.where(active, y * new > -1e-13, y * f_new < 1.0 - 1e-13)
        t = 1.0
        if step and (wanted != active).any():
            t = _line_search(y, C, (beta, f - b, b), (new, f_new - b_new, b_new))
        if t == 1.0:
            beta, f, b = new, f_new, b_new
            if (wanted == active).all():
                _check(y, C, beta, f)
                return beta, b
            active = wanted
        else:
            beta, f, b = beta + t * (new - beta), f + t * (f_new - f), b + t * (b_new - b)
            active = y * f < 1.0
    raise SolverError(f"an SVM on {n} points took more than {_MAX_STEPS} steps; choose a smaller C")


def _stationary(
    K: NDArray[np.floating], y: Array, C: float, active: NDArray[np.bool_]
) -> tuple[Array, Array, float]:
    members = np.flatnonzero(active)
    system = K[np.ix_(members, members)]
    system[np.diag_indices(len(members))] += 1.0 / C
    factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
    sides = np.column_stack([y[members], np.ones(len(members))])
    v, u = cho_solve(factor, sides, check_finite=False).T
    b = v.sum() / u.sum()
    beta = np.zeros(len(y))
    beta[members] = v - b * u
    return beta, _times(K, beta, members) + b, float(b)


def _times(K: NDArray[np.floating], beta: Array, members: NDArray[np.intp]) -> Array:
    # K is symmetric: rows are contiguous where columns are not
    few = 2 * len(members) < len(beta)
    return np.asarray(beta[members] @ K[members] if few else K @ beta, dtype=np.float64)


def _line_search(y: Array, C: float, old: tuple, new: tuple) -> float:  # type: ignore[type-arg]
    """Exact minimum on the segment: a piecewise linear slope, by guarded Newton steps."""
    beta, g, b = old
    d_beta, d_g = new[0] - beta, new[1] - g
    d_f = d_g + new[2] - b
    low, high, t = 0.0, 1.0, 1.0
    for _ in range(60):
        slack = np.maximum(0.0, 1.0 - y * (g + b + t * d_f))
        slope = (beta + t * d_beta) @ d_g - C * (slack * y) @ d_f
        bend = d_beta @ d_g + C * (d_f[slack > 0] ** 2).sum()
        if slope <= 0.0 and t == 1.0:
            return t
        low, high = (t, high) if slope <= 0.0 else (low, t)
        step = slope / bend if bend > 0.0 else 0.0
        if abs(step) <= 1e-14 * t:
            break
        t = t - step if low < t - step < high else 0.5 * (low + high)
    return t


def _check(y: Array, C: float, beta: Array, f: Array) -> None:
    support = beta != 0.0
    gap = np.where(support, np.abs(y - f - beta / C), np.maximum(0.0, 1.0 - y * f))
    worst = max(gap.max(), abs(beta.sum()), -(y * beta).min())
    allowed = max(KKT_TOLERANCE, 64 * np.finfo(float).eps * np.abs(beta).sum())
    if not worst <= allowed:
        raise SolverError(
            f"an SVM on {len(y)} points reached a KKT residual of only {worst:.1e}; "
            "scale the features or choose a smaller C"
        )
