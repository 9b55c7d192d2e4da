"""Certificates of the SVMs of a grid: their KKT residuals, recomputed in float64."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["kkt_residuals", "margin_units"]

Floats = NDArray[np.float32]
_BLOCK = 1024


def kkt_residuals(
    matrix: Floats,
    beta: Floats,
    bias: NDArray[np.float64],
    positive: Floats,
    negative: Floats,
    scale: Floats | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Certificates of optimality, in float64 from the coefficients alone.

    At an optimum beta_u = P_u (1 - f_u)_+ - N_u (1 + f_u)_+. The residual is the largest
    |difference| / (P_u + N_u): by how much the margins of the points at u would have to
    shift for the equation to hold.

    Parameters
    ----------
    matrix : ndarray of shape (u, u), float32
    beta : ndarray of shape (m, u)
    bias : ndarray of shape (m,)
    positive, negative : ndarrays of shape (m, u)
    scale : ndarray of shape (m, u), optional
        1 / (P + N), and 1 over the SVM's mean penalty at rows without points.

    Returns
    -------
    residuals : ndarray of shape (m,)
    decisions : ndarray of shape (m, u), float64
    """
    scale = margin_units(positive, negative) if scale is None else scale
    decisions = np.empty(beta.shape)
    exact = beta.astype(np.float64)
    for low in range(0, len(matrix), _BLOCK):
        rows = slice(low, low + _BLOCK)
        decisions[:, rows] = exact @ matrix[rows].astype(np.float64).T
    decisions += bias[:, None]
    gap = positive * np.maximum(1 - decisions, 0) - negative * np.maximum(1 + decisions, 0) - exact
    return (np.abs(gap) * scale).max(axis=1), decisions


def margin_units(positive: Floats, negative: Floats) -> Floats:
    """Factors that turn KKT residuals into shifts of margins.

    Parameters
    ----------
    positive, negative : ndarrays of shape (m, u)
        Penalties, as in `marginlab.svm.grid_l2.solve_grid`.

    Returns
    -------
    ndarray of shape (m, u), float32
        1 / (P + N); where there are no points, 1 over the mean of P + N where there are.
    """
    total = positive + negative
    inside = total > 0
    mean = total.sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
    return (1.0 / np.where(inside, total, np.maximum(mean, 1e-30)[:, None])).astype(np.float32)
