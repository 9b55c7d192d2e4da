"""What paper 1 says about clean points in a sample: eta, its bounds, and sizes of s.

A is the minority class, B the other; beta is the share of A in the clean data, a
fraction rho * beta of all labels is wrong, and a share alpha of the wrong ones was moved
from B to A (Fig. 1). A sample of s points takes class A with probability p in each draw;
eta bounds the probability that a class gets fewer than r/2 clean points.

All functions take arrays and broadcast.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from marginlab.errors import UserError

__all__ = [
    "clean_shares",
    "eta",
    "eta_hoeffding",
    "eta_worst",
    "size_balanced",
    "size_global_minimum",
    "size_local_minimum",
]

Array = NDArray[np.float64]


def clean_shares(rho: ArrayLike, alpha: ArrayLike, beta: ArrayLike) -> tuple[Array, Array]:
    """Share of clean points in each class of the corrupted data, (17) and (19).

    Parameters
    ----------
    rho, alpha, beta : array-like
        Error parameter in [0, 1), direction in [0, 1], minority share in (0, 1/2].

    Returns
    -------
    (ndarray, ndarray)
        For the minority A and for the other class B.
    """
    rho, alpha, beta = _shares(rho=rho, alpha=alpha, beta=beta)
    leaving, joining = (1.0 - alpha) * rho, alpha * rho
    of_a = (1.0 - leaving) / (1.0 + joining - leaving)
    of_b = (1.0 - beta - joining * beta) / (1.0 - beta - joining * beta + leaving * beta)
    return of_a, of_b


def eta(
    s: ArrayLike, r: ArrayLike, p: ArrayLike, rho: ArrayLike, alpha: ArrayLike, beta: ArrayLike
) -> Array:
    """Exact tail sums (21): fewer than r/2 clean points of A, plus the same of B.

    Parameters
    ----------
    s, r : array-like of int
        Sample size and number of clean points wanted.
    p : array-like
        Sampling bias, probability of class A in a draw.
    rho, alpha, beta : array-like
        As in `clean_shares`.

    Returns
    -------
    ndarray
        At most 2; bounds the probability of either event.
    """
    (p,) = _shares(p=p)
    of_a, of_b = clean_shares(rho, alpha, beta)
    return _fewer(s, r, of_a * p) + _fewer(s, r, of_b * (1.0 - p))


def eta_worst(s: ArrayLike, r: ArrayLike, p: ArrayLike, rho: ArrayLike) -> Array:
    """Worst case of `eta` over alpha and beta, (29).

    Each class is given the attack that hurts it most, (28): a clean share of
    1 / (1 + rho).

    Parameters
    ----------
    s, r, p, rho : array-like
        As in `eta`.

    Returns
    -------
    ndarray
    """
    p, rho = _shares(p=p, rho=rho)
    return _fewer(s, r, p / (1.0 + rho)) + _fewer(s, r, (1.0 - p) / (1.0 + rho))


def eta_hoeffding(s: ArrayLike, r: ArrayLike, p: ArrayLike, rho: ArrayLike) -> Array:
    """Closed form (30) for the worst case, in Hoeffding's manner.

    The first exponent is printed with s p / (1 - rho); (29) and (31) require
    s p / (1 + rho), used here. The factor 1/2 of each term is kept as printed, though
    with it the form is no strict bound (s = 5, r = 4, clean share .4: a tail is .3370,
    its term .3352). NaN where the condition s p / (1 + rho) > r/2 - 1, or
    the same for 1 - p, fails.

    Parameters
    ----------
    s, r, p, rho : array-like
        As in `eta`.

    Returns
    -------
    ndarray
    """
    s, r = _sizes(s, r)
    p, rho = _shares(p=p, rho=rho)
    gap_a = s * p / (1.0 + rho) - r / 2.0 + 1.0
    gap_b = s * (1.0 - p) / (1.0 + rho) - r / 2.0 + 1.0
    value = 0.5 * np.exp(-2.0 / s * gap_a**2) + 0.5 * np.exp(-2.0 / s * gap_b**2)
    return np.where((gap_a > 0) & (gap_b > 0), value, np.nan)


def size_local_minimum(r: ArrayLike, rho: ArrayLike) -> Array:
    """Condition (35): from this s on, p = 1/2 is a minimum of (30).

    Parameters
    ----------
    r, rho : array-like

    Returns
    -------
    ndarray
        A lower limit of s, as a real number.
    """
    _, r = _sizes(1, r)
    (rho,) = _shares(rho=rho)
    q = 1.0 + rho
    return q * (r - 2.0 + 0.5 * q * (1.0 + np.sqrt((4.0 * r + rho - 7.0) / q)))


def size_global_minimum(r: ArrayLike, rho: ArrayLike) -> Array:
    """Condition (36): from this s on, p = 1/2 is the global minimum of (30).

    Parameters
    ----------
    r, rho : array-like

    Returns
    -------
    ndarray
        A lower limit of s, as a real number.
    """
    _, r = _sizes(1, r)
    (rho,) = _shares(rho=rho)
    q, log2 = 1.0 + rho, np.log(2.0)
    root = np.sqrt(log2 * (log2 + 2.0 * r + rho * log2 - 4.0) / q)
    return q * (r - 2.0 + q * (log2 + root))


def size_balanced(r: ArrayLike) -> Array:
    """Condition (5) of Lemma 7: `size_global_minimum` at rho = 1, free of rho.

    Parameters
    ----------
    r : array-like

    Returns
    -------
    ndarray
        A lower limit of s, as a real number.
    """
    _, r = _sizes(1, r)
    log2 = np.log(2.0)
    return 2.0 * r + 4.0 * np.sqrt(r * log2 + log2**2 - np.log(4.0)) + np.log(16.0) - 4.0


def _fewer(s: ArrayLike, r: ArrayLike, share: Array) -> Array:
    # P[Binomial(s, share) <= r/2 - 1]; for odd r, fewer than r/2 means at most (r-1)/2
    s, r = _sizes(s, r)
    return np.asarray(binom.cdf(np.ceil(r / 2.0) - 1.0, s, share), dtype=np.float64)


def _sizes(s: ArrayLike, r: ArrayLike) -> tuple[Array, Array]:
    s, r = np.asarray(s, dtype=np.float64), np.asarray(r, dtype=np.float64)
    if not (s >= 1).all() or not (r >= 2).all():
        raise UserError(f"s is {s.min()} and r is {r.min()} at least; give s >= 1 and r >= 2")
    return s, r


def _shares(**values: ArrayLike) -> list[Array]:
    arrays = []
    for name, value in values.items():
        array = np.asarray(value, dtype=np.float64)
        if not ((array >= 0) & (array <= 1)).all():
            raise UserError(f"{name} must lie between 0 and 1; got {array.min()} to {array.max()}")
        arrays.append(array)
    return arrays
