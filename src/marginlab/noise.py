"""Adversarial label corruption, in the direction of Fig. 1 of the SubSVMs paper."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marginlab.errors import UserError

__all__ = ["flip_labels", "minority_label"]


def minority_label(y: ArrayLike) -> object:
    """The rarer of two labels; of two equally frequent ones the larger.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels with exactly two distinct values.

    Returns
    -------
    object
        The label, in the type of ``y``.

    Raises
    ------
    UserError
        If ``y`` does not have exactly two distinct values.
    """
    labels, counts = _two_classes(np.asarray(y))
    return labels[int(counts[1] <= counts[0])]


def flip_labels(y: ArrayLike, rho: float, alpha: float, rng: np.random.Generator) -> NDArray[Any]:
    """Flip round(rho * minority size) labels, chosen by the direction of attack.

    Fig. 1 and (11)-(16) of the SubSVMs paper: a fraction ``alpha`` of the flipped
    points comes from the majority class and is moved into the minority, the rest
    leaves the minority. Points are drawn uniformly and without replacement.

    Parameters
    ----------
    y : array-like of shape (n,)
        Clean labels, any two distinct values.
    rho : float
        Number of errors as a share of the minority class, 0 <= rho < 1.
    alpha : float
        Direction of attack, 0 <= alpha <= 1: 1 flips majority points only, 0
        minority points only.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    ndarray of shape (n,)
        A copy of ``y`` with labels exchanged.

    Raises
    ------
    UserError
        If ``y`` is not one vector of two labels, or a share is out of range.
    """
    labels = np.asarray(y)
    _check_share("rho", rho, below_one=True)
    _check_share("alpha", alpha, below_one=False)
    if not isinstance(rng, np.random.Generator):
        raise UserError(
            f"rng must be a numpy.random.Generator, got {type(rng).__name__}; "
            "use numpy.random.default_rng(seed)"
        )
    values, counts = _two_classes(labels)
    minority = int(counts[1] <= counts[0])
    n_flips = round(rho * int(counts[minority]))
    n_majority = round(alpha * n_flips)
    of_minority = np.flatnonzero(labels == values[minority])
    of_majority = np.flatnonzero(labels == values[1 - minority])
    noisy = labels.copy()
    noisy[rng.choice(of_majority, n_majority, replace=False)] = values[minority]
    noisy[rng.choice(of_minority, n_flips - n_majority, replace=False)] = values[1 - minority]
    return noisy


def _two_classes(y: NDArray[np.generic]) -> tuple[NDArray[np.generic], NDArray[np.intp]]:
    if y.ndim != 1:
        raise UserError(f"y has shape {y.shape}; give one vector of labels")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise UserError("y has missing or infinite labels; drop or fill those rows first")
    values, counts = np.unique(y, return_counts=True)
    if len(values) != 2:
        shown = ", ".join(map(str, values[:5].tolist()))
        raise UserError(
            f"y has {len(values)} distinct labels ({shown}{', ...' if len(values) > 5 else ''}); "
            "label noise is defined here for exactly two classes"
        )
    return values, counts


def _check_share(name: str, value: float, *, below_one: bool) -> None:
    try:
        good = 0 <= value < 1 if below_one else 0 <= value <= 1
    except TypeError:
        good = False
    if not good:
        limits = "0 <= rho < 1" if below_one else "between 0 and 1"
        raise UserError(f"{name} is {value!r}; it must be a number, {limits}")
