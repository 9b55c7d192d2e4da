"""Estimates of the test error from one trained weighted SVM: span-rule, span bound, xi-alpha."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marginlab.svm.dual import DualSolution
from marginlab.svm.spans import (
    LEMMA_TOL,
    SupportKernel,
    closed_spans,
    inside_box,
    largest_span,
    lemma1,
)

__all__ = [
    "KernelRange",
    "SpanBound",
    "kernel_range",
    "non_empty_sets",
    "span_bound",
    "span_errors",
    "span_rule",
    "support_kernel",
    "xi_alpha",
]

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class KernelRange:
    """Size of the training set in feature space; it depends on the kernel alone.

    Attributes
    ----------
    diameter : float
        D, the largest distance of two training points; sqrt(2 (1 - min K)) for the RBF kernel.
    radius_square : float
        R^2 of the xi-alpha estimate, an upper bound on K(x, x) - K(x, x'); 1 - min K for RBF.
    """

    diameter: float
    radius_square: float


@dataclass(frozen=True)
class SpanBound:
    """Theorem 1's bound with its parts.

    Attributes
    ----------
    value : float
        (S * sum of alpha_p max(D, 1/sqrt(C_p)) + k + m) / l; it can exceed 1.
    S : float
        Largest span of the in-bound support vectors with non-empty Lambda_p.
    D : float
        Diameter of the training points in feature space.
    k : int
        In-bound support vectors with empty Lambda_p.
    m : int
        Bounded support vectors.
    """

    value: float
    S: float
    D: float
    k: int
    m: int


def kernel_range(K: Array) -> KernelRange:
    """Diameter and R^2 of the training points from their kernel matrix.

    Parameters
    ----------
    K : ndarray of shape (l, l)
    """
    diag = np.diag(K)
    farthest, widest = 0.0, 0.0
    for start in range(0, len(K), 1024):
        block = K[start : start + 1024]
        rows = diag[start : start + 1024]
        farthest = max(farthest, float((rows[:, None] + diag - 2.0 * block).max()))
        widest = max(widest, float((rows[:, None] - block).max()))
    return KernelRange(float(np.sqrt(farthest)), widest)


def support_order(solution: DualSolution) -> NDArray[np.intp]:
    """Row numbers of the support vectors, the in-bound ones first."""
    return np.concatenate([np.flatnonzero(solution.in_bound), np.flatnonzero(solution.bounded)])


def support_kernel(solution: DualSolution, K: Array) -> SupportKernel:
    """Cut what spans need out of the kernel matrix of all training rows.

    Parameters
    ----------
    solution : DualSolution
    K : ndarray of shape (l, l)

    Returns
    -------
    SupportKernel
        In the order of `support_order`.
    """
    inside, outside = np.flatnonzero(solution.in_bound), np.flatnonzero(solution.bounded)
    order = support_order(solution)
    return SupportKernel(
        K_FF=np.ascontiguousarray(K[np.ix_(inside, inside)]),
        K_FB=K[np.ix_(inside, outside)],
        diag_B=K[outside, outside],
        y=solution.y[order],
        alpha=solution.alpha[order],
        C=solution.C[order],
    )


def non_empty_sets(solution: DualSolution) -> Mask:
    """Whether Lambda_p is non-empty for each support vector, by the weight form of Lemma 1.

    Returns
    -------
    ndarray of bool of shape (n,)
        In the order of `support_order`. A sole in-bound support vector has no other point to
        combine, so its set is empty.
    """
    s = solution
    _, slack = lemma1(s.y, s.alpha, s.C, s.in_bound, s.bounded)
    filled = slack[support_order(s)] >= -LEMMA_TOL * s.C.max()
    n_in_bound = int(s.in_bound.sum())
    if n_in_bound == 0:
        filled[:] = False
    elif n_in_bound == 1:
        filled[0] = False
    return np.asarray(filled)


def span_errors(solution: DualSolution, kernel: SupportKernel) -> Mask:
    """Support vectors that the span-rule calls leave-one-out errors (inequality (36)).

    Parameters
    ----------
    solution : DualSolution
    kernel : SupportKernel

    Returns
    -------
    ndarray of bool of shape (n,)
        alpha_p S_p^2 >= y_p f(x_p), with y_p f(x_p) = 1 for in-bound p.
    """
    order = support_order(solution)
    margin = (solution.y * solution.decision)[order]
    margin[: kernel.n_in_bound] = 1.0
    return np.asarray(kernel.alpha * closed_spans(kernel) >= margin)


def span_rule(solution: DualSolution, kernel: SupportKernel) -> float:
    """Span-rule of Corollary 1: share of training rows that `span_errors` calls errors."""
    return float(span_errors(solution, kernel).sum() / solution.y.size)


def span_bound(solution: DualSolution, kernel: SupportKernel, size: KernelRange) -> SpanBound:
    """Span bound of Theorem 1 on the expected test error.

    Parameters
    ----------
    solution : DualSolution
    kernel : SupportKernel
    size : KernelRange

    Returns
    -------
    SpanBound
    """
    filled = non_empty_sets(solution)
    n = kernel.n_in_bound
    S = largest_span(kernel, filled)
    used = filled[:n]
    reach = np.maximum(size.diameter, 1.0 / np.sqrt(kernel.C[:n]))
    total = float((kernel.alpha[:n] * reach)[used].sum())
    k, m = int((~used).sum()), kernel.size - n
    return SpanBound((S * total + k + m) / solution.y.size, S, size.diameter, k, m)


def xi_alpha(solution: DualSolution, size: KernelRange) -> float:
    """Share of rows with 2 alpha_i R^2 + xi_i >= 1 (the xi-alpha estimate)."""
    slack = np.maximum(0.0, 1.0 - solution.y * solution.decision)
    return float(np.mean(2.0 * solution.alpha * size.radius_square + slack >= 1.0))


def box_binds(kernel: SupportKernel) -> float:
    """Share of support vectors whose nearest point, the box dropped, lies outside the box."""
    return float(np.mean(~inside_box(kernel))) if kernel.size else float("nan")
