"""Kernel matrices of many small subsets, compiled.

A row at a time, against the rows before it: the subset's columns lie in contiguous strips, so
every inner loop runs along a strip and vectorises. All compiled functions that call one
another stand in this one file: Numba's cache looks for changes in a function's own file only.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["decay", "kernels_csr", "kernels_dense"]

# Reordered sums vectorise; NaN and infinity keep their meaning.
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, nogil=True, fastmath=_FAST)
def kernels_dense(X, subsets, gamma, K):  # type: ignore[no-untyped-def]
    """Fill ``K``, of shape (J, s, s), with the Gaussian kernels of each subset's rows."""
    size = subsets.shape[1]
    d = X.shape[1]
    strips = np.empty((d, size))
    squares, space = np.empty(size), np.empty(size)
    for j in range(subsets.shape[0]):
        for i in range(size):
            row = X[subsets[j, i]]
            squares[:i] = 0.0
            for c in range(d):
                value, strip = row[c], strips[c]
                for k in range(i):
                    gap = strip[k] - value
                    squares[k] += gap * gap
                strip[i] = value
            _fill(K[j], i, squares, gamma, space)


@njit(cache=True, nogil=True, fastmath=_FAST)
def kernels_csr(data, indices, indptr, d, subsets, gamma, K):  # type: ignore[no-untyped-def]
    """`kernels_dense` for the rows of a CSR matrix with ``d`` columns."""
    size = subsets.shape[1]
    # strips of the columns that a subset has, in the order of their first entry
    most = 0
    for j in range(subsets.shape[0]):
        entries = 0
        for i in range(size):
            entries += indptr[subsets[j, i] + 1] - indptr[subsets[j, i]]
        most = max(most, entries)
    strips = np.zeros((min(d, most), size))
    place, seen = np.full(d, -1), np.empty(min(d, most), dtype=np.int64)
    norms, squares, space = np.empty(size), np.empty(size), np.empty(size)
    for j in range(subsets.shape[0]):
        used = 0
        for i in range(size):
            row = subsets[j, i]
            norms[i] = 0.0
            squares[:i] = 0.0
            for at in range(indptr[row], indptr[row + 1]):
                value, c = data[at], place[indices[at]]
                norms[i] += value * value
                if c < 0:
                    c = place[indices[at]] = used
                    seen[used] = indices[at]
                    used += 1
                else:
                    strip = strips[c]
                    for k in range(i):
                        squares[k] += value * strip[k]
                strips[c, i] = value
            for k in range(i):
                squares[k] = max(0.0, norms[i] + norms[k] - 2.0 * squares[k])
            _fill(K[j], i, squares, gamma, space)
        for c in range(used):
            strips[c] = 0.0
            place[seen[c]] = -1


@njit(cache=True, nogil=True)
def _fill(K, i, squares, gamma, space):  # type: ignore[no-untyped-def]
    # row and column i of the kernel matrix up to the diagonal; ``squares`` is used up
    decay(squares, i, gamma, space)
    for k in range(i):
        K[i, k] = K[k, i] = squares[k]
    K[i, i] = 1.0


@njit(cache=True, nogil=True)
def decay(x, n, gamma, space):  # type: ignore[no-untyped-def]
    """Replace the first ``n`` of ``x`` by exp(-gamma x), to 2e-14 (1e-15 above exp(-35)).

    The C library's exp takes one number at a time; here exp(z) = 2^q exp(r) with |r| <=
    ln(2)/2, exp(r) by its series and 2^q by adding q to the exponent's bits, so that the
    loop vectorises. Below exp(-690), about 1e-300, values stay there. Callers' fast-math is
    inherited; nothing here depends on the order of sums.
    """
    turns = space.view(np.int64)
    bits = x.view(np.int64)
    for k in range(n):
        z = -gamma * x[k]
        if z < -690.0:
            z = -690.0
        q = np.floor(z * 1.4426950408889634 + 0.5)
        turns[k] = np.int64(np.int32(q))
        r = (z - q * 6.93147180369123816490e-01) - q * 1.90821492927058770002e-10
        p = 1.0 / 6227020800.0
        p = p * r + 1.0 / 479001600.0
        p = p * r + 1.0 / 39916800.0
        p = p * r + 1.0 / 3628800.0
        p = p * r + 1.0 / 362880.0
        p = p * r + 1.0 / 40320.0
        p = p * r + 1.0 / 5040.0
        p = p * r + 1.0 / 720.0
        p = p * r + 1.0 / 120.0
        p = p * r + 1.0 / 24.0
        p = p * r + 1.0 / 6.0
        p = p * r + 0.5
        p = p * r + 1.0
        x[k] = p * r + 1.0
    for k in range(n):
        bits[k] += turns[k] << 52
