"""Predictor, corrector and step lengths that both interior points share.

A point is a dataclass with ``pairs()``, its complementary (primal, dual) arrays, and
the class attributes PRIMAL and DUAL, names of the fields that move with each step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from marginlab.errors import SolverError

__all__ = ["advance", "cholesky", "cholesky_solve", "mean_product"]

BLOCKED = 0.5  # cube root of the share aimed at when one side cannot move at all
CENTRE = 0.5  # largest share of the mean product that a step aims at
STEP = 0.995  # share of the way to the boundary
CORRECTORS = 2  # centrality correctors (Gondzio) tried after Mehrotra's
AIM = 0.3  # step length a centrality corrector should add
GAIN = 0.02  # and what it must add at least

Pairs = list[tuple[np.ndarray, np.ndarray]]


def advance(point: Any, direction: Callable[[list[np.ndarray]], Any]) -> None:
    """One predictor-corrector step, in place.

    Parameters
    ----------
    point : object
        Interior point (see the module's docstring).
    direction : callable
        ``direction(target)`` is the Newton direction that changes each pair's
        product by ``target`` and removes the residuals.
    """
    pairs = point.pairs()
    level = mean_product(pairs)
    target = [-a * b for a, b in pairs]
    affine = direction(target).pairs()
    reach = _reach(pairs, affine)
    ratio = mean_product(_after(pairs, affine, *reach)) / level
    # While one side cannot move, its products must not vanish before its residuals do.
    sigma = min(max(ratio, BLOCKED * (1.0 - min(reach))) ** 3, CENTRE)
    # The second-order term in full, however short the predictor's step: a share of it (the
    # product of the two lengths, say) takes a third more iterations on the sets measured.
    target = [t + sigma * level - da * db for t, (da, db) in zip(target, affine, strict=True)]
    step = direction(target)
    primal, dual = _reach(pairs, step.pairs())
    for _ in range(CORRECTORS):
        ahead = (min(1.0, primal + AIM), min(1.0, dual + AIM))
        pull = _centring(_after(pairs, step.pairs(), *ahead), sigma * level)
        trial_target = [t + w for t, w in zip(target, pull, strict=True)]
        trial = direction(trial_target)
        new_primal, new_dual = _reach(pairs, trial.pairs())
        if new_primal + new_dual < primal + dual + GAIN:
            break
        step, target, primal, dual = trial, trial_target, new_primal, new_dual
    _move(point, step, STEP * primal, STEP * dual)


def mean_product(pairs: Pairs) -> float:
    """Mean complementarity."""
    return sum(float(np.vdot(a, b)) for a, b in pairs) / sum(a.size for a, _ in pairs)


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


def _after(pairs: Pairs, moves: Pairs, primal: float, dual: float) -> Pairs:
    return [(a + primal * da, b + dual * db) for (a, b), (da, db) in zip(pairs, moves, strict=True)]


def _centring(pairs: Pairs, level: float) -> list[np.ndarray]:
    """Gondzio's corrector: what pulls outlying products into [level/10, 10 level]."""
    wanted = []
    for a, b in pairs:
        product = a * b
        pull = np.clip(product, 0.1 * level, 10.0 * level) - product
        wanted.append(np.maximum(pull, -10.0 * level))
    return wanted


def _reach(pairs: Pairs, moves: Pairs) -> tuple[float, float]:
    """Largest primal and dual step lengths up to 1 that stay in the orthant."""
    primal = dual = 1.0
    for (a, b), (da, db) in zip(pairs, moves, strict=True):
        primal = min(primal, _ratio(a, da))
        dual = min(dual, _ratio(b, db))
    return primal, dual


def _ratio(value: np.ndarray, change: np.ndarray) -> float:
    with np.errstate(over="ignore"):
        worst = float((change / value).min(initial=0.0))
    return 1.0 if worst > -1.0 else -1.0 / worst


def _move(point: Any, step: Any, primal: float, dual: float) -> None:
    for names, length in ((point.PRIMAL, primal), (point.DUAL, dual)):
        for name in names:
            setattr(point, name, getattr(point, name) + length * getattr(step, name))
