"""Linear systems of the active losses of one SVM, factored once and changed row by row."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve
from scipy.linalg.blas import strsm
from scipy.linalg.lapack import spotrf

__all__ = ["ActiveSystem"]

Array = NDArray[np.float64]
Index = NDArray[np.intp]
_CHANGES = 8  # a factor serves active sets that differ from its own in one of so many rows


@nb.njit(cache=True)
def _lower_system(matrix, rows, inverse):  # type: ignore[no-untyped-def]
    """Lower triangle of K_AA + diag(1/h)."""
    out = np.empty((rows.size, rows.size), np.float32)
    for i in range(rows.size):
        row = matrix[rows[i]]
        for j in range(i + 1):
            out[i, j] = row[rows[j]]
        out[i, i] += inverse[i]
    return out


@nb.njit(cache=True, fastmath=True)
def _row_sums(matrix, rows, coefficients, start):  # type: ignore[no-untyped-def]
    """K_A^T beta_A + start at all rows, summed in float64."""
    out = np.full(matrix.shape[1], start)
    for k in range(rows.size):
        weight, row = coefficients[k], matrix[rows[k]]
        for i in range(out.size):
            out[i] += weight * row[i]
    return out


class ActiveSystem:
    """(K_AA + diag(1/h)) beta + b = t with sum beta = 0 for a sequence of active sets A.

    The matrix of one set is factored, S = U^T U. For a set with rows E more and rows R fewer
    the same solution comes from

        [S  B] [x]   [r]        B = [K_AE, I_R],
        [B' W] [z] = [q],       W = diag(K_EE + diag(1/h_E), 0),

    where the part of z that belongs to R forces beta_R = 0: one triangular solve a changed
    row instead of a new factor. Solutions are refined in float64.

    Parameters
    ----------
    matrix : ndarray of shape (u, u), float32

    Attributes
    ----------
    beta : ndarray of shape (u,)
        Zero off A.
    bias : float
    factorisations : int
    """

    def __init__(self, matrix: NDArray[np.float32]) -> None:
        self._matrix = matrix
        self._base: Index = np.empty(0, np.intp)
        self._h = np.zeros(len(matrix))  # of the factored set
        self.factorisations = 0

    def set_active(self, above: NDArray[np.float32], below: NDArray[np.float32]) -> bool:
        """Take up the active losses; False if there are none or float32 cannot factor them."""
        weight = (above + below).astype(np.float64)
        self._rows = np.flatnonzero(weight)
        if self._rows.size == 0:
            return False
        changed = weight != self._h
        if changed.sum() * _CHANGES > self._base.size and not self._factor(weight):
            return False
        self._border(weight)
        self._inverse = 1.0 / weight[self._rows]
        self._target = (above - below)[self._rows] * self._inverse
        self.beta, self.bias = np.zeros(len(self._matrix)), 0.0
        self._f = np.zeros(len(self._matrix))
        self._ones = self._solve(np.ones(self._rows.size))
        return True

    def improve(self) -> Array:
        """Solve for what is left of the right-hand side; gives f at all rows."""
        inside = self.beta[self._rows]
        move = self._solve(self._target - self._f[self._rows] - self._inverse * inside)
        shift = (move.sum() + inside.sum()) / self._ones.sum()
        inside = inside + move - shift * self._ones
        self.beta[self._rows] = inside
        self.bias += shift
        self._f = _row_sums(self._matrix, self._rows, inside, self.bias)
        return self._f

    def _factor(self, weight: Array) -> bool:
        rows = np.flatnonzero(weight)
        system = _lower_system(self._matrix, rows, (1.0 / weight[rows]).astype(np.float32))
        self._upper, info = spotrf(system.T, lower=0, clean=0, overwrite_a=1)
        self._base, self._h = rows, weight.copy()
        self._place = np.full(len(weight), -1)
        self._place[rows] = np.arange(rows.size)
        self._columns: dict[int, Any] = {}  # U^-T B, by row of E and ~row of R
        self.factorisations += 1
        return bool(info == 0)

    def _border(self, weight: Array) -> None:
        """The small matrix W - B' S^-1 B of the rows that differ from the factored set."""
        changed = weight != self._h
        self._added = np.flatnonzero(changed & (weight > 0))
        self._removed = np.flatnonzero(changed & (self._h > 0))
        keys = [*self._added.tolist(), *(~self._removed).tolist()]
        if not keys:
            return
        new = [key for key in keys if key not in self._columns]
        self._columns.update(zip(new, self._forward(self._sides(new)).T, strict=True))
        self._half = np.stack([self._columns[key] for key in keys], axis=1)
        small = -(self._half.T @ self._half).astype(np.float64)
        e = self._added.size
        small[:e, :e] += self._matrix[np.ix_(self._added, self._added)]
        small[np.arange(e), np.arange(e)] += 1.0 / weight[self._added]
        self._small = lu_factor(small, check_finite=False)

    def _sides(self, keys: list[int]) -> NDArray[np.float32]:
        sides = np.zeros((self._base.size, len(keys)), np.float32, order="F")
        for j, key in enumerate(keys):
            if key >= 0:
                sides[:, j] = self._matrix[key, self._base]
            else:
                sides[self._place[~key], j] = 1
        return sides

    def _forward(self, sides: NDArray[np.float32]) -> NDArray[np.float32]:
        if sides.shape[1] == 0:
            return sides
        return strsm(1.0, self._upper, sides, trans_a=1)  # type: ignore[no-any-return]

    def _solve(self, right: Array) -> Array:
        """Solution on the active rows for a right-hand side there."""
        full = np.zeros(len(self._matrix))
        full[self._rows] = right
        base = full[self._base]
        added, removed = self._added, self._removed
        base[self._place[removed]] = 0
        y = self._forward(base[:, None].astype(np.float32))
        full[self._base] = 0
        if added.size or removed.size:
            rest = np.concatenate([right[np.searchsorted(self._rows, added)], 0 * removed])
            z = lu_solve(self._small, rest - (self._half.T @ y[:, 0]), check_finite=False)
            y = y - (self._half @ z.astype(np.float32))[:, None]
        x = strsm(1.0, self._upper, y)[:, 0]
        full[self._base] = x
        if added.size or removed.size:
            full[added] = z[: added.size]
        return full[self._rows]
