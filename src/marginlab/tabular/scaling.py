"""Brings features to one scale; kernels and confidence vectors need it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginlab.errors import UserError

__all__ = ["SCALES", "Scaler"]

#: "auto": as they are if all lie in [-1, 1], otherwise "minmax".
SCALES = ("auto", "none", "minmax", "standard")


@dataclass(frozen=True)
class Scaler:
    """An affine map of each feature, (x - offset) * factor, learned on the training file.

    Attributes
    ----------
    kind : str
        What was done: "none", "minmax" ([0, 1]), "standard" (mean 0, spread 1), or
        "maxabs" and "spread", their forms without offset for sparse data.
    offset, factor : ndarray of float64, shape (d,)
    constant : ndarray of bool, shape (d,)
        Features with one value only; they are mapped to 0 and carry nothing.
    """

    kind: str
    offset: NDArray[np.float64]
    factor: NDArray[np.float64]
    constant: NDArray[np.bool_]

    @classmethod
    def fit(cls, X: NDArray[np.float64] | sparse.csr_matrix, kind: str = "auto") -> Scaler:
        """Learn the map.

        Parameters
        ----------
        X : ndarray or csr_matrix, shape (n, d)
        kind : {"auto", "none", "minmax", "standard"}
        """
        if kind not in SCALES:
            raise UserError(f"scale {kind!r} is not known; use one of {', '.join(SCALES)}")
        low, high = (_dense(X.min(axis=0)), _dense(X.max(axis=0)))
        constant = low == high
        if kind == "auto":
            kind = "none" if low.min() >= -1 and high.max() <= 1 else "minmax"
        if kind == "none":
            return cls(kind, np.zeros(len(low)), np.ones(len(low)), constant)
        if sparse.issparse(X):
            # An offset would fill the zeros in.
            spread = _sparse_spread(X) if kind == "standard" else np.maximum(-low, high)
            name = "spread" if kind == "standard" else "maxabs"
            return cls(name, np.zeros(len(low)), _inverse(spread, constant), constant)
        offset = np.asarray(X.mean(axis=0) if kind == "standard" else low, dtype=np.float64)
        spread = X.std(axis=0) if kind == "standard" else high - low
        return cls(kind, offset, _inverse(spread, constant), constant)

    def apply(self, X: Any) -> Any:
        """Scaled features; sparse stays sparse.

        Parameters
        ----------
        X : ndarray or csr_matrix, shape (n, d)
        """
        if self.kind == "none":
            return X
        if not sparse.issparse(X):
            return (X - self.offset) * self.factor
        if self.offset.any():
            return (X.toarray() - self.offset) * self.factor
        return sparse.csr_matrix(X.multiply(self.factor[None, :]))

    def describe(self) -> str:
        """What was done, in words."""
        return {
            "none": "used as they are",
            "minmax": "each scaled to [0, 1]",
            "standard": "each scaled to mean 0 and standard deviation 1",
            "maxabs": "each divided by its largest absolute value",
            "spread": "each divided by its standard deviation",
        }[self.kind]


def _dense(row: Any) -> NDArray[np.float64]:
    values = row.toarray() if sparse.issparse(row) else np.asarray(row)
    return np.asarray(values, dtype=np.float64).ravel()


def _sparse_spread(X: sparse.csr_matrix) -> NDArray[np.float64]:
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
    return np.sqrt(np.maximum(square - mean**2, 0.0))


def _inverse(spread: NDArray[np.float64], constant: NDArray[np.bool_]) -> NDArray[np.float64]:
    # The inverse of a smaller spread overflows.
    varies = (spread > 1e-300) & ~constant
    return np.where(varies, 1.0 / np.where(varies, spread, 1.0), 0.0)
