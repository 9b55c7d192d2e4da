"""Interior points of the compact form: the start, and entries for samples that join."""

from __future__ import annotations

import numpy as np

from marginlab.mrc.ipm_core import Iterate
from marginlab.mrc.presolve import AWAY, Presolved

__all__ = ["FLOOR", "Point", "admit", "distance", "parts", "start"]

FLOOR = 1e-10  # smallest lambda: an equality gets an interior
START = 0.5  # first distance of scores and v
WIDE = 0.03  # first slack of an equality, in units of the largest residual

Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Point(Iterate):
    """An interior point (or a direction) with names for the parts of its two vectors.

    Parameters
    ----------
    primal, dual : ndarray of shape (2 n k + n + 2 m,)
    free : float
        v.
    n, k : int
        Samples and labels.
    """

    def __init__(self, primal: np.ndarray, dual: np.ndarray, free: float, n: int, k: int) -> None:
        super().__init__(primal, dual, free)
        self.u, self.t, self.z, self.plus, self.minus = parts(primal, n, k)
        self.beta, self.delta, self.gamma, self.r_plus, self.r_minus = parts(dual, n, k)

    @classmethod
    def of(cls, primal: Parts, dual: Parts, v: float) -> Point:
        """The point with these parts, in the order that `parts` gives."""
        n, k = primal[0].shape
        return cls(_joined(primal), _joined(dual), v, n, k)

    def like(self) -> Point:
        """A direction at this point, to be filled."""
        n, k = self.u.shape
        return Point(np.empty_like(self.primal), np.empty_like(self.dual), 0.0, n, k)

    def mu(self) -> np.ndarray:
        """Coefficients of the kept components."""
        return self.plus - self.minus


def parts(vector: np.ndarray, n: int, k: int) -> Parts:
    """Views of the five kinds of pairs, in the order (u, t, z, mu+, mu-) of the primal.

    Parameters
    ----------
    vector : ndarray of shape (2 n k + n + 2 m,)
    n, k : int
        Samples and labels.
    """
    pairs = n * k
    ends = (pairs, 2 * pairs, 2 * pairs + n, (2 * pairs + n + len(vector)) // 2)
    return (
        vector[: ends[0]].reshape(n, k),
        vector[ends[0] : ends[1]].reshape(n, k),
        vector[ends[1] : ends[2]],
        vector[ends[2] : ends[3]],
        vector[ends[3] :],
    )


def _joined(each: Parts) -> np.ndarray:
    return np.concatenate([np.ravel(part) for part in each])


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
    is_open = ~samples.closed
    beta = np.where(samples.closed, level / AWAY, 1.0 / max(is_open.sum(), 1))
    t = np.full((n, k), 0.5 / k)
    gamma = beta.max(axis=1) + level / t[0, 0]
    shift = tau - samples.adjoint(beta)
    # An equality starts with room to move: at its own lambda every step would be cut short.
    least = np.maximum(lam, WIDE * np.abs(shift).max(initial=0.0) + FLOOR)
    r_plus, r_minus = np.maximum(lam - shift, least), np.maximum(lam + shift, least)
    plus, minus = level / r_plus, level / r_minus
    scores = samples.lowered(plus - minus)
    v = float(scores.max()) + START
    u, z = distance(scores, t, v), np.full(n, 0.5)
    dual = (beta, gamma[:, None] - beta, gamma, r_plus, r_minus)
    return Point.of((u, t, z, plus, minus), dual, v)


def distance(scores: np.ndarray, t: np.ndarray, v: float) -> np.ndarray:
    """u of the primal rows, t - s + v."""
    # The rows are kept exactly: rounding in the scores must not build up.
    return np.maximum(t - scores + v, 1e-300)


def admit(p: Point, scores: np.ndarray) -> Point:
    """The point with entries for further samples, near its central path.

    Parameters
    ----------
    p : Point
        With a v that is feasible for the samples.
    scores : ndarray of shape (n, n_classes)
        Lowered scores of the samples.
    """
    level = p.level()
    least = np.maximum(scores - p.free, 0.0)
    left = 1.0 - least.sum(axis=1)
    t = least + (0.5 / scores.shape[1]) * left[:, None]
    u = distance(scores, t, p.free)
    beta = level / u
    gamma = beta.max(axis=1) + level / t.max(axis=1)
    primal = (np.vstack([p.u, u]), np.vstack([p.t, t]), np.append(p.z, 0.5 * left))
    dual = (
        np.vstack([p.beta, beta]),
        np.vstack([p.delta, gamma[:, None] - beta]),
        np.append(p.gamma, gamma),
    )
    return Point.of((*primal, p.plus, p.minus), (*dual, p.r_plus, p.r_minus), p.free)
