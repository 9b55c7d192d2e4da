"""The span-rule against the true leave-one-out error, and Theorem 2's premise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from marginlab.datasets import Dataset
from marginlab.errors import SolverError
from marginlab.experiments.span_grid import set_weights
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import rng
from marginlab.span import leave_one_out_errors, premise_holds
from marginlab.svm.dual import DualSolution
from marginlab.svm.grid import train_grid
from marginlab.svm.libsvm import gram
from marginlab.svm.span_rules import span_errors, support_kernel
from marginlab.svm.spans import inside_box

__all__ = ["chosen_settings", "run_leave_one_out"]

Array = NDArray[np.float64]


def chosen_settings(names: Sequence[str], count: int, seed: int, *axes: str) -> list[str]:
    """A seeded sample of the grid's settings, in the grid's order."""
    generator = rng(seed, "span", *axes)
    picked = generator.choice(len(names), size=min(count, len(names)), replace=False)
    return [names[i] for i in np.sort(picked)]


def run_leave_one_out(
    dataset: Dataset,
    settings: Mapping[str, Any],
    kind: str,
    models: int,
    retrain: bool,
    seed: int,
    run: str,
) -> pd.DataFrame:
    """Premise of Theorem 2 and, where asked, the true leave-one-out error of sampled models.

    Parameters
    ----------
    dataset : Dataset
    settings : mapping
        The grid, as in `span_grid.run_grid`.
    kind : {"class", "score"}
    models : int
        Models drawn from the grid.
    retrain : bool
        Whether to train without each support vector in turn.
    seed : int
    run : str

    Returns
    -------
    DataFrame
        Tidy rows by model: shares of support vectors; errors; misses (errors the span-rule does
        not see) and false alarms, by the number of training rows.
    """
    name = dataset.meta["name"]
    weights = set_weights(dataset, settings, kind)
    names = chosen_settings(list(weights), models, seed, name, kind, "leave-one-out")
    y = dataset.y_train.astype(np.float64)
    K = gram(dataset.X_train, None, "rbf", 1.0 / dataset.X_train.shape[1])
    results = Results(run, "span")
    trained = train_grid(K, y, [weights[key] for key in names], settings["tol"])
    for i, solution in progress(trained, f"{name}: leave-one-out", len(names)):
        if not solution.in_bound.any():
            continue
        try:
            facts = _facts(solution, K, retrain)
        except SolverError:
            facts = {"retraining_failed": 1.0}
        for measure, value in facts.items():
            results.add(name, "model", names[i], 0, measure, value)
    return results.frame()


def _facts(solution: DualSolution, K: Array, retrain: bool) -> dict[str, float]:
    kernel = support_kernel(solution, K)
    premise = premise_holds(solution, K)
    called = span_errors(solution, kernel)
    size = solution.y.size
    facts = {
        "premise_share": float(premise.mean()),
        "box_binds_share": float((~inside_box(kernel)).mean()),
        "span_rule": called.sum() / size,
    }
    if retrain:
        wrong = leave_one_out_errors(solution, K)
        facts["leave_one_out"] = wrong.sum() / size
        facts["misses"] = (wrong & ~called).sum() / size
        facts["false_alarms"] = (called & ~wrong).sum() / size
        agree = called == wrong
        if premise.any():
            facts["agree_with_premise"] = float(agree[premise].mean())
        if not premise.all():
            facts["agree_without_premise"] = float(agree[~premise].mean())
    return facts
