"""The one door to LIBSVM, and the kernel sums that need no kernel matrix in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.svm import SVC

from marginlab.svm.dual import DualSolution, solution_of
from marginlab.svm.kernels import linear_gram, rbf_blocks, rbf_gram

__all__ = ["gram", "products", "train_libsvm"]

Array = NDArray[np.float64]
_BLOCK = 1024


def gram(X: Any, Z: Any, kernel: str, gamma: float) -> Array:
    """Kernel matrix in float64, of X against Z or, with Z None, of X with itself."""
    if kernel == "rbf":
        return np.ascontiguousarray(rbf_gram(X, Z, gamma), dtype=np.float64)
    return np.ascontiguousarray(linear_gram(X, Z), dtype=np.float64)


def products(X: Any, beta: Array, Z: Any, kernel: str, gamma: float) -> Array:
    """sum_j beta_j K(x_j, z) for every row z of Z, in float64."""
    used = np.flatnonzero(beta)
    rows, coef = X[used], beta[used]
    out = np.empty(Z.shape[0])
    if kernel == "rbf":
        for part, block in rbf_blocks(rows, Z, gamma, block=_BLOCK):
            out[part] = coef @ block
        return out
    for start in range(0, Z.shape[0], _BLOCK):
        out[start : start + _BLOCK] = coef @ linear_gram(rows, Z[start : start + _BLOCK])
    return out


def train_libsvm(
    X: Any, y: Array, C: Array, kernel: str = "rbf", gamma: float = 1.0, tol: float = 1e-6
) -> DualSolution:
    """Train by LIBSVM, without the kernel matrix in memory.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (l, d)
    y : ndarray of shape (l,)
        Labels in {-1, +1}.
    C : ndarray of shape (l,)
        Instance weights, all positive.
    kernel : {"rbf", "linear"}
    gamma : float
    tol : float
        LIBSVM's stopping tolerance.

    Returns
    -------
    DualSolution
        Decision values recomputed in float64, since LIBSVM's kernel cache is float32.
    """
    machine = SVC(C=1.0, kernel=kernel, gamma=gamma, tol=tol, cache_size=1000)
    machine.fit(X, y, sample_weight=C)
    dual = machine.dual_coef_
    beta = np.zeros(y.size)
    beta[machine.support_] = (dual.toarray() if sp.issparse(dual) else np.asarray(dual)).ravel()
    alpha = np.clip(np.abs(beta), 0.0, C)
    return solution_of(y, C, alpha, products(X, y * alpha, X, kernel, gamma))
