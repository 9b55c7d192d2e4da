"""The exact linear program of polynomial size, in place of 2^|Y| - 1 constraints a sample.

For scores s and v = nu - 1, (sum_{y in C} s_y - 1)/|C| <= v holds for every subset C
exactly when sum_y max(0, s_y - v) <= 1. The dual of that form is solved here:

    min  sum_i g_i - 1   s.t.  p_iy <= g_i,  tau - lambda <= sum_iy p_iy Phi(x_i, y)
    <= tau + lambda,  sum p = 1,  p >= 0,

in words: among the distributions p in the uncertainty set, find the one with the
largest Bayes risk 1 - sum_i max_y p_iy. Row multipliers give mu.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from marginlab.errors import SolverError
from marginlab.mrc.certificate import lower_bound, upper_bound
from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.full_lp import solve_ranged
from marginlab.mrc.history import Clock, History, MrcResult
from marginlab.mrc.lp import RangedLp

__all__ = ["compact_lp", "solve_compact"]

TOLERANCE = 1e-5


def compact_lp(problem: MrcProblem) -> RangedLp:
    """The dual of the compact form; variables p (sample-major), then g."""
    n, k, m = problem.phi.n_samples, problem.n_classes, problem.phi.n_features
    samples = np.repeat(np.arange(n), k)
    singletons = np.tile(np.eye(k, dtype=bool), (n, 1))
    features = sp.csr_array(problem.phi.rows(samples, singletons))
    ones = sp.csr_array(np.ones((n * k, 1)))
    weights = sp.hstack([ones, features, -sp.eye_array(n * k)], format="csr")
    pairs = sp.kron(sp.eye_array(n), np.ones((1, k)), format="csr")
    tops = sp.hstack([sp.csr_array((n, 1 + m)), pairs], format="csr")
    columns = sp.csr_array(sp.vstack([weights, tops], format="csr"))
    cost = np.concatenate([np.zeros(n * k), np.ones(n)])
    low = np.concatenate([[1.0], problem.tau - problem.lam, np.zeros(n * k)])
    high = np.concatenate([[1.0], problem.tau + problem.lam, np.full(n * k, np.inf)])
    return RangedLp(columns, cost, low, high)


def solve_compact(
    problem: MrcProblem,
    solver: str = "highs",
    seconds: float = float("inf"),
    memory_mb: float | None = None,
) -> MrcResult:
    """Solve the compact form with an external solver.

    Parameters
    ----------
    problem : MrcProblem
    solver : {"highs", "highs-ipm", "cbc", "cbc-mps"}
    seconds, memory_mb : float
        Budgets.

    Raises
    ------
    BudgetError, SolverError
        See `marginlab.mrc.full_lp.solve_full_lp`.
    """
    clock, history = Clock(seconds), History()
    lp = compact_lp(problem)
    n, k, m = problem.phi.n_samples, problem.n_classes, problem.phi.n_features

    def check(dual: np.ndarray, x: np.ndarray) -> MrcResult:
        mu = dual[1 : 1 + m]
        upper = upper_bound(problem, mu)
        weights = x[: n * k].reshape(n, k)
        lower, violation = lower_bound(problem, problem.phi, weights)
        bayes = 1.0 - float(weights.max(axis=1).sum())
        if upper - bayes > TOLERANCE or violation > TOLERANCE:
            raise SolverError(
                f"upper bound {upper:.9g} and lower bound {bayes:.9g} differ, or a dual "
                f"constraint is violated by {violation:.3g}"
            )
        return MrcResult(mu, bayes, lower, upper, violation, history.frame())

    result = solve_ranged(lp, check, solver, clock.left(), memory_mb)
    size = {"constraints": n * (k + 1), "features": m, "violation": 0.0}
    history.add(clock, risk=result.risk, lower=result.lower, upper=result.upper, **size)
    return MrcResult(
        result.mu,
        result.risk,
        result.lower,
        result.upper,
        result.dual_violation,
        history.frame(),
    )
