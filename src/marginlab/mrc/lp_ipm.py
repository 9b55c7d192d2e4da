"""Our interior point for the restricted problem: a master that needs no hot start.

Rows F (r constraints, k features): min b.alpha, tau - lambda <= F^T alpha <= tau +
lambda, sum alpha = 1. The Newton matrix diag(1/d) + F^T D F has k dimensions. (The
Woodbury form in r dimensions is unstable here: d spans 20 orders of magnitude.)
"""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from marginlab.errors import SolverError
from marginlab.mrc.features import Matrix
from marginlab.mrc.history import Clock
from marginlab.mrc.ipm_core import Iterate, advance, cholesky, cholesky_solve, corner
from marginlab.mrc.lp import (
    BudgetError,
    LpSolution,
    RestrictedLp,
    checked,
    horizontal,
    vertical,
)

__all__ = ["InteriorMaster", "solve_rows"]

FLOOR = 1e-10
MAX_ITERATIONS = 150


class RowPoint(Iterate):
    """Interior point or direction of the restricted problem, with names for its parts."""

    def __init__(self, primal: np.ndarray, dual: np.ndarray, free: float, r: int) -> None:
        super().__init__(primal, dual, free)
        self.slack, self.plus, self.minus = row_parts(primal, r)
        self.alpha, self.r_plus, self.r_minus = row_parts(dual, r)

    def like(self) -> RowPoint:
        """A direction at this point, to be filled."""
        r = len(self.slack)
        return RowPoint(np.empty_like(self.primal), np.empty_like(self.dual), 0.0, r)


