"""Step 1 of the chain: SubSVMs vote on the corrupted labels and correct them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginlab.experiments.chain_data import (
    ChainData,
    ChainLabels,
    load_chain_data,
    save_labels,
    stack_noise,
)
from marginlab.measures import accuracy, bac
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import int_seed
from marginlab.subsvms import SubSVMs

__all__ = ["correct_labels"]


def correct_labels(
    data: str | Path,
    noise: Mapping[tuple[float, float], str | Path],
    out: str | Path,
    table: str | Path,
    *,
    settings: Mapping[str, Any],
    run: str,
    seed: int,
) -> None:
    """Correct the labels of one data set under every corruption.

    Parameters
    ----------
    data : str or Path
        Prepared data set.
    noise : mapping
        Pairs (alpha, rho) to files of corrupted labels.
    out : str or Path
        Labels and votes for the later steps (`save_labels`).
    table : str or Path
        Tidy results. Method "labels:given" and "labels:corrected": accuracy and bac of the
        training labels against the clean ones; "subsvms": error and bac of the vote on the
        test part, seconds_correct, seconds_predict.
    settings : mapping
        Section ``chain`` of the configuration.
    run : str
    seed : int
    """
    case = load_chain_data(data, settings, seed)
    names, noisy = stack_noise(case, noise, settings["repeats"])
    corrected, votes = noisy.copy(), np.full(noisy.shape, np.nan)
    results = Results(run, "chain")
    _compile(case, settings["subsvms"])
    for s, r in progress(list(np.ndindex(*noisy.shape[:2])), f"{case.name}: corrections"):
        y = noisy[s, r]
        _add_recovery(results, case, "given", names[s], r, y)
        if np.unique(y).size < 2:
            continue
        state = int_seed(seed, "chain", case.name, names[s], r, "subsets")
        model = SubSVMs(random_state=state, **settings["subsvms"])
        for measure, value in _fit_and_score(model, case, y).items():
            results.add(case.name, "subsvms", names[s], r, measure, value)
        corrected[s, r], votes[s, r] = model.labels_corrected_, model.votes_
        _add_recovery(results, case, "corrected", names[s], r, corrected[s, r])
    save_labels(ChainLabels(names, noisy, corrected, votes), out)
    results.write(table)


def _compile(case: ChainData, options: Mapping[str, Any]) -> None:
    # the first call compiles; it must not be timed
    SubSVMs(random_state=0, **{**options, "n_svms": 2}).fit(case.X, case.y).predict(case.X[:2])


def _fit_and_score(model: SubSVMs, case: ChainData, y: NDArray[np.int64]) -> dict[str, float]:
    start = time.perf_counter()
    model.fit(case.X, y)
    corrected = time.perf_counter()
    predicted = model.predict(case.X_test)
    done = time.perf_counter()
    return {
        "error": 1.0 - accuracy(case.y_test, predicted),
        "bac": bac(case.y_test, predicted),
        "seconds_correct": corrected - start,
        "seconds_predict": done - corrected,
    }


def _add_recovery(
    results: Results,
    case: ChainData,
    kind: str,
    setting: str,
    repeat: int,
    labels: NDArray[np.int64],
) -> None:
    for measure, function in (("accuracy", accuracy), ("bac", bac)):
        value = function(case.y, labels)
        results.add(case.name, f"labels:{kind}", setting, repeat, measure, value)
