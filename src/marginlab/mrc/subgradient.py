"""MRC-SUB: subgradient descent with Nesterov extrapolation on problem (3).

The method of the paper's baseline: y_k = x_k + theta_k (1/theta_{k-1} - 1)(x_k -
x_{k-1}) with theta_k = 2/(k+1), a subgradient step of size (k+1)^-1.5 at y_k, and
the best point seen is kept.

The products of the samples with the iterates are carried along instead of being
computed anew: few signs of mu change in an iteration, and few samples are ever the
worst one, so an iteration costs O(n |Y|), not O(n m), and no matrix over pairs of
constraints is built.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
import scipy.sparse as sp

from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.features import Matrix
from marginlab.mrc.history import Clock, History, MrcResult
from marginlab.mrc.oracle import most_violated_subsets, sample_maximum

__all__ = ["default_iterations", "solve_subgradient", "value_and_subgradient"]

REFRESH = 500  # iterations after which carried products are computed anew
CACHE_MB = 512.0  # memory for products with samples that were the worst one


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
    size = {"constraints": problem.phi.n_samples, "features": problem.phi.n_features}
    products = _Products(problem)
    point = previous = best = np.zeros(problem.phi.n_features)
    image = image_before = products.of(point)
    best_value, theta_before = np.inf, 1.0
    for k in range(1, total + 1):
        theta = 2.0 / (k + 1)
        push = theta * (1.0 / theta_before - 1.0)
        ahead = point + push * (point - previous)
        image_ahead = image + push * (image - image_before)
        value, gradient, image_gradient = products.subgradient(ahead, image_ahead)
        if value < best_value:
            best_value, best = value, ahead
        length = (k + 1) ** -1.5
        previous, image_before = point, image
        point, image = ahead - length * gradient, image_ahead - length * image_gradient
        theta_before = theta
        if k % REFRESH == 0:
            image, image_before = products.of(point), products.of(previous)
        if k % log_every == 0 or k == total:
            bounds = {"lower": 0.0, "upper": best_value, "violation": np.nan}
            history.add(clock, risk=best_value, **bounds, **size)
            if clock.left() <= 0:
                break
    value, _ = value_and_subgradient(problem, best)
    return MrcResult(best, value, 0.0, value, 0.0, history.frame())


def value_and_subgradient(problem: MrcProblem, mu: np.ndarray) -> tuple[float, np.ndarray]:
    """Objective of (3) and one subgradient at ``mu``."""
    products = _Products(problem)
    value, gradient, _ = products.subgradient(mu, products.of(mu))
    return value, gradient


class _Products:
    """Products psi(x_i) . block, shape (n, n_blocks), of what the descent adds up."""

    def __init__(self, problem: MrcProblem) -> None:
        self.problem = problem
        psi = problem.phi.psi
        self.psi = psi
        self.by_column: Matrix = (
            sp.csc_array(psi) if sp.issparse(psi) else np.ascontiguousarray(psi.T)
        )
        self.signs = np.zeros(problem.phi.n_features)
        self.signs_image = np.zeros((psi.shape[0], problem.phi.labels.n_blocks))
        self.tau_image = self.of(problem.tau)
        self.kernel: OrderedDict[int, np.ndarray] = OrderedDict()
        self.cache_size = max(1, int(CACHE_MB * 2**20 / (8 * psi.shape[0])))

    def of(self, mu: np.ndarray) -> np.ndarray:
        """Products with a vector, computed anew."""
        blocks = mu.reshape(self.problem.phi.labels.n_blocks, -1)
        return np.asarray(self.psi @ blocks.T)

    def subgradient(
        self, mu: np.ndarray, image: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Objective, one subgradient, and the subgradient's products."""
        problem, labels = self.problem, self.problem.phi.labels
        scores = labels.label_scores(image)
        maxima = sample_maximum(scores)
        worst = int(maxima.argmax())
        subset = most_violated_subsets(scores[worst : worst + 1])
        weights = labels.block_weights(subset / subset.sum())[0]
        self._follow_signs(np.sign(mu))
        sample = self._sample(worst)
        gradient = np.outer(weights, sample).ravel() - problem.tau + problem.lam * self.signs
        image_gradient = np.outer(self._kernel(worst, sample), weights)
        image_gradient += self.signs_image - self.tau_image
        value = 1.0 - problem.tau @ mu + problem.lam @ np.abs(mu) + maxima[worst]
        return float(value), gradient, image_gradient

    def _follow_signs(self, signs: np.ndarray) -> None:
        changed = np.flatnonzero(signs != self.signs)
        # One product with a sparse matrix costs no more than fetching a few of its columns.
        few = 3 if sp.issparse(self.psi) else len(signs) // 4
        if len(changed) > few:
            self.signs_image = self.of(self.problem.lam * signs)
        else:
            d = self.psi.shape[1]
            for j in changed:
                step = self.problem.lam[j] * (signs[j] - self.signs[j])
                self.signs_image[:, j // d] += step * self._column(j % d)
        self.signs = signs

    def _column(self, j: int) -> np.ndarray:
        if sp.issparse(self.by_column):
            return self.by_column[:, [j]].toarray().ravel()
        return self.by_column[j]

    def _sample(self, i: int) -> np.ndarray:
        row = self.psi[[i]]
        return np.asarray(row.toarray() if sp.issparse(row) else row).ravel()

    def _kernel(self, i: int, sample: np.ndarray) -> np.ndarray:
        """Products of all samples with one; the latest ones are kept."""
        if i in self.kernel:
            self.kernel.move_to_end(i)
        else:
            self.kernel[i] = np.asarray(self.psi @ sample)
            if len(self.kernel) > self.cache_size:
                self.kernel.popitem(last=False)
        return self.kernel[i]
