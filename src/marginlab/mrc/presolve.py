"""What lambda = 0 settles before any solver runs: pairs without weight, free coefficients.

A component of Phi that is zero for every training sample of its label has tau = lambda = 0
(a pixel that is never set in one digit). If psi's column has one sign, no distribution
in the uncertainty set gives weight to a (sample, label) pair in which it is not zero. Such
pairs are closed; the component's coefficient costs nothing and can push their scores as
far down as needed, so neither has to be part of the program.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.features import FeatureMap, Matrix

__all__ = ["AWAY", "Presolved", "presolve"]

AWAY = 10.0  # what a closed pair's score is lowered by until its coefficients are known


@dataclass(frozen=True)
class Presolved:
    """A pool of samples with the components that are left.

    Attributes
    ----------
    phi : FeatureMap
    kept : ndarray of bool, shape (m,)
        Components of the program.
    closed : ndarray of bool, shape (n, n_classes)
        Pairs that have no weight in any distribution of the uncertainty set.
    """

    phi: FeatureMap
    kept: np.ndarray
    closed: np.ndarray

    @cached_property
    def complete(self) -> bool:
        """Whether every component is kept."""
        return bool(self.kept.all())

    def scores(self, mu: np.ndarray) -> np.ndarray:
        """Scores of the kept components' coefficients, an array of shape (n, n_classes)."""
        return self.phi.scores(self.spread(mu))

    def lowered(self, mu: np.ndarray) -> np.ndarray:
        """Scores with those of the closed pairs AWAY lower."""
        scores = self.scores(mu)
        if not self.complete:
            scores -= AWAY * self.closed
        return scores

    def adjoint(self, weights: np.ndarray) -> np.ndarray:
        """Moments of the kept components under weights of shape (n, n_classes)."""
        moments = self.phi.adjoint(weights)
        return moments if self.complete else moments[self.kept]

    def spread(self, mu: np.ndarray) -> np.ndarray:
        """Coefficients of all components, zero where one was dropped."""
        if self.complete:
            return mu
        full = np.zeros(len(self.kept))
        full[self.kept] = mu
        return full

    def take(self, samples: np.ndarray) -> Presolved:
        """The same components on some of the samples."""
        return Presolved(self.phi.take(samples), self.kept, self.closed[samples])

    def restore(self, mu: np.ndarray, maximum: float) -> np.ndarray:
        """Coefficients of all components; closed pairs get scores of at most ``maximum``.

        The objective of (3) does not change: tau and lambda of the dropped are zero.
        """
        full = self.spread(mu)
        if not self.closed.any():
            return full
        psi = _dense(self.phi.psi)
        dropped = ~self.kept.reshape(self.phi.labels.n_blocks, -1)
        above = np.where(self.closed, np.maximum(self.phi.scores(full) - maximum, 0.0), 0.0)
        cover = np.abs(psi) @ dropped.T
        share = np.divide(above, cover, out=np.zeros_like(above), where=self.closed)
        blocks = full.reshape(dropped.shape)
        for y in np.flatnonzero(above.any(axis=0)):
            columns = np.flatnonzero(dropped[y])
            needed = (share[:, y][:, None] * (psi[:, columns] != 0.0)).max(axis=0)
            blocks[y, columns] = -needed * np.sign(psi[:, columns].sum(axis=0))
        return full


def presolve(problem: MrcProblem, pool: FeatureMap) -> Presolved:
    """Find the components that lambda = 0 settles, and the pairs that they close.

    Parameters
    ----------
    problem : MrcProblem
    pool : FeatureMap
        Its samples, which may be followed by the class centres.

    Returns
    -------
    Presolved
    """
    settled = (problem.lam == 0.0) & (problem.tau == 0.0)
    closed = np.zeros((pool.n_samples, problem.n_classes), dtype=bool)
    if pool.labels.n_blocks == 1 or not settled.any():
        return Presolved(pool, np.ones(len(settled), dtype=bool), closed)
    dropped = settled.reshape(pool.labels.n_blocks, -1) & _one_signed(pool.psi)
    nonzero = (pool.psi != 0).astype(float)
    closed = np.asarray(nonzero @ dropped.T.astype(float)) > 0.0
    return Presolved(pool, ~dropped.ravel(), closed)


def _one_signed(psi: Matrix) -> np.ndarray:
    low, high = psi.min(axis=0), psi.max(axis=0)
    return (np.ravel(_dense(low)) >= 0.0) | (np.ravel(_dense(high)) <= 0.0)


def _dense(psi: Matrix) -> np.ndarray:
    return psi.toarray() if sp.issparse(psi) else psi
