"""Spans of all support vectors from one Cholesky factor, and Lemma 1.

The span of support vector p is its distance from the set Lambda_p of combinations of the in-bound
support vectors (equations (24) to (32) of the span paper).  With the box dropped, as Theorem 2
allows, it has a closed form: for M = K_FF = L L^T, u = M^-1 1, s = 1^T u,

    p in F:  S_p^2 = 1 / (|L^-1 e_p|^2 - u_p^2 / s)
    p in B:  S_p^2 = K_pp - |L^-1 k_Fp|^2 + (u^T k_Fp - 1)^2 / s

F are the in-bound, B the bounded support vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from marginlab.errors import SolverError
from marginlab.svm.box_qp import feasible_start, solve_box_qp

__all__ = [
    "SupportKernel",
    "boxed_spans",
    "closed_spans",
    "inside_box",
    "lambda_box",
    "largest_span",
    "lemma1",
    "multipliers",
]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

#: Relative tolerance of Lemma 1: equality is common and counts as satisfied.
LEMMA_TOL = 1e-7
_RIDGE = 1e-10  # times mean diag(K_FF): keeps the factor of a singular K_FF at 5e-9 of the truth
_BOX_TOL = 1e-9  # multipliers this far outside their box, in units of C, still count as inside


@dataclass(frozen=True)
class SupportKernel:
    """Kernel values and multipliers of the support vectors: all that spans need.

    Attributes
    ----------
    K_FF : ndarray of shape (n_in_bound, n_in_bound)
        Kernel of the in-bound support vectors.
    K_FB : ndarray of shape (n_in_bound, n_bounded)
        Kernel of the in-bound against the bounded support vectors.
    diag_B : ndarray of shape (n_bounded,)
        K(x_p, x_p) of the bounded support vectors.
    y, alpha, C : ndarray of shape (n_in_bound + n_bounded,)
        Labels, multipliers and weights, the in-bound support vectors first.
    """

    K_FF: Array
    K_FB: Array
    diag_B: Array
    y: Array
    alpha: Array
    C: Array

    @property
    def n_in_bound(self) -> int:
        """n*, the number of in-bound support vectors."""
        return int(self.K_FF.shape[0])

    @property
    def size(self) -> int:
        """n, the number of support vectors."""
        return int(self.y.size)

    @cached_property
    def factor(self) -> Array:
        """Inverse of the Cholesky factor of K_FF; computed once and shared."""
        return _factor(self.K_FF)

    @cached_property
    def lambdas(self) -> Array:
        """`multipliers` of this kernel; computed once and shared."""
        return multipliers(self)

    def column(self, p: int) -> Array:
        """K(x_i, x_p) for the in-bound support vectors i."""
        inside = p < self.n_in_bound
        column: Array = self.K_FF[:, p] if inside else self.K_FB[:, p - self.n_in_bound]
        return column

    def diagonal(self, p: int) -> float:
        """K(x_p, x_p)."""
        inside = p < self.n_in_bound
        return float(self.K_FF[p, p] if inside else self.diag_B[p - self.n_in_bound])


def _factor(K_FF: Array) -> Array:
    """Inverse of the lower Cholesky factor of K_FF plus the smallest ridge that works."""
    scale = max(float(np.trace(K_FF)) / len(K_FF), 1e-300)
    for ridge in (_RIDGE, 1e-9, 1e-8, 1e-7, 1e-6):
        try:
            lower = cholesky(K_FF + ridge * scale * np.eye(len(K_FF)), lower=True)
        except np.linalg.LinAlgError:
            continue
        inverse: Array = solve_triangular(lower, np.eye(len(K_FF)), lower=True)
        return inverse
    raise SolverError(
        "the kernel of the in-bound support vectors is not positive semidefinite; "
        "use a kernel that is, such as 'rbf'"
    )


def closed_spans(kernel: SupportKernel) -> Array:
    """Squared spans of all support vectors, the box dropped.

    Parameters
    ----------
    kernel : SupportKernel

    Returns
    -------
    ndarray of shape (n,)
        S_p^2, the in-bound support vectors first; infinite for the only in-bound support vector,
        and for all when there is none.
    """
    if kernel.n_in_bound == 0:
        return np.full(kernel.size, np.inf)
    inverse = kernel.factor
    ones = inverse.sum(axis=1)  # L^-1 1
    u = inverse.T @ ones
    s = float(ones @ ones)
    spread = np.einsum("ij,ij->j", inverse, inverse) - u**2 / s
    spans = np.full(kernel.size, np.inf)
    if kernel.n_in_bound > 1:
        with np.errstate(divide="ignore"):
            spans[: kernel.n_in_bound] = 1.0 / np.maximum(spread, 0.0)
    reduced = inverse @ kernel.K_FB
    outside = kernel.diag_B - np.einsum("ij,ij->j", reduced, reduced)
    spans[kernel.n_in_bound :] = outside + (u @ kernel.K_FB - 1.0) ** 2 / s
    return np.maximum(spans, 0.0)


def multipliers(kernel: SupportKernel) -> Array:
    """Coefficients lambda of the nearest point for every support vector, the box dropped.

    Parameters
    ----------
    kernel : SupportKernel
        With at least two in-bound support vectors.

    Returns
    -------
    ndarray of shape (n_in_bound, n)
        Column p holds lambda^(p); its own entry is -1 for an in-bound p, as in equation (28).
    """
    inverse = kernel.factor
    ones = inverse.sum(axis=1)
    u = inverse.T @ ones
    s = float(ones @ ones)
    projector = inverse.T @ inverse - np.outer(u, u) / s
    inner = -projector / np.maximum(np.diag(projector), 1e-300)
    outer = projector @ kernel.K_FB + (u / s)[:, None]
    return np.hstack([inner, outer])


def lambda_box(kernel: SupportKernel, p: int) -> tuple[Array, Array]:
    """Bounds on lambda from 0 <= alpha_i + y_i y_p alpha_p lambda_i <= C_i (equation (31)).

    Parameters
    ----------
    kernel : SupportKernel
    p : int
        Position of the support vector; an in-bound p has its own lambda fixed at 0.

    Returns
    -------
    lower, upper : ndarray of shape (n_in_bound,)
    """
    n = kernel.n_in_bound
    alpha, room = kernel.alpha[:n], kernel.C[:n] - kernel.alpha[:n]
    same = kernel.y[:n] == kernel.y[p]
    lower = -np.where(same, alpha, room) / kernel.alpha[p]
    upper = np.where(same, room, alpha) / kernel.alpha[p]
    if p < n:
        lower[p] = upper[p] = 0.0
    return lower, upper


def lemma1(y: Array, alpha: Array, C: Array, in_bound: Mask, bounded: Mask) -> tuple[Array, Array]:
    """Both forms of Lemma 1's condition for a non-empty Lambda_p, as slacks.

    Parameters
    ----------
    y, alpha, C : ndarray of shape (l,)
    in_bound, bounded : ndarray of bool of shape (l,)

    Returns
    -------
    by_alpha, by_weight : ndarray of shape (l,)
        by_alpha: room of the in-bound SVs of p's class + multipliers of those of the other class
        - alpha_p (p itself left out). by_weight: weight of the other SVs of p's class - weight of
        the bounded SVs of the other class. Lambda_p is non-empty where the slack is >= 0; equality
        is common, so compare with -`LEMMA_TOL` * max(C). NaN for rows that are no support vectors.
    """
    by_alpha, by_weight = np.full(y.size, np.nan), np.full(y.size, np.nan)
    support = in_bound | bounded
    for label in (-1.0, 1.0):
        own, other = (y == label), (y == -label)
        room = (C - alpha)[own & in_bound].sum() + alpha[other & in_bound].sum()
        weight = C[own & support].sum() - C[other & bounded].sum()
        rows = own & support
        by_alpha[rows] = room - (C - alpha)[rows] * in_bound[rows] - alpha[rows]
        by_weight[rows] = weight - C[rows]
    return by_alpha, by_weight


def inside_box(kernel: SupportKernel) -> Mask:
    """Whether the nearest point with the box dropped lies in the box, for every support vector.

    Parameters
    ----------
    kernel : SupportKernel

    Returns
    -------
    ndarray of bool of shape (n,)
    """
    n = kernel.n_in_bound
    if n == 0:
        return np.zeros(kernel.size, dtype=bool)
    if n == 1:
        return np.array([False] + [_one_point_fits(kernel, p) for p in range(1, kernel.size)])
    moved = kernel.lambdas * (kernel.y * kernel.alpha)[None, :]
    after = kernel.alpha[:n, None] + kernel.y[:n, None] * moved
    slack = _BOX_TOL * kernel.C[:n, None]
    fits = (after >= -slack) & (after <= kernel.C[:n, None] + slack)
    np.fill_diagonal(fits[:, :n], True)
    return np.asarray(fits.all(axis=0))


def _one_point_fits(kernel: SupportKernel, p: int) -> bool:
    lower, upper = lambda_box(kernel, p)
    return bool(lower[0] <= 1.0 + LEMMA_TOL and upper[0] >= 1.0 - LEMMA_TOL)


def _boxed_span(kernel: SupportKernel, p: int, guess: Array) -> tuple[float, float]:
    """Squared span with the box and the violation of its optimality conditions."""
    lower, upper = lambda_box(kernel, p)
    column = kernel.column(p)
    start = upper if upper.sum() <= 1.0 else feasible_start(guess, lower, upper, 1.0)
    solved = solve_box_qp(kernel.K_FF, column, lower, upper, start, tol=1e-10)
    # x^T K x - 2 k^T x = x^T (gradient - k)
    square = kernel.diagonal(p) + float(solved.x @ (solved.gradient - column))
    return max(square, 0.0), solved.violation


def boxed_spans(kernel: SupportKernel, non_empty: Mask) -> Array:
    """Squared spans with the box of equation (31).

    Parameters
    ----------
    kernel : SupportKernel
    non_empty : ndarray of bool of shape (n,)
        Whether Lambda_p is non-empty (Lemma 1).

    Returns
    -------
    ndarray of shape (n,)
        S_p^2; infinite where Lambda_p is empty. The closed form is kept where it lies in the box;
        elsewhere the programme is solved to 1e-10.
    """
    spans = closed_spans(kernel)
    spans[~non_empty] = np.inf
    if kernel.n_in_bound == 0:
        return spans
    todo = np.flatnonzero(non_empty & ~inside_box(kernel))
    guesses = kernel.lambdas[:, todo] if todo.size and kernel.n_in_bound > 1 else None
    for k, p in enumerate(todo):
        guess = np.ones(1) if guesses is None else guesses[:, k]
        spans[p] = _boxed_span(kernel, int(p), guess)[0]
    return spans


def largest_span(kernel: SupportKernel, non_empty: Mask) -> float:
    """S, the largest boxed span of the in-bound support vectors with non-empty Lambda_p.

    Parameters
    ----------
    kernel : SupportKernel
    non_empty : ndarray of bool of shape (n,)

    Returns
    -------
    float
        S itself (not squared), equation (32); 0 when there is no such support vector.

    Notes
    -----
    Programmes are solved only for support vectors that can still be the largest: any feasible
    point bounds a span from above.
    """
    n = kernel.n_in_bound
    if n < 2 or not non_empty[:n].any():
        return 0.0
    fits = inside_box(kernel)[:n] & non_empty[:n]
    best = float(closed_spans(kernel)[:n][fits].max()) if fits.any() else 0.0
    todo = np.flatnonzero(non_empty[:n] & ~fits)
    guesses = kernel.lambdas[:, todo] if todo.size else np.empty((n, 0))
    above = [_feasible_square(kernel, int(p), guesses[:, k]) for k, p in enumerate(todo)]
    for k in np.argsort(above)[::-1]:
        if above[k] <= best:
            break
        best = max(best, _boxed_span(kernel, int(todo[k]), guesses[:, k])[0])
    return float(np.sqrt(best))


def _feasible_square(kernel: SupportKernel, p: int, guess: Array) -> float:
    """Squared distance of x_p from one point of Lambda_p."""
    lower, upper = lambda_box(kernel, p)
    x = feasible_start(guess, lower, upper, 1.0)
    return float(x @ (kernel.K_FF @ x) - 2.0 * kernel.column(p) @ x + kernel.diagonal(p))
