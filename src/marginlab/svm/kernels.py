"""Gram matrices of dense and CSR rows, whole or in blocks, in float32 or float64.

The RBF kernel is exp(-gamma |x - z|^2). What the papers call a width of 1/d is this
gamma (see the deviations register), hence the name "1/d" for gamma = 1 / n_features.
"""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from marginlab.errors import UserError

__all__ = [
    "linear_gram",
    "rbf_blocks",
    "rbf_from_products",
    "rbf_gram",
    "resolve_gamma",
    "squared_norms",
]

#: Dense array of shape (n, d) or a CSR matrix of that shape.
Rows = Any


def resolve_gamma(gamma: float | str, n_features: int) -> float:
    """The kernel parameter as a number.

    Parameters
    ----------
    gamma : float or "1/d"
        A positive number, or "1/d" for 1 / n_features.
    n_features : int
        Number of columns of the data.

    Raises
    ------
    UserError
        If gamma is neither "1/d" nor a positive finite number.
    """
    if isinstance(gamma, str):
        if gamma == "1/d":
            return 1.0 / n_features
    elif isinstance(gamma, Real) and not isinstance(gamma, bool) and 0 < gamma < np.inf:
        return float(gamma)
    raise UserError(f'gamma is {gamma!r}; give a positive number or "1/d"')


def squared_norms(X: Rows, dtype: DTypeLike = np.float64) -> NDArray[np.floating]:
    """|x_i|^2 of each row, summed in float64.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    dtype : data type of the result

    Returns
    -------
    ndarray of shape (n,)
    """
    if sp.issparse(X):
        squares = X.multiply(X).sum(axis=1)
        return np.asarray(squares, dtype=dtype).reshape(-1)
    rows = np.asarray(X, dtype=np.float64)
    return np.einsum("ij,ij->i", rows, rows).astype(dtype, copy=False)


def linear_gram(
    X: Rows, Z: Rows | None = None, dtype: DTypeLike = np.float64
) -> NDArray[np.floating]:
    """Inner products of the rows of X with those of Z (of X itself by default).

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    Z : ndarray or CSR matrix of shape (m, d), optional
    dtype : data type of the arithmetic and of the result

    Returns
    -------
    ndarray of shape (n, m)
    """
    left = _as(X, dtype)
    right = left if Z is None else _as(Z, dtype)
    if sp.issparse(left) and sp.issparse(right):
        # sparse times dense columns: no n x m sparse intermediate
        return np.ascontiguousarray(left @ right.T.toarray())
    product = left @ right.T
    return np.ascontiguousarray(product.toarray() if sp.issparse(product) else product)


def rbf_from_products(
    products: NDArray[np.floating],
    norms_x: NDArray[np.floating],
    norms_z: NDArray[np.floating],
    gamma: float,
) -> NDArray[np.floating]:
    """Turn inner products into RBF kernel values, in place.

    Parameters
    ----------
    products : ndarray of shape (n, m)
        x_i . z_j; overwritten.
    norms_x, norms_z : ndarrays of shapes (n,) and (m,)
        Squared norms.
    gamma : float

    Returns
    -------
    ndarray of shape (n, m)
        ``products`` itself.
    """
    products *= 2.0
    products -= norms_x[:, None]
    products -= norms_z[None, :]
    products *= gamma
    # rounding can make a squared distance negative; a kernel value is at most 1
    np.minimum(products, 0.0, out=products)
    return np.exp(products, out=products)


def rbf_gram(
    X: Rows, Z: Rows | None = None, gamma: float = 1.0, dtype: DTypeLike = np.float64
) -> NDArray[np.floating]:
    """RBF kernel matrix of X against Z, or of X with itself.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    Z : ndarray or CSR matrix of shape (m, d), optional
        X itself by default; the result is then symmetric with ones on the diagonal.
    gamma : float
        exp(-gamma |x - z|^2).
    dtype : data type of the arithmetic and of the result

    Returns
    -------
    ndarray of shape (n, m)

    Notes
    -----
    Distances come from inner products of rows centred at the mean of X (dense data),
    so a large common offset does no harm. In float32 the error of a kernel value is
    about 1e-7 * gamma * max |x|^2.
    """
    left, right = _centred(X, Z)
    norms = squared_norms(left, dtype)
    if right is None:
        kernel = rbf_from_products(linear_gram(left, None, dtype), norms, norms, gamma)
        return _mirror(kernel)
    return rbf_from_products(
        linear_gram(left, right, dtype), norms, squared_norms(right, dtype), gamma
    )


def rbf_blocks(
    X: Rows, Z: Rows, gamma: float, block: int = 1024, dtype: DTypeLike = np.float64
) -> Iterator[tuple[slice, NDArray[np.floating]]]:
    """Kernel of X against Z, ``block`` columns at a time.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    Z : ndarray or CSR matrix of shape (m, d)
        Its rows are the columns of the kernel matrix.
    gamma : float
    block : int
        Number of columns held at once; memory is n * block values.
    dtype : data type of the arithmetic and of the result

    Yields
    ------
    slice, ndarray of shape (n, at most block)
        The rows of Z covered, and the kernel values.
    """
    left, right = _centred(X, Z)
    left = _as(left, dtype)
    norms = squared_norms(left, dtype)
    assert right is not None
    for start in range(0, right.shape[0], block):
        columns = slice(start, min(start + block, right.shape[0]))
        part = right[columns]
        products = linear_gram(left, part, dtype)
        yield columns, rbf_from_products(products, norms, squared_norms(part, dtype), gamma)


def _mirror(kernel: NDArray[np.floating], block: int = 512) -> NDArray[np.floating]:
    # Rounding differs on the two sides of the diagonal: copy the lower one, in place.
    for start in range(0, len(kernel), block):
        stop = start + block
        kernel[:start, start:stop] = kernel[start:stop, :start].T
        corner = np.tril(kernel[start:stop, start:stop], -1)
        kernel[start:stop, start:stop] = corner + corner.T
    np.fill_diagonal(kernel, 1.0)
    return kernel


def _as(X: Rows, dtype: DTypeLike) -> Rows:
    if sp.issparse(X):
        return X.tocsr().astype(dtype, copy=False)
    return np.asarray(X, dtype=dtype)


def _centred(X: Rows, Z: Rows | None) -> tuple[Rows, Rows | None]:
    # Distances ignore a shift; sparse rows stay as they are, or they would fill up.
    if sp.issparse(X) or (Z is not None and sp.issparse(Z)):
        return X, Z
    centre = np.asarray(X, dtype=np.float64).mean(axis=0)
    return X - centre, None if Z is None else Z - centre
