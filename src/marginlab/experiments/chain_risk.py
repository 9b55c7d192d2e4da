"""Step 3 of the chain: minimax risk classifiers, their certificate beside the real error."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginlab.errors import SolverError
from marginlab.experiments.chain_data import LABELS, ChainData, load_chain_data, read_labels
from marginlab.measures import accuracy, bac
from marginlab.mrc.estimator import MinimaxRiskClassifier
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import int_seed

__all__ = ["METHODS", "bound_risk", "features_of"]

#: Ways to solve the same problem: constraint generation, and the linear program in full.
METHODS = ("ccg", "lp")


def features_of(n_features: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """Feature mapping by the number of columns, as the paper chooses it.

    Parameters
    ----------
    n_features : int
        Columns of the data, d.
    options : mapping
        ``linear_from`` (linear features from that d on) and ``n_components``.
    """
    if n_features >= options["linear_from"]:
        return {"features": "linear"}
    return {"features": "fourier", "n_components": options["n_components"]}


def bound_risk(
    data: str | Path,
    labels: str | Path,
    table: str | Path,
    *,
    settings: Mapping[str, Any],
    run: str,
    seed: int,
) -> None:
    """Learn minimax risk classifiers on the given and on the corrected labels.

    Parameters
    ----------
    data, labels : str or Path
        Prepared data set, and the labels and votes of the correction.
    table : str or Path
        Tidy results. Method "mrc:<labels>:<ccg or lp>:<lambda_0>": risk (the worst-case
        error probability), gap (upper minus lower bound), error and bac on the test part,
        train_error (against the labels it was trained on), seconds_fit; failed is 1 where a
        solver gave no answer that checks.
    settings : mapping
        Section ``chain`` of the configuration.
    run : str
    seed : int
    """
    case, stored = load_chain_data(data, settings, seed), read_labels(labels)
    results, options = Results(run, "chain"), settings["mrc"]
    cells = list(np.ndindex(*stored.votes.shape[:2]))
    for s, r in progress(cells, f"{case.name}: minimax risks"):
        setting = stored.settings[s]
        state = int_seed(seed, "chain", case.name, r, "fourier")
        for corrected in (False, True):
            if not stored.usable(s, r, corrected):
                continue
            y = (stored.corrected if corrected else stored.noisy)[s, r]
            for lambda_0 in options["lambda_0"]:
                # the methods take turns in going first, so that neither gains by a warm cache
                for method in METHODS[:: 1 if r % 2 else -1]:
                    name = f"mrc:{LABELS[corrected]}:{method}:{lambda_0}"
                    model = _classifier(case, options, lambda_0, method, state)
                    for measure, value in _fit_and_score(model, case, y).items():
                        results.add(case.name, name, setting, r, measure, value)
    results.write(table)


def _classifier(
    case: ChainData, options: Mapping[str, Any], lambda_0: float, method: str, state: int
) -> MinimaxRiskClassifier:
    return MinimaxRiskClassifier(
        **features_of(case.X.shape[1], options),
        lambda_0=lambda_0,
        method=method,
        solver=options["solver"],
        eps_1=options["eps_1"],
        random_state=state,
        time_limit=options["time_limit"],
    )


def _fit_and_score(
    model: MinimaxRiskClassifier, case: ChainData, y: NDArray[np.int64]
) -> dict[str, float]:
    start = time.perf_counter()
    try:
        model.fit(case.X, y)
    except SolverError:
        return {"failed": 1.0}
    seconds = time.perf_counter() - start
    predicted = model.predict(case.X_test)
    return {
        "failed": 0.0,
        "risk": model.minimax_risk_,
        "gap": model.upper_bound_ - model.lower_bound_,
        "error": 1.0 - accuracy(case.y_test, predicted),
        "bac": bac(case.y_test, predicted),
        "train_error": 1.0 - accuracy(y, model.predict(case.X)),
        "seconds_fit": seconds,
    }