def row_parts(vector: np.ndarray, r: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Views of the pairs of the r constraints, of mu+ and of mu-."""
    half = (r + len(vector)) // 2
    return vector[:r], vector[r:half], vector[half:]


def solve_rows(
    lp: RestrictedLp, tolerance: float = 1e-7, seconds: float = float("inf")
) -> LpSolution:
    """Solve the restricted problem to a primal-dual gap of ``tolerance``.

    Raises
    ------
    SolverError
        If the gap or the dual violation does not fall below it.
    """
    clock = Clock(seconds)
    rows = lp.rows
    transposed = sp.csr_array(rows.T) if sp.issparse(rows) else rows.T
    lam = np.maximum(lp.lam, FLOOR)
    point = _start(lp, lam)
    system = _RowSystem(rows, transposed)
    reason = "no iteration"
    for _ in range(MAX_ITERATIONS):
        moment = np.asarray(transposed @ point.alpha)
        values = np.asarray(rows @ (point.plus - point.minus))
        try:
            return checked(lp, point.plus - point.minus, point.alpha, tolerance)
        except SolverError as error:
            reason = str(error)
        if clock.left() <= 0:
            raise BudgetError("no solution within the time budget (interior point)")
        point.slack[:] = np.maximum(point.free + lp.b - values, 1e-300)
        rests = (
            lam - lp.tau + moment - point.r_plus,
            lam + lp.tau - moment - point.r_minus,
            1.0 - float(point.alpha.sum()),
        )
        system.factor(point)
        advance(point, partial(system.step, point, rests))
    raise SolverError(f"the interior point did not converge: {reason}")


def _start(lp: RestrictedLp, lam: np.ndarray) -> RowPoint:
    r = len(lp.b)
    alpha = np.full(r, 1.0 / r)
    shift = lp.tau - np.asarray(lp.rows.T @ alpha)
    r_plus, r_minus = np.maximum(lam - shift, lam), np.maximum(lam + shift, lam)
    level = 0.5 / r
    plus, minus = level / r_plus, level / r_minus
    values = np.asarray(lp.rows @ (plus - minus)) - lp.b
    nu = float(values.max()) + 0.5
    primal = np.concatenate([nu - values, plus, minus])
    return RowPoint(primal, np.concatenate([alpha, r_plus, r_minus]), nu, r)


class _RowSystem:
    """Newton system of the restricted problem."""

    def __init__(self, rows: Matrix, transposed: Matrix) -> None:
        self.rows, self.transposed = rows, transposed

    def factor(self, p: RowPoint) -> None:
        self.d = p.plus / p.r_plus + p.minus / p.r_minus
        self.weight = p.alpha / p.slack
        self.factored = cholesky(self._gram(self.transposed, self.weight), 1.0 / self.d)
        self.border = np.asarray(self.transposed @ self.weight)
        self.border_solved = self._solve(self.border)
        self.corner = corner(float(self.weight.sum()), float(self.border @ self.border_solved))

    def step(
        self,
        p: RowPoint,
        rests: tuple[np.ndarray, np.ndarray, float],
        target: np.ndarray,
    ) -> RowPoint:
        rest_plus, rest_minus, rest_sum = rests
        c_a, c_plus, c_minus = row_parts(target, len(p.slack))
        k = c_a / p.slack
        q = (c_plus - p.plus * rest_plus) / p.r_plus - (c_minus - p.minus * rest_minus) / p.r_minus
        inner = self._solve(q / self.d - np.asarray(self.transposed @ k))
        rest = rest_sum - float(k.sum())
        d = p.like()
        d.free = float((self.border @ inner - rest) / self.corner)
        d_mu = inner + d.free * self.border_solved
        d.slack[:] = d.free - np.asarray(self.rows @ d_mu)
        d.alpha[:] = k - self.weight * d.slack
        moment = np.asarray(self.transposed @ d.alpha)
        d.r_plus[:], d.r_minus[:] = rest_plus + moment, rest_minus - moment
        d.plus[:] = (c_plus - p.plus * d.r_plus) / p.r_plus
        d.minus[:] = (c_minus - p.minus * d.r_minus) / p.r_minus
        error = d_mu - (d.plus - d.minus)
        larger = p.plus >= p.minus
        d.plus += np.where(larger, error, 0.0)
        d.minus -= np.where(larger, 0.0, error)
        return d

    def _solve(self, rhs: np.ndarray) -> np.ndarray:
        return cholesky_solve(self.factored, rhs)

    @staticmethod
    def _gram(left: Matrix, weight: np.ndarray) -> np.ndarray:
        """left diag(weight) left^T, lower triangle (dense)."""
        if sp.issparse(left):
            scaled = left @ sp.diags_array(np.sqrt(weight))
            return np.asfortranarray((scaled @ scaled.T).toarray())
        return dsyrk(1.0, left * np.sqrt(weight), lower=1)


class InteriorMaster:
    """Restricted problem solved from scratch by our interior point in each round."""

    def __init__(self, rows: Matrix, b: np.ndarray, tau: np.ndarray, lam: np.ndarray) -> None:
        self.lp = RestrictedLp(rows, b, tau, lam)
        self._alpha = np.zeros(len(b))

    def add_constraints(self, rows: Matrix, b: np.ndarray) -> None:
        """Append constraints."""
        lp = self.lp
        self.lp = RestrictedLp(vertical([lp.rows, rows]), np.concatenate([lp.b, b]), lp.tau, lp.lam)

    def add_features(self, columns: Matrix, tau: np.ndarray, lam: np.ndarray) -> None:
        """Append features."""
        lp = self.lp
        tau, lam = np.concatenate([lp.tau, tau]), np.concatenate([lp.lam, lam])
        self.lp = RestrictedLp(horizontal([lp.rows, columns]), lp.b, tau, lam)

    def drop_constraints(self, keep: np.ndarray) -> None:
        """Keep only some constraints."""
        lp = self.lp
        self.lp = RestrictedLp(lp.rows[keep], lp.b[keep], lp.tau, lp.lam)

    def basic(self) -> np.ndarray:
        """Constraints with weight in the last solution."""
        weighty = self._alpha > 1e-7
        return np.concatenate([weighty, np.ones(len(self.lp.b) - len(weighty), dtype=bool)])

    def solve(self, seconds: float) -> LpSolution:
        """Solve from scratch; the check is part of the stopping rule."""
        solution = solve_rows(self.lp, seconds=seconds)
        self._alpha = solution.alpha
        return solution
