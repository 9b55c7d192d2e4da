"""Interior points of the compact form: the start, and entries for samples that join."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marginlab.mrc.ipm_core import mean_product
from marginlab.mrc.presolve import AWAY, Presolved

__all__ = ["FLOOR", "Point", "admit", "distance", "start"]

FLOOR = 1e-10  # smallest lambda: an equality gets an interior
START = 0.5  # first distance of scores and v
WIDE = 0.03  # first slack of an equality, in units of the largest residual


@dataclass
class Point:
    """An interior point (or a direction): primal fields, then dual fields."""

    PRIMAL = ("plus", "minus", "v", "t", "z")
    DUAL = ("beta", "gamma", "delta", "r_plus", "r_minus")

    plus: np.ndarray
    minus: np.ndarray
    v: float
    t: np.ndarray
    u: np.ndarray
    z: np.ndarray
    beta: np.ndarray
    gamma: np.ndarray
    delta: np.ndarray
    r_plus: np.ndarray
    r_minus: np.ndarray

    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """(primal, dual) complementary pairs."""
        return [
            (self.u, self.beta),
            (self.t, self.delta),
            (self.z, self.gamma),
            (self.plus, self.r_plus),
            (self.minus, self.r_minus),
        ]

    def mu(self) -> np.ndarray:
        """Coefficients of the kept components."""
        return self.plus - self.minus


def start(samples: Presolved, tau: np.ndarray, lam: np.ndarray) -> Point:
    """A point that is primal feasible, and dual feasible but for the feature moments.

    Parameters
    ----------
    samples : Presolved
        Samples of the program.
    tau, lam : ndarray of shape (kept components,)
        ``lam`` is at least FLOOR.
    """
    n, k = samples.closed.shape
    level = START / (n * k)
    beta = np.where(samples.closed, level / AWAY, 1.0 / (n * k))
    t = np.full((n, k), 0.5 / k)
    gamma = np.full(n, 1.0 / (n * k) + level / t[0, 0])
    shift = tau - samples.adjoint(beta)
    # An equality starts with room to move: at its own lambda every step would be cut short.
    least = np.where(lam > FLOOR, lam, WIDE * np.abs(shift).max(initial=0.0) + FLOOR)
    r_plus, r_minus = np.maximum(lam - shift, least), np.maximum(lam + shift, least)
    plus, minus = level / r_plus, level / r_minus
    scores = samples.lowered(plus - minus)
    v = float(scores.max()) + START
    delta = gamma[:, None] - beta
    u, z = distance(scores, t, v), np.full(n, 0.5)
    return Point(plus, minus, v, t, u, z, beta, gamma, delta, r_plus, r_minus)


def distance(scores: np.ndarray, t: np.ndarray, v: float) -> np.ndarray:
    """u of the primal rows, t - s + v."""
    # The rows are kept exactly: rounding in the scores must not build up.
    return np.maximum(t - scores + v, 1e-300)


def admit(p: Point, scores: np.ndarray) -> None:
    """Append entries for further samples, near the point's central path, in place.

    Parameters
    ----------
    p : Point
        With a ``v`` that is feasible for the samples.
    scores : ndarray of shape (n, n_classes)
        Lowered scores of the samples.
    """
    level = mean_product(p.pairs())
    least = np.maximum(scores - p.v, 0.0)
    left = 1.0 - least.sum(axis=1)
    t = least + (0.5 / scores.shape[1]) * left[:, None]
    u = distance(scores, t, p.v)
    beta = level / u
    gamma = beta.max(axis=1) + level / t.max(axis=1)
    p.t, p.u, p.z = np.vstack([p.t, t]), np.vstack([p.u, u]), np.append(p.z, 0.5 * left)
    p.beta, p.gamma = np.vstack([p.beta, beta]), np.append(p.gamma, gamma)
    p.delta = np.vstack([p.delta, gamma[:, None] - beta])
