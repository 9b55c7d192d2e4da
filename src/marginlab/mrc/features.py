"""Feature mappings of minimax risk classifiers: psi(x), and Phi(x, y) built from it.

Two labels use one block, Phi(x, first) = psi(x) and Phi(x, second) = -psi(x); more
labels use one block per label (one-hot). Everything downstream needs only three
operations on the mapping: scores, their adjoint, and the constraint rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from marginlab.errors import ConfigError

__all__ = ["FeatureMap", "FourierFeatures", "LabelMap", "Matrix", "hstack_ones", "unique_rows"]

Matrix: TypeAlias = Any  # ndarray or scipy.sparse.csr_array


def hstack_ones(X: Matrix) -> Matrix:
    """``X`` with a leading column of ones (the intercept); dense stays dense."""
    ones = np.ones((X.shape[0], 1))
    if sp.issparse(X):
        return sp.csr_array(sp.hstack([sp.csr_array(ones), X], format="csr"))
    return np.hstack([ones, X])


def unique_rows(X: Matrix) -> np.ndarray:
    """Index of the first occurrence of each distinct row of ``X``, in order.

    Repeated samples give the same constraints of the linear program (6), so the
    pool of constraints needs one copy; the estimates keep all of them.
    """
    seen: dict[bytes, int] = {}
    if sp.issparse(X):
        X = sp.csr_array(X)
        X.sort_indices()
        for i in range(X.shape[0]):
            cut = slice(X.indptr[i], X.indptr[i + 1])
            seen.setdefault(X.indices[cut].tobytes() + b"|" + X.data[cut].tobytes(), i)
    else:
        X = np.ascontiguousarray(X)
        for i, row in enumerate(X):
            seen.setdefault(row.tobytes(), i)
    return np.fromiter(seen.values(), dtype=np.intp, count=len(seen))


@dataclass(frozen=True)
class FourierFeatures:
    """Random Fourier features of the kernel exp(-gamma |x - x'|^2).

    Attributes
    ----------
    directions : ndarray of shape (d, ceil(n_components / 2))
        Drawn from N(0, 2 gamma I) (Rahimi and Recht, 2008).
    n_components : int, optional
        Cosines of all directions, then sines (one fewer if odd); default: all sines.
    """

    directions: np.ndarray
    n_components: int | None = None

    @classmethod
    def draw(
        cls, n_features: int, n_components: int, gamma: float, random: np.random.RandomState
    ) -> FourierFeatures:
        """Draw ``n_components`` features, one half cosines and one half sines.

        Raises
        ------
        ConfigError
            If ``n_components`` is not positive.
        """
        if n_components < 1:
            raise ConfigError(f"n_components={n_components} must be at least 1.")
        normal = random.normal(size=(n_features, (n_components + 1) // 2))
        return cls(np.sqrt(2.0 * gamma) * normal, n_components)

    def __call__(self, X: Matrix) -> np.ndarray:
        """Features of the rows of ``X``, an array of shape (n, n_components)."""
        angles = np.asarray(X @ self.directions)
        cosines = angles.shape[1]
        total = 2 * cosines if self.n_components is None else self.n_components
        features = np.empty((angles.shape[0], total))
        np.cos(angles, out=features[:, :cosines])
        np.sin(angles[:, : total - cosines], out=features[:, cosines:])
        features /= np.sqrt(total / 2.0)
        return features


@dataclass(frozen=True)
class LabelMap:
    """How labels enter Phi(x, y): one signed block (two labels) or one block a label.

    Attributes
    ----------
    n_classes : int
        Number of labels |Y|, at least 2.
    """

    n_classes: int

    @property
    def n_blocks(self) -> int:
        """Number of copies of psi in Phi."""
        return 1 if self.n_classes == 2 else self.n_classes

    def block_weights(self, weights: np.ndarray) -> np.ndarray:
        """Weights on (sample, label) turned into weights on (sample, block).

        Parameters
        ----------
        weights : ndarray of shape (n, n_classes)

        Returns
        -------
        ndarray of shape (n, n_blocks)
        """
        if self.n_blocks == 1:
            return (weights[:, 0] - weights[:, 1])[:, None]
        return weights

    def label_scores(self, blocks: np.ndarray) -> np.ndarray:
        """Block products psi(x) . mu_block turned into scores Phi(x, y) . mu."""
        if self.n_blocks == 1:
            return np.hstack([blocks, -blocks])
        return blocks


@dataclass(frozen=True)
class FeatureMap:
    """Phi on a fixed set of samples.

    Attributes
    ----------
    psi : ndarray or CSR array of shape (n, d)
        Sample features, first column 1.
    labels : LabelMap
    """

    psi: Matrix
    labels: LabelMap

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return int(self.psi.shape[0])

    @property
    def n_features(self) -> int:
        """Number of components m of Phi."""
        return int(self.psi.shape[1]) * self.labels.n_blocks

    def scores(self, mu: np.ndarray) -> np.ndarray:
        """Scores Phi(x_i, y) . mu, an array of shape (n, n_classes)."""
        blocks = mu.reshape(self.labels.n_blocks, -1)
        return self.labels.label_scores(np.asarray(self.psi @ blocks.T))

    def adjoint(self, weights: np.ndarray) -> np.ndarray:
        """Sum over (i, y) of weights[i, y] Phi(x_i, y), an array of shape (m,)."""
        blocks = self.labels.block_weights(weights)
        return np.asarray(self.psi.T @ blocks).T.ravel()

    def rows(self, samples: np.ndarray, subsets: np.ndarray) -> Matrix:
        """Constraint rows sum_{y in C} Phi(x_i, y) / |C| of the linear program (6).

        Parameters
        ----------
        samples : ndarray of int, shape (r,)
        subsets : ndarray of bool, shape (r, n_classes)
            Membership of each label in the row's subset C.

        Returns
        -------
        ndarray or CSR array of shape (r, m)
        """
        share = subsets / subsets.sum(axis=1, keepdims=True)
        blocks = self.labels.block_weights(share)
        part = self.psi[samples]
        if sp.issparse(part):
            scaled = [sp.diags_array(blocks[:, b]) @ part for b in range(blocks.shape[1])]
            return sp.csr_array(sp.hstack(scaled, format="csr"))
        return (blocks[:, :, None] * part[:, None, :]).reshape(len(samples), -1)

    def take(self, samples: np.ndarray) -> FeatureMap:
        """The same map on a subset of the samples."""
        return FeatureMap(self.psi[samples], self.labels)
