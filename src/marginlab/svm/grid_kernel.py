"""The kernel matrix that all SVMs of a grid share: unique rows, centred, in float32.

Coefficients of an SVM with a bias sum to zero, so adding a(x) + a(z) to a kernel changes the
bias alone. The matrix kept is exp(-gamma |x - z|^2) - 1, centred in both arguments: for small
gamma its entries are of the size of gamma |x - z|^2 instead of 1, which is what makes float32
precise enough, and its largest eigenvalue, that of the constant function, is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numba as nb
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from marginlab.svm.kernels import Rows, linear_gram, squared_norms

__all__ = [
    "CentredKernel",
    "centred_kernel",
    "shifted_blocks",
    "unique_rows",
]

Floats = NDArray[np.float32]
Norms = NDArray[np.floating]
_BLOCK = 1024  # rows of a kernel block
_DISTANCES = 2**16  # longest table of kernel values; float32 holds the inner products exactly


@dataclass(frozen=True)
class CentredKernel:
    """A centred kernel matrix.

    Attributes
    ----------
    matrix : ndarray of shape (u, u), float32
        H (K - 1) H with H = I - 11^T / u.
    means : ndarray of shape (u,), float64
        Row means of K - 1.
    """

    matrix: Floats
    means: NDArray[np.float64]

    def part(self, rows: NDArray[np.intp]) -> Floats:
        """The square part of the matrix that belongs to some rows."""
        return np.ascontiguousarray(self.matrix[np.ix_(rows, rows)])

    def expansion(
        self, beta: NDArray[np.floating], bias: NDArray[np.floating]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coefficients and bias that go with the plain kernel K - 1.

        Parameters
        ----------
        beta : ndarray of shape (m, u)
        bias : ndarray of shape (m,)

        Returns
        -------
        ndarrays of shapes (m, u) and (m,)
            f(x) = sum_u coefficient_u (K(x, x_u) - 1) + bias.
        """
        centred = beta - np.mean(beta, axis=1, keepdims=True, dtype=np.float64)
        return centred, bias - centred @ self.means


def unique_rows(X: Rows) -> tuple[Rows, NDArray[np.intp]]:
    """The distinct rows of X, in order of first appearance, and for each row its number.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)

    Returns
    -------
    rows : same type, shape (u, d)
    index : ndarray of shape (n,)
        X[i] equals rows[index[i]].
    """
    seen: dict[bytes, int] = {}
    index = np.empty(X.shape[0], dtype=np.intp)
    first: list[int] = []
    for i, key in enumerate(_keys(X)):
        number = seen.setdefault(key, len(seen))
        if number == len(first):
            first.append(i)
        index[i] = number
    return X[np.array(first, dtype=np.intp)], index


def _keys(X: Rows) -> Iterator[bytes]:
    if not sp.issparse(X):
        for row in np.ascontiguousarray(X):
            yield row.tobytes()
        return
    bounds = X.indptr
    for low, high in pairwise(bounds):
        yield X.indices[low:high].tobytes() + b"|" + X.data[low:high].tobytes()


def centred_kernel(X: Rows, gamma: float) -> CentredKernel:
    """The centred RBF kernel matrix of the rows of X.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (u, d)
    gamma : float

    Returns
    -------
    CentredKernel
    """
    matrix = np.empty((X.shape[0], X.shape[0]), dtype=np.float32)
    for rows, block in shifted_blocks(X, X, gamma):
        matrix[rows] = block
    means = matrix.mean(axis=1, dtype=np.float64)
    middle = means.mean()
    for low in range(0, len(matrix), _BLOCK):
        rows = slice(low, low + _BLOCK)
        matrix[rows] -= (means[rows, None] + (means[None, :] - middle)).astype(np.float32)
    return CentredKernel(matrix, means)


def shifted_blocks(Z: Rows, X: Rows, gamma: float) -> Iterator[tuple[slice, Floats]]:
    """K(z, x) - 1 for blocks of rows of Z against all rows of X.

    Parameters
    ----------
    Z, X : ndarrays or CSR matrices of shapes (n, d) and (u, d)
    gamma : float

    Yields
    ------
    rows : slice of Z
    block : ndarray of shape (length of rows, u), float32
    """
    z_norms, x_norms = squared_norms(Z), squared_norms(X)
    table = _table(Z, X, gamma, z_norms, x_norms)
    for low in range(0, Z.shape[0], _BLOCK):
        rows = slice(low, min(low + _BLOCK, Z.shape[0]))
        if table is not None:
            block = linear_gram(Z[rows], X, np.float32)
            _look_up(block, z_norms[rows].astype(np.float32), x_norms.astype(np.float32), table)
            yield rows, block
            continue
        block = linear_gram(Z[rows], X)
        block *= -2
        block += z_norms[rows, None]
        block += x_norms[None, :]
        np.maximum(block, 0, out=block)
        block *= -gamma
        yield rows, np.expm1(block, out=block).astype(np.float32)


def _table(Z: Rows, X: Rows, gamma: float, z_norms: Norms, x_norms: Norms) -> Floats | None:
    """K - 1 by squared distance, where all features are small whole numbers."""
    largest = 2 * (z_norms.max(initial=0) + x_norms.max(initial=0))
    if largest > _DISTANCES or not (_whole(Z) and _whole(X)):
        return None
    return np.expm1(-gamma * np.arange(largest + 1)).astype(np.float32)


def _whole(X: Rows) -> bool:
    values = X.data if sp.issparse(X) else X
    return bool(np.all(values == np.rint(values)))


@nb.njit(cache=True)
def _look_up(products, z_norms, x_norms, table):  # type: ignore[no-untyped-def]
    """Replace inner products by table[squared distance]."""
    for i in range(products.shape[0]):
        norm = z_norms[i]
        for j in range(products.shape[1]):
            products[i, j] = table[np.uint32(norm + x_norms[j] - np.float32(2) * products[i, j])]
