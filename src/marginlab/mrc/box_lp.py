"""Linear programs that grow by rows and columns, for the L1-norm SVM baselines.

min c.x with l <= A x <= u and bounds on x. HiGHS keeps its basis from solve to solve; CBC,
through PuLP, gets the whole program anew each time.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import sparse

from marginlab.errors import SolverError, UserError

__all__ = ["BoxLP", "open_box_lp"]

Block = np.ndarray | sparse.csr_matrix


class BoxLP(Protocol):
    """A linear program that grows."""

    def add_rows(self, block: Block, lower: float, upper: float) -> None:
        """Add rows; ``block`` has a line for each present column (new rows across)."""

    def add_columns(self, block: Block, cost: float, lower: float, upper: float) -> None:
        """Add columns; ``block`` has a line for each new column (all rows across)."""

    def solve(self, time_limit: float) -> tuple[np.ndarray, np.ndarray]:
        """Solve; return the values of the columns and the duals of the rows.

        The duals follow d = c - A^T dual for the reduced costs d, in both solvers.
        """


def open_box_lp(solver: str) -> BoxLP:
    """An empty program.

    Parameters
    ----------
    solver : {"highs", "cbc"}

    Raises
    ------
    UserError
        If the solver's name is unknown.
    """
    kinds = {"highs": HighsBoxLP}
    if solver not in kinds:
        raise UserError(f"solver {solver!r} is unknown; use one of {', '.join(kinds)}")
    return kinds[solver]()  # type: ignore[no-any-return]


class HighsBoxLP:
    """HiGHS, one thread, simplex, hot-started after each growth."""

    def __init__(self) -> None:
        import highspy

        self._inf = highspy.kHighsInf
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._limit = highspy.HighsModelStatus.kTimeLimit
        self._highs = highspy.Highs()
        self._grown = "both"
        for key, value in {"output_flag": False, "threads": 1, "solver": "simplex"}.items():
            self._highs.setOptionValue(key, value)

    def add_rows(self, block: Block, lower: float, upper: float) -> None:
        part = sparse.csc_matrix(block)
        count = part.shape[1]
        if count:
            self._grown = "both"
            self._highs.addRows(
                count,
                np.full(count, max(lower, -self._inf)),
                np.full(count, min(upper, self._inf)),
                part.nnz,
                part.indptr[:-1].astype(np.int32),
                part.indices.astype(np.int32),
                part.data.astype(float),
            )  # fmt: skip

    def add_columns(self, block: Block, cost: float, lower: float, upper: float) -> None:
        part = sparse.csr_matrix(block)
        count = part.shape[0]
        if count:
            self._highs.addCols(
                count,
                np.full(count, cost),
                np.full(count, lower),
                np.full(count, min(upper, self._inf)),
                part.nnz,
                part.indptr[:-1].astype(np.int32),
                part.indices.astype(np.int32),
                part.data.astype(float),
            )  # fmt: skip

    def solve(self, time_limit: float) -> tuple[np.ndarray, np.ndarray]:
        _time_left(time_limit)
        # New columns leave the last basis primal feasible: 4 is the primal simplex.
        self._highs.setOptionValue("simplex_strategy", 4 if self._grown == "columns" else 1)
        self._grown = "columns"
        # HiGHS counts its own run time over all solves of one object.
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + time_limit)
        self._highs.run()
        status = self._highs.getModelStatus()
        if status == self._limit:
            raise SolverError(f"highs found no solution in the {time_limit:.0f} s left to it")
        if status != self._optimal:
            name = self._highs.modelStatusToString(status)
            raise SolverError(f"highs ended with status {name!r}; try solver 'cbc'")
        solution = self._highs.getSolution()
        return np.array(solution.col_value), np.array(solution.row_dual)


def _time_left(seconds: float) -> None:
    if seconds <= 0:
        raise SolverError("no solution within the time limit; raise it or take fewer samples")
