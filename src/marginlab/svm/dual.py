"""The weighted SVM on a kernel matrix: its solution, its certificate, a path over growing weights.

    minimise  1/2 |w|^2 + sum C_i xi_i   subject to  y_i (w . x_i + b) >= 1 - xi_i,  xi_i >= 0

(equations (1) to (3) of the span paper; dual (5) to (7)).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marginlab.errors import SolverError
from marginlab.svm.box_qp import solve_box_qp

__all__ = [
    "IN_BOUND",
    "DualSolution",
    "dual_residual",
    "solution_of",
    "train_on_kernel",
    "train_path",
    "unsolved",
]

Array = NDArray[np.float64]

#: alpha_i counts as strictly inside (0, C_i) between this share of C_i and one minus it.
IN_BOUND = 1e-6


@dataclass(frozen=True)
class DualSolution:
    """A trained weighted SVM, by training row.

    Attributes
    ----------
    y : ndarray of shape (l,)
        Labels in {-1, +1}.
    C : ndarray of shape (l,)
        Instance weights C_i > 0.
    alpha : ndarray of shape (l,)
        Lagrange multipliers in [0, C_i].
    intercept : float
        b; not unique when no support vector is in bound.
    decision : ndarray of shape (l,)
        f(x_i), computed in float64.
    violation : float
        Largest violation of the optimality conditions of the dual; infinite where the training
        failed (see `unsolved`).
    """

    y: Array
    C: Array
    alpha: Array
    intercept: float
    decision: Array
    violation: float

    @property
    def solved(self) -> bool:
        """Whether the training succeeded."""
        return bool(np.isfinite(self.violation))

    @property
    def in_bound(self) -> NDArray[np.bool_]:
        """Rows with 0 < alpha_i < C_i, decided against each row's own weight."""
        return (self.alpha > IN_BOUND * self.C) & (self.alpha < (1 - IN_BOUND) * self.C)

    @property
    def bounded(self) -> NDArray[np.bool_]:
        """Rows with alpha_i = C_i."""
        return self.alpha >= (1 - IN_BOUND) * self.C

    @property
    def beta(self) -> Array:
        """Coefficients y_i alpha_i of f(x) = sum_i y_i alpha_i K(x_i, x) + b."""
        beta: Array = self.y * self.alpha
        return beta


def dual_residual(y: Array, C: Array, alpha: Array, products: Array) -> float:
    """Largest violation of the dual's optimality conditions.

    Parameters
    ----------
    y, C, alpha : ndarray of shape (l,)
    products : ndarray of shape (l,)
        sum_j y_j alpha_j K(x_j, x_i), without the intercept.

    Returns
    -------
    float
        max over rows that may fall minus min over rows that may rise of products - y; at most 0
        at an optimum (equations (10) to (16)).
    """
    gradient = products - y
    rise = np.where(y > 0, alpha < C, alpha > 0)
    fall = np.where(y > 0, alpha > 0, alpha < C)
    if not rise.any() or not fall.any():
        return 0.0
    return float(gradient[fall].max() - gradient[rise].min())


def _intercept(y: Array, C: Array, alpha: Array, products: Array) -> float:
    """b from the in-bound rows, or the middle of its interval when there is none."""
    inside = (alpha > IN_BOUND * C) & (alpha < (1 - IN_BOUND) * C)
    wanted = y - products
    if inside.any():
        return float(wanted[inside].mean())
    at_bound = alpha >= (1 - IN_BOUND) * C
    above = wanted[(y > 0) ^ at_bound]  # b must be at least these
    below = wanted[(y < 0) ^ at_bound]
    if above.size and below.size:
        return float((above.max() + below.min()) / 2)
    return float(above.max() if above.size else below.min())


def solution_of(y: Array, C: Array, alpha: Array, products: Array) -> DualSolution:
    """Solution from the multipliers and the products sum_j y_j alpha_j K(x_j, x_i)."""
    intercept = _intercept(y, C, alpha, products)
    residual = dual_residual(y, C, alpha, products)
    return DualSolution(y, C, alpha, intercept, products + intercept, residual)


def unsolved(y: Array, C: Array) -> DualSolution:
    """Stand-in for a model whose training failed: no support vector, decision values NaN.

    Parameters
    ----------
    y, C : ndarray of shape (l,)
    """
    nan = float("nan")
    return DualSolution(y, C, np.zeros_like(C), nan, np.full_like(C, nan), float("inf"))


def train_on_kernel(
    K: Array, y: Array, C: Array, start: Array | None = None, tol: float = 1e-6
) -> DualSolution:
    """Train on a kernel matrix held in memory.

    Parameters
    ----------
    K : ndarray of shape (l, l)
        Kernel matrix, float64 and C-contiguous.
    y : ndarray of shape (l,)
        Labels in {-1, +1}.
    C : ndarray of shape (l,)
        Instance weights, all positive.
    start : ndarray of shape (l,), optional
        Multipliers alpha to start from; they must be feasible. Zeros by default.
    tol : float
        Violation of the optimality conditions that is accepted.

    Returns
    -------
    DualSolution

    Raises
    ------
    SolverError
        If the tolerance is not reached.
    """
    lo = np.where(y > 0, 0.0, -C)
    hi = np.where(y > 0, C, 0.0)
    first = np.zeros_like(C) if start is None else y * start
    solved = solve_box_qp(K, y, lo, hi, first, tol)
    return solution_of(y, C, np.abs(solved.x), solved.gradient + y)


def train_path(
    K: Array, y: Array, weights: Sequence[Array], tol: float = 1e-6
) -> Iterator[DualSolution]:
    """Train one model after the other, each from the one before where that is a good start.

    Parameters
    ----------
    K, y, tol
        As in `train_on_kernel`.
    weights : sequence of ndarray of shape (l,)
        Instance weights of each model. Where the next model's weights are a multiple of this
        one's, the multipliers are scaled with them: bounded support vectors stay bounded, and
        only the rows whose role changes cost anything. Other models start from zero.

    Yields
    ------
    DualSolution
        `unsolved` where the tolerance is not reached: one model does not cost the others.
    """
    previous: DualSolution | None = None
    for C in weights:
        start = None
        if previous is not None:
            ratio = C / previous.C
            if np.ptp(ratio) <= 1e-9 * ratio[0]:
                start = np.minimum(previous.alpha * ratio[0], C)
        try:
            previous = train_on_kernel(K, y, C, start, tol)
        except SolverError:
            yield unsolved(y, C)
            continue
        yield previous
