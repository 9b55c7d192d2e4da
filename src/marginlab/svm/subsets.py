"""Random subsets that hold both classes in a chosen proportion, and their size."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from marginlab.errors import UserError

__all__ = ["draw_subsets", "is_number", "is_whole", "subset_size"]


def subset_size(sample_size: str | int, n_rows: int) -> int:
    """Number of points in a subset.

    Parameters
    ----------
    sample_size : "log2", "log" or int
        floor(ln(n)^2), floor(ln(n)), or the number itself.
    n_rows : int
        Rows of the training set, n.

    Returns
    -------
    int
        At least 2, so that both classes can occur.

    Raises
    ------
    UserError
        If ``sample_size`` is something else or below 2.
    """
    if isinstance(sample_size, str) and sample_size in ("log2", "log"):
        log = math.log(max(n_rows, 1))
        return max(2, math.floor(log * log if sample_size == "log2" else log))
    if is_whole(sample_size) and int(sample_size) >= 2:
        return int(sample_size)
    raise UserError(
        f'sample_size is {sample_size!r}; give "log2", "log" or a whole number, at least 2'
    )


def draw_subsets(
    is_minority: NDArray[np.bool_],
    n_subsets: int,
    size: int,
    sampling: str | float,
    random_state: Any,
) -> NDArray[np.int64]:
    """Draw subsets by p-biased sampling (Definition 5), with replacement.

    Parameters
    ----------
    is_minority : ndarray of shape (n,)
        Which rows bear the minority label of the data at hand.
    n_subsets, size : int
        Number of subsets and points in each.
    sampling : "balanced", "uniform" or float
        Probability p of the minority class in a draw.
    random_state : int, RandomState or None

    Returns
    -------
    ndarray of shape (n_subsets, size)
        Row numbers. The first subsets do not depend on ``n_subsets``.

    Raises
    ------
    UserError
        If ``sampling`` is no probability strictly between 0 and 1.
    """
    p = _bias(sampling, is_minority)
    chance = check_random_state(random_state).random_sample((n_subsets, size, 2))
    draws = np.empty((n_subsets, size), dtype=np.int64)
    from_minority = chance[:, :, 0] < p
    for chosen, rows in (
        (from_minority, np.flatnonzero(is_minority)),
        (~from_minority, np.flatnonzero(~is_minority)),
    ):
        draws[chosen] = rows[(chance[:, :, 1][chosen] * len(rows)).astype(np.int64)]
    return draws


def _bias(sampling: str | float, is_minority: NDArray[np.bool_]) -> float:
    if isinstance(sampling, str):
        if sampling == "balanced":
            return 0.5
        if sampling == "uniform":
            return float(is_minority.mean())
    elif is_number(sampling) and 0 < sampling < 1:
        return float(sampling)
    raise UserError(
        f'sampling is {sampling!r}; give "balanced", "uniform" or a probability between 0 and 1'
    )


def is_whole(value: Any) -> bool:
    """Whether a parameter is a whole number, NumPy's included; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a parameter is a real number; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)
