"""Linear programs that grow by rows and columns, for the L1-norm SVM baselines.

min c.x with l <= A x <= u and 0 <= x <= h. HiGHS keeps its basis from solve to solve;
CBC, through PuLP, gets the whole program anew each time. Each answer's two values are
computed again in NumPy and must agree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import highspy
import numpy as np
from scipy import sparse

from marginlab.errors import SolverError, UserError
from marginlab.mrc.lp import BudgetError, RangedLp
from marginlab.mrc.lp_cbc import solve_cbc
from marginlab.mrc.lp_highs import new_highs, run_highs

__all__ = ["BoxLP", "CbcBoxLP", "HighsBoxLP", "open_box_lp"]

Block = Any
Answer = tuple[np.ndarray, np.ndarray]  # columns' values, rows' duals
#: Largest relative distance of an answer's primal and dual value.
AGREE = 1e-5


class BoxLP(Protocol):
    """A linear program that grows."""

    def add_rows(self, block: Block, lower: float, upper: float) -> None:
        """Add rows; ``block`` has a line for each present column (new rows across)."""

    def add_columns(self, block: Block, cost: float, upper: float) -> None:
        """Add columns; ``block`` has a line for each new column (all rows across)."""

    def solve(self, time_limit: float) -> Answer:
        """Solve; return the values of the columns and the duals of the rows.

        The duals follow d = c - A^T dual for the reduced costs d, in both solvers.
        """


def open_box_lp(solver: str) -> BoxLP:
    """An empty program.

    Parameters
    ----------
    solver : {"highs", "highs-ipm", "cbc"}
        HiGHS by dual simplex, for programs that grow; by interior point, for one large
        program; CBC.

    Raises
    ------
    UserError
        If the solver's name is unknown.
    """
    kinds: dict[str, Callable[[], BoxLP]] = {
        "highs": HighsBoxLP,
        "highs-ipm": lambda: HighsBoxLP("ipm"),
        "cbc": CbcBoxLP,
    }
    if solver not in kinds:
        raise UserError(f"solver {solver!r} is unknown; use one of {', '.join(kinds)}")
    return kinds[solver]()


@dataclass
class _Program:
    """The program itself, one line of ``columns`` a variable."""

    columns: sparse.csr_array
    cost: np.ndarray
    upper: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def empty(cls) -> _Program:
        nothing = np.zeros(0)
        return cls(sparse.csr_array((0, 0)), nothing, nothing, nothing, nothing)

    def grow_rows(self, block: Block, lower: float, upper: float) -> sparse.csc_array:
        part = sparse.csc_array(block)
        count = part.shape[1]
        self.columns = sparse.csr_array(sparse.hstack([self.columns, part], format="csr"))
        self.low = np.concatenate([self.low, np.full(count, lower)])
        self.high = np.concatenate([self.high, np.full(count, upper)])
        return part

    def grow_columns(self, block: Block, cost: float, upper: float) -> sparse.csr_array:
        part = sparse.csr_array(block)
        count = part.shape[0]
        self.columns = sparse.csr_array(sparse.vstack([self.columns, part], format="csr"))
        self.cost = np.concatenate([self.cost, np.full(count, cost)])
        self.upper = np.concatenate([self.upper, np.full(count, upper)])
        return part

    def checked(self, values: np.ndarray, duals: np.ndarray) -> Answer:
        """The answer, when primal and dual value agree and the rows hold."""
        if not (np.isfinite(values).all() and np.isfinite(duals).all()):
            raise SolverError("the solver returned values that are not finite")
        values = np.clip(values, 0.0, self.upper)
        rows = np.asarray(self.columns.T @ values)
        off = float(np.maximum(self.low - rows, rows - self.high).max(initial=0.0))
        reduced = self.cost - np.asarray(self.columns @ duals)
        primal = float(self.cost @ values)
        dual = _priced(duals, self.low, self.high) + _priced(reduced, 0.0 * reduced, self.upper)
        size = max(1.0, abs(primal))
        if off > AGREE * size or abs(primal - dual) > AGREE * size:
            raise SolverError(
                f"primal value {primal:.9g} and dual value {dual:.9g} differ, "
                f"or a row is violated by {off:.3g}"
            )
        return values, duals


def _priced(price: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """Sum of prices times the side they lean on; prices of rounding size count as none."""
    small = 1e-7 * (1.0 + np.abs(price).max(initial=0.0))
    side = np.where(price > 0, low, high)
    return float((price * np.where(np.isinf(side) & (np.abs(price) <= small), 0.0, side)).sum())


class HighsBoxLP:
    """HiGHS, one thread: dual simplex hot-started after each growth, or interior point.

    New columns have two finite bounds, so the old basis stays dual feasible with them set
    at the right one: the dual simplex needs no first phase (the primal took 8 times as long).
    The interior point starts anew each time and gives no basis; its values are checked as
    any others are, so it needs no crossover, which can take longer than the rest.

    Parameters
    ----------
    method : {"simplex", "ipm"}
    """

    def __init__(self, method: str = "simplex") -> None:
        self._program = _Program.empty()
        self._highs = new_highs(solver=method, simplex_strategy=1, run_crossover="off")

    def add_rows(self, block: Block, lower: float, upper: float) -> None:
        """Add rows (see `BoxLP`)."""
        part = self._program.grow_rows(block, lower, upper)
        count = part.shape[1]
        if count:
            bounds = np.full(count, lower), np.full(count, upper)
            self._highs.addRows(count, *bounds, *_packed(part))

    def add_columns(self, block: Block, cost: float, upper: float) -> None:
        """Add columns (see `BoxLP`)."""
        part = self._program.grow_columns(block, cost, upper)
        count = part.shape[0]
        if count:
            bounds = np.full(count, cost), np.zeros(count), np.full(count, upper)
            self._highs.addCols(count, *bounds, *_packed(part))

    def solve(self, time_limit: float) -> Answer:
        """Solve from the last basis (see `BoxLP`)."""
        if time_limit <= 0:
            raise BudgetError("no solution within the time budget (HiGHS)")
        # HiGHS counts its own run time over all solves of one object.
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + time_limit)
        status = run_highs(self._highs)
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise BudgetError("no solution within the time budget (HiGHS)")
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverError(
                f"HiGHS ended with status '{self._highs.modelStatusToString(status)}'"
            )
        solution = self._highs.getSolution()
        return self._program.checked(np.array(solution.col_value), np.array(solution.row_dual))


def _packed(part: sparse.csc_array | sparse.csr_array) -> Any:
    starts = part.indptr[:-1].astype(np.int32)
    return part.nnz, starts, part.indices.astype(np.int32), part.data.astype(float)


class CbcBoxLP:
    """CBC through PuLP; upper bounds of variables become rows of one entry."""

    def __init__(self) -> None:
        self._program = _Program.empty()

    def add_rows(self, block: Block, lower: float, upper: float) -> None:
        """Add rows (see `BoxLP`)."""
        self._program.grow_rows(block, lower, upper)

    def add_columns(self, block: Block, cost: float, upper: float) -> None:
        """Add columns (see `BoxLP`)."""
        self._program.grow_columns(block, cost, upper)

    def solve(self, time_limit: float) -> Answer:
        """Solve from scratch (see `BoxLP`)."""
        if time_limit <= 0:
            raise BudgetError("no solution within the time budget (CBC)")
        program, count = self._program, len(self._program.low)
        boxed = np.flatnonzero(np.isfinite(program.upper))
        entries = (np.ones(len(boxed)), (boxed, np.arange(len(boxed))))
        limits = sparse.csr_array(entries, shape=(len(program.cost), len(boxed)))
        lp = RangedLp(
            sparse.csr_array(sparse.hstack([program.columns, limits], format="csr")),
            program.cost,
            np.concatenate([program.low, np.zeros(len(boxed))]),
            np.concatenate([program.high, program.upper[boxed]]),
        )

        def check(duals: np.ndarray, values: np.ndarray) -> Answer:
            return program.checked(values, duals[:count])

        return solve_cbc(lp, check, time_limit)
