"""Votes of many small SVMs on many rows, block by block, never an n x n matrix.

The machines share their training rows, so a kernel value is computed once per
(row, distinct training row) and then enters each machine that uses it. Rows that occur
several times are evaluated once. Blocks have one fixed width, padded at the end: each
row's result is the same whatever rows it comes with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from marginlab.svm.kernels import squared_norms

__all__ = ["VotingMachines", "count_votes", "distinct_rows"]

#: Rows evaluated at once.
WIDTH = 256
_SMALLEST, _HALF = np.float32(-87.0), np.float32(0.5)
_LOG2E = np.float32(1.4426950408889634)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.1219444e-4)
_SERIES = tuple(np.float32(1.0 / f) for f in (5040, 720, 120, 24, 6, 2, 1, 1))
_ROWS = 64  # of the kernel block between two passes
# A float32 kernel value is good to about 1e-7 * gamma |x|^2; beyond this, use float64.
_FLOAT32_REACH = 100.0
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@dataclass(frozen=True)
class VotingMachines:
    """The machines in the form that voting needs.

    Attributes
    ----------
    rows : ndarray or CSR matrix of shape (U, d)
        The distinct support rows of all machines.
    starts : ndarray of shape (J + 1,)
    members : ndarray of shape (S,)
        Machine j uses rows ``members[starts[j]:starts[j + 1]]``.
    weights : ndarray of shape (S,)
        Their coefficients beta.
    intercept : ndarray of shape (J,)
    gamma : float
    """

    rows: Any
    starts: NDArray[np.int64]
    members: NDArray[np.int64]
    weights: NDArray[np.float64]
    intercept: NDArray[np.float64]
    gamma: float

    @classmethod
    def from_subsets(
        cls,
        X: Any,
        subsets: NDArray[np.int64],
        beta: NDArray[np.float64],
        intercept: NDArray[np.float64],
        gamma: float,
    ) -> VotingMachines:
        """Gather the support rows of machines trained on subsets of X's rows.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, d)
        subsets : ndarray of shape (J, s)
            Row numbers of each machine.
        beta : ndarray of shape (J, s)
            Coefficients; zero for rows that are no support vectors.
        intercept : ndarray of shape (J,)
        gamma : float
        """
        used = beta != 0.0
        support, members = np.unique(subsets[used], return_inverse=True)
        starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))])
        return cls(X[support], starts, members, beta[used], intercept, gamma)


def count_votes(
    machines: VotingMachines, X: Any, checkpoints: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """How many machines say +1 for each row.

    Parameters
    ----------
    machines : VotingMachines
    X : ndarray or CSR matrix of shape (n, d)
    checkpoints : ndarray of shape (k,), optional
        Ascending numbers of machines; by default all machines.

    Returns
    -------
    ndarray of shape (k, n)
        Votes for +1 among the first ``checkpoints[i]`` machines.
    """
    n_machines = len(machines.intercept)
    stops = np.array([n_machines]) if checkpoints is None else np.asarray(checkpoints)
    first, inverse = distinct_rows(X)
    rows = X[first]
    votes = np.zeros((len(stops), len(first)), dtype=np.int64)
    if len(machines.members):
        _vote_in_blocks(machines, rows, stops.astype(np.int64), votes)
    else:
        constant = np.concatenate([[0], np.cumsum(machines.intercept > 0)])
        votes += constant[stops][:, None]
    return votes[:, inverse]


def distinct_rows(X: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First occurrence of each distinct row, and which of them each row equals.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)

    Returns
    -------
    first : ndarray of shape (m,)
        Row numbers.
    inverse : ndarray of shape (n,)
        ``X[first][inverse]`` equals ``X``.
    """
    keys = _row_keys(X)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if len(first) < X.shape[0] and not _same_rows(X, first[inverse]):
        # two different rows share a key: take all rows as distinct
        first = inverse = np.arange(X.shape[0])
    return first, inverse


