"""Bounds on the minimax risk that need no trust in a solver.

Any mu gives an upper bound, the objective of (3). Any distribution p on (sample,
label) pairs inside the uncertainty set (2) gives a lower bound, the Bayes risk
1 - sum_i max_y p_iy of p; a solver's dual weights give such a p up to rounding.
"""

from __future__ import annotations

import numpy as np

from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.features import FeatureMap
from marginlab.mrc.oracle import sample_maximum

__all__ = ["lower_bound", "objective", "pair_weights", "upper_bound"]


def objective(problem: MrcProblem, mu: np.ndarray, maximum: float) -> float:
    """Objective of (3) given the maximum phi(mu) over the samples."""
    return float(1.0 - problem.tau @ mu + problem.lam @ np.abs(mu) + maximum)


def upper_bound(problem: MrcProblem, mu: np.ndarray) -> float:
    """Objective of (3) at ``mu``, at least R*."""
    return objective(problem, mu, float(sample_maximum(problem.phi.scores(mu)).max()))


def pair_weights(
    n_samples: int, samples: np.ndarray, subsets: np.ndarray, alpha: np.ndarray
) -> np.ndarray:
    """Distribution on (sample, label) of dual weights ``alpha`` on (sample, subset).

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    weights = np.zeros((n_samples, subsets.shape[1]))
    share = subsets * (alpha / subsets.sum(axis=1))[:, None]
    np.add.at(weights, samples, share)
    return weights


def lower_bound(
    problem: MrcProblem, pool: FeatureMap, weights: np.ndarray, allowed: float = 1e-6
) -> tuple[float, float]:
    """Lower bound on R* from nearly feasible pair weights.

    The training distribution has residual zero and Bayes risk zero at least, so
    mixing it in shrinks every residual; the weight that makes all of them fit
    their lambda gives a bound that holds exactly. Constraints with lambda = 0
    cannot be mended: up to ``allowed`` they count as violation only, beyond it the
    weights prove nothing and the bound is 0.

    Parameters
    ----------
    problem : MrcProblem
    pool : FeatureMap
        Samples that ``weights`` refers to (the class centres may follow).
    weights : ndarray of shape (pool.n_samples, n_classes)
    allowed : float
        Largest violation of a constraint with lambda = 0.

    Returns
    -------
    bound : float
    violation : float
        Largest violation before mixing.
    """
    weights = np.maximum(weights, 0.0)
    weights = weights / weights.sum()
    residual = np.abs(pool.adjoint(weights) - problem.tau)
    excess = residual - problem.lam
    mendable = (excess > 0) & (problem.lam > 1e-12)
    keep = float((problem.lam[mendable] / residual[mendable]).min(initial=1.0))
    if excess[problem.lam <= 1e-12].max(initial=0.0) > allowed:
        keep = 0.0
    bayes = 1.0 - float(weights.max(axis=1).sum())
    return keep * bayes, float(max(excess.max(initial=0.0), 0.0))
