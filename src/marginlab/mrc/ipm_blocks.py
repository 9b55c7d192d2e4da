"""The interior point's matrix by blocks, for fewer samples than components.

With one block of features a label, diag(ridge) + A H A^T is B + R^T R: B has a block a
label, R a row a sample. So B's small factors and the n x n matrix I + R B^-1 R^T do the
work of an m x m factor. That matrix grows as the barrier falls, and a solve loses as many
digits as it grows by: refinement against the exact product brings them back, up to a size
beyond which the m x m factor has to take over.
"""

from __future__ import annotations

from itertools import pairwise

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
    """

    def __init__(self, blocks: list[np.ndarray]) -> None:
        # Where no block lacks a component, all are one array: one copy of it will do.
        columns = {id(psi): np.asfortranarray(psi) for psi in blocks}
        self.blocks = [columns[id(psi)] for psi in blocks]
        ends = np.cumsum([0, *(psi.shape[1] for psi in blocks)])
        self.places = [slice(*pair) for pair in pairwise(ends)]
        self.rows = np.empty((len(blocks[0]), int(ends[-1])), order="F")  # R L^-T, B = L L^T
        self.inverses: list[np.ndarray] = []  # L^-1, block by block

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
        self.inverses = []
        try:
            for y, (psi, place) in enumerate(zip(self.blocks, self.places, strict=True)):
                gram = dsyrk(1.0, psi * np.sqrt(h[:, y])[:, None], trans=1, lower=1)
                inverse = np.tril(dtrtri(cholesky(gram, ridge[place]), lower=1)[0])
                np.multiply(psi, root[:, y : y + 1], out=self.rows[:, place])
                dtrmm(1.0, inverse, self.rows[:, place], side=1, lower=1, trans_a=1, overwrite_b=1)
                self.inverses.append(inverse)
            inner = dsyrk(1.0, self.rows, lower=1)
            largest = float(inner.diagonal().max())
            if not largest < LARGEST:
                return False
            self.loss = largest * np.finfo(float).eps
            self.inner = cholesky(inner, np.ones(len(inner)))
        except SolverError:
            return False
        return True

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """Solution of the factored system, to the digits that it keeps."""
        w = np.empty_like(rhs)
        for inverse, place in zip(self.inverses, self.places, strict=True):
            np.dot(inverse, rhs[place], out=w[place])
        w -= cholesky_solve(self.inner, self.rows @ w) @ self.rows
        for inverse, place in zip(self.inverses, self.places, strict=True):
            w[place] = inverse.T @ w[place]
        return w
