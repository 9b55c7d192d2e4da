"""The greedy search for violated constraints (Algorithm 2) and for features (FEAT)."""

from __future__ import annotations

import numpy as np

__all__ = [
    "cyclic_pick",
    "maxima_above",
    "most_violated_subsets",
    "sample_maximum",
    "violated_features",
]

RELATIVE = 0.02  # violation of a feature's dual constraint, in units of its lambda
ROUNDING = 1e-12


def sample_maximum(scores: np.ndarray) -> np.ndarray:
    """Largest (sum_{y in C} s_iy - 1) / |C| over non-empty subsets C, per sample.

    For a given size the best subset holds the largest scores, so sorting finds the
    maximum over 2^|Y| - 1 subsets in O(|Y| log |Y|).

    Parameters
    ----------
    scores : ndarray of shape (n, n_classes)

    Returns
    -------
    ndarray of shape (n,)
    """
    if scores.shape[1] == 2:
        first, second = scores[:, 0], scores[:, 1]
        return np.maximum(np.maximum(first, second) - 1.0, 0.5 * (first + second - 1.0))
    ranked = -np.sort(-scores, axis=1)
    sizes = np.arange(1, scores.shape[1] + 1)
    return ((np.cumsum(ranked, axis=1) - 1.0) / sizes).max(axis=1)


def maxima_above(scores: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Samples whose `sample_maximum` exceeds ``level``, and their maxima.

    No sorting for the others: (sum_{y in C} s_y - 1) / |C| exceeds a level for some subset
    C exactly when sum_y max(0, s_y - level) exceeds 1.

    Parameters
    ----------
    scores : ndarray of shape (n, n_classes)
    level : float

    Returns
    -------
    samples : ndarray of int
        In increasing order.
    maxima : ndarray
    """
    over = scores - level
    np.maximum(over, 0.0, out=over)
    samples = np.flatnonzero(over @ np.ones(over.shape[1]) > 1.0)
    return samples, sample_maximum(scores[samples])


def most_violated_subsets(scores: np.ndarray) -> np.ndarray:
    """Membership of each label in the subset that attains `sample_maximum`.

    Returns
    -------
    ndarray of bool, shape (n, n_classes)
    """
    order = np.argsort(-scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    sizes = np.arange(1, scores.shape[1] + 1)
    best = ((np.cumsum(ranked, axis=1) - 1.0) / sizes).argmax(axis=1)
    members = np.zeros(scores.shape, dtype=bool)
    np.put_along_axis(members, order, np.arange(scores.shape[1]) <= best[:, None], axis=1)
    return members


def cyclic_pick(candidates: np.ndarray, start: int, n_max: int) -> np.ndarray:
    """At most ``n_max`` of the sorted ``candidates``, in cyclic order from ``start``.

    Going round the samples, instead of taking the worst first, spreads the new
    constraints over the data and needs fewer rounds.
    """
    first = int(np.searchsorted(candidates, start))
    return np.concatenate([candidates[first:], candidates[:first]])[:n_max]


def violated_features(
    residual: np.ndarray, lam: np.ndarray, active: np.ndarray, eps_2: float, m_max: int
) -> np.ndarray:
    """Function FEAT: the features whose dual constraints are violated most.

    Parameters
    ----------
    residual : ndarray of shape (m,)
        F^T alpha - tau.
    lam : ndarray of shape (m,)
    active : ndarray of bool, shape (m,)
        Features already in the restricted problem.
    eps_2 : float
        Violation from which a feature is added; a violation of RELATIVE lambda_j
        counts as well, so that shrinking the weights mends the rest at a small loss
        (see `marginlab.mrc.certificate.lower_bound`).
    m_max : int
        Largest number of features to add.

    Returns
    -------
    ndarray of int
        Indices in increasing order.
    """
    violation = np.abs(residual) - lam
    violation[active] = -np.inf
    candidates = np.flatnonzero(violation >= np.minimum(eps_2, RELATIVE * lam + ROUNDING))
    if len(candidates) > m_max:
        worst = np.argpartition(-violation[candidates], m_max - 1)[:m_max]
        candidates = np.sort(candidates[worst])
    return candidates
