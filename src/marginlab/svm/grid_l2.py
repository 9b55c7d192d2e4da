"""All L2-loss SVMs of a grid on one kernel matrix, solved together to a certificate.

Each SVM is a linear problem in the kernel space. Newton's method sets the active losses;
each Newton system is solved by conjugate gradients, preconditioned by the leading eigenvectors
of the shared kernel matrix, and all SVMs that are still at work advance by one product of a
block with the matrix. An SVM whose active set has become small is finished by Cholesky on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from marginlab.errors import SolverError, UserError
from marginlab.svm.grid_direct import (
    exact_product,
    full_newton,
    newton_target,
    steps_worth,
)
from marginlab.svm.grid_kkt import kkt_residuals, margin_units
from marginlab.svm.grid_precondition import Preconditioner
from marginlab.svm.grid_rows import advance_rows, restart_rows, search_rows
from marginlab.svm.grid_settle import settle

__all__ = ["GridSolution", "direct_guess", "kkt_residuals", "solve_grid"]

Floats = NDArray[np.float32]
_FORCING = 0.2  # a Newton system is solved to this part of the residual it starts from
_PATIENCE = 4  # steps of conjugate gradients before a factorisation is thought of
_RATIO = 1.5  # more than the price of a factorisation, since several follow
_REFRESHES = 4  # times that a solution refused by its certificate is taken up again
_STALL = 40  # steps of conjugate gradients on one linear system
_SINGLE = 8  # direct steps of an SVM in float32; later ones are in float64
_PATH = (1 / 256, 1 / 64, 1 / 16, 1 / 4, 1 / 2, 1.0)
_MOST = 24  # direct steps before an SVM is judged by its certificate


@dataclass(frozen=True)
class GridSolution:
    """Solved SVMs, one a row.

    Attributes
    ----------
    beta : ndarray of shape (m, u), float32
        w = sum_u beta_u phi(x_u).
    bias : ndarray of shape (m,)
        Of the centred kernel.
    residuals : ndarray of shape (m,)
        KKT residuals in units of the margin, see `kkt_residuals`.
    steps : ndarray of shape (m,)
        Products with the kernel matrix.
    factorisations : ndarray of shape (m,)
        Direct Newton steps.
    decisions : ndarray of shape (m, u)
        f on the training rows.
    """

    beta: Floats
    bias: NDArray[np.float64]
    residuals: NDArray[np.float64]
    steps: NDArray[np.int64]
    factorisations: NDArray[np.int64]
    decisions: NDArray[np.float64]


def solve_grid(
    matrix: Floats,
    positive: Floats,
    negative: Floats,
    *,
    tol: float = 1e-3,
    preconditioner: Preconditioner | None = None,
    start: Floats | None = None,
    guess: Floats | None = None,
    max_steps: int = 2000,
    on_step: Callable[[int], None] | None = None,
) -> GridSolution:
    """Train m SVMs with the L2 loss and a bias on one kernel matrix.

    SVM k minimises 1/2 |w|^2 + 1/2 sum_u [P_ku (1 - f_u)_+^2 + N_ku (1 + f_u)_+^2]. For a
    data set without repeated rows P (N) holds C_i at the positive (negative) points and 0
    elsewhere; a repeated row holds the sums, a point that is left out 0, a point drawn three
    times 3 C_i.

    Parameters
    ----------
    matrix : ndarray of shape (u, u), float32
        Symmetric positive semidefinite kernel matrix; centred for precision.
    positive, negative : ndarrays of shape (m, u), float32
        Sums of the penalties of the positive and negative points at each row.
    tol : float
        Largest KKT residual, in units of the margin (LIBSVM's default is 1e-3).
    preconditioner : Preconditioner, optional
        Made from the matrix by default.
    start : ndarray of shape (m, u), optional
        Coefficients to start from.
    guess : ndarray of shape (m, u), optional
        Decision values of like problems, from which direct steps are tried first; a row of NaN
        is none. It pays where the like problem needed direct steps: see `direct_guess`.
    max_steps : int
        Products with the matrix before giving up.
    on_step : callable, optional
        Told the number of SVMs at work after each step.

    Returns
    -------
    GridSolution

    Raises
    ------
    UserError
        If shapes disagree or penalties are negative.
    SolverError
        If an SVM does not reach ten times ``tol``.
    """
    _check(matrix, positive, negative)
    state = _State(matrix, positive, negative, start)
    if guess is not None:
        known = np.flatnonzero(~np.isnan(guess[:, 0]))
        state.settle(known, guess[known], tol)
    precondition = preconditioner or Preconditioner.of(matrix)
    for _ in range(1 + _REFRESHES):
        state.run(precondition, tol, max_steps, on_step)
        residuals, decisions = kkt_residuals(
            matrix, state.beta, state.bias, positive, negative, state.scale
        )
        if (residuals <= tol).all():
            break
        rows = np.flatnonzero(residuals > tol)
        state.refresh(rows, decisions)
        hard = rows[residuals[rows] > 10 * tol]
        hard = state.settle(hard, decisions[hard], tol)
        hard = state.from_all(hard, tol)
        state.continuation(hard, precondition, tol, max_steps)
    if not (residuals <= 10 * tol).all():
        worst = int(np.argmax(residuals))
        raise SolverError(
            f"{int((residuals > 10 * tol).sum())} of {len(residuals)} SVMs of the grid stopped "
            f"with KKT residuals up to {residuals[worst]:.2g} (asked: {tol:.2g}); "
            "lower C or the class weight, or raise max_steps"
        )
    return GridSolution(
        state.beta, state.bias, residuals, state.steps, state.factorisations, decisions
    )


def direct_guess(solution: GridSolution) -> Floats:
    """Decision values of the SVMs that needed direct steps, NaN in the rows of the others.

    Parameters
    ----------
    solution : GridSolution

    Returns
    -------
    ndarray of shape (m, u), float32
        For ``guess`` of `solve_grid`.
    """
    direct = solution.factorisations > 0
    return np.where(direct[:, None], solution.decisions, np.nan).astype(np.float32)


class _State:
    """Arrays of the SVMs at work."""

    def __init__(
        self, matrix: Floats, positive: Floats, negative: Floats, start: Floats | None
    ) -> None:
        shape = positive.shape
        self.matrix, self.positive, self.negative = matrix, positive, negative
        self.scale = margin_units(positive, negative)
        names = ("grad", "weight", "direction", "product", "d", "kd")
        self.arrays = {name: np.zeros(shape, np.float32) for name in names}
        self.beta = np.zeros(shape, np.float32) if start is None else start.astype(np.float32)
        self.values = np.zeros(shape, np.float32) if start is None else self.beta @ matrix
        self.bias, self.rho, self.penalty, self.residual = np.zeros((4, shape[0]))
        counts = np.zeros((5, shape[0]), np.int64)
        self.active, self.steps, self.factorisations, self.spent, self.tries = counts
        self.inner = np.zeros(shape[0], np.int64)
        self.direct, self.refreshed = np.zeros((2, shape[0]), bool)
        self.done = np.zeros(shape[0], bool)
        self._restart(np.arange(shape[0]))

    def run(
        self,
        precondition: Preconditioner,
        tol: float,
        max_steps: int,
        on_step: Callable[[int], None] | None,
    ) -> None:
        """Advance the SVMs until none is at work."""
        self.done |= self.residual <= tol
        for _ in range(max_steps):
            rows = np.flatnonzero(~self.done)
            if rows.size == 0:
                return
            self._step(rows, precondition, tol)
            if on_step is not None:
                on_step(int(rows.size))

    def refresh(self, rows: NDArray[np.intp], decisions: NDArray[np.float64]) -> None:
        """Take rows up again from exact values of K beta."""
        self.values[rows] = (decisions[rows] - self.bias[rows, None]).astype(np.float32)
        self.done[rows] = False
        self.spent[rows] = 0
        # refused twice: factors in float64 from now on
        self.tries[rows] = np.where(self.refreshed[rows], _SINGLE, 0)
        self.direct[rows] = self.refreshed[rows]
        self.refreshed[rows] = True
        self._restart(rows)

    def settle(
        self, rows: NDArray[np.intp], decisions: NDArray[np.floating], tol: float
    ) -> NDArray[np.intp]:
        """Solve rows by full Newton steps from what is active at ``decisions``; gives the rest."""
        left = []
        for row, f in zip(rows, decisions, strict=True):
            found = settle(self.matrix, self.positive[row], self.negative[row], f, tol)
            if found is None:
                left.append(row)
                continue
            self.beta[row], self.bias[row] = found.beta, found.bias
            self.factorisations[row] += found.factorisations
            self.done[row] = True  # the certificate decides
        return np.array(left, dtype=np.intp)

    def from_all(self, rows: NDArray[np.intp], tol: float) -> NDArray[np.intp]:
        """Solve hard rows by full Newton steps from all losses active; gives those left over."""
        left = []
        for row in rows:
            found = full_newton(self.matrix, self.positive[row], self.negative[row])
            if found is None:
                left.append(row)
                continue
            self.beta[row], self.bias[row], steps = found
            self.values[row] = exact_product(self.matrix, found[0])
            self.factorisations[row] += steps
            self._restart(np.array([row]))
            self.done[row] = self.residual[row] <= 10 * tol  # the certificate decides
        return np.array(left, dtype=np.intp)

    def continuation(
        self, rows: NDArray[np.intp], precondition: Preconditioner, tol: float, max_steps: int
    ) -> None:
        """Solve hard rows by way of smaller penalties, each from the one before.

        Where the penalty is large against the kernel's eigenvalues nearly all points sit at
        the kink of their loss and a line search hardly moves; from the solution at a quarter
        of the penalty it does, because the active set is nearly right.
        """
        if rows.size == 0:
            return
        sides = self.positive[rows], self.negative[rows]
        beta = None
        for factor in _PATH:
            positive, negative = (side * np.float32(factor) for side in sides)
            part = _State(self.matrix, positive, negative, beta)
            part.run(precondition, tol, max_steps, None)
            beta = part.beta
            self.steps[rows] += part.steps
            self.factorisations[rows] += part.factorisations
        self.beta[rows], self.bias[rows], self.values[rows] = part.beta, part.bias, part.values
        self._restart(rows)
        self.done[rows] = self.residual[rows] <= tol

    def _step(self, rows: NDArray[np.intp], precondition: Preconditioner, tol: float) -> None:
        self.steps[rows] += 1
        self.spent[rows] += 1
        direct = rows[self.direct[rows]]
        for row in direct:
            self._direct_step(row, tol)
        rows = rows[~np.isin(rows, direct)]
        if rows.size == 0:
            return
        a = self.arrays
        block = precondition(a["grad"][rows], self.penalty[rows])
        goal = np.maximum(_FORCING * self.residual[rows], 0.5 * tol)
        shifts, ready = advance_rows(
            rows, block, block @ self.matrix, a["grad"], a["direction"], a["product"],
            a["weight"], self.scale, a["d"], a["kd"], self.rho, goal,
        )  # fmt: skip
        self.inner[rows] += 1
        switch = self._worth_factoring(rows)
        taken = rows[switch]
        left = self.settle(taken, self.values[taken] + self.bias[taken, None], tol)
        self.direct[left] = True
        switch &= ~self.done[rows]
        # close to the end and no nearer for long: float32's limit
        stalled = (self.residual[rows] <= 10 * tol) & (self.inner[rows] >= _STALL)
        ready |= switch | stalled
        ready &= ~self.done[rows]
        self._move(rows[ready], shifts[ready], tol)
        self.done[rows] |= stalled

    def _direct_step(self, row: np.intp, tol: float) -> None:
        weight, f = self.arrays["weight"][row].copy(), self.values[row] + np.float32(self.bias[row])
        label = np.where(f < 1, self.positive[row], 0) - np.where(f > -1, self.negative[row], 0)
        precise = self.tries[row] >= _SINGLE
        found = newton_target(self.matrix, weight, label, precise=bool(precise))
        self.factorisations[row] += 1
        self.tries[row] += 1
        if found is None:  # not positive definite in float32
            self.tries[row] = max(self.tries[row], _SINGLE)
            return
        move = found[0] - self.beta[row]
        self.arrays["d"][row] = move
        self.arrays["kd"][row] = exact_product(self.matrix, move)
        self._move(np.array([row]), np.array([found[1] - self.bias[row]]), tol)
        if np.array_equal(weight, self.arrays["weight"][row]):
            # The system of these losses is solved; a residual that is left is rounding in K beta
            # or in the factor. The certificate decides, from an exact product.
            self.done[row] |= bool(precise) or self.residual[row] <= 10 * tol
            self.tries[row] = max(self.tries[row], _SINGLE)
        self.done[row] |= self.tries[row] >= _MOST

    def _worth_factoring(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Rows that have paid for conjugate gradients what factorisations would cost."""
        price = steps_worth(self.active[rows], len(self.matrix))
        return (self.spent[rows] > _PATIENCE + _RATIO * price) & ~self.direct[rows]

    def _move(self, rows: NDArray[np.intp], shifts: NDArray[np.float64], tol: float) -> None:
        a = self.arrays
        # near the solution full steps: the derivative along the line is lost in rounding
        near = self.residual[rows] <= 10 * tol
        full, far = rows[near], rows[~near]
        self.beta[full] += a["d"][full]
        self.values[full] += a["kd"][full]
        self.bias[full] += shifts[near]
        search_rows(
            far, self.beta, self.values, self.positive, self.negative, self.bias,
            a["d"], a["kd"], shifts[~near],
        )  # fmt: skip
        self._restart(rows)
        self.done[rows] = self.residual[rows] <= tol

    def _restart(self, rows: NDArray[np.intp]) -> None:
        self.inner[rows] = 0
        a = self.arrays
        restart_rows(
            rows, self.beta, self.values, self.positive, self.negative, self.bias, self.scale,
            a["grad"], a["weight"], a["d"], a["kd"], self.rho, self.penalty, self.residual,
            self.active,
        )  # fmt: skip


def _check(matrix: Floats, positive: Floats, negative: Floats) -> None:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype != np.float32:
        raise UserError(
            f"the kernel matrix has shape {matrix.shape} and type {matrix.dtype}; "
            "give a square float32 matrix"
        )
    for name, array in (("positive", positive), ("negative", negative)):
        if array.shape != (len(positive), len(matrix)) or array.dtype != np.float32:
            raise UserError(
                f"the {name} penalties have shape {array.shape} and type {array.dtype}; give "
                f"float32 of shape ({len(positive)}, {len(matrix)})"
            )
        if not (array >= 0).all():
            raise UserError(f"the {name} penalties hold negative or missing values")
