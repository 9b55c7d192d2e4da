"""Experiments #1 to #4 on one data set: every model of a grid, its estimates and its test error."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from marginlab.datasets import Dataset
from marginlab.errors import DataError
from marginlab.experiments.span_settings import (
    class_weights,
    instance_weights,
    log2_range,
    neighbour_scores,
)
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import int_seed
from marginlab.svm.grid import GridModels, cross_validate, error_rates, estimates, train_grid
from marginlab.svm.kernels import rbf_blocks
from marginlab.svm.libsvm import gram
from marginlab.svm.span_rules import kernel_range

__all__ = ["COUNTS", "RULES", "make_folds", "run_grid", "set_weights"]

Array = NDArray[np.float64]

#: Estimates by their name in tables.
RULES = {"span_rule": "span-rule", "span_bound": "span bound", "xi_alpha": "xi-alpha"}
COUNTS = ("n_in_bound", "n_support", "n_empty", "box_binds")


def set_weights(dataset: Dataset, settings: Mapping[str, Any], kind: str) -> dict[str, Array]:
    """Instance weights of every model of a grid.

    Parameters
    ----------
    dataset : Dataset
    settings : mapping
        ``log2_C`` for class weights; ``A``, ``B``, ``log2_C_scores``, ``sigma`` and ``scores``
        ("given" with the data, or "neighbours") for scores.
    kind : {"class", "score"}
        Experiment #1 or #2.

    Returns
    -------
    dict
        Setting to C_i.
    """
    if kind == "class":
        return class_weights(dataset.y_train, log2_range(settings["log2_C"]))
    return instance_weights(
        _scores(dataset, settings["scores"]),
        log2_range(settings["A"]),
        log2_range(settings["B"]),
        log2_range(settings["log2_C_scores"]),
        float(settings["sigma"]),
    )


def _scores(dataset: Dataset, source: str) -> Array:
    """Importance scores in [0, 1]: those of the data, or the share of like neighbours."""
    if source == "neighbours":
        return neighbour_scores(dataset.X_train, dataset.y_train)
    if "q_train" not in dataset.extra:
        raise DataError(
            f"{dataset.meta['name']} comes without importance scores; name another data set in "
            f"span.scored_datasets, or set span.grid.scores to neighbours"
        )
    return np.asarray(dataset.extra["q_train"], dtype=np.float64)


def make_folds(
    dataset: Dataset, folds: int, seed: int
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Stratified folds; rows of one subject stay together."""
    state = int_seed(seed, "span", dataset.meta["name"], "folds")
    groups = dataset.extra.get("subject_train")
    if groups is None:
        splitter = StratifiedKFold(folds, shuffle=True, random_state=state)
    else:
        splitter = StratifiedGroupKFold(folds, shuffle=True, random_state=state)
    rows = np.zeros(dataset.y_train.size)
    return list(splitter.split(rows, dataset.y_train, groups))


def run_grid(
    dataset: Dataset, settings: Mapping[str, Any], kind: str, folds: int, seed: int, run: str
) -> pd.DataFrame:
    """Train every model of the grid; estimates, cross-validation and test error of each.

    Parameters
    ----------
    dataset : Dataset
    settings : mapping
        See `set_weights`; ``tol`` is the tolerance of the training.
    kind : {"class", "score"}
    folds : int
        K of the cross-validation.
    seed : int
        Base seed of the run.
    run : str
        "paper" or "quick".

    Returns
    -------
    DataFrame
        Tidy rows: measure "error" of each rule and of "test error", counts of "model".
    """
    y = dataset.y_train.astype(np.float64)
    gamma = 1.0 / dataset.X_train.shape[1]
    weights = set_weights(dataset, settings, kind)
    results = Results(run, "span")
    name = dataset.meta["name"]
    K = gram(dataset.X_train, None, "rbf", gamma)
    models, rows, seconds = _train_all(K, y, list(weights.values()), settings["tol"], name)
    begin = time.perf_counter()
    blocks = rbf_blocks(dataset.X_train, dataset.X_test, gamma, block=2048)
    test = error_rates(models, blocks, dataset.y_test.astype(np.float64))
    seconds["score"] = time.perf_counter() - begin
    watch = lambda pairs: progress(pairs, f"{name}: folds")  # noqa: E731
    cv, seconds["cv"] = cross_validate(
        K, y, list(weights.values()), make_folds(dataset, folds, seed), settings["tol"], watch
    )
    for i, setting in enumerate(weights):
        values = {label: rows[i][rule] for rule, label in RULES.items()}
        values |= {f"{folds}-fold CV": cv[i], "test error": test[i]}
        for method, value in values.items():
            results.add(name, method, setting, 0, "error", value)
        for count in COUNTS:
            results.add(name, "model", setting, 0, count, rows[i][count])
        results.add(name, "model", setting, 0, "kkt_residual_below_tol", rows[i]["solved"])
    for fact, value in _facts(dataset).items():
        results.add(name, "data", kind, 0, fact, value)
    for part, value in seconds.items():
        results.add(name, "grid", "all models", 0, f"seconds_{part}", value)
    return results.frame()


def _facts(dataset: Dataset) -> dict[str, float]:
    return {
        "n_train": float(dataset.y_train.size),
        "n_test": float(dataset.y_test.size),
        "n_features": float(dataset.X_train.shape[1]),
        "positive_share": float((dataset.y_train > 0).mean()),
    }


def _train_all(
    K: Array, y: Array, weights: list[Array], tol: float, name: str
) -> tuple[GridModels, list[dict[str, float]], dict[str, float]]:
    """All models with their estimates and counts, and the seconds that each part took."""
    size = kernel_range(K)
    models = GridModels(len(weights), y.size)
    rows: list[dict[str, float]] = [{} for _ in weights]
    seconds = {"train": 0.0, "estimates": 0.0}
    wanted = [*RULES, *COUNTS]
    last = time.perf_counter()
    for i, solution in progress(train_grid(K, y, weights, tol), f"{name}: models", len(weights)):
        models.keep(i, solution)
        trained = time.perf_counter()
        rows[i] = estimates(solution, K, size, wanted)
        rows[i]["solved"] = float(solution.violation <= tol)
        done = time.perf_counter()
        seconds["train"] += trained - last
        seconds["estimates"] += done - trained
        last = done
    return models, rows, seconds
