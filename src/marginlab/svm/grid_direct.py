"""Direct Newton steps of one SVM of a grid: Cholesky on its active rows."""

from __future__ import annotations

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

__all__ = ["exact_product", "full_newton", "newton_target", "steps_worth"]

_FULL_STEPS = 30  # full Newton steps before they count as cycling
_REFINEMENTS = 2  # float32 factors of a matrix of condition up to 1e6


@nb.njit(cache=True)
def _gather(matrix, rows):  # type: ignore[no-untyped-def]
    out = np.empty((rows.size, rows.size), np.float32)
    for i in range(rows.size):
        for j in range(rows.size):
            out[i, j] = matrix[rows[i], rows[j]]
    return out


@nb.njit(cache=True, fastmath=True)
def exact_product(matrix, vector):  # type: ignore[no-untyped-def]
    """Symmetric float32 matrix times a float64 vector with few entries, summed in float64."""
    out = np.zeros(vector.size)
    for j in range(vector.size):
        if vector[j] != 0.0:
            for i in range(vector.size):
                out[i] += vector[j] * matrix[j, i]
    return out


def steps_worth(active: NDArray[np.int64], n_rows: int) -> NDArray[np.float64]:
    """What a factorisation costs, in steps of conjugate gradients on all rows.

    Parameters
    ----------
    active : ndarray of int
        Numbers of active rows.
    n_rows : int

    Returns
    -------
    ndarray
        a^3/3 operations at half the speed of a matrix product, against 2 u^2.
    """
    return active.astype(np.float64) ** 3 / (3.0 * n_rows**2) + 1.0


def newton_target(
    matrix: NDArray[np.float32],
    weight: NDArray[np.float32],
    label: NDArray[np.float32],
    *,
    precise: bool = False,
) -> tuple[NDArray[np.float64], float] | None:
    """Solve (K_AA + diag(1/h)) beta + b = t with sum beta = 0 on the active rows A.

    Parameters
    ----------
    matrix : ndarray of shape (u, u), float32
    weight : ndarray of shape (u,)
        h, the penalties of the active losses; A is where it is positive.
    label : ndarray of shape (u,)
        Penalties of active positive minus active negative losses, so t = label / h.
    precise : bool
        Factor in float64.

    Returns
    -------
    beta : ndarray of shape (u,)
        Zero off A.
    bias : float
        None instead of the pair if the factorisation fails (float32 only).
    """
    rows = np.flatnonzero(weight > 0)
    beta = np.zeros(len(weight))
    if rows.size == 0:
        return beta, 0.0
    part = _gather(matrix, rows)
    if precise:
        part = part.astype(np.float64)
    inverse = 1.0 / weight[rows].astype(np.float64)
    target = label[rows] * inverse
    system = part.copy()
    system[np.diag_indices(rows.size)] += inverse.astype(part.dtype)
    try:
        factor = cho_factor(system.T, lower=False, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    beta[rows], bias = _bordered(factor, part, inverse, target)
    return beta, bias


def full_newton(
    matrix: NDArray[np.float32], positive: NDArray[np.float32], negative: NDArray[np.float32]
) -> tuple[NDArray[np.float64], float, int] | None:
    """Newton's method with full steps in float64, from all losses active.

    Where the penalty is large and nearly every point sits at the kink of its loss, the active
    set of the least-squares solution is nearly right, while line searches creep.

    Parameters
    ----------
    matrix : ndarray of shape (u, u), float32
    positive, negative : ndarrays of shape (u,)
        Penalties, as in `marginlab.svm.grid_l2.solve_grid`.

    Returns
    -------
    beta : ndarray of shape (u,)
    bias : float
    steps : int
        None instead of the three if the active set has not come to rest.
    """
    above, below = positive, negative
    for step in range(1, _FULL_STEPS + 1):
        found = newton_target(matrix, above + below, above - below, precise=True)
        if found is None:
            return None
        f = exact_product(matrix, found[0]) + found[1]
        rising, falling = np.where(f < 1, positive, 0), np.where(f > -1, negative, 0)
        if np.array_equal(rising, above) and np.array_equal(falling, below):
            return *found, step
        above, below = rising, falling
    return None


def _bordered(factor, part, inverse, target):  # type: ignore[no-untyped-def]
    """Solve with the border of ones, and refine in float64."""
    ones = cho_solve(factor, np.ones(len(target), part.dtype), check_finite=False)
    ones = ones.astype(np.float64)
    beta, bias = np.zeros(len(target)), 0.0
    for _ in range(1 + _REFINEMENTS):
        product = (part @ beta.astype(part.dtype)).astype(np.float64)
        rest = target - product - inverse * beta - bias
        move = cho_solve(factor, rest.astype(part.dtype), check_finite=False).astype(np.float64)
        shift = (move.sum() + beta.sum()) / ones.sum()
        beta += move - shift * ones
        bias += shift
    return beta, bias