def _row_keys(X: Any) -> NDArray[np.uint64]:
    # a sum of hashed entries, in arithmetic modulo 2^64
    mixers = np.random.default_rng(0).integers(1, 2**63, X.shape[1], dtype=np.uint64) * 2 + 1
    if sp.issparse(X):
        hashed = _hash(X.data) * mixers[X.indices]
        sums = np.concatenate([[np.uint64(0)], np.cumsum(hashed, dtype=np.uint64)])
        return sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    keys = np.empty(X.shape[0], dtype=np.uint64)
    for start in range(0, len(keys), WIDTH):
        part = slice(start, start + WIDTH)
        keys[part] = (_hash(X[part]) * mixers).sum(axis=1, dtype=np.uint64)
    return keys


def _hash(values: NDArray[np.floating]) -> NDArray[np.uint64]:
    # adding zero makes -0.0 and 0.0 one value; a zero hashes to zero
    bits = (np.asarray(values, dtype=np.float64) + 0.0).view(np.uint64)
    mixed = (bits ^ (bits >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(32))


def _same_rows(X: Any, twins: NDArray[np.int64]) -> bool:
    if sp.issparse(X):
        return bool(_same_csr(X.data, X.indices, X.indptr, twins))
    return all(
        np.array_equal(X[at : at + 4096], X[twins[at : at + 4096]])
        for at in range(0, X.shape[0], 4096)
    )


@njit(cache=True, nogil=True)
def _same_csr(data, indices, indptr, twins):  # type: ignore[no-untyped-def]
    for row in range(len(twins)):
        twin = twins[row]
        length = indptr[row + 1] - indptr[row]
        if indptr[twin + 1] - indptr[twin] != length:
            return False
        for k in range(length):
            here, there = indptr[row] + k, indptr[twin] + k
            if indices[here] != indices[there] or data[here] != data[there]:
                return False
    return True


def _vote_in_blocks(
    machines: VotingMachines, X: Any, stops: NDArray[np.int64], votes: NDArray[np.int64]
) -> None:
    rows, X = _common_origin(machines.rows, X)
    norms, norms_x = squared_norms(rows), squared_norms(X)
    reach = machines.gamma * max(norms.max(initial=0.0), norms_x.max(initial=0.0))
    dtype: Any = np.float32 if reach <= _FLOAT32_REACH else np.float64
    rows, norms, norms_x = rows.astype(dtype), norms.astype(dtype), norms_x.astype(dtype)
    weights, intercept = machines.weights.astype(dtype), machines.intercept.astype(dtype)
    kernel = np.empty((rows.shape[0], WIDTH), dtype=dtype)
    for start in range(0, X.shape[0], WIDTH):
        stop = min(start + WIDTH, X.shape[0])
        block = np.zeros((X.shape[1], WIDTH), dtype=dtype)
        norms_block = np.zeros(WIDTH, dtype=dtype)
        part = X[start:stop]
        block[:, : stop - start] = part.T.toarray() if sp.issparse(part) else part.T
        norms_block[: stop - start] = norms_x[start:stop]
        _products(rows, block, kernel)
        _rbf(kernel, norms, norms_block, dtype(machines.gamma))
        counts = np.zeros((len(stops), WIDTH), dtype=np.int64)
        _count(kernel, machines.starts, machines.members, weights, intercept, stops, counts)
        votes[:, start:stop] = counts[:, : stop - start]


def _common_origin(rows: Any, X: Any) -> tuple[Any, Any]:
    # Distances ignore a shift; small norms keep float32 exact enough.
    if sp.issparse(rows):
        return rows, X
    centre = rows.mean(axis=0)
    return rows - centre, X - centre


def _products(rows: Any, block: NDArray[np.floating], out: NDArray[np.floating]) -> None:
    if sp.issparse(rows):
        _csr_times_dense(rows.data, rows.indices, rows.indptr, block, out)
    else:
        # not BLAS: its sums depend on a column's place in the block
        _dense_times_dense(rows, block, out)


def _rbf(
    kernel: NDArray[np.floating],
    norms: NDArray[np.floating],
    norms_block: NDArray[np.floating],
    gamma: np.floating,
) -> None:
    """Inner products to kernel values, in place, some rows at a time: they stay in the cache."""
    for first in range(0, len(kernel), _ROWS):
        part = kernel[first : first + _ROWS]
        _exponents(part, norms[first : first + _ROWS], norms_block, gamma)
        if part.dtype == np.float32:
            _exp32(part.reshape(-1))
        else:
            np.exp(part, out=part)


@njit(cache=True, nogil=True)
def _exponents(products, norms, norms_block, gamma):  # type: ignore[no-untyped-def]
    two, zero = products.dtype.type(2), products.dtype.type(0)
    for i in range(products.shape[0]):
        row, norm = products[i], norms[i]
        for c in range(len(row)):
            # rounding can make a squared distance negative; a kernel value is at most 1
            row[c] = min(((two * row[c] - norm) - norms_block[c]) * gamma, zero)


@njit(cache=True, nogil=True)
def _exp32(z):  # type: ignore[no-untyped-def]
    """Replace z <= 0 by exp(z), to 3e-7; below exp(-87), about 1e-38, values stay there.

    exp(z) = 2^q exp(r) with |r| <= ln(2)/2: exp(r) by its series, 2^q by adding q to the
    exponent's bits. Twice as fast as NumPy's where the processor lacks AVX-512.
    """
    bits = z.view(np.int32)
    for k in range(len(z)):
        x = max(z[k], _SMALLEST)
        q = np.floor(x * _LOG2E + _HALF)
        r = (x - q * _LN2_HIGH) - q * _LN2_LOW
        p = _SERIES[0]
        for n in range(1, 8):
            p = p * r + _SERIES[n]
        z[k] = p
        bits[k] += np.int32(q) << np.int32(23)


@njit(cache=True, nogil=True, fastmath=_FAST)
def _dense_times_dense(rows, block, out):  # type: ignore[no-untyped-def]
    d, width = block.shape
    n = rows.shape[0]
    out[:] = 0
    for row in range(0, n, 2):
        a, b = rows[row], rows[min(row + 1, n - 1)]
        to_a = out[row]
        to_b = out[row + 1] if row + 1 < n else np.zeros_like(to_a)
        k = 0
        while k + 4 <= d:
            x0, x1, x2, x3 = block[k], block[k + 1], block[k + 2], block[k + 3]
            a0, a1, a2, a3 = a[k], a[k + 1], a[k + 2], a[k + 3]
            b0, b1, b2, b3 = b[k], b[k + 1], b[k + 2], b[k + 3]
            for c in range(width):
                to_a[c] += (a0 * x0[c] + a1 * x1[c]) + (a2 * x2[c] + a3 * x3[c])
                to_b[c] += (b0 * x0[c] + b1 * x1[c]) + (b2 * x2[c] + b3 * x3[c])
            k += 4
        while k < d:
            x0 = block[k]
            for c in range(width):
                to_a[c] += a[k] * x0[c]
                to_b[c] += b[k] * x0[c]
            k += 1


@njit(cache=True, nogil=True, fastmath=_FAST)
def _csr_times_dense(data, indices, indptr, block, out):  # type: ignore[no-untyped-def]
    width = out.shape[1]
    for row in range(out.shape[0]):
        for c in range(width):
            out[row, c] = 0
        for at in range(indptr[row], indptr[row + 1]):
            value = data[at]
            source = block[indices[at]]
            for c in range(width):
                out[row, c] += value * source[c]


@njit(cache=True, nogil=True, fastmath=_FAST)
def _count(kernel, starts, members, weights, intercept, stops, counts):  # type: ignore[no-untyped-def]
    width = kernel.shape[1]
    f = np.empty(width, dtype=kernel.dtype)
    running = np.zeros(width, dtype=np.int64)
    at_stop = 0
    for j in range(stops[-1]):
        for c in range(width):
            f[c] = intercept[j]
        at, end = starts[j], starts[j + 1]
        # four support rows a pass: fewer trips to memory for f
        while at + 4 <= end:
            w0, w1, w2, w3 = weights[at], weights[at + 1], weights[at + 2], weights[at + 3]
            k0, k1 = kernel[members[at]], kernel[members[at + 1]]
            k2, k3 = kernel[members[at + 2]], kernel[members[at + 3]]
            for c in range(width):
                f[c] += (w0 * k0[c] + w1 * k1[c]) + (w2 * k2[c] + w3 * k3[c])
            at += 4
        while at < end:
            w0, k0 = weights[at], kernel[members[at]]
            for c in range(width):
                f[c] += w0 * k0[c]
            at += 1
        for c in range(width):
            running[c] += f[c] > 0
        while at_stop < len(stops) and stops[at_stop] == j + 1:
            counts[at_stop] = running
            at_stop += 1
