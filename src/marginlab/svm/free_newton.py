"""Newton steps on the free variables of the box-constrained quadratic programme.

A kernel matrix of a few smooth directions (two features, a wide RBF, a linear kernel) has a
numerical rank far below the number of free variables that pair steps leave behind.  The
objective is then flat or linear along most directions, and a Newton step ends at the first bound
it meets, with one variable fixed.  Such a step costs the square of the block's size here, not
its cube: the row and column of the fixed variable leave the Cholesky factor by plane rotations.
All steps run to their end: pair steps free many variables of a singular block, and if Newton
steps fix fewer of them again, the rounds never end.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

__all__ = ["add_rows", "is_singular", "newton_steps", "reduce_free"]

Array = NDArray[np.float64]
Rows = NDArray[np.intp]

#: Relative to mean diag(K): keeps the Cholesky factor of a singular block alive.
_RIDGES = (1e-12, 1e-10, 1e-8)
_PIVOT = 1e-9  # squared pivot, relative to mean diag(K), of a row that depends on those above it
_MIN_CHUNK = 64
_SINGULAR = 0.9  # rank by size of a block below which it is called singular
_FAST = {"nnan", "nsz", "arcp", "contract", "reassoc"}


@njit(cache=True)
def add_rows(g, K, rows, factors):  # type: ignore[no-untyped-def]
    """Add factors[r] * K[rows[r]] to g in place."""
    for r in range(rows.shape[0]):
        factor = factors[r]
        row = K[rows[r]]
        for k in range(g.shape[0]):
            g[k] += factor * row[k]


def _factor(block: Array) -> tuple[Array | None, int]:
    """Upper Cholesky factor with the smallest ridge that works, and the numerical rank.

    A constant is added to the block, which changes nothing for steps that sum to 0: without it,
    a block of as many dimensions as its rank and one would be singular, its programme not.
    """
    size = len(block)
    scale = max(float(np.trace(block)) / size, 1e-300)
    for ridge in _RIDGES:
        shifted = block + scale
        shifted.flat[:: size + 1] += ridge * scale
        # symmetric: the transpose is the same matrix in LAPACK's order, so nothing is copied
        lower, info = dpotrf(shifted.T, lower=1, overwrite_a=1)
        if info == 0:
            squares = np.diag(lower) ** 2
            rank = int((squares > max(_PIVOT, 10 * ridge) * scale).sum())
            return np.ascontiguousarray(lower.T), rank
    return None, size


@njit(cache=True, fastmath=_FAST)
def _solve(U, size, v):  # type: ignore[no-untyped-def]
    """Overwrite v by the solution w of U^T U w = v, with the leading block of U."""
    for i in range(size):
        row = U[i]
        v[i] /= row[i]
        z = v[i]
        for k in range(i + 1, size):
            v[k] -= z * row[k]
    for i in range(size - 1, -1, -1):
        row = U[i]
        total = v[i]
        for k in range(i + 1, size):
            total -= row[k] * v[k]
        v[i] = total / row[i]


@njit(cache=True, fastmath=_FAST)
def _drop(U, size, gone):  # type: ignore[no-untyped-def]
    """Turn the factor of a block into that of the block without row and column `gone`."""
    for i in range(size):
        row = U[i]
        for k in range(max(gone, i - 1), size - 1):
            row[k] = row[k + 1]
    for i in range(gone, size - 1):
        a, b = U[i, i], U[i + 1, i]
        length = np.sqrt(a * a + b * b)
        cos, sin = a / length, b / length
        upper, below = U[i], U[i + 1]
        for k in range(i, size - 1):
            p, q = upper[k], below[k]
            upper[k] = cos * p + sin * q
            below[k] = cos * q - sin * p


@njit(cache=True, fastmath=_FAST)
def _walk(U, block, x, g, lo, hi, limit):  # type: ignore[no-untyped-def]
    """Newton steps in place on a block with factor U; return the number taken."""
    size = x.shape[0]
    kept = np.arange(size)
    move, ones = np.empty(size), np.empty(size)
    for count in range(limit):
        if size < 2:
            return count
        for r in range(size):
            move[r], ones[r] = -g[kept[r]], 1.0
        _solve(U, size, move)
        _solve(U, size, ones)
        total, shift = ones[:size].sum(), move[:size].sum()
        if not total > 0.0 or not np.isfinite(shift):
            return count
        slope, step, first = 0.0, 1.0, -1
        for r in range(size):
            k = kept[r]
            move[r] -= shift / total * ones[r]
            slope += move[r] * g[k]
            room = hi[k] - x[k] if move[r] > 0.0 else x[k] - lo[k]
            if room < step * abs(move[r]):
                step, first = room / abs(move[r]), r
        if not slope < 0.0:
            return count
        lost, roomy, best = 0.0, 0, -1.0
        for r in range(size):
            k = kept[r]
            new = min(max(x[k] + step * move[r], lo[k]), hi[k])
            if r == first:
                new = hi[k] if move[r] > 0.0 else lo[k]
            move[r] = new - x[k]
            lost += move[r]
            space = min(new - lo[k], hi[k] - new)
            if space > best and r != first:
                roomy, best = r, space
        if abs(lost) < best:  # rounding of a long step, kept out of the sum
            move[roomy] -= lost
        for r in range(size):
            k = kept[r]
            x[k] = min(max(x[k] + move[r], lo[k]), hi[k])
            row = block[k]
            for j in range(g.shape[0]):
                g[j] += move[r] * row[j]
        if first < 0:
            return count + 1
        k = kept[first]
        x[k] = hi[k] if hi[k] - x[k] < x[k] - lo[k] else lo[k]
        for r in range(size - 1, -1, -1):
            k = kept[r]
            if r == first or not (lo[k] < x[k] < hi[k]):
                _drop(U, size, r)
                for j in range(r, size - 1):
                    kept[j] = kept[j + 1]
                size -= 1
    return limit


def newton_steps(
    K: Array,
    x: Array,
    g: Array,
    lo: Array,
    hi: Array,
    free: Rows,
    singular_at_most: int | None = None,
) -> tuple[int, int]:
    """Newton steps on some free variables, in place and to their end.

    A step that meets a bound fixes the variable there; the last one reaches the optimum of the
    variables that are left.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    x, g, lo, hi : ndarray of shape (n,)
        Point and its gradient, both changed in place; bounds.
    free : ndarray of int
        Variables strictly between their bounds.
    singular_at_most : int, optional
        A singular block with more variables than this is left as it is.

    Returns
    -------
    steps : int
    rank : int
        Numerical rank of the block; its size if it has no Cholesky factor.
    """
    if free.size < 2:
        return 0, free.size
    block = K[np.ix_(free, free)]
    upper, rank = _factor(block)
    too_large = singular_at_most is not None and free.size > singular_at_most
    if upper is None or (too_large and is_singular(rank, free.size)):
        return 0, rank
    new = x[free]
    steps = _walk(upper, block, new, g[free], lo[free], hi[free], free.size)
    move = new - x[free]
    change = move @ (g[free] + block @ move / 2)
    if not change < 0.0:  # rounding is larger than what is left to gain
        return 0, rank
    add_rows(g, K, free, move)
    x[free] = new
    return steps, rank


def is_singular(rank: int, size: int) -> bool:
    """Whether a block has so low a rank that most of its variables will end at a bound."""
    return rank < _SINGULAR * size


def reduce_free(
    K: Array, x: Array, g: Array, lo: Array, hi: Array, rank: int | None
) -> tuple[int, int | None]:
    """Newton steps on all free variables; on chunks of them first where their block is singular.

    A chunk holds few more variables than the rank, so that the steps of a large block, each of
    which fixes one variable, cost as little as those of a small one.

    Parameters
    ----------
    K, x, g, lo, hi
        As in `newton_steps`.
    rank : int or None
        Numerical rank of an earlier singular block; None if there was none.

    Returns
    -------
    steps : int
    rank : int or None
        As given, or that of the block if it is singular.
    """
    free, steps = np.flatnonzero((x > lo) & (x < hi)), 0
    if rank is None:
        steps, found = newton_steps(K, x, g, lo, hi, free, _MIN_CHUNK)
        if not is_singular(found, free.size):
            return steps, None
        rank = found
        free = np.flatnonzero((x > lo) & (x < hi))
    chunk = max(_MIN_CHUNK, rank + rank // 4)
    while free.size > chunk:
        for part in np.array_split(free, -(-free.size // chunk)):
            steps += newton_steps(K, x, g, lo, hi, part)[0]
        left = np.flatnonzero((x > lo) & (x < hi))
        shrunk, free = left.size < _SINGULAR * free.size, left
        if not shrunk:
            break
    return steps + newton_steps(K, x, g, lo, hi, free)[0], rank
