"""Preconditioner of a grid of SVMs: the leading eigenvectors of the kernel matrix they share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Preconditioner", "leading_eigenpairs"]

Floats = NDArray[np.float32]


class Preconditioner:
    """Approximate inverse Hessians from the leading eigenpairs of the kernel matrix.

    In the kernel space a Hessian is I + sum_u h_u phi_u phi_u^T. With h replaced by its mean
    it is diagonal in the eigenvectors of K, whatever the labels: one basis serves all SVMs.

    Parameters
    ----------
    values : ndarray of shape (r,)
        Leading eigenvalues of the kernel matrix, in falling order; the others count as the last.
    vectors : ndarray of shape (u, r), float32
        Their vectors.
    """

    def __init__(self, values: NDArray[np.float64], vectors: Floats) -> None:
        self.values, self.vectors = values, vectors

    @classmethod
    def of(cls, matrix: Floats, rank: int | None = None, seed: int = 0) -> Preconditioner:
        """Preconditioner of a kernel matrix.

        Parameters
        ----------
        matrix : ndarray of shape (u, u), float32
        rank : int, optional
            Eigenpairs; by default u/8, between 64 and 500.
        seed : int
            Of the random projection.
        """
        size = len(matrix)
        rank = min(max(size // 8, 64), 500) if rank is None else rank
        return cls(*leading_eigenpairs(matrix, min(rank, size), np.random.default_rng(seed)))

    def part(self, rows: NDArray[np.intp]) -> Preconditioner:
        """Preconditioner of the square part of the matrix that belongs to some rows.

        The matrix is taken for V (L - l) V^T + l I with l the last eigenvalue: its part needs
        no product with a matrix.
        """
        basis, factor = np.linalg.qr(self.vectors[rows])
        last = self.values[-1]
        small = (factor * (self.values - last)) @ factor.T.astype(np.float64)
        values, turn = np.linalg.eigh((small + small.T) / 2)
        order = np.argsort(-values)
        vectors = np.ascontiguousarray(basis @ turn[:, order].astype(np.float32))
        return Preconditioner(last + np.maximum(values[order], 0.0), vectors)

    def __call__(self, gradient: Floats, penalty: NDArray[np.float64]) -> Floats:
        """Apply to one gradient a row, each with its mean active penalty."""
        rest = 1.0 / (1.0 + penalty * self.values[-1])
        scale = 1.0 / (1.0 + penalty[:, None] * self.values[None, :]) - rest[:, None]
        part = (gradient @ self.vectors) * scale.astype(np.float32)
        result = part @ self.vectors.T
        result += gradient * rest[:, None].astype(np.float32)
        return result


def leading_eigenpairs(
    matrix: Floats, rank: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], Floats]:
    """The largest eigenvalues of a symmetric matrix and their vectors, by random projection.

    One power iteration on ``rank + 20`` random vectors; a preconditioner needs no more.

    Parameters
    ----------
    matrix : ndarray of shape (u, u), float32
    rank : int
        At most u.
    rng : numpy.random.Generator

    Returns
    -------
    values : ndarray of shape (rank,)
        In falling order, at least 0.
    vectors : ndarray of shape (u, rank), float32
    """
    width = min(rank + 20, len(matrix))
    start = rng.standard_normal((len(matrix), width), dtype=np.float32)
    for _ in range(2):
        start, _ = np.linalg.qr(matrix @ start)
    small = (start.T @ (matrix @ start)).astype(np.float64)
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    order = np.argsort(-values)[:rank]
    basis = np.ascontiguousarray(start @ vectors[:, order].astype(np.float32))
    return np.maximum(values[order], 0.0), basis
