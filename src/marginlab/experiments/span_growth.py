"""Experiment #6: seconds and support vectors as the training set grows (ringnorm variant)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from marginlab.datasets.generators import ringnorm_unbalanced
from marginlab.datasets.scaling import scale_parts
from marginlab.experiments.span_settings import class_weights
from marginlab.experiments.span_time import add_times
from marginlab.experiments.span_timing import time_model
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import int_seed, rng

__all__ = ["run_growth"]


def run_growth(
    d: int,
    log2_sizes: Sequence[int],
    grids: Mapping[str, Any],
    folds: int,
    sample: int,
    seed: int,
    run: str,
) -> pd.DataFrame:
    """Time a thinned grid of class weights at every size of one dimension.

    Parameters
    ----------
    d : int
        Number of features.
    log2_sizes : sequence of int
        log2 of the training sizes.
    grids : mapping
        ``log2_C`` and, from 2^``coarse_from`` rows on, ``log2_C_coarse``.
    folds : int
    sample : int
        Support vectors a model whose programmes are solved; the time is scaled by their number.
    seed : int
    run : str

    Returns
    -------
    DataFrame
        Tidy rows of data set "ringnorm d=<d>", the size in the setting.
    """
    results = Results(run, "span")
    name = f"ringnorm d={d}"
    for power in progress(log2_sizes, f"{name}: sizes"):
        size = 2**power
        X, labels = ringnorm_unbalanced(size, rng(seed, "span", name, size), d)
        X = scale_parts({"minmax": [0, 1]}, X, X[:0])[0]
        y = labels.astype(np.float64)
        coarse = power >= grids["coarse_from"]
        values = grids["log2_C_coarse"] if coarse else grids["log2_C"]
        state = int_seed(seed, "span", name, size, "folds")
        pairs = list(StratifiedKFold(folds, shuffle=True, random_state=state).split(X, y))
        generator = rng(seed, "span", name, size, "timed support vectors")
        for setting, C in class_weights(y, values).items():
            times = time_model(X, y, C, 1.0 / d, pairs, sample, generator)
            if times is not None:
                add_times(results, name, f"l={size} {setting}", times)
    return results.frame()
