"""Experiment #5: seconds a model on each data set, by way to the estimate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from marginlab.datasets import Dataset
from marginlab.experiments.span_grid import make_folds, set_weights
from marginlab.experiments.span_loo import chosen_settings
from marginlab.experiments.span_timing import ModelTimes, time_model
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import rng

__all__ = ["TIMES", "add_times", "run_times"]

#: Fields of `ModelTimes` by method name.
TIMES = {
    "closed": "span-rule, closed form",
    "qp": "span-rule, cvxopt QPs",
    "boxed_qp": "span-rule, cvxopt QPs with box",
    "cv": "cross-validation, LIBSVM",
    "cv_compiled": "cross-validation, compiled",
}


def run_times(
    dataset: Dataset,
    settings: Mapping[str, Any],
    kind: str,
    folds: int,
    models: int,
    sample: int,
    seed: int,
    run: str,
) -> pd.DataFrame:
    """Time a seeded sample of the grid's models.

    Parameters
    ----------
    dataset : Dataset
    settings : mapping
        The grid, as in `span_grid.run_grid`.
    kind : {"class", "score"}
    folds : int
    models : int
        Models drawn from the grid.
    sample : int
        Support vectors a model whose programmes are solved; the time is scaled by their number.
    seed : int
    run : str

    Returns
    -------
    DataFrame
    """
    name = dataset.meta["name"]
    weights = set_weights(dataset, settings, kind)
    names = chosen_settings(list(weights), models, seed, name, kind, "times")
    y = dataset.y_train.astype(np.float64)
    gamma = 1.0 / dataset.X_train.shape[1]
    pairs = make_folds(dataset, folds, seed)
    generator = rng(seed, "span", name, "timed support vectors")
    results = Results(run, "span")
    for setting in progress(names, f"{name}: times"):
        C = weights[setting]
        times = time_model(dataset.X_train, y, C, gamma, pairs, sample, generator)
        if times is not None:
            add_times(results, name, setting, times)
    return results.frame()


def add_times(results: Results, name: str, setting: str, times: ModelTimes) -> None:
    """Add the seconds and counts of one model."""
    values = asdict(times)
    for field, method in TIMES.items():
        results.add(name, method, setting, 0, "seconds", values[field])
    for count in ("n_in_bound", "n_support"):
        results.add(name, "model", setting, 0, count, values[count])
