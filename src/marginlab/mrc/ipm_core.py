"""Predictor, corrector and step lengths that both interior points share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from marginlab.errors import SolverError

__all__ = ["Iterate", "advance", "cholesky", "cholesky_solve", "corner"]

BLOCKED = 0.5  # cube root of the share aimed at when one side cannot move at all
CENTRE = 0.5  # largest share of the mean product that a step aims at
STEP = 0.995  # share of the way to the boundary
CORRECTORS = 2  # centrality correctors (Gondzio) tried after Mehrotra's, at most
AIM = 0.3  # step length a centrality corrector should add
GAIN = 0.02  # and what it must add at least
ROUNDING = 1e-14  # share of a sum that rounding may leave when all of it cancels


@dataclass
class Iterate:
    """A point of an interior-point method, or a direction.

    The complementary pairs lie in two vectors, one pair an index: what every pair needs
    is one NumPy operation, however many kinds of pairs there are.

    Attributes
    ----------
    primal, dual : ndarray of shape (pairs,)
        Positive in a point.
    free : float
        The primal variable without a sign.
    """

    primal: np.ndarray
    dual: np.ndarray
    free: float

    def level(self) -> float:
        """Mean complementarity."""
        return float(self.primal @ self.dual) / len(self.primal)


def advance(
    point: Iterate,
    direction: Callable[[np.ndarray], Iterate],
    correctors: int = CORRECTORS,
) -> None:
    """One predictor-corrector step, in place.

    Parameters
    ----------
    point : Iterate
    direction : callable
        ``direction(target)`` is the Newton direction that changes each pair's
        product by ``target`` and removes the residuals.
    correctors : int
        Centrality correctors tried, at most: more of them are worth their solves where
        a factor costs far more than a solve.
    """
    with np.errstate(over="ignore"):  # in the ratios of _reach
        _advance(point, direction, correctors)


def cholesky(gram: np.ndarray, ridge: np.ndarray, space: np.ndarray | None = None) -> np.ndarray:
    """Cholesky factor of gram + diag(ridge); a singular one gets a growing shift.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        Lower triangle.
    ridge : ndarray of shape (m,)
    space : ndarray of shape (m, m), optional
        In Fortran order; takes up the factor.

    Returns
    -------
    ndarray of shape (m, m)
        Lower triangle, for `cholesky_solve`.
    """
    diagonal = gram.diagonal() + ridge
    trial = np.empty_like(gram, order="F") if space is None else space
    for shift in (0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6):
        np.copyto(trial, gram)
        np.fill_diagonal(trial, diagonal * (1.0 + shift))
        # LAPACK itself: SciPy's wrappers cost more than a small factor's solves.
        factor, info = dpotrf(trial, lower=1, clean=0, overwrite_a=1)
        if info == 0:
            return factor
    raise SolverError("the interior point's matrix could not be factored")


def cholesky_solve(factor: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Solution of the system that `cholesky` factored."""
    return dpotrs(factor, rhs, lower=1)[0]


def corner(total: float, taken: float) -> float:
    """Pivot of the free variable: its diagonal entry less what the features take of it.

    Where lambda = 0, an intercept a label does what the free variable does, and the difference
    is nothing but rounding, of either sign. Kept above that, it lets the intercepts make the
    move instead.

    Parameters
    ----------
    total : float
        Sum of the weights.
    taken : float
        Border times its solution.
    """
    return max(total - taken, ROUNDING * total)


def _advance(point: Iterate, direction: Callable[[np.ndarray], Iterate], correctors: int) -> None:
    level = point.level()
    products = point.primal * point.dual
    affine = direction(-products)
    reach = _reach(point, affine)
    ratio = _after(point, affine, *reach).level() / level
    # While one side cannot move, its products must not vanish before its residuals do.
    sigma = min(max(ratio, BLOCKED * (1.0 - min(reach))) ** 3, CENTRE)
    # The second-order term in full, however short the predictor's step: a share of it (the
    # product of the two lengths, say) takes a third more iterations on the sets measured.
    target = sigma * level - products - affine.primal * affine.dual
    step = direction(target)
    primal, dual = _reach(point, step)
    for _ in range(correctors):
        ahead = _after(point, step, min(1.0, primal + AIM), min(1.0, dual + AIM))
        trial_target = target + _centring(ahead, sigma * level)
        trial = direction(trial_target)
        new_primal, new_dual = _reach(point, trial)
        if new_primal + new_dual < primal + dual + GAIN:
            break
        step, target, primal, dual = trial, trial_target, new_primal, new_dual
    point.primal += STEP * primal * step.primal
    point.dual += STEP * dual * step.dual
    point.free += STEP * primal * step.free


def _after(point: Iterate, step: Iterate, primal: float, dual: float) -> Iterate:
    return Iterate(point.primal + primal * step.primal, point.dual + dual * step.dual, 0.0)


def _centring(ahead: Iterate, level: float) -> np.ndarray:
    """Gondzio's corrector: what pulls outlying products into [level/10, 10 level]."""
    products = ahead.primal * ahead.dual
    return np.maximum(np.clip(products, 0.1 * level, 10.0 * level) - products, -10.0 * level)


def _reach(point: Iterate, step: Iterate) -> tuple[float, float]:
    """Largest primal and dual step lengths up to 1 that stay in the orthant."""
    return _ratio(point.primal, step.primal), _ratio(point.dual, step.dual)


def _ratio(value: np.ndarray, change: np.ndarray) -> float:
    worst = float((change / value).min(initial=0.0))
    return 1.0 if worst > -1.0 else -1.0 / worst
