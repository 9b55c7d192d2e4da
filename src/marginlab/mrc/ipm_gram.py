"""The matrix diag(ridge) + A H A^T of the interior point: assembly and solves.

It has one dense m x m form. With several blocks of features and fewer samples than
components, the form in `marginlab.mrc.ipm_blocks` is used as long as it is exact enough.
Leaving out light (sample, label) pairs, even ones a 1e-8 part of the heavy ones, was
tried and cost more iterations than it saved: the product is always taken in full.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.linalg.blas import dsyrk

from marginlab.mrc.ipm_blocks import BlockForm, few_samples
from marginlab.mrc.ipm_core import cholesky, cholesky_solve
from marginlab.mrc.presolve import Presolved

__all__ = ["NormalMatrix"]

EXACT = 1e-11  # residual of a solve, relative to the right-hand side
REFINEMENTS = 4


class NormalMatrix:
    """Weighted Gram matrix of the features, factored by Cholesky."""

    def __init__(self) -> None:
        self.blocks: list[np.ndarray] = []
        self.block_form: BlockForm | None = None
        self._exact = True  # whether the form by blocks has kept enough digits so far
        # Kept from one factorisation to the next: fresh pages cost as much as a small factor.
        self._gram, self._factor, self._rows = (np.empty((0, 0), order="F") for _ in range(3))

    def use(self, samples: Presolved) -> None:
        """Take the features of these samples."""
        self.samples = samples
        psi = samples.phi.psi
        psi = psi.toarray() if sp.issparse(psi) else psi
        kept = samples.kept.reshape(samples.phi.labels.n_blocks, -1)
        self.blocks = [psi if columns.all() else psi[:, columns] for columns in kept]
        sizes = [block.shape[1] for block in self.blocks]
        by_blocks = self._exact and few_samples(len(psi), sizes)
        self.block_form = BlockForm(self.blocks) if by_blocks else None

    def factor(self, h: np.ndarray, g: np.ndarray, kappa: np.ndarray, ridge: np.ndarray) -> None:
        """Assemble and factor.

        Parameters
        ----------
        h, g : ndarray of shape (n, n_classes)
        kappa : ndarray of shape (n,)
            H_i = diag(h_i) + g_i g_i^T / kappa_i.
        ridge : ndarray of shape (m,)
        """
        self.h, self.g, self.kappa, self.ridge = h, g, kappa, ridge
        root = g / np.sqrt(kappa)[:, None]
        if self.block_form is not None and self.block_form.factor(h, root, ridge):
            return
        if self.block_form is not None:
            self.block_form, self._exact = None, False  # its rounding only grows from here on
        self._allocate(len(ridge), len(h))
        gram = self._one_block() if len(self.blocks) == 1 else self._all_blocks(root)
        self.factored = cholesky(gram, ridge, self._factor)

    def apply_weights(self, x: np.ndarray) -> np.ndarray:
        """H x, sample by sample, for x of shape (n, n_classes)."""
        return self.h * x + self.g * ((self.g * x).sum(axis=1) / self.kappa)[:, None]

    def solve(self, rhs: np.ndarray) -> np.ndarray:
        """Solution of the factored system."""
        if self.block_form is None:
            return cholesky_solve(self.factored, rhs)
        x = self.block_form.solve(rhs)
        if self.block_form.loss <= EXACT:
            return x
        limit = EXACT * float(np.linalg.norm(rhs))
        for _ in range(REFINEMENTS):
            residual = rhs - self._product(x)
            if float(np.linalg.norm(residual)) <= limit:
                break
            x += self.block_form.solve(residual)
        return x

    def _product(self, x: np.ndarray) -> np.ndarray:
        weighted = self.apply_weights(self.samples.scores(x))
        return self.ridge * x + self.samples.adjoint(weighted)

    def _allocate(self, m: int, n: int) -> None:
        if len(self._gram) != m:
            self._gram, self._factor = np.empty((m, m), order="F"), np.empty((m, m), order="F")
        if len(self.blocks) > 1 and self._rows.shape != (n, m):
            self._rows = np.empty((n, m))

    def _one_block(self) -> np.ndarray:
        weight = self.h.sum(axis=1) + (self.g[:, 0] - self.g[:, 1]) ** 2 / self.kappa
        return self._large(self.blocks[0] * np.sqrt(weight)[:, None])

    def _all_blocks(self, root: np.ndarray) -> np.ndarray:
        ends = np.cumsum([0, *(psi.shape[1] for psi in self.blocks)])
        rows = self._rows
        for y, psi in enumerate(self.blocks):
            np.multiply(root[:, y : y + 1], psi, out=rows[:, ends[y] : ends[y + 1]])
        gram = self._large(rows)
        for y, psi in enumerate(self.blocks):
            block = slice(ends[y], ends[y + 1])
            gram[block, block] += _syrk(psi * np.sqrt(self.h[:, y])[:, None])
        return gram

    def _large(self, rows: np.ndarray) -> np.ndarray:
        return dsyrk(1.0, rows.T, c=self._gram, lower=1, overwrite_c=1)


def _syrk(rows: np.ndarray) -> np.ndarray:
    """rows^T rows, lower triangle."""
    return dsyrk(1.0, rows.T, lower=1)
