"""HiGHS as solver of the restricted problem: hot-started master and one-off solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import highspy
import numpy as np
import scipy.sparse as sp

from marginlab.errors import SolverError
from marginlab.mrc.features import Matrix
from marginlab.mrc.lp import (
    BudgetError,
    LpSolution,
    RangedLp,
    RestrictedLp,
    accept_first,
    checked,
    horizontal,
    vertical,
    with_ones,
)
from marginlab.mrc.quiet import greet_highs

__all__ = ["HighsMaster", "new_highs", "run_highs", "solve_highs"]

T = TypeVar("T")
TOLERANCE = 1e-6
DUAL_SIMPLEX, PRIMAL_SIMPLEX = 1, 4


def new_highs(**options: Any) -> highspy.Highs:
    """A silent, single-threaded HiGHS with the given options."""
    greet_highs()
    solver = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "parallel": "off", **options}.items():
        solver.setOptionValue(name, value)
    return solver


def run_highs(solver: highspy.Highs) -> highspy.HighsModelStatus:
    """Run HiGHS, also where somebody in this process has run it with other threads before.

    HiGHS shares its workers in a process and refuses to run with another number of them.
    """
    solver.run()
    if solver.getModelStatus() == highspy.HighsModelStatus.kNotset:
        solver.resetGlobalScheduler(True)
        solver.run()
    return solver.getModelStatus()


class HighsMaster:
    """The dual of the restricted problem, kept inside HiGHS between rounds.

    A new constraint is a new column: the last basis stays feasible, so the primal
    simplex goes on from it. A new feature is a new row: the dual simplex goes on.
    """

    def __init__(self, rows: Matrix, b: np.ndarray, tau: np.ndarray, lam: np.ndarray) -> None:
        self.lp = RestrictedLp(rows[:0], b[:0], tau, lam)
        # Columns are O(1) already and restarts are many: HiGHS's own scaling and
        # perturbation cost 15 to 40% here.
        self._solver = new_highs(
            presolve="off",
            simplex_scale_strategy=0,
            primal_simplex_bound_perturbation_multiplier=0.0,
        )
        self._features_added = False
        self._solver.addRow(1.0, 1.0, 0, _NO_INDEX, _NO_VALUE)
        self._solver.addRows(
            len(tau), tau - lam, tau + lam, 0, np.zeros(len(tau), np.int32), _NO_INDEX, _NO_VALUE
        )
        self.add_constraints(rows, b)

    def add_constraints(self, rows: Matrix, b: np.ndarray) -> None:
        """Append columns to the dual; HiGHS keeps its basis."""
        packed = sp.csr_array(with_ones(rows))
        size = len(b)
        self._solver.addCols(
            size,
            np.asarray(b, dtype=float),
            np.zeros(size),
            np.full(size, highspy.kHighsInf),
            packed.nnz,
            packed.indptr[:-1].astype(np.int32),
            packed.indices.astype(np.int32),
            packed.data,
        )
        lp = self.lp
        self.lp = RestrictedLp(vertical([lp.rows, rows]), np.concatenate([lp.b, b]), lp.tau, lp.lam)

    def add_features(self, columns: Matrix, tau: np.ndarray, lam: np.ndarray) -> None:
        """Append ranged rows to the dual; HiGHS keeps its basis."""
        packed = sp.csr_array(columns.T)
        self._solver.addRows(
            len(tau),
            tau - lam,
            tau + lam,
            packed.nnz,
            packed.indptr[:-1].astype(np.int32),
            packed.indices.astype(np.int32),
            packed.data,
        )
        lp = self.lp
        self.lp = RestrictedLp(
            horizontal([lp.rows, columns]),
            lp.b,
            np.concatenate([lp.tau, tau]),
            np.concatenate([lp.lam, lam]),
        )
        self._features_added = True

    def drop_constraints(self, keep: np.ndarray) -> None:
        """Delete columns and set the remaining basis again (deleting forgets it)."""
        basis = self._solver.getBasis()
        kept = [status for status, stays in zip(basis.col_status, keep, strict=True) if stays]
        gone = np.flatnonzero(~keep).astype(np.int32)
        self._solver.deleteCols(len(gone), gone)
        fresh = highspy.HighsBasis()
        fresh.col_status, fresh.row_status = kept, basis.row_status
        fresh.valid = True
        self._solver.setBasis(fresh)
        lp = self.lp
        self.lp = RestrictedLp(lp.rows[keep], lp.b[keep], lp.tau, lp.lam)

    def basic(self) -> np.ndarray:
        """Constraints that are basic in the last solve."""
        status = self._solver.getBasis().col_status
        return np.fromiter(
            (s == highspy.HighsBasisStatus.kBasic for s in status), dtype=bool, count=len(status)
        )

    def solve(self, seconds: float) -> LpSolution:
        """Solve from the last basis; on a failed check, solve afresh with other options."""
        strategy = DUAL_SIMPLEX if self._features_added else PRIMAL_SIMPLEX
        self._features_added = False
        usual = {"simplex_scale_strategy": 2, "primal_simplex_bound_perturbation_multiplier": 1.0}
        tight = {**usual, "primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
        return accept_first(
            [
                ("from the last basis", self._run(seconds, False, {"simplex_strategy": strategy})),
                ("dual simplex afresh", self._run(seconds, True, {"simplex_strategy": 1})),
                ("tolerances 1e-9", self._run(seconds, True, {"simplex_strategy": 4, **tight})),
            ]
        )

    def _run(
        self, seconds: float, afresh: bool, options: dict[str, Any]
    ) -> Callable[[], LpSolution]:
        def attempt() -> LpSolution:
            dual, weights = _run(self._solver, seconds, afresh, options)
            return checked(self.lp, dual[1:], weights, TOLERANCE)

        return attempt


def solve_highs(
    lp: RangedLp,
    check: Callable[[np.ndarray, np.ndarray], T],
    seconds: float = float("inf"),
    method: str = "simplex",
) -> T:
    """Solve one linear program from scratch.

    Parameters
    ----------
    lp : RangedLp
    check : callable
        Turns (row multipliers, variables) into the result, or raises SolverError.
    seconds : float
        Time budget.
    method : {"simplex", "ipm"}
        HiGHS's dual simplex or its interior point with crossover.
    """
    solver = new_highs()
    _pass_model(solver, lp)

    def run(options: dict[str, Any]) -> Callable[[], T]:
        return lambda: check(*_run(solver, seconds, True, options))

    other = {"solver": "simplex", "simplex_strategy": PRIMAL_SIMPLEX}
    return accept_first([(method, run({"solver": method})), ("primal simplex", run(other))])


def _pass_model(solver: highspy.Highs, lp: RangedLp) -> None:
    packed = sp.csr_array(lp.columns)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = packed.shape
    model.col_cost_ = lp.cost
    model.col_lower_ = np.zeros(len(lp.cost))
    model.col_upper_ = np.full(len(lp.cost), highspy.kHighsInf)
    model.row_lower_, model.row_upper_ = lp.low, lp.high
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = packed.indptr
    model.a_matrix_.index_ = packed.indices
    model.a_matrix_.value_ = packed.data
    solver.passModel(model)


def _run(
    solver: highspy.Highs, seconds: float, afresh: bool, options: dict[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """Row multipliers and variables of one run; anything but 'Optimal' is an error."""
    if afresh:
        solver.clearSolver()
    for name, value in options.items():
        solver.setOptionValue(name, value)
    solver.setOptionValue("time_limit", solver.getRunTime() + max(seconds, 0.01))
    status = run_highs(solver)
    if status == highspy.HighsModelStatus.kTimeLimit:
        raise BudgetError("no solution within the time budget (HiGHS)")
    if status != highspy.HighsModelStatus.kOptimal:
        raise SolverError(f"HiGHS ended with status '{solver.modelStatusToString(status)}'")
    solution = solver.getSolution()
    return np.asarray(solution.row_dual), np.asarray(solution.col_value)


_NO_INDEX = np.zeros(0, dtype=np.int32)
_NO_VALUE = np.zeros(0)
