"""A primal-dual interior-point method for the exact compact form, which takes up samples.

Primal: min 1 - tau.mu + lambda.|mu| + v  with  t_iy >= s_iy - v,  sum_y t_iy <= 1,
t >= 0 and s = Phi mu. Dual: the distribution beta on (sample, label) with the
largest Bayes risk 1 - sum_i gamma_i, beta <= gamma, in the uncertainty set. The
complementary pairs are

    beta - u = t - s + v,   delta = gamma - beta - t,   gamma - z = 1 - sum_y t,
    mu+ - r+ = lambda - tau + A beta,   mu- - r- = lambda + tau - A beta.

Each Newton step eliminates the 2 n |Y| + n pairs of the samples one sample at a
time (a diagonal plus a rank-one term), so only an m x m matrix is factored, whatever
the number of label subsets. Steps are Mehrotra's predictor and corrector.

Most samples have no weight in the solution. The program therefore starts with a few
samples and the class centres, and after each step takes up the samples whose rows the
step violates: v is raised until they fit, and a step that would raise it by more than the
gap is cut. So every point is feasible for all samples, at every moment its objective is an
upper bound, and one run with some thousand rows replaces a run with all of them.
"""

from __future__ import annotations

import numpy as np

from marginlab.errors import SolverError
from marginlab.mrc.certificate import lower_bound, upper_bound
from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.history import Clock, History, MrcResult
from marginlab.mrc.ipm_core import advance
from marginlab.mrc.ipm_newton import NewtonSystem
from marginlab.mrc.ipm_point import FLOOR, admit, distance, start
from marginlab.mrc.ipm_samples import Working, first_samples, most_violated
from marginlab.mrc.lp import BudgetError

__all__ = ["interior_megabytes", "solve_interior"]

MAX_ITERATIONS = 300
PATIENCE = 25  # iterations without a better bound after which rounding has won
ROOM = 0.05  # share of the gap that a point keeps from the rows of all samples
SHORTEST = 1e-3  # share of a step below which it is not cut further
ATTEMPTS = 3
EQUAL = 1e-8  # violation of an equality (lambda = 0) up to which a lower bound counts
MANY = 3  # samples a component that the solution may need, for the memory's sake


