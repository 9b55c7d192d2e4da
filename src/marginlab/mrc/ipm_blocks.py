"""The interior point's matrix by blocks, for fewer samples than components.

With one block of features a label, diag(ridge) + A H A^T is B + R^T R: B has a block a
label, R a row a sample. So B's small factors and the n x n matrix I + R B^-1 R^T do the
work of an m x m factor. That matrix grows as the barrier falls, and a solve loses as many
digits as it grows by: refinement against the exact product brings them back, up to a size
beyond which the m x m factor has to take over.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dsyrk, dtrmm
from scipy.linalg.lapack import dtrtri

from marginlab.errors import SolverError
from marginlab.mrc.ipm_core import cholesky, cholesky_solve

__all__ = ["BlockForm", "few_samples"]

LARGEST = 1e11  # diagonal of I + R B^-1 R^T up to which refinement converges quickly


def few_samples(n: int, sizes: list[int]) -> bool:
    """Whether the form by blocks takes fewer operations than the m x m matrix.

    Parameters
    ----------
    n : int
        Samples.
    sizes : list of int
        Components of each block.
    """
    m = sum(sizes)
    blocks = sum(n * s * s + s**3 / 3 for s in sizes)
    return len(sizes) > 1 and blocks + n * n * m + n**3 / 3 < n * m * m + m**3 / 3


class BlockForm:
    """B + R^T R, factored through B's blocks and I + R B^-1 R^T.

    Parameters
    ----------
    blocks : list of ndarray of shape (n, size)
        Features of the samples, block by block.

    Notes
    -----
    Blocks are filled up with zeros to one size c, so that an operation on all of them is
    one call: with small blocks, calls cost more than arithmetic.
    """

    def __init__(self, blocks: list[np.ndarray]) -> None:
        sizes = np.array([psi.shape[1] for psi in blocks])
        n, c = len(blocks[0]), int(sizes.max())
        self.real = np.arange(c) < sizes[:, None]
        if all(psi is blocks[0] for psi in blocks):
            self.psi = np.broadcast_to(blocks[0], (len(blocks), n, c))
        else:
            self.psi = np.zeros((len(blocks), n, c))
            for own, psi in zip(self.psi, blocks, strict=True):
                own[:, : psi.shape[1]] = psi
        self.rows = np.empty((len(blocks), n, c))  # R L^-T, with B = L L^T
        self.loss = np.inf  # relative residual to expect of a solve

    def factor(self, h: np.ndarray, root: np.ndarray, ridge: np.ndarray) -> bool:
        """Factor; False if the solves would lose too many digits.

        Parameters
        ----------
        h : ndarray of shape (n, n_blocks)
            B is diag(ridge) + psi^T diag(h_y) psi in block y.
        root : ndarray of shape (n, n_blocks)
            R is diag(root_y) psi there.
        ridge : ndarray of shape (m,)
        """
        rows, n = self.rows, len(h)
        np.multiply(self.psi, np.sqrt(h).T[:, :, None], out=rows)
        gram = rows.transpose(0, 2, 1) @ rows
        diagonal = np.arange(gram.shape[1])
        gram[:, diagonal, diagonal] += self._filled(ridge, 1.0)
        try:
            self.inverse = np.linalg.cholesky(gram)
        except np.linalg.LinAlgError:
            return False
        np.multiply(self.psi, root.T[:, :, None], out=rows)
        inner = np.zeros((n, n), order="F")
        for lower, own in zip(self.inverse, rows, strict=True):
            # Transposed views are in Fortran order: LAPACK and BLAS work in place.
            dtrtri(lower.T, lower=0, overwrite_c=1)
            dtrmm(1.0, lower.T, own.T, lower=0, trans_a=1, overwrite_b=1)
            dsyrk(1.0, own.T, beta=1.0, c=inner, trans=1, lower=1, overwrite_c=1)
        largest = float(inner.diagonal().max())
        self.loss = largest * np.finfo(float).eps
        if not largest < LARGEST:
            return False
        try:
            self.inner = cholesky(inner, np.ones(n))
        except SolverError:
            return False
        return True

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """Solution of the factored system, to the digits that it keeps."""
        w = (self.inverse @ self._filled(rhs, 0.0)[:, :, None])[:, :, 0]
        share = cholesky_solve(self.inner, (self.rows @ w[:, :, None]).sum(axis=0))
        w -= (share.T @ self.rows)[:, 0]
        x = (w[:, None] @ self.inverse)[:, 0]
        return x[self.real]

    def _filled(self, vector: np.ndarray, value: float) -> np.ndarray:
        """Components by blocks, an array of shape (n_blocks, c)."""
        filled = np.full(self.real.shape, value)
        filled[self.real] = vector
        return filled
