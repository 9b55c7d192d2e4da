"""One SVM of a grid by Newton's method with full steps on its active losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marginlab.svm.grid_factor import ActiveSystem
from marginlab.svm.grid_kkt import margin_units

__all__ = ["Settled", "settle"]

_STEPS = 15  # full steps before line searches take over
_REFINEMENTS = 2  # float32 factors of a matrix of condition up to 1e6


@dataclass(frozen=True)
class Settled:
    """An SVM solved by full Newton steps.

    Attributes
    ----------
    beta : ndarray of shape (u,)
    bias : float
    decisions : ndarray of shape (u,)
        f, from the coefficients in float64.
    steps : int
        Newton steps.
    factorisations : int
    """

    beta: NDArray[np.float64]
    bias: float
    decisions: NDArray[np.float64]
    steps: int
    factorisations: int


def settle(
    matrix: NDArray[np.float32],
    positive: NDArray[np.float32],
    negative: NDArray[np.float32],
    decisions: NDArray[np.floating],
    tol: float,
) -> Settled | None:
    """Newton's method with full steps, from the losses that given decision values make active.

    Near the solution four to eight steps are enough where line searches, which keep every
    iterate's objective falling, take ten and more. From far away the steps may cycle.

    Parameters
    ----------
    matrix : ndarray of shape (u, u), float32
    positive, negative : ndarrays of shape (u,)
        Penalties, as in `marginlab.svm.grid_l2.solve_grid`.
    decisions : ndarray of shape (u,)
        Guess of f; where it leaves no loss active, all are.
    tol : float
        Largest KKT residual, as in `marginlab.svm.grid_l2.kkt_residuals`.

    Returns
    -------
    Settled
        None if the steps cycle or a factorisation fails in float32.
    """
    sides = positive, negative
    scale = margin_units(positive[None], negative[None])[0]
    above, below = _active(decisions, *sides)
    if not (above.any() or below.any()):
        above, below = sides
    system = ActiveSystem(matrix)
    for step in range(1, _STEPS + 1):
        if not system.set_active(above, below):
            return None
        for _ in range(1 + _REFINEMENTS):
            f = system.improve()
            off = _gap(f, *sides, system.beta)
            if (np.abs(off) * scale).max() <= tol:
                return Settled(system.beta, system.bias, f, step, system.factorisations)
            rising, falling = _active(f, *sides)
            if not (np.array_equal(rising, above) and np.array_equal(falling, below)):
                break  # else what is left is rounding
        above, below = rising, falling
    return None


def _active(f, positive, negative):  # type: ignore[no-untyped-def]
    return np.where(f < 1, positive, 0), np.where(f > -1, negative, 0)


def _gap(f, positive, negative, beta):  # type: ignore[no-untyped-def]
    return positive * np.maximum(1 - f, 0) - negative * np.maximum(1 + f, 0) - beta
