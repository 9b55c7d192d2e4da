"""Grids of the span experiments: class weights, and maps from scores to instance weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

__all__ = [
    "class_weights",
    "instance_weights",
    "log2_range",
    "neighbour_scores",
    "parse_setting",
    "score_map",
]

Array = NDArray[np.float64]


def log2_range(bounds: Mapping[str, float]) -> list[float]:
    """Values from ``low`` to ``high`` in steps of ``step``, both ends included."""
    count = round((bounds["high"] - bounds["low"]) / bounds["step"]) + 1
    return [round(bounds["low"] + i * bounds["step"], 6) for i in range(count)]


def class_weights(y: Array, log2_C: Sequence[float]) -> dict[str, Array]:
    """Instance weights of every pair (C+, C-) of the grid (Experiment #1).

    Parameters
    ----------
    y : ndarray of shape (l,)
        Labels in {-1, +1}.
    log2_C : sequence of float
        log2 of both C+ and C-.

    Returns
    -------
    dict
        Setting to C_i of shape (l,).
    """
    return {
        f"log2C+={up:g} log2C-={down:g}": np.where(y > 0, 2.0**up, 2.0**down)
        for up, down in product(log2_C, log2_C)
    }


def score_map(q: Array, C: float, A: float, B: float, sigma: float = 0.01) -> Array:
    """Instance weights from importance scores (Experiment #2).

    Parameters
    ----------
    q : ndarray of shape (l,)
        Scores in [0, 1].
    C : float
        Largest weight.
    A, B : float
        Slope and place of the sigmoid's step.
    sigma : float
        Share of C that every row keeps.

    Returns
    -------
    ndarray of shape (l,)
        C (sigma + (1 - sigma) / (1 + exp(-A (q - B)))).
    """
    weights: Array = C * (sigma + (1.0 - sigma) / (1.0 + np.exp(-A * (q - B))))
    return weights


def neighbour_scores(X: Any, y: Array, neighbours: int = 10) -> Array:
    """Share of each row's nearest neighbours that bear its label: a score for sets without one.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (l, d)
    y : ndarray of shape (l,)
    neighbours : int

    Returns
    -------
    ndarray of shape (l,)
        In [0, 1].
    """
    nearest = NearestNeighbors(n_neighbors=neighbours).fit(X).kneighbors(return_distance=False)
    share: Array = (y[nearest] == y[:, None]).mean(axis=1)
    return share


def instance_weights(
    q: Array, A: Sequence[float], B: Sequence[float], log2_C: Sequence[float], sigma: float
) -> dict[str, Array]:
    """Instance weights of every (A, B, C) of the grid (Experiment #2).

    Returns
    -------
    dict
        Setting to C_i of shape (l,).
    """
    return {
        f"A={a:g} B={b:g} log2C={c:g}": score_map(q, 2.0**c, a, b, sigma)
        for a, b, c in product(A, B, log2_C)
    }


def parse_setting(setting: str) -> dict[str, float]:
    """Parameters of a setting, such as {"log2C+": -6.0, "log2C-": 2.5}."""
    pairs = (part.rsplit("=", 1) for part in setting.split())
    return {name: float(value) for name, value in pairs}
