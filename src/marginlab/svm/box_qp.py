"""Exact solver of the quadratic programme that both the weighted SVM and its spans pose.

    minimise  1/2 x^T K x - c^T x   subject to  sum(x) = const,  lo <= x <= hi

The dual of the weighted SVM has this form with x = y * alpha, c = y, lo and hi from the instance
weights; the span of a support vector has it with x = lambda, c = K(., x_p).  The method alternates
sequential minimal optimisation (second-order choice of the pair, compiled) with Newton steps on
the free variables (one Cholesky factor a round).  Pairs find the free set, Newton steps finish
on it: the slow tail of pure SMO for large weights is gone and a start near the optimum pays off.
The Newton steps of a round go on until no bound is met (`marginlab.svm.free_newton`), so every
round ends at the optimum of a set of variables that it does not come back to.
Every step lowers the objective, so the two parts cannot undo each other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from marginlab.errors import SolverError
from marginlab.svm.free_newton import add_rows, newton_steps, reduce_free

__all__ = ["BoxQPResult", "feasible_start", "solve_box_qp"]

Array = NDArray[np.float64]

_POLISHED = 1e-11  # violation above which an accepted solution gets its last Newton steps
_PAIRS = 100  # pair steps a round
_PAIRS_SINGULAR = 20  # the same where most variables they free will end at a bound again
_LOOSEST = 1e-3  # violation that rounding excuses, LIBSVM's usual tolerance
_ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of max diag(K) sum |x|: error of a gradient


@dataclass(frozen=True)
class BoxQPResult:
    """Solution of the quadratic programme with its certificate.

    Attributes
    ----------
    x : ndarray of shape (n,)
        Solution.
    gradient : ndarray of shape (n,)
        K x - c, recomputed in float64 from the solution.
    violation : float
        Largest violation of the optimality conditions, max(gradient of variables that may fall)
        - min(gradient of variables that may rise); 0 or below is optimal.
    n_pairs, n_newton : int
        Pair steps and Newton steps taken.
    """

    x: Array
    gradient: Array
    violation: float
    n_pairs: int
    n_newton: int


@njit(cache=True, fastmath={"nnan", "nsz", "arcp", "contract", "reassoc"})
def _pair_steps(K, diag, x, g, lo, hi, tol, max_steps):  # type: ignore[no-untyped-def]
    """Run pair steps in place until the violation is at most tol; return (steps, violation)."""
    n = x.shape[0]
    big = 1e300
    for step in range(max_steps):
        g_up = big
        g_low = -big
        for k in range(n):
            g_up = min(g_up, g[k] if x[k] < hi[k] else big)
            g_low = max(g_low, g[k] if x[k] > lo[k] else -big)
        if g_low - g_up <= tol:
            return step, g_low - g_up
        i = 0
        while not (g[i] == g_up and x[i] < hi[i]):
            i += 1
        row = K[i]
        best = 0.0
        d_ii = diag[i]
        for k in range(n):
            fall = g[k] - g_up
            curve = max(d_ii + diag[k] - 2.0 * row[k], 1e-12)
            gain = fall * fall / curve
            best = max(best, gain if (fall > 0.0 and x[k] > lo[k]) else 0.0)
        j = 0
        while True:
            fall = g[j] - g_up
            if fall > 0.0 and x[j] > lo[j]:
                curve = max(d_ii + diag[j] - 2.0 * row[j], 1e-12)
                if fall * fall / curve >= best * (1.0 - 1e-12):
                    break
            j += 1
        move = (g[j] - g_up) / max(d_ii + diag[j] - 2.0 * row[j], 1e-12)
        room_i = hi[i] - x[i]
        room_j = x[j] - lo[j]
        if move >= room_i and room_i <= room_j:
            move = room_i
            x[j] -= move
            x[i] = hi[i]
        elif move >= room_j:
            move = room_j
            x[i] += move
            x[j] = lo[j]
        else:
            x[i] += move
            x[j] -= move
        row_j = K[j]
        for k in range(n):
            g[k] += move * (row[k] - row_j[k])
    return max_steps, big


def feasible_start(x: Array, lo: Array, hi: Array, total: float) -> Array:
    """Clip x to its box and spread what is missing from the sum over the room that is left.

    Parameters
    ----------
    x, lo, hi : ndarray of shape (n,)
        Any point and the bounds.
    total : float
        Sum to reach; sum(lo) <= total <= sum(hi) must hold.

    Returns
    -------
    ndarray of shape (n,)
    """
    inside = np.clip(x, lo, hi)
    missing = total - inside.sum()
    room = hi - inside if missing > 0 else inside - lo
    space = room.sum()
    if space <= 0.0:
        return inside
    return np.clip(inside + missing * room / space, lo, hi)


def _fresh_gradient(K: Array, c: Array, x: Array) -> Array:
    used = np.flatnonzero(x)
    gradient = -c
    add_rows(gradient, K, used, x[used])
    return gradient


def _residual(x: Array, g: Array, lo: Array, hi: Array) -> float:
    fall, rise = g[x > lo], g[x < hi]
    return float(fall.max() - rise.min()) if fall.size and rise.size else 0.0


def _polish(
    K: Array, c: Array, lo: Array, hi: Array, found: BoxQPResult
) -> tuple[Array, Array, float]:
    """Newton steps on the free set of an accepted solution, kept if the violation falls."""
    x, g = found.x.copy(), found.gradient.copy()
    for _ in range(2):
        newton_steps(K, x, g, lo, hi, np.flatnonzero((x > lo) & (x < hi)))
        g = _fresh_gradient(K, c, x)
    violation = _residual(x, g, lo, hi)
    if violation < found.violation:
        return x, g, violation
    return found.x, found.gradient, found.violation


def solve_box_qp(
    K: Array,
    c: Array,
    lo: Array,
    hi: Array,
    start: Array,
    tol: float = 1e-6,
    max_rounds: int = 5000,
) -> BoxQPResult:
    """Minimise 1/2 x^T K x - c^T x with the sum of x kept and lo <= x <= hi.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric positive semidefinite, C-contiguous float64.
    c : ndarray of shape (n,)
        Linear term.
    lo, hi : ndarray of shape (n,)
        Bounds; equal bounds fix a variable.
    start : ndarray of shape (n,)
        Feasible start; its sum is the sum that is kept.
    tol : float
        Largest violation of the optimality conditions that is accepted, in units of the gradient;
        where rounding of the gradient alone is larger (sum |x| max K above 3e8 at 1e-6), that
        is, up to 1e-3.
    max_rounds : int
        Rounds of pair steps and Newton steps before giving up.

    Returns
    -------
    BoxQPResult

    Raises
    ------
    SolverError
        If the tolerance is not reached.

    Notes
    -----
    The pair is chosen as in Fan, Chen and Lin (2005), working set selection 2.  The violation is
    confirmed on a gradient computed afresh, so rounding that gathered on the way cannot hide.
    """
    diag = np.ascontiguousarray(np.diag(K))
    x = np.clip(start, lo, hi)
    g = _fresh_gradient(K, c, x)
    pairs = newtons = 0
    rank: int | None = None
    for _ in range(max_rounds):
        rounding = _ROUNDING * float(diag.max()) * float(np.abs(x).sum())
        accepted = max(tol, min(rounding, _LOOSEST))
        budget = _PAIRS if rank is None else _PAIRS_SINGULAR
        steps, violation = _pair_steps(K, diag, x, g, lo, hi, accepted, budget)
        pairs += steps
        if violation <= accepted:
            g = _fresh_gradient(K, c, x)
            steps, violation = _pair_steps(K, diag, x, g, lo, hi, accepted, 1)
            pairs += steps
            if violation <= accepted:
                if violation > _POLISHED:
                    x, g, violation = _polish(K, c, lo, hi, BoxQPResult(x, g, violation, 0, 0))
                    newtons += 1
                return BoxQPResult(x, g, violation, pairs, newtons)
        steps, rank = reduce_free(K, x, g, lo, hi, rank)
        newtons += steps
    raise SolverError(
        f"the quadratic programme with {c.size} variables was not solved to {tol:g} after "
        f"{max_rounds} rounds; scale the features, lower C or raise tol"
    )
