"""The matrix diag(ridge) + A H A^T of the interior point: assembly and solves.

Leaving out light (sample, label) pairs, even ones a 1e-8 part of the heavy ones, was
tried and cost more iterations than it saved: the product is always taken in full.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from marginlab.mrc.features import FeatureMap
from marginlab.mrc.ipm_core import cholesky

__all__ = ["NormalMatrix"]


class NormalMatrix:
    """Weighted Gram matrix of the features, factored by Cholesky."""

    def __init__(self, phi: FeatureMap) -> None:
        self.phi = phi
        self.psi = phi.psi.toarray() if sp.issparse(phi.psi) else phi.psi

    def factor(self, h: np.ndarray, g: np.ndarray, kappa: np.ndarray, ridge: np.ndarray) -> None:
        """Assemble and factor.

        Parameters
        ----------
        h, g : ndarray of shape (n, n_classes)
        kappa : ndarray of shape (n,)
            H_i = diag(h_i) + g_i g_i^T / kappa_i.
        ridge : ndarray of shape (m,)
        """
        self.h, self.g, self.kappa = h, g, kappa
        gram = self._one_block() if self.phi.labels.n_blocks == 1 else self._blocks()
        self.factored = cholesky(gram, ridge)

    def apply_weights(self, x: np.ndarray) -> np.ndarray:
        """H x, sample by sample, for x of shape (n, n_classes)."""
        return self.h * x + self.g * ((self.g * x).sum(axis=1) / self.kappa)[:, None]

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """Solution of the factored system."""
        return sl.cho_solve(self.factored, rhs, check_finite=False)

    def _one_block(self) -> np.ndarray:
        weight = self.h.sum(axis=1) + (self.g[:, 0] - self.g[:, 1]) ** 2 / self.kappa
        return _syrk(self.psi * np.sqrt(weight)[:, None])

    def _blocks(self) -> np.ndarray:
        n, d = self.psi.shape
        k = self.h.shape[1]
        root = self.g / np.sqrt(self.kappa)[:, None]
        gram = _syrk((root[:, :, None] * self.psi[:, None, :]).reshape(n, k * d))
        for y in range(k):
            block = slice(y * d, (y + 1) * d)
            gram[block, block] += _syrk(self.psi * np.sqrt(self.h[:, y])[:, None])
        return gram


def _syrk(rows: np.ndarray) -> np.ndarray:
    """rows^T rows, lower triangle."""
    return dsyrk(1.0, rows.T, lower=1)