def solve_interior(
    problem: MrcProblem,
    tolerance: float = 1e-6,
    seconds: float = float("inf"),
    memory_mb: float | None = 4096.0,
) -> MrcResult:
    """Solve problem (3) exactly: all samples, label subsets and features count.

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
    begin, gap = first_samples(problem), np.inf
    for attempt in range(ATTEMPTS):
        _fits(problem, len(begin), memory_mb)
        run = _Run(problem, clock, history, begin)
        if run.solve(tolerance):
            return run.result()
        gap = min(gap, run.best.gap())
        if run.work.complete():
            break
        # Rounding stopped it, often because samples joined late: now they are there from the
        # start, and if that is not enough, all are.
        begin = run.work.known() if attempt == 0 else np.arange(problem.phi.n_samples)
    raise SolverError(
        f"the interior point stopped with a gap of {gap:.3g} "
        f"above {tolerance:.3g} after {len(history.rows)} iterations: "
        "raise eps_1 or use method='ccg'"
    )


def interior_megabytes(problem: MrcProblem, begin: int = 0) -> float:
    """Memory that `solve_interior` needs, in MiB: three m x m matrices, two of its rows.

    Parameters
    ----------
    problem : MrcProblem
    begin : int
        Samples to begin with, where it is not `marginlab.mrc.ipm_samples.first_samples`.
    """
    m, n = problem.phi.n_features, problem.phi.n_samples
    rows = max(begin, min(n, len(first_samples(problem)) + MANY * m))
    return (3.0 * m * m + 2.0 * rows * m + 20.0 * n * problem.n_classes) * 8 / 2**20


def _fits(problem: MrcProblem, begin: int, memory_mb: float | None) -> None:
    need = interior_megabytes(problem, begin)
    if memory_mb is not None and need > memory_mb:
        raise BudgetError(
            f"no solution within the memory budget of {memory_mb:g} MB: the interior point on "
            f"{problem.phi.n_features} features needs about {need:.0f} MB"
        )


class _Best:
    """Best bounds so far."""

    def __init__(self) -> None:
        self.lower, self.upper, self.violation = 0.0, np.inf, 0.0
        self.mu, self.maximum = np.zeros(0), 0.0
        self.stale = 0  # iterations since a bound improved

    def gap(self) -> float:
        return self.upper - self.lower

    def update(self, upper: tuple[float, float, np.ndarray], lower: tuple[float, float]) -> None:
        better = upper[0] < self.upper or lower[0] > self.lower
        self.stale = 0 if better else self.stale + 1
        if upper[0] < self.upper:
            self.upper, self.maximum, self.mu = upper
        if lower[0] >= self.lower:
            self.lower, self.violation = lower


class _Run:
    """One run from a fresh point, with the samples ``begin`` to start with."""

    def __init__(
        self, problem: MrcProblem, clock: Clock, history: History, begin: np.ndarray
    ) -> None:
        self.problem, self.clock, self.history = problem, clock, history
        self.work = Working(problem, begin)
        kept = self.work.pool.kept
        self.tau, self.lam = problem.tau[kept], np.maximum(problem.lam[kept], FLOOR)
        self.point = start(self.work.samples, self.tau, self.lam)
        self.best, self.system = _Best(), NewtonSystem()
        self.system.use(self.work.samples)

    def solve(self, tolerance: float) -> bool:
        """Iterate until the bounds meet; False if they do not."""
        none = np.zeros(0, dtype=np.intp)
        self._look(self.work.pool.lowered(self.point.mu()), none)
        for _ in range(MAX_ITERATIONS):
            if self.best.gap() <= tolerance:
                return True
            if self.clock.left() <= 0:
                raise BudgetError("no solution within the time budget (interior point)")
            if self.best.stale >= PATIENCE:
                break
            before = self.point.primal.copy(), self.point.free
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                self._step()
                scores = self.work.pool.lowered(self.point.mu())
            if not np.isfinite(scores).all():
                break
            self._look(*self._hold_back(before, scores))
        return self.best.gap() <= tolerance

    def result(self) -> MrcResult:
        """The best bounds, the upper one recomputed on the whole problem."""
        best = self.best
        mu = self.work.pool.restore(best.mu, best.maximum)[: self.problem.phi.n_features]
        upper = upper_bound(self.problem, mu)
        frame = self.history.frame()
        return MrcResult(mu, best.lower, best.lower, upper, best.violation, frame)

    def _look(self, scores: np.ndarray, wanted: np.ndarray) -> None:
        """Bounds at the point; the samples that its v does not fit, and the wanted, join."""
        p, work = self.point, self.work
        p.u[:] = distance(scores[work.index], p.t, p.free)
        room = ROOM * min(self.best.gap(), 1.0)
        maximum, rows, maxima = work.search(scores, p.free - room)
        mu = p.mu()
        upper = 1.0 - self.tau @ mu + self.lam @ np.abs(mu) + maximum
        weights = np.where(work.samples.closed, 0.0, p.beta)
        lower = lower_bound(self.problem, work.samples.phi, weights, EQUAL)
        self.best.update((float(upper), maximum, mu), lower)
        self._log()
        joining = np.union1d(wanted, most_violated(rows, maxima, p.free))
        p.free = max(p.free, float(maxima.max(initial=-np.inf)) + room)
        p.u[:] = distance(scores[work.index], p.t, p.free)
        if len(joining):
            self.point = admit(p, scores[joining])
            work.add(joining)
            self.system.use(work.samples)

    def _step(self) -> None:
        """One predictor-corrector step, in place."""
        p, samples = self.point, self.work.samples
        moment = samples.adjoint(p.beta)
        rests = (
            self.lam - self.tau + moment - p.r_plus,
            self.lam + self.tau - moment - p.r_minus,
            1.0 - float(p.beta.sum()),
        )
        self.system.factor(p)
        advance(p, lambda target: self.system.step(p, target, rests), self.system.correctors())

    def _hold_back(
        self, before: tuple[np.ndarray, float], scores: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Halve the primal step until v need not rise by more than the gap.

        Returns
        -------
        scores : ndarray
            At the point reached.
        wanted : ndarray of int
            Samples that the whole step violates by more than that.
        """
        p, most = self.point, min(self.best.gap(), 1.0)
        _, rows, maxima = self.work.search(scores, p.free + most)
        wanted = most_violated(rows, maxima, p.free)
        primal, free = p.primal.copy(), p.free
        share = 1.0
        while share > SHORTEST and len(rows):
            share *= 0.5
            p.primal[:] = before[0] + share * (primal - before[0])
            p.free = before[1] + share * (free - before[1])
            scores = self.work.pool.lowered(p.mu())
            rows = self.work.search(scores, p.free + most)[1]
        return scores, wanted

    def _log(self) -> None:
        n, k = self.point.beta.shape
        last = self.history.rows[-1] if self.history.rows else {"lower": 0.0, "upper": np.inf}
        lower = max(self.best.lower, last["lower"])
        upper = min(self.best.upper, last["upper"])
        self.history.add(
            self.clock,
            risk=lower,
            lower=lower,
            upper=upper,
            violation=upper - lower,
            constraints=n * (k + 1),
            features=len(self.tau),
        )
