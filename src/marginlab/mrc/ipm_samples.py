"""The samples that the interior point works on, and the search for those that join."""

from __future__ import annotations

import numpy as np

from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.oracle import maxima_above
from marginlab.mrc.presolve import presolve

__all__ = ["Working", "first_samples", "most_violated"]

FIRST = 300  # samples of the first program, at least
PER_COLUMN = 2  # and samples a column of psi
SHARE = 1  # samples a component of Phi below which all samples are taken from the start
JOIN = 100  # samples that join in one iteration, at most


def first_samples(problem: MrcProblem) -> np.ndarray:
    """Samples to begin with, evenly spaced; all, if the solution may need every second."""
    n, m = problem.phi.n_samples, problem.phi.n_features
    count = max(FIRST, PER_COLUMN * int(problem.phi.psi.shape[1]))
    if n <= max(SHARE * m, count):
        return np.arange(n)
    return np.unique(np.linspace(0, n - 1, count).astype(np.intp))


class Working:
    """Working set of samples inside the pool of all samples (and the class centres).

    The centres' rows are averages of the samples' rows, so they restrict nothing; with the
    classes' shares as weights they make every program's dual feasible.

    Parameters
    ----------
    problem : MrcProblem
    begin : ndarray of int
        Samples to begin with; all of them need no centres.
    """

    def __init__(self, problem: MrcProblem, begin: np.ndarray) -> None:
        self.n = problem.phi.n_samples
        whole = len(begin) == self.n
        self.pool = presolve(problem, problem.phi if whole else problem.with_centres())
        centres = np.arange(self.n, self.pool.phi.n_samples)
        self.index = np.concatenate([begin, centres])
        self.inside = np.zeros(self.pool.phi.n_samples, dtype=bool)
        self.inside[self.index] = True
        self.samples = self.pool.take(self.index)

    def complete(self) -> bool:
        """Whether every sample is in."""
        return bool(self.inside.all())

    def known(self) -> np.ndarray:
        """Samples that are in, without the centres, in increasing order."""
        return np.sort(self.index[self.index < self.n])

    def search(self, scores: np.ndarray, level: float) -> tuple[float, np.ndarray, np.ndarray]:
        """What exceeds ``level``: the maximum over all samples, the samples not in, theirs.

        Parameters
        ----------
        scores : ndarray of shape (pool's samples, n_classes)
        level : float

        Returns
        -------
        maximum : float
            Largest `marginlab.mrc.oracle.sample_maximum`, or ``level`` if none exceeds it.
        outside : ndarray of int
            Samples not in the working set that exceed ``level``.
        maxima : ndarray
            Their maxima.
        """
        rows, maxima = maxima_above(scores, level)
        outside = ~self.inside[rows]
        return float(maxima.max(initial=level)), rows[outside], maxima[outside]

    def add(self, joining: np.ndarray) -> None:
        """Take samples into the working set, after those that are in."""
        self.index = np.concatenate([self.index, joining])
        self.inside[joining] = True
        self.samples = self.pool.take(self.index)


def most_violated(rows: np.ndarray, maxima: np.ndarray, level: float) -> np.ndarray:
    """The rows above ``level``, at most JOIN of them, in increasing order."""
    worst = np.argsort(-maxima, kind="stable")[:JOIN]
    return np.sort(rows[worst[maxima[worst] > level]])
