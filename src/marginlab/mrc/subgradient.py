"""MRC-SUB: subgradient descent with Nesterov extrapolation on problem (3).

The method of the paper's baseline: y_k = x_k + theta_k (1/theta_{k-1} - 1)(x_k -
x_{k-1}) with theta_k = 2/(k+1), a subgradient step of size (k+1)^-1.5 at y_k, and
the best point seen is kept. Scores are kept up to date by the samples' products, so
no matrix over pairs of constraints is ever built.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.history import Clock, History, MrcResult
from marginlab.mrc.oracle import most_violated_subsets, sample_maximum

__all__ = ["default_iterations", "solve_subgradient"]


def default_iterations(n_classes: int) -> int:
    """Iterations of the paper's baseline."""
    return 150_000 if n_classes == 2 else 15_000


def solve_subgradient(
    problem: MrcProblem,
    iterations: int | None = None,
    seconds: float = float("inf"),
    log_every: int = 100,
) -> MrcResult:
    """Minimise (3) by subgradients; gives an upper bound only.

    Parameters
    ----------
    problem : MrcProblem
    iterations : int, optional
        Default: `default_iterations`.
    seconds : float
        Wall time after which the best point so far is returned.
    log_every : int
        Iterations between rows of the history.

    Returns
    -------
    MrcResult
        ``risk`` and ``upper`` are the best objective; ``lower`` is 0 (no dual).
    """
    total = default_iterations(problem.n_classes) if iterations is None else iterations
    clock, history = Clock(seconds), History()
    m = problem.phi.n_features
    size = {"constraints": problem.phi.n_samples, "features": m}
    point = previous = best = np.zeros(m)
    best_value, theta_before = np.inf, 1.0
    for k in range(1, total + 1):
        theta = 2.0 / (k + 1)
        ahead = point + theta * (1.0 / theta_before - 1.0) * (point - previous)
        value, gradient = value_and_subgradient(problem, ahead)
        if value < best_value:
            best_value, best = value, ahead
        previous, point = point, ahead - (k + 1) ** -1.5 * gradient
        theta_before = theta
        if k % log_every == 0 or k == total:
            bounds = {"lower": 0.0, "upper": best_value, "violation": np.nan}
            history.add(clock, risk=best_value, **bounds, **size)
            if clock.left() <= 0:
                break
    return MrcResult(best, best_value, 0.0, best_value, 0.0, history.frame())


def value_and_subgradient(problem: MrcProblem, mu: np.ndarray) -> tuple[float, np.ndarray]:
    """Objective of (3) and one subgradient at ``mu``."""
    scores = problem.phi.scores(mu)
    maxima = sample_maximum(scores)
    worst = int(maxima.argmax())
    subset = most_violated_subsets(scores[worst : worst + 1])
    row = problem.phi.rows(np.array([worst]), subset)
    row = row.toarray().ravel() if sp.issparse(row) else row.ravel()
    value = 1.0 - problem.tau @ mu + problem.lam @ np.abs(mu) + maxima[worst]
    return float(value), row - problem.tau + problem.lam * np.sign(mu)
