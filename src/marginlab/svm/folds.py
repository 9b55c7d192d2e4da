"""Folds of a cross-validation that a user asks for, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, check_cv

from marginlab.errors import UserError
from marginlab.svm.grid import Fold

__all__ = ["check_folds", "make_folds"]


def check_folds(folds: int, y: NDArray[Any], option: str = "cv=") -> None:
    """Refuse more stratified folds than the rarest class has rows.

    Parameters
    ----------
    folds : int
    y : ndarray of shape (n_samples,)
        Labels of the rows that are trained on.
    option : str
        How the user writes the number: what stands before it.

    Raises
    ------
    UserError
        With the number of folds, the class and its rows.
    """
    labels, counts = np.unique(y, return_counts=True)
    least, label = int(counts.min()), labels[counts.argmin()]
    if least == 1:
        raise UserError(
            f"{option}{folds} needs more than the one row of label {label}; choose another "
            f"criterion than cv"
        )
    if folds > least:
        raise UserError(
            f"{option}{folds} is more than the {least} rows of label {label}; each fold needs "
            f"one, give {option}{least} or less"
        )


def make_folds(cv: Any, X: Any, y: Any, kept: NDArray[np.intp]) -> list[Fold]:
    """Folds as GridSearchCV makes them, as places among the rows that are kept.

    Parameters
    ----------
    cv : int, splitter or iterable of (train rows, test rows)
    X, y : array-like of shape (n_samples, ...)
    kept : ndarray of int
        Rows that are trained on; folds are made of all rows and lose the others.

    Returns
    -------
    list of (train places, test places)

    Raises
    ------
    UserError
        If scikit-learn cannot use ``cv``, or a class has fewer rows than there are
        stratified folds.
    """
    place = np.full(len(y), -1)
    place[kept] = np.arange(kept.size)
    pairs = _split(cv, X, y, kept)
    if not pairs:
        raise UserError(f"cv={cv!r} gives no folds; give a number of at least 2")
    return [(_used(place[train]), _used(place[test])) for train, test in pairs]


def _split(cv: Any, X: Any, y: Any, kept: NDArray[np.intp]) -> list[Fold]:
    try:
        splitter = check_cv(cv, y, classifier=True)
        if isinstance(splitter, StratifiedKFold):
            check_folds(splitter.n_splits, np.asarray(y)[kept])
        return list(splitter.split(X, y))
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"cv={cv!r} cannot be used: {' '.join(str(error).split())}") from None


def _used(places: NDArray[np.intp]) -> NDArray[np.intp]:
    return places[places >= 0]
