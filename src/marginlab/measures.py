"""Measures of a binary classifier; labels are -1 and +1, the minority class is +1."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginlab.errors import UserError

__all__ = ["accuracy", "auc", "bac", "sif"]


def accuracy(y: ArrayLike, predicted: ArrayLike) -> float:
    """Share of labels that are right.

    Parameters
    ----------
    y, predicted : array-like of shape (n,)
        True and predicted labels.
    """
    true, guess = _pair(y, predicted)
    return float(np.mean(true == guess))


def bac(y: ArrayLike, predicted: ArrayLike) -> float:
    """Balanced accuracy, (37): the mean of sensitivity (38) and specificity (39).

    The specificity is tn / (tn + fp); the paper prints another denominator, a slip.

    Parameters
    ----------
    y, predicted : array-like of shape (n,)
        True and predicted labels, -1 or +1.
    """
    tpr, fpr = _rates(y, predicted)
    return (tpr + 1.0 - fpr) / 2.0


def sif(y: ArrayLike, predicted: ArrayLike) -> float:
    """Skew-insensitive F-score, (40): 2 tpr / (tpr + fpr + 1).

    Parameters
    ----------
    y, predicted : array-like of shape (n,)
        True and predicted labels, -1 or +1 (positive).
    """
    tpr, fpr = _rates(y, predicted)
    return 2.0 * tpr / (tpr + fpr + 1.0)


def auc(y: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve, by ranks; tied scores count one half.

    Parameters
    ----------
    y : array-like of shape (n,)
        True labels, -1 or +1 (positive).
    scores : array-like of shape (n,)
        Larger means more positive.
    """
    from scipy.stats import rankdata  # takes half a second to import; many callers do without

    true, values = _pair(y, scores)
    positive = _positives(true)
    n_positive = int(positive.sum())
    n_negative = len(true) - n_positive
    ranks = rankdata(values.astype(np.float64))
    above = float(ranks[positive].sum()) - n_positive * (n_positive + 1) / 2
    return above / (n_positive * n_negative)


def _rates(y: ArrayLike, predicted: ArrayLike) -> tuple[float, float]:
    # true and false positive rate
    true, guess = _pair(y, predicted)
    positive = _positives(true)
    if not np.isin(guess, (-1, 1)).all():
        raise UserError("predicted has labels other than -1 and +1; map them first")
    marked = guess == 1
    return float(marked[positive].mean()), float(marked[~positive].mean())


def _pair(y: ArrayLike, other: ArrayLike) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    first, second = np.asarray(y), np.asarray(other)
    if first.ndim != 1 or first.shape != second.shape:
        raise UserError(
            f"y has shape {first.shape} and the predictions {second.shape}; "
            "give two vectors of equal length"
        )
    if not len(first):
        raise UserError("y is empty; a measure needs at least one label")
    return first, second


def _positives(true: NDArray[np.generic]) -> NDArray[np.bool_]:
    positive = np.asarray(true == 1)
    if not np.isin(true, (-1, 1)).all() or positive.all() or not positive.any():
        raise UserError("y must hold both labels -1 and +1 and no other; map the labels first")
    return positive
