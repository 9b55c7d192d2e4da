"""What the L1-norm SVMs by linear programming hand back."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from marginlab.mrc.features import Matrix

__all__ = ["GAP", "L1SVM"]

#: An answer is accepted when its two bounds are this close, relative to the objective.
GAP = 1e-4


@dataclass(frozen=True)
class L1SVM:
    """A solved L1-norm SVM.

    Attributes
    ----------
    coef : ndarray of shape (m,) or (n_classes, m)
    intercept : ndarray of shape (1,) or (n_classes,)
    objective : float
        Value of the primal at this solution; an upper bound on the optimum.
    lower_bound : float
        Value of a feasible point of the dual.
    seconds : float
        Wall time, building the LP included.
    rounds, samples, features : int
        LPs solved, and the size of the last one.
    history : list of dict
        Per round: round, seconds, objective, lower_bound, samples, features.
    """

    coef: np.ndarray
    intercept: np.ndarray
    objective: float
    lower_bound: float
    seconds: float
    rounds: int
    samples: int
    features: int
    history: list[dict[str, float]] = field(default_factory=list)

    @property
    def gap(self) -> float:
        """Relative distance of the two bounds."""
        return (self.objective - self.lower_bound) / max(1.0, abs(self.objective))

    def decision_function(self, X: Matrix) -> np.ndarray:
        """Scores, of shape (n,) for two classes and (n, n_classes) for more."""
        return np.asarray(X @ self.coef.T + self.intercept)

    def predict(self, X: Matrix) -> np.ndarray:
        """Class numbers 0, 1, ...; in the binary case 1 stands for y = +1."""
        scores = self.decision_function(X)
        return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
