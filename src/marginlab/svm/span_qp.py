"""The paper's way to the spans: one quadratic programme per support vector, by cvxopt.

Kept as the reference that the closed form is checked against, and as the slow side of the timing
experiments.  Every answer is checked in NumPy; a singular or unfinished programme falls back to
least squares (no box) or to the compiled solver (box).
"""

from __future__ import annotations

import cvxopt
import numpy as np
from numpy.typing import NDArray

from marginlab.svm.box_qp import feasible_start, solve_box_qp
from marginlab.svm.spans import SupportKernel, lambda_box

__all__ = ["qp_residual", "qp_span", "qp_spans"]

Array = NDArray[np.float64]

_OPTIONS = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
#: Violation of the optimality conditions above which cvxopt's answer is not taken.
_ACCEPT = 1e-7


def qp_residual(K: Array, column: Array, x: Array, lower: Array, upper: Array) -> float:
    """Largest violation of feasibility and optimality of a span's programme.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    column : ndarray of shape (n,)
        K(x_i, x_p).
    x : ndarray of shape (n,)
        lambda.
    lower, upper : ndarray of shape (n,)
        Box; infinite where there is none.

    Returns
    -------
    float
        The larger of the gradient's violation and the distance from the feasible set.
    """
    gradient = K @ x - column
    rise, fall = x < upper - 1e-9, x > lower + 1e-9
    stationary = 0.0
    if rise.any() and fall.any():
        stationary = float(gradient[fall].max() - gradient[rise].min())
    outside = float(np.maximum(lower - x, x - upper).max(initial=0.0))
    return max(stationary, outside, abs(float(x.sum()) - 1.0))


def _cvxopt_lambda(K: Array, column: Array, box: tuple[Array, Array] | None) -> Array | None:
    """cvxopt's lambda, or None when it fails."""
    size = column.size
    arguments = [cvxopt.matrix(K), cvxopt.matrix(-column), None, None]
    if box is not None:
        eye = np.eye(size)
        arguments[2] = cvxopt.matrix(np.vstack([eye, -eye]))
        arguments[3] = cvxopt.matrix(np.concatenate([box[1], -box[0]]))
    arguments += [cvxopt.matrix(1.0, (1, size)), cvxopt.matrix(1.0)]
    try:
        answer = cvxopt.solvers.qp(*arguments, options=_OPTIONS)
    except (ValueError, ArithmeticError):
        return None  # "Rank(A) < p or Rank([P; A; G]) < n", or a singular KKT matrix on the way
    if answer["x"] is None:
        return None
    found: Array = np.array(answer["x"]).ravel()
    return found if np.isfinite(found).all() else None


def _least_squares_lambda(K: Array, column: Array) -> Array:
    """Lambda of the equality-only programme with a singular K, of smallest norm."""
    size = column.size
    bordered = np.ones((size + 1, size + 1))
    bordered[:size, :size] = K
    bordered[size, size] = 0.0
    solved = np.linalg.lstsq(bordered, np.append(column, 1.0), rcond=1e-12)[0]
    return np.asarray(solved[:size])


def _free_lambda(K: Array, column: Array) -> Array:
    unbounded = np.full(column.size, np.inf)
    found = _cvxopt_lambda(K, column, None)
    if found is not None and qp_residual(K, column, found, -unbounded, unbounded) <= _ACCEPT:
        return found
    return _least_squares_lambda(K, column)


def _boxed_lambda(K: Array, column: Array, lower: Array, upper: Array) -> Array:
    if upper.sum() <= 1.0 + 1e-9:
        return upper  # equality in Lemma 1: a single point
    found = _cvxopt_lambda(K, column, (lower, upper))
    if found is not None:
        found = np.clip(found, lower, upper)
        if qp_residual(K, column, found, lower, upper) <= _ACCEPT:
            return found
    start = feasible_start(np.zeros_like(column), lower, upper, 1.0)
    return solve_box_qp(K, column, lower, upper, start, tol=1e-10).x


def qp_span(kernel: SupportKernel, p: int, box: bool) -> tuple[float, float]:
    """Squared span of one support vector by cvxopt, with its residual.

    Parameters
    ----------
    kernel : SupportKernel
    p : int
        Position of the support vector, the in-bound ones first.
    box : bool
        Whether the box of equation (31) is kept; Lambda_p must then be non-empty.

    Returns
    -------
    square : float
        S_p^2; infinite when there is no other in-bound support vector.
    residual : float
        See `qp_residual`.
    """
    keep = np.arange(kernel.n_in_bound) != p
    if not keep.any():
        return np.inf, 0.0
    K = np.ascontiguousarray(kernel.K_FF[np.ix_(keep, keep)])
    column = np.ascontiguousarray(kernel.column(p)[keep])
    lower, upper = np.full(column.size, -np.inf), np.full(column.size, np.inf)
    if box:
        lower, upper = (bound[keep] for bound in lambda_box(kernel, p))
        x = _boxed_lambda(K, column, lower, upper)
    else:
        x = _free_lambda(K, column)
    square = float(x @ (K @ x) - 2.0 * column @ x) + kernel.diagonal(p)
    return max(square, 0.0), qp_residual(K, column, x, lower, upper)


def qp_spans(
    kernel: SupportKernel, box: bool = False, non_empty: NDArray[np.bool_] | None = None
) -> Array:
    """Squared spans of all support vectors, one programme each.

    Parameters
    ----------
    kernel : SupportKernel
    box : bool
        Whether to keep the box of equation (31).
    non_empty : ndarray of bool of shape (n,), optional
        Whether Lambda_p is non-empty; only asked for with the box.

    Returns
    -------
    ndarray of shape (n,)
        S_p^2; infinite where Lambda_p is empty.
    """
    spans = np.full(kernel.size, np.inf)
    for p in range(kernel.size):
        if not box or non_empty is None or non_empty[p]:
            spans[p] = qp_span(kernel, p, box)[0]
    return spans
