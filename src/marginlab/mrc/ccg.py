"""Constraint and column generation (Algorithm 1): CONSTR, FEAT and the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from marginlab.errors import SolverError
from marginlab.mrc.certificate import lower_bound, objective, pair_weights
from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.features import Matrix
from marginlab.mrc.history import Clock, History, MrcResult
from marginlab.mrc.lp import BudgetError, LpSolution, Master
from marginlab.mrc.oracle import (
    cyclic_pick,
    most_violated_subsets,
    sample_maximum,
    violated_features,
)

__all__ = ["CcgOptions", "MasterFactory", "solve_ccg"]

MasterFactory = Callable[[Matrix, np.ndarray, np.ndarray, np.ndarray], Master]
RISE = 1e-9  # R must have risen by this much before constraints are dropped again
ROUNDING = 1e-6  # violation of a known constraint that is the solver's rounding
MIN_AGE = 3  # rounds a constraint stays before it may be dropped
CLOSING = 0.1  # distance to R* that ends a run, in units of eps_1
MAX_STALLS = 3  # rounds without a rise after which nothing is dropped any more


@dataclass(frozen=True)
class CcgOptions:
    """Settings of Algorithm 1.

    Attributes
    ----------
    eps_1, eps_2 : float
        Violations from which constraints and features are added.
    n_max, m_max : int
        Most constraints and features added in a round.
    max_rounds : int
    seconds : float
        Wall time budget.
    grow_features : bool
        Use FEAT (large n and m); constraints are then never dropped.
    """

    eps_1: float = 1e-2
    eps_2: float = 1e-5
    n_max: int = 400
    m_max: int = 400
    max_rounds: int = 200
    seconds: float = float("inf")
    grow_features: bool = False


def solve_ccg(problem: MrcProblem, make_master: MasterFactory, options: CcgOptions) -> MrcResult:
    """Solve (6) by generating its constraints and, if asked, its features.

    Parameters
    ----------
    problem : MrcProblem
    make_master : callable
        Makes the restricted problem's solver from (rows, b, tau, lam).
    options : CcgOptions

    Returns
    -------
    MrcResult
        ``risk`` is R^k of the last round, ``mu`` the coefficients with the smallest
        upper bound of all rounds. Without feature generation ``upper - lower`` is at
        most eps_1 / 10 (eps_1 itself below 1e-6), so R^k is that near to R*.

    Raises
    ------
    BudgetError
        After ``max_rounds`` rounds or ``seconds`` seconds.
    SolverError
        If a restricted problem cannot be solved with a certificate.
    """
    return _Generation(problem, make_master, options).run()


class _Generation:
    """State of one run of Algorithm 1."""

    def __init__(
        self, problem: MrcProblem, make_master: MasterFactory, options: CcgOptions
    ) -> None:
        self.problem, self.options = problem, options
        self.clock, self.history = Clock(options.seconds), History()
        self.pool = problem.with_centres()
        self.n = problem.phi.n_samples
        self.samples, self.subsets = self._first_constraints()
        self.known = set(self._keys(self.samples, self.subsets))
        self.active = self._first_features()
        self.features = np.flatnonzero(self.active)
        self.age = np.zeros(len(self.samples), dtype=int)
        self.pointer, self.stalls = 0, 0
        self.last_drop = self.lower = -np.inf
        self.upper, self.mu = np.inf, np.zeros(problem.phi.n_features)
        rows = self.pool.rows(self.samples, self.subsets)[:, self.features]
        tau, lam = problem.tau[self.features], problem.lam[self.features]
        self.master = make_master(rows, _offsets(self.subsets), tau, lam)

    def run(self) -> MrcResult:
        for _ in range(self.options.max_rounds):
            result = self._round()
            if result is not None:
                return result
            if self.clock.left() <= 0:
                break
        raise BudgetError(
            f"constraint generation did not end within {self.options.max_rounds} rounds and "
            f"{self.options.seconds:g} s (violation {self.history.rows[-1]['violation']:.3g}): "
            "raise max_rounds, time_limit or eps_1"
        )

    def _round(self) -> MrcResult | None:
        solution = self.master.solve(self.clock.left())
        mu = np.zeros(self.problem.phi.n_features)
        mu[self.features] = solution.mu
        scores = self.problem.phi.scores(mu)
        maxima = sample_maximum(scores)
        violation = max(float(maxima.max()) + 1.0 - solution.nu, 0.0)
        upper = objective(self.problem, mu, max(float(maxima.max()), solution.nu - 1.0))
        lower, dual_violation, residual = self._dual_side(solution)
        sizes = {"constraints": len(self.samples), "features": len(self.features)}
        self.history.add(
            self.clock, risk=solution.risk, lower=lower, upper=upper, violation=violation, **sizes
        )
        self._keep_bounds(lower, upper, mu)
        candidates = self._violated(maxima + 1.0 - solution.nu)
        fresh = self._fresh(candidates, scores)
        columns = self._new_features(residual)
        nothing_new = len(fresh[0]) == 0 and len(columns) == 0
        if nothing_new and (len(candidates) == 0 or violation <= ROUNDING):
            bounds = (lower, self.upper, dual_violation)
            return MrcResult(self.mu, solution.risk, *bounds, self.history.frame())
        if nothing_new:
            raise SolverError(
                f"constraints already in the restricted problem are violated by {violation:.3g}, "
                "more than eps_1: the solver cannot reach this accuracy; raise eps_1"
            )
        self._drop(solution, mu)
        self._grow(*fresh, columns)
        return None

    def _keep_bounds(self, lower: float, upper: float, mu: np.ndarray) -> None:
        """Keep the largest lower bound, and the smallest upper bound with its mu."""
        self.lower = max(self.lower, lower)
        if upper < self.upper:
            self.upper, self.mu = upper, mu

    def _violated(self, violations: np.ndarray) -> np.ndarray:
        """Samples that CONSTR looks at: violations of eps_1 or more.

        When there are none, R* may still be eps_1 above R^k. Violations of eps_1 / 10
        are generated too, until the bounds are that near to each other: upper - lower
        is at most the largest violation, and often far less.
        """
        eps = max(self.options.eps_1, 1e-9)
        candidates = np.flatnonzero(violations >= eps)
        near = max(CLOSING * eps, min(eps, ROUNDING))
        if len(candidates) == 0 and self.upper - self.lower > near:
            candidates = np.flatnonzero(violations >= near)
        return candidates

    def _dual_side(self, solution: LpSolution) -> tuple[float, float, np.ndarray | None]:
        if not self.options.grow_features:
            return solution.risk, solution.dual_violation, None
        weights = pair_weights(self.pool.n_samples, self.samples, self.subsets, solution.alpha)
        residual = self.pool.adjoint(weights) - self.problem.tau
        lower, violation = lower_bound(self.problem, self.pool, weights)
        return lower, violation, residual

    def _fresh(self, candidates: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """CONSTR: the most violated subset of up to n_max violated samples."""
        picked = cyclic_pick(candidates, self.pointer, self.options.n_max)
        subsets = most_violated_subsets(scores[picked])
        if len(picked):
            self.pointer = int(picked[-1]) + 1
        keys = self._keys(picked, subsets)
        new = np.fromiter((k not in self.known for k in keys), dtype=bool, count=len(keys))
        return picked[new], subsets[new]

    def _new_features(self, residual: np.ndarray | None) -> np.ndarray:
        if residual is None:
            return np.zeros(0, dtype=np.intp)
        o = self.options
        return violated_features(residual, self.problem.lam, self.active, o.eps_2, o.m_max)

    def _grow(self, samples: np.ndarray, subsets: np.ndarray, columns: np.ndarray) -> None:
        if len(columns):
            block = self.pool.rows(self.samples, self.subsets)[:, columns]
            self.master.add_features(block, self.problem.tau[columns], self.problem.lam[columns])
            self.active[columns] = True
            self.features = np.concatenate([self.features, columns])
        if len(samples):
            rows = self.pool.rows(samples, subsets)[:, self.features]
            self.master.add_constraints(rows, _offsets(subsets))
            self.known.update(self._keys(samples, subsets))
            self.samples = np.concatenate([self.samples, samples])
            self.subsets = np.vstack([self.subsets, subsets])
            self.age = np.concatenate([self.age + 1, np.zeros(len(samples), dtype=int)])

    def _drop(self, solution: LpSolution, mu: np.ndarray) -> None:
        """Remove slack constraints, but never so that R^k could fall or the run cycle."""
        if self.options.grow_features or self.stalls >= MAX_STALLS:
            return
        if solution.risk <= self.last_drop + RISE:
            self.stalls += 1
            return
        self.stalls = 0
        slack = solution.nu - self._row_values(mu)
        # The centres stay: with the classes' shares as weights they make the dual of every
        # restricted problem feasible exactly, and not to a solver's tolerance only.
        sampled = self.samples < self.n
        gone = sampled & (slack > 1e-7) & (self.age >= MIN_AGE) & ~self.master.basic()
        if not gone.any():
            return
        self.last_drop = solution.risk
        keep = ~gone
        self.known.difference_update(self._keys(self.samples[gone], self.subsets[gone]))
        self.master.drop_constraints(keep)
        self.samples, self.subsets = self.samples[keep], self.subsets[keep]
        self.age = self.age[keep]

    def _row_values(self, mu: np.ndarray) -> np.ndarray:
        """F mu - b of the constraints in the restricted problem."""
        scores = self.pool.take(self.samples).scores(mu)
        sizes = self.subsets.sum(axis=1)
        return ((scores * self.subsets).sum(axis=1) - 1.0) / sizes + 1.0

    def _first_constraints(self) -> tuple[np.ndarray, np.ndarray]:
        """Constraints of the class centres: they bound the first restricted problem.

        Centres are averages of samples, so their constraints are implied by (6).
        """
        k = self.problem.n_classes
        subsets = np.eye(k, dtype=bool)
        if k == 2:
            subsets = np.vstack([subsets, np.ones((1, 2), dtype=bool)])
        centres = self.n + np.arange(k)
        return np.repeat(centres, len(subsets)), np.tile(subsets, (k, 1))

    def _first_features(self) -> np.ndarray:
        """All features, or the ones violated most by a uniform guess of the label."""
        problem, m = self.problem, self.problem.phi.n_features
        if not self.options.grow_features:
            return np.ones(m, dtype=bool)
        active = np.zeros(m, dtype=bool)
        active[:: self.problem.phi.psi.shape[1]] = True
        uniform = np.zeros((self.pool.n_samples, problem.n_classes))
        uniform[self.n :] = 1.0 / problem.n_classes**2
        residual = self.pool.adjoint(uniform) - problem.tau
        active[violated_features(residual, problem.lam, active, 0.0, self.options.m_max)] = True
        return active

    @staticmethod
    def _keys(samples: np.ndarray, subsets: np.ndarray) -> list[tuple[int, bytes]]:
        packed = np.packbits(subsets, axis=1)
        return [(int(i), c.tobytes()) for i, c in zip(samples, packed, strict=True)]


def _offsets(subsets: np.ndarray) -> np.ndarray:
    """b of (6), 1/|C| - 1."""
    return 1.0 / subsets.sum(axis=1) - 1.0
