"""Expectation estimates tau, confidence lambda, and the problem they define."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from marginlab.mrc.features import FeatureMap, LabelMap, Matrix

__all__ = ["MrcProblem", "class_moments", "estimates", "make_problem"]


@dataclass(frozen=True)
class MrcProblem:
    """One minimax risk problem (3), in scaled columns.

    Column j of psi was divided by ``scale[j]``, so all columns are O(1); the
    minimax risk does not depend on it, and mu in original units is
    ``mu / scale`` (block by block).

    Attributes
    ----------
    phi : FeatureMap
        Feature map on the distinct training samples.
    tau, lam : ndarray of shape (m,)
        Mean and confidence vectors.
    centres : ndarray or CSR array of shape (n_classes, d)
        Mean of psi over each class; they give the first constraints.
    scale : ndarray of shape (d,)
    lambda_0 : float
        The factor that made ``lam``.
    """

    phi: FeatureMap
    tau: np.ndarray
    lam: np.ndarray
    centres: Matrix
    scale: np.ndarray
    lambda_0: float = 0.0

    @property
    def n_classes(self) -> int:
        """Number of labels |Y|."""
        return self.phi.labels.n_classes

    def original_units(self, mu: np.ndarray) -> np.ndarray:
        """Coefficients for unscaled features, shape (n_blocks, d)."""
        return mu.reshape(self.phi.labels.n_blocks, -1) / self.scale

    def with_centres(self) -> FeatureMap:
        """Samples followed by the class centres (``n_classes`` more rows)."""
        psi = self.phi.psi
        if sp.issparse(psi):
            stacked: Matrix = sp.csr_array(sp.vstack([psi, sp.csr_array(self.centres)]))
        else:
            stacked = np.vstack([psi, self.centres])
        return FeatureMap(stacked, self.phi.labels)


def class_moments(
    psi: Matrix, codes: np.ndarray, n_classes: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Share, mean and variance (1/n) of psi in each class.

    Returns
    -------
    share : ndarray of shape (n_classes,)
    mean, variance : ndarray of shape (n_classes, d)
    """
    n, d = psi.shape
    mean = np.empty((n_classes, d))
    variance = np.empty((n_classes, d))
    share = np.bincount(codes, minlength=n_classes) / n
    for c in range(n_classes):
        part = psi[codes == c]
        mean[c] = np.asarray(part.mean(axis=0)).ravel()
        if sp.issparse(part):
            square = np.asarray(part.multiply(part).mean(axis=0)).ravel()
            variance[c] = np.maximum(square - mean[c] ** 2, 0.0)
        else:
            variance[c] = part.var(axis=0)
    return share, mean, variance


def estimates(
    psi: Matrix, codes: np.ndarray, n_classes: int, lambda_0: float
) -> tuple[np.ndarray, np.ndarray]:
    """Mean vector tau and confidence vector lambda = lambda_0 s.

    s is the componentwise standard deviation (1/n) of Phi(x_i, y_i) over ALL
    training samples, the zeros of the other labels' blocks included. It is put
    together from class means and variances, which loses no digits to
    cancellation when a column's mean is far from zero.

    Returns
    -------
    tau, lam : ndarray of shape (m,)
    """
    share, mean, variance = class_moments(psi, codes, n_classes)
    p = share[:, None]
    if n_classes == 2:
        tau = share[0] * mean[0] - share[1] * mean[1]
        spread = (p * variance).sum(axis=0) + share[0] * share[1] * (mean[0] + mean[1]) ** 2
    else:
        tau = (p * mean).ravel()
        spread = (p * variance + p * (1.0 - p) * mean**2).ravel()
    return tau, lambda_0 * np.sqrt(spread)


def make_problem(
    psi: Matrix, codes: np.ndarray, n_classes: int, lambda_0: float, distinct: np.ndarray
) -> MrcProblem:
    """Set up problem (3) from sample features and label codes.

    Parameters
    ----------
    psi : ndarray or CSR array of shape (n, d)
        Sample features with the leading 1.
    codes : ndarray of int, shape (n,)
        Labels 0 .. n_classes - 1.
    lambda_0 : float
        Factor of the confidence vector.
    distinct : ndarray of int
        Rows kept in the pool of constraints (see `unique_rows`).
    """
    scale = _column_scale(psi)
    scaled = _divide_columns(psi, scale)
    tau, lam = estimates(scaled, codes, n_classes, lambda_0)
    _, mean, _ = class_moments(scaled, codes, n_classes)
    centres: Matrix = sp.csr_array(mean) if sp.issparse(psi) else mean
    pool = scaled if len(distinct) == scaled.shape[0] else scaled[distinct]
    return MrcProblem(FeatureMap(pool, LabelMap(n_classes)), tau, lam, centres, scale, lambda_0)


def _column_scale(psi: Matrix) -> np.ndarray:
    # Solvers work with absolute tolerances: columns in the thousands (areas, incomes)
    # would drown the others. Columns already O(1) are left as they are.
    peak = abs(psi).max(axis=0)
    peak = np.asarray(peak.todense() if sp.issparse(peak) else peak, dtype=float).ravel()
    return np.where((peak > 2.0) | ((peak < 1e-3) & (peak > 0)), peak, 1.0)


def _divide_columns(psi: Matrix, scale: np.ndarray) -> Matrix:
    if (scale == 1.0).all():
        return psi
    if sp.issparse(psi):
        return sp.csr_array(psi @ sp.diags_array(1.0 / scale))
    return psi / scale
