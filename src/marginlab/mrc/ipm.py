"""A primal-dual interior-point method for the exact compact form, all samples at once.

Primal: min 1 - tau.mu + lambda.|mu| + v  with  t_iy >= s_iy - v,  sum_y t_iy <= 1,
t >= 0 and s = Phi mu. Dual: the distribution beta on (sample, label) with the
largest Bayes risk 1 - sum_i gamma_i, beta <= gamma, in the uncertainty set. The
complementary pairs are

    beta - u = t - s + v,   delta = gamma - beta - t,   gamma - z = 1 - sum_y t,
    mu+ - r+ = lambda - tau + A beta,   mu- - r- = lambda + tau - A beta.

Each Newton step eliminates the 2 n |Y| + n pairs of the samples one sample at a
time (a diagonal plus a rank-one term), so only an m x m matrix is factored, whatever
the number of label subsets. Steps are Mehrotra's predictor and corrector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginlab.errors import SolverError
from marginlab.mrc.certificate import lower_bound, objective
from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.history import Clock, History, MrcResult
from marginlab.mrc.ipm_core import advance
from marginlab.mrc.ipm_newton import NewtonSystem
from marginlab.mrc.lp import BudgetError
from marginlab.mrc.oracle import sample_maximum

__all__ = ["interior_megabytes", "solve_interior"]

FLOOR = 1e-10  # smallest lambda: an equality gets an interior
MAX_ITERATIONS = 200
PATIENCE = 15  # iterations without a better bound after which rounding has won
START = 0.5  # first distance of scores and v


@dataclass
class Point:
    """An interior point (or a direction): primal fields, then dual fields."""

    PRIMAL = ("plus", "minus", "v", "t", "z")
    DUAL = ("beta", "gamma", "delta", "r_plus", "r_minus")

    plus: np.ndarray
    minus: np.ndarray
    v: float
    t: np.ndarray
    u: np.ndarray
    z: np.ndarray
    beta: np.ndarray
    gamma: np.ndarray
    delta: np.ndarray
    r_plus: np.ndarray
    r_minus: np.ndarray

    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(primal, dual) complementary pairs."""
        return [
            (self.u, self.beta),
            (self.t, self.delta),
            (self.z, self.gamma),
            (self.plus, self.r_plus),
            (self.minus, self.r_minus),
        ]


def solve_interior(
    problem: MrcProblem,
    tolerance: float = 1e-6,
    seconds: float = float("inf"),
    memory_mb: float | None = 4096.0,
) -> MrcResult:
    """Solve problem (3) exactly, with all samples, label subsets and features.

    Parameters
    ----------
    problem : MrcProblem
    tolerance : float
        Largest difference of the upper and lower bound, both recomputed from mu and
        the distribution beta (see `marginlab.mrc.certificate`).
    seconds : float
        Wall time budget.
    memory_mb : float, optional
        Memory in MiB for the m x m matrix and its product.

    Returns
    -------
    MrcResult
        ``risk`` is the lower bound: the Bayes risk of the worst distribution found.

    Raises
    ------
    BudgetError
        If time or memory does not suffice.
    SolverError
        If the bounds do not meet.
    """
    clock, history = Clock(seconds), History()
    _fits(problem, memory_mb)
    lam = np.maximum(problem.lam, FLOOR)
    point = _start(problem, lam)
    system = NewtonSystem(problem.phi)
    n, k = point.beta.shape
    size = {"constraints": n * (k + 1), "features": len(lam)}
    best = _Best()
    for _ in range(MAX_ITERATIONS):
        scores = problem.phi.scores(point.plus - point.minus)
        moment = problem.phi.adjoint(point.beta)
        best.update(problem, point, scores)
        bounds = {"lower": best.lower, "upper": best.upper, "violation": best.upper - best.lower}
        history.add(clock, risk=best.lower, **bounds, **size)
        if best.upper - best.lower <= tolerance:
            violation = best.violation
            frame = history.frame()
            return MrcResult(best.mu, best.lower, best.lower, best.upper, violation, frame)
        if clock.left() <= 0:
            raise BudgetError("no solution within the time budget (interior point)")
        if best.stale >= PATIENCE:
            break
        with np.errstate(over="ignore", invalid="ignore"):
            _iterate(point, system, problem.tau, lam, scores, moment)
    raise SolverError(
        f"the interior point stopped with a gap of {best.upper - best.lower:.3g} "
        f"above {tolerance:.3g} after {len(history.rows)} iterations: "
        "raise eps_1 or use method='ccg'"
    )


def interior_megabytes(problem: MrcProblem) -> float:
    """Memory that `solve_interior` needs, in MiB: three m x m matrices, two n x m."""
    m, n = problem.phi.n_features, problem.phi.n_samples
    return (3.0 * m * m + 2.0 * n * m + 20.0 * n * problem.n_classes) * 8 / 2**20


def _fits(problem: MrcProblem, memory_mb: float | None) -> None:
    need = interior_megabytes(problem)
    if memory_mb is not None and need > memory_mb:
        raise BudgetError(
            f"no solution within the memory budget of {memory_mb:g} MB: the interior point on "
            f"{problem.phi.n_features} features needs about {need:.0f} MB"
        )


class _Best:
    """Best bounds so far."""

    def __init__(self) -> None:
        self.lower, self.upper, self.violation = 0.0, np.inf, 0.0
        self.mu = np.zeros(0)
        self.stale = 0  # iterations since a bound improved

    def update(self, problem: MrcProblem, point: Point, scores: np.ndarray) -> None:
        mu = point.plus - point.minus
        upper = objective(problem, mu, float(sample_maximum(scores).max()))
        lower, violation = lower_bound(problem, problem.phi, point.beta)
        self.stale = 0 if upper < self.upper or lower > self.lower else self.stale + 1
        if upper < self.upper:
            self.upper, self.mu = upper, mu
        if lower >= self.lower:
            self.lower, self.violation = lower, violation


def _start(problem: MrcProblem, lam: np.ndarray) -> Point:
    """Primal feasible, dual feasible but for the feature moments."""
    n, k = problem.phi.n_samples, problem.n_classes
    level = START / (n * k)
    beta = np.full((n, k), 1.0 / (n * k))
    t = np.full((n, k), 0.5 / k)
    delta = level / t
    gamma = 1.0 / (n * k) + delta[:, 0]
    shift = problem.tau - problem.phi.adjoint(beta)
    r_plus = np.maximum(lam - shift, lam)
    r_minus = np.maximum(lam + shift, lam)
    plus, minus = level / r_plus, level / r_minus
    scores = problem.phi.scores(plus - minus)
    v = float(scores.max()) + START
    u = t - scores + v
    return Point(plus, minus, v, t, u, np.full(n, 0.5), beta, gamma, delta, r_plus, r_minus)


def _iterate(
    p: Point,
    system: NewtonSystem,
    tau: np.ndarray,
    lam: np.ndarray,
    scores: np.ndarray,
    moment: np.ndarray,
) -> None:
    """One predictor-corrector step, in place."""
    # Primal rows are kept exactly: rounding in scores must not build up.
    p.u = np.maximum(p.t - scores + p.v, 1e-300)
    rest_plus = lam - tau + moment - p.r_plus
    rest_minus = lam + tau - moment - p.r_minus
    rest_sum = 1.0 - float(p.beta.sum())
    system.factor(p)
    advance(p, lambda target: system.step(p, target, rest_plus, rest_minus, rest_sum))
