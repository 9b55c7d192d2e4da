"""Generated data sets: plain functions of a size and a random generator.

Every function returns X of shape (n, d), float64, and y of shape (n,) with labels -1
and +1 as int64.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from marginlab.errors import DataError

__all__ = [
    "GENERATORS",
    "ringnorm",
    "ringnorm_unbalanced",
    "two_gaussians",
    "twonorm",
    "waveform",
]

Sample = tuple[np.ndarray, np.ndarray]
Generator = Callable[..., Sample]


def ringnorm(n: int, rng: np.random.Generator, d: int = 20) -> Sample:
    """Breiman's ringnorm: +1 from N(0, 4 I), -1 from N(a 1, I), a = 2 / sqrt(d).

    Classes are equally likely. These are the moments of the IDA benchmark files (which
    are standardised afterwards).

    Parameters
    ----------
    n : int
        Number of points.
    rng : numpy.random.Generator
    d : int
        Number of features.
    """
    y = _labels(n, 0.5, rng)
    X = rng.standard_normal((n, d))
    positive = y == 1
    X[positive] *= 2.0
    X[~positive] += 2.0 / np.sqrt(d)
    return X, y


def twonorm(n: int, rng: np.random.Generator, d: int = 20) -> Sample:
    """Breiman's twonorm: label y from N(y a 1, I), a = 2 / sqrt(d), classes equally likely.

    Parameters
    ----------
    n : int
        Number of points.
    rng : numpy.random.Generator
    d : int
        Number of features.
    """
    y = _labels(n, 0.5, rng)
    X = rng.standard_normal((n, d)) + (2.0 / np.sqrt(d)) * y[:, None]
    return X, y


def waveform(n: int, rng: np.random.Generator) -> Sample:
    """Breiman's waveform with 21 features, one of its three classes against the others.

    A point is u h + (1 - u) h' + N(0, I), u uniform in [0, 1], with h and h' two of the
    triangular waves of height 6 that peak at positions 7, 11 and 15. Class +1 mixes the
    waves at 7 and 11, as in the IDA benchmark files; each pair is equally likely.

    Parameters
    ----------
    n : int
        Number of points.
    rng : numpy.random.Generator
    """
    position = np.arange(1, 22)
    waves = np.array([np.maximum(6.0 - np.abs(position - peak), 0.0) for peak in (7, 11, 15)])
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    kind = rng.integers(3, size=n)
    u = rng.random((n, 1))
    X = u * waves[pairs[kind, 0]] + (1.0 - u) * waves[pairs[kind, 1]]
    X += rng.standard_normal((n, 21))
    return X, np.where(kind == 0, 1, -1).astype(np.int64)


def ringnorm_unbalanced(
    n: int, rng: np.random.Generator, d: int = 20, p_positive: float = 0.3
) -> Sample:
    """Ringnorm variant of paper 2, Experiment #6: +1 from N(1, I), -1 from N(0, 4 I).

    Parameters
    ----------
    n : int
        Number of points.
    rng : numpy.random.Generator
    d : int
        Number of features.
    p_positive : float
        Probability of class +1.
    """
    y = _labels(n, p_positive, rng)
    X = rng.standard_normal((n, d))
    positive = y == 1
    X[positive] += 1.0
    X[~positive] *= 2.0
    return X, y


def two_gaussians(
    n: int,
    rng: np.random.Generator,
    d: int = 2,
    beta: float = 0.5,
    variance: float = 0.1,
    margin: float = 0.2,
) -> Sample:
    """Two separable Gaussians of paper 1, Section 4.1 (Fig. 2).

    Class y has mean y e_1 and covariance ``variance`` I. Points nearer to the plane
    x_1 = 0 than half the margin, or on the wrong side of it, are removed, so that a
    sample can hold a few points less than ``n``.

    Parameters
    ----------
    n : int
        Number of points before the removal; round(beta n) of them are of class +1.
    rng : numpy.random.Generator
    d : int
        Number of features.
    beta : float
        Share of class +1 (the minority), in (0, 1).
    variance : float
        Variance of each feature.
    margin : float
        Width of the empty slab between the classes.

    Raises
    ------
    DataError
        If beta leaves a class without points.
    """
    n_positive = round(beta * n)
    if not 0 < n_positive < n:
        raise DataError(f"beta is {beta}, which leaves a class of {n} points empty; use (0, 1)")
    y = np.full(n, -1, dtype=np.int64)
    y[rng.permutation(n)[:n_positive]] = 1
    X = np.sqrt(variance) * rng.standard_normal((n, d))
    X[:, 0] += y
    kept = y * X[:, 0] >= margin / 2
    return X[kept], y[kept]


def _labels(n: int, p_positive: float, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(n) < p_positive, 1, -1).astype(np.int64)


GENERATORS: dict[str, Generator] = {
    "ringnorm": ringnorm,
    "twonorm": twonorm,
    "waveform": waveform,
    "ringnorm_unbalanced": ringnorm_unbalanced,
    "two_gaussians": two_gaussians,
}
