"""The restricted linear program, the small interface of its solvers, and its check.

All solvers get the dual (15) with ranged rows,

    min  b . alpha   s.t.  tau - lambda <= F^T alpha <= tau + lambda,  sum alpha = 1,
    alpha >= 0,

which has half the non-zeros of the primal (14); its row multipliers are mu and -nu.
An answer counts only after primal value, dual value and feasibility were computed
again in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from marginlab.errors import SolverError
from marginlab.mrc.features import Matrix

__all__ = [
    "BudgetError",
    "LpSolution",
    "Master",
    "RangedLp",
    "RestrictedLp",
    "accept_first",
    "checked",
    "horizontal",
    "vertical",
    "with_ones",
]


T = TypeVar("T")


class BudgetError(SolverError):
    """No solution within the time or memory budget."""


@dataclass(frozen=True)
class RestrictedLp:
    """Data of (15) for constraints I and features J.

    Attributes
    ----------
    rows : ndarray or CSR array of shape (r, k)
        F_{I,J}.
    b : ndarray of shape (r,)
        1/|C| - 1 for each row's subset C.
    tau, lam : ndarray of shape (k,)
    """

    rows: Matrix
    b: np.ndarray
    tau: np.ndarray
    lam: np.ndarray

    def ranged(self) -> RangedLp:
        """The same program in the solvers' common form; row 0 is ``sum alpha = 1``."""
        one = np.ones(1)
        return RangedLp(
            with_ones(self.rows),
            np.asarray(self.b, dtype=float),
            np.concatenate([one, self.tau - self.lam]),
            np.concatenate([one, self.tau + self.lam]),
        )


@dataclass(frozen=True)
class RangedLp:
    """min cost . x  subject to  low <= A x <= high,  x >= 0.

    Attributes
    ----------
    columns : ndarray or CSR array of shape (n_variables, n_rows)
        A transposed: one row a variable.
    cost : ndarray of shape (n_variables,)
    low, high : ndarray of shape (n_rows,)
    """

    columns: Matrix
    cost: np.ndarray
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class LpSolution:
    """A checked solution of (14) and (15).

    Attributes
    ----------
    mu : ndarray of shape (k,)
    nu : float
        Smallest value feasible with ``mu`` (recomputed).
    alpha : ndarray of shape (r,)
        Non-negative, summing to one.
    risk : float
        Optimal value of the restricted problem (R^k), from the dual side.
    gap : float
        Primal value minus ``risk``.
    dual_violation : float
        Largest violation of a ranged row by ``alpha``.
    """

    mu: np.ndarray
    nu: float
    alpha: np.ndarray
    risk: float
    gap: float
    dual_violation: float


class Master(Protocol):
    """A restricted problem that grows and shrinks between solves."""

    def add_constraints(self, rows: Matrix, b: np.ndarray) -> None:
        """Append constraints (columns of the dual)."""

    def add_features(self, columns: Matrix, tau: np.ndarray, lam: np.ndarray) -> None:
        """Append features (rows of the dual); ``columns`` has one row per constraint."""

    def drop_constraints(self, keep: np.ndarray) -> None:
        """Keep only the constraints where ``keep`` is true."""

    def basic(self) -> np.ndarray:
        """Which constraints are basic in the last solution (must not be dropped)."""

    def solve(self, seconds: float) -> LpSolution:
        """Solve and check; raises SolverError with the reason."""


def checked(lp: RestrictedLp, mu: np.ndarray, alpha: np.ndarray, tolerance: float) -> LpSolution:
    """Recompute values and feasibility of a solver's answer, and refuse a wrong one.

    Parameters
    ----------
    lp : RestrictedLp
    mu, alpha : ndarray
        What the solver returned.
    tolerance : float
        Largest accepted gap and dual violation (relative to 1 + |mu|_1 for the
        violation's effect on the value, absolute otherwise).

    Raises
    ------
    SolverError
        If values are not finite, the gap is too large, or the dual is infeasible.
    """
    if not (np.isfinite(mu).all() and np.isfinite(alpha).all()):
        raise SolverError("the solver returned values that are not finite")
    lost = float(np.maximum(-alpha, 0.0).sum())
    alpha = np.maximum(alpha, 0.0)
    total = float(alpha.sum())
    if abs(total - 1.0) + lost > 100 * tolerance:
        raise SolverError(f"the dual weights sum to {total:.9g} (negative part {lost:.3g}), not 1")
    alpha = alpha / total
    nu = float((lp.rows @ mu - lp.b).max())
    primal = float(lp.lam @ np.abs(mu) - lp.tau @ mu + nu)
    risk = float(-(lp.b @ alpha))
    residual = np.abs(np.asarray(lp.rows.T @ alpha) - lp.tau) - lp.lam
    violation = float(max(residual.max(initial=0.0), 0.0))
    if abs(primal - risk) > tolerance:
        raise SolverError(f"primal value {primal:.9g} and dual value {risk:.9g} differ")
    if violation > tolerance:
        raise SolverError(f"a dual constraint is violated by {violation:.3g}")
    return LpSolution(mu, nu, alpha, risk, primal - risk, violation)


def accept_first(attempts: Iterable[tuple[str, Callable[[], T]]]) -> T:
    """First answer that passes its check; every failed attempt is named in the error."""
    reasons = []
    for name, attempt in attempts:
        try:
            return attempt()
        except BudgetError:
            raise
        except SolverError as error:
            reasons.append(f"{name}: {error}")
    raise SolverError("no run of the solver gave an answer that checks; " + "; ".join(reasons))


def with_ones(rows: Matrix) -> Matrix:
    """``rows`` with a leading column of ones."""
    return horizontal([_like(rows, np.ones((rows.shape[0], 1))), rows])


def vertical(parts: list[Matrix]) -> Matrix:
    """Stack dense or CSR blocks."""
    if sp.issparse(parts[0]):
        return sp.csr_array(sp.vstack(parts, format="csr"))
    return np.vstack(parts)


def horizontal(parts: list[Matrix]) -> Matrix:
    """Put dense or CSR blocks side by side."""
    if sp.issparse(parts[0]):
        return sp.csr_array(sp.hstack(parts, format="csr"))
    return np.hstack(parts)


def _like(model: Matrix, block: np.ndarray) -> Matrix:
    return sp.csr_array(block) if sp.issparse(model) else block
