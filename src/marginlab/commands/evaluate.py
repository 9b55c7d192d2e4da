"""Does SubSVMs help? Plain SVMs on the labels as given against SubSVMs, on trusted labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from marginlab.measures import accuracy, bac
from marginlab.seeds import int_seed
from marginlab.subsvms import SubSVMs
from marginlab.svm.kernels import rbf_gram

__all__ = ["GIVEN", "METHODS", "VOTE", "Scores", "compare_methods", "paired_error", "verdict"]

#: What is compared; the first two use the labels as given.
METHODS = (
    "SVM on the labels as given",
    "class-balanced SVM on the labels as given",
    "SubSVMs, majority vote",
    "SVM on the corrected labels",
)
GIVEN = METHODS[:2]
VOTE = METHODS[2]
_C = (0.1, 1.0, 10.0, 100.0)
_GAMMA = (0.3, 1.0, 3.0)
_FOLDS = 3


@dataclass
class Scores:
    """Test scores of one comparison, method by method.

    Attributes
    ----------
    bac, accuracy : dict
        Balanced accuracy and accuracy of each of `METHODS`.
    hits : dict
        Which test rows each method gets right.
    corrected : ndarray of shape (n,)
        Corrected training labels, -1 or +1.
    """

    corrected: NDArray[Any]
    bac: dict[str, float] = field(default_factory=dict)
    accuracy: dict[str, float] = field(default_factory=dict)
    hits: dict[str, NDArray[np.bool_]] = field(default_factory=dict)

    def add(self, method: str, y: NDArray[Any], predicted: NDArray[Any]) -> None:
        """Score one method's predictions."""
        self.bac[method] = bac(y, predicted)
        self.accuracy[method] = accuracy(y, predicted)
        self.hits[method] = y == predicted


def compare_methods(
    X: Any, y: NDArray[Any], X_test: Any, y_test: NDArray[Any], subsvms: SubSVMs, seed: int
) -> Scores:
    """Fit all methods on given labels and score them on trusted ones.

    Parameters
    ----------
    X : array or CSR matrix of shape (n, d)
    y : ndarray of shape (n,)
        Labels as given, -1 or +1.
    X_test, y_test
        Rows with trusted labels, both classes among them.
    subsvms : SubSVMs
        Unfitted estimator with the user's parameters.
    seed : int
        Of the folds that choose the SVMs' parameters.
    """
    subsvms.fit(X, y)
    corrected = np.asarray(subsvms.labels_corrected_)
    scores = Scores(corrected)
    for method, setting in zip(GIVEN, _choose(X, y, seed, (None, "balanced")), strict=True):
        scores.add(method, y_test, _svm(X, y, X_test, setting))
    scores.add(METHODS[2], y_test, np.asarray(subsvms.predict(X_test)))
    if len(np.unique(corrected)) == 2:
        setting = _choose(X, corrected, seed, (None,))[0]
        scores.add(METHODS[3], y_test, _svm(X, corrected, X_test, setting))
    else:
        scores.add(METHODS[3], y_test, np.full(len(y_test), corrected[0]))
    return scores


@dataclass(frozen=True)
class _Setting:
    gamma: float
    C: float
    class_weight: str | None
    score: float = -math.inf


def _svm(X: Any, y: NDArray[Any], X_test: Any, setting: _Setting) -> NDArray[Any]:
    model = SVC(C=setting.C, gamma=setting.gamma, class_weight=setting.class_weight, cache_size=200)
    return np.asarray(model.fit(X, y).predict(X_test))


def _choose(X: Any, y: NDArray[Any], seed: int, weights: tuple[str | None, ...]) -> list[_Setting]:
    """For each class weighting the gamma and C of largest cross-validated balanced accuracy."""
    best = [_Setting(1.0 / X.shape[1], 1.0, weight) for weight in weights]
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return best
    splitter = StratifiedKFold(folds, shuffle=True, random_state=int_seed(seed, "check", "folds"))
    splits = list(splitter.split(np.zeros(len(y)), y))
    for factor in _GAMMA:
        gamma = factor / X.shape[1]
        # one kernel for all C, weights and folds
        kernel = rbf_gram(sparse.csr_matrix(X) if sparse.issparse(X) else X, gamma=gamma)
        for C in _C:
            for i, weight in enumerate(weights):
                scores = [_fold(kernel, y, train, test, C, weight) for train, test in splits]
                score = float(np.mean(scores))
                if score > best[i].score + 1e-12:
                    best[i] = _Setting(gamma, C, weight, score)
    return best


def _fold(
    kernel: NDArray[Any],
    y: NDArray[Any],
    train: NDArray[Any],
    test: NDArray[Any],
    C: float,
    weight: str | None,
) -> float:
    model = SVC(C=C, kernel="precomputed", class_weight=weight, cache_size=200)
    model.fit(kernel[np.ix_(train, train)], y[train])
    predicted = model.predict(kernel[np.ix_(test, train)])
    return float(balanced_accuracy_score(y[test], predicted))


def verdict(difference: float, error: float) -> str:
    """ "helps", "hurts" or "no clear difference", at two standard errors and .01 at least.

    Parameters
    ----------
    difference : float
        Balanced accuracy of the corrected way less that of the best given way.
    error : float
        Standard error of the difference.
    """
    if not abs(difference) > max(0.01, 2 * error):
        return "no clear difference"
    return "helps" if difference > 0 else "hurts"


def paired_error(y: NDArray[Any], one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    """Standard error of the difference of two balanced accuracies on the same rows."""
    gain = one.astype(float) - other.astype(float)
    parts = [gain[y == label].var() / max(int((y == label).sum()), 1) for label in (-1, 1)]
    return math.sqrt(sum(parts)) / 2
