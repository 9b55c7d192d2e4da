"""What the span says about a trained weighted SVM, and the leave-one-out error it stands for.

The spans themselves are in `marginlab.svm.spans`, the estimates in `marginlab.svm.span_rules`;
both are offered here.  This module adds the checks that the paper has no table for: the true
leave-one-out error, and the support vectors for which Theorem 2's premise holds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from marginlab.svm.box_qp import feasible_start, solve_box_qp
from marginlab.svm.dual import DualSolution, solution_of
from marginlab.svm.span_qp import qp_span, qp_spans
from marginlab.svm.span_rules import (
    KernelRange,
    SpanBound,
    box_binds,
    kernel_range,
    non_empty_sets,
    span_bound,
    span_errors,
    span_rule,
    support_kernel,
    support_order,
    xi_alpha,
)
from marginlab.svm.spans import (
    SupportKernel,
    boxed_spans,
    closed_spans,
    inside_box,
    largest_span,
    lemma1,
    multipliers,
)

__all__ = [
    "KernelRange",
    "SpanBound",
    "SupportKernel",
    "box_binds",
    "boxed_spans",
    "closed_spans",
    "inside_box",
    "kernel_range",
    "largest_span",
    "leave_one_out_errors",
    "lemma1",
    "multipliers",
    "non_empty_sets",
    "premise_holds",
    "qp_span",
    "qp_spans",
    "span_bound",
    "span_errors",
    "span_rule",
    "support_kernel",
    "support_order",
    "xi_alpha",
]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


def leave_one_out_errors(solution: DualSolution, K: Array, tol: float = 1e-6) -> Mask:
    """Support vectors that are wrong when the machine is trained without them.

    Parameters
    ----------
    solution : DualSolution
    K : ndarray of shape (l, l)
    tol : float
        Tolerance of each training.

    Returns
    -------
    ndarray of bool of shape (n,)
        y_p f^p(x_p) <= 0, in the order of `support_order`. Rows that are no support vectors are
        never errors: the machine without them is the same.

    Notes
    -----
    Each training starts from the solution with p's multiplier moved onto the in-bound support
    vectors. A row that is alone in its class leaves one class behind: an error.
    """
    kernel = support_kernel(solution, K)
    guesses = kernel.lambdas if kernel.n_in_bound > 1 else None
    errors = [
        _error_without(solution, K, int(p), None if guesses is None else guesses[:, k], tol)
        for k, p in enumerate(support_order(solution))
    ]
    return np.array(errors, dtype=bool)


def _error_without(
    solution: DualSolution, K: Array, p: int, guess: Array | None, tol: float
) -> bool:
    s = solution
    others = np.arange(s.y.size) != p
    if not (s.y[others] == s.y[p]).any():
        return True
    lo, hi = np.where(s.y > 0, 0.0, -s.C), np.where(s.y > 0, s.C, 0.0)
    start = s.beta
    if guess is not None:
        start[s.in_bound] += s.beta[p] * guess
    lo[p] = hi[p] = start[p] = 0.0
    solved = solve_box_qp(K, s.y, lo, hi, feasible_start(start, lo, hi, 0.0), tol)
    products = solved.gradient + s.y
    rest = solution_of(s.y[others], s.C[others], np.abs(solved.x[others]), products[others])
    return bool(s.y[p] * (products[p] + rest.intercept) <= 0.0)


def premise_holds(solution: DualSolution, K: Array, tol: float = 1e-6) -> Mask:
    """Support vectors for which Theorem 2's premise holds.

    Parameters
    ----------
    solution : DualSolution
    K : ndarray of shape (l, l)
    tol : float
        Margin by which a condition may be missed.

    Returns
    -------
    ndarray of bool of shape (n,)
        Whether the machine without p has the same in-bound and the same bounded support vectors,
        in the order of `support_order`.

    Notes
    -----
    No retraining is needed: with the two sets kept, the machine without p follows from lambda^(p),
    and the premise holds exactly if that machine meets the optimality conditions of all rows.
    """
    kernel = support_kernel(solution, K)
    n = kernel.n_in_bound
    if n < 2:
        return np.zeros(kernel.size, dtype=bool)
    order = support_order(solution)
    lambdas, inside = kernel.lambdas, np.flatnonzero(solution.in_bound)
    after = kernel.alpha[:n, None] + kernel.y[:n, None] * lambdas * solution.beta[order]
    own = np.eye(n, kernel.size, dtype=bool)
    keeps = ((after > 0.0) & (after < kernel.C[:n, None])) | own
    margin = solution.y[:, None] * _decision_without(solution, K, lambdas, order)
    bounded = solution.bounded
    outside = ~bounded & ~solution.in_bound
    left_out = np.zeros_like(margin, dtype=bool)
    left_out[order, np.arange(order.size)] = True
    fine = left_out | (margin <= 1.0 + tol) | ~bounded[:, None]
    fine &= left_out | (margin >= 1.0 - tol) | ~outside[:, None]
    # the in-bound rows stay on their margin by construction
    fine[inside] = True
    return np.asarray(keeps.all(axis=0) & fine.all(axis=0))


def _decision_without(
    solution: DualSolution, K: Array, lambdas: Array, order: NDArray[np.intp]
) -> Array:
    """f^p of every row when p is left out and the support vectors keep their roles."""
    inside = np.flatnonzero(solution.in_bound)
    n = inside.size
    # x_p minus its nearest point; for an in-bound p lambdas hold the entry -1 of p itself
    away = -(K[:, inside] @ lambdas)
    away[:, n:] += K[:, order[n:]]
    shift = away[inside].copy()
    shift[np.arange(n), np.arange(n)] = 0.0
    counts = np.full(order.size, float(n))
    counts[:n] -= 1.0
    moved = away - shift.sum(axis=0) / counts
    return np.asarray(solution.decision[:, None] - moved * solution.beta[order])
