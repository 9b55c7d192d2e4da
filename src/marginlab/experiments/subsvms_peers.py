"""Tools of today beside paper 1's methods: class weights, cleanlab, bagged subsamples."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.svm import SVC

from marginlab.datasets import Dataset, read_prepared
from marginlab.experiments.subsvms_uci import read_noise, setting_name
from marginlab.measures import accuracy, auc, bac, sif
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import int_seed
from marginlab.svm.kernels import resolve_gamma

__all__ = ["BAGGING", "BALANCED", "CLEANLAB", "BagSVC", "answers", "run_peers"]

BALANCED, CLEANLAB, BAGGING = "SVC balanced", "cleanlab", "Bagging-SVC uniform"
_FOLDS = 5  # cleanlab's out-of-sample probabilities


class BagSVC(SVC):
    """SVC that answers the one class of a bag that has no other; SVC itself refuses it."""

    def fit(self, X: Any, y: NDArray[Any], sample_weight: Any = None) -> BagSVC:
        """Train, or remember the only class among the rows of positive weight."""
        used = np.unique(y if sample_weight is None else y[np.asarray(sample_weight) > 0])
        self.constant_ = used[0] if len(used) == 1 else None
        if self.constant_ is None:
            super().fit(X, y, sample_weight)
        else:
            self.classes_ = used
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Labels, shape (n_samples,)."""
        if self.constant_ is None:
            return np.asarray(super().predict(X))
        return np.full(X.shape[0], self.constant_)

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Positive for the second class (1, as codes or as signs), shape (n_samples,)."""
        if self.constant_ is None:
            return np.asarray(super().decision_function(X))
        return np.full(X.shape[0], 1.0 if self.constant_ > 0 else -1.0)


def run_peers(
    data: str | Path,
    noise: Mapping[str, str | Path],
    table: str | Path,
    *,
    settings: Mapping[str, Any],
    run: str,
    seed: int,
) -> None:
    """Train the peers on corrupted labels and score them on the clean test set.

    Without the optional package cleanlab its rows are left out and the log says so.

    Parameters
    ----------
    data : path
        Prepared data set.
    noise : mapping of direction to path
        Corrupted labels by alpha ("clean", "1.0", ...).
    table : path
        Tidy results.
    settings : mapping
        C, gamma, repeats, n_svms.
    run : str
    seed : int
    """
    dataset, results = read_prepared(data), Results(run, "subsvms")
    name = dataset.meta["name"]
    peers = _peers(dataset, settings)
    for alpha, path in progress(noise.items(), f"{name}: peers"):
        for k, y in enumerate(read_noise(path)[: settings["repeats"]]):
            for method, fit in peers.items():
                state = int_seed(seed, "subsvms", name, setting_name(alpha), k, method) % 2**31
                start = time.perf_counter()
                model = fit(y, state)
                seconds = time.perf_counter() - start
                scores = _scores(model, dataset)
                for measure, value in {**scores, "seconds_train": seconds}.items():
                    results.add(name, method, setting_name(alpha), k, measure, value)
    results.write(table)


def _peers(
    dataset: Dataset, settings: Mapping[str, Any]
) -> dict[str, Callable[[NDArray[np.int64], int], Any]]:
    X = dataset.X_train
    gamma = resolve_gamma(settings["gamma"], X.shape[1])

    def svc(**options: Any) -> SVC:
        return SVC(C=settings["C"], gamma=gamma, **options)

    def balanced(y: NDArray[np.int64], _: int) -> Any:
        return svc(class_weight="balanced").fit(X, y)

    def cleaned(y: NDArray[np.int64], _: int) -> Any:
        keep = ~_issues(X, y)
        if len(np.unique(y[keep])) < 2:  # nothing left of a class: as if nothing had been found
            keep[:] = True
        return svc().fit(X[keep], y[keep])

    def bagged(y: NDArray[np.int64], state: int) -> Any:
        size = max(2, int(np.log(len(y)) ** 2))
        machine = BagSVC(C=settings["C"], gamma=gamma)
        bags = BaggingClassifier(
            machine, n_estimators=settings["n_svms"], max_samples=size, random_state=state
        )
        return bags.fit(X, y)

    peers: dict[str, Callable[[NDArray[np.int64], int], Any]]
    peers = {BALANCED: balanced, BAGGING: bagged}
    if find_spec("cleanlab") is None:
        print("cleanlab is not installed; its rows are left out (pip install 'marginlab[peers]')")
        return peers
    return peers | {CLEANLAB: cleaned}


def _issues(X: Any, y: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Rows that cleanlab takes for mislabelled, by out-of-sample logistic regression."""
    from cleanlab.filter import find_label_issues

    codes = (y > 0).astype(int)
    folds = min(_FOLDS, int(np.bincount(codes).min()))
    model = LogisticRegression(max_iter=2000)
    chances = cross_val_predict(model, X, codes, cv=folds, method="predict_proba")
    return np.asarray(find_label_issues(codes, chances, n_jobs=1))


def _scores(model: Any, dataset: Dataset) -> dict[str, float]:
    truth = dataset.y_test
    predicted, values = answers(model, dataset.X_test)
    return {
        "bac": bac(truth, predicted),
        "sif": sif(truth, predicted),
        "accuracy": accuracy(truth, predicted),
        "auc": auc(truth, values),
    }


def answers(
    model: SVC | BaggingClassifier, X: Any
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """``predict`` and ``decision_function`` of a peer with one pass over the kernel, not two.

    Parameters
    ----------
    model : SVC or BaggingClassifier of `BagSVC`
        Trained on the labels -1 and 1.
    X : array of shape (n_samples, n_features)

    Returns
    -------
    labels, values : ndarrays of shape (n_samples,)
        A tie between the machines of a bag goes to -1, as in scikit-learn.
    """
    if isinstance(model, SVC):
        values = model.decision_function(X)
        return np.where(values > 0, 1, -1), values
    votes, total = np.zeros(X.shape[0], dtype=int), np.zeros(X.shape[0])
    for machine, features in zip(model.estimators_, model.estimators_features_, strict=True):
        values = machine.decision_function(X[:, features])
        votes += np.where(values > 0, 1, -1)
        total += values
    return np.where(votes > 0, 1, -1), total / len(model.estimators_)
