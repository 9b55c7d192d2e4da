"""Step 2 of the chain: weighted SVMs with weights from the votes, chosen by the span-rule."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from marginlab.experiments.chain_data import (
    LABELS,
    ChainData,
    ChainLabels,
    load_chain_data,
    read_labels,
)
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import rng
from marginlab.selection import tied_best
from marginlab.svm.dual import DualSolution
from marginlab.svm.grid import GridModels, cross_validate, train_grid
from marginlab.svm.kernels import rbf_blocks, rbf_gram, resolve_gamma
from marginlab.svm.span_rules import span_errors, support_kernel, support_order
from marginlab.svm.spans import SupportKernel

__all__ = [
    "CRITERIA",
    "WEIGHTS",
    "Models",
    "choose",
    "confidence",
    "logistic_weights",
    "loo_errors",
    "rank_correlation",
    "stratified_folds",
    "tune_weights",
]

Array = NDArray[np.float64]
#: Families of instance weights: equal ones, those from the votes, and both grids together.
WEIGHTS = ("uniform", "votes", "either")
#: How a model is chosen: span-rule; span-rule whose leave-one-out predictions are held against
#: the corrected labels instead of the given ones; cross-validation; and "best", which looks at
#: the test labels and is the limit of the others.
CRITERIA = ("span", "checked", "cv", "best")


@dataclass(frozen=True)
class Models:
    """All models of one grid on one label vector.

    Attributes
    ----------
    total : ndarray of shape (n_models,)
        Sum of the instance weights, which decides ties: the smallest wins.
    uniform : ndarray of bool of shape (n_models,)
        Models with equal weights.
    usable : ndarray of bool of shape (n_models,)
        Models with an in-bound support vector; the intercept of others is not unique.
    estimates : dict of ndarray of shape (n_models,)
        By the names of `CRITERIA`; "best" is the error on the test part itself.
    bac : ndarray of shape (n_models,)
        Balanced accuracy on the test part.
    seconds : dict
        Times of training, span-rules and cross-validation.
    """

    total: Array
    uniform: NDArray[np.bool_]
    usable: NDArray[np.bool_]
    estimates: dict[str, Array]
    bac: Array
    seconds: dict[str, float]


def logistic_weights(q: Array, A: float, B: float, sigma: float) -> Array:
    """Weights sigma + (1 - sigma) / (1 + exp(-A (q - B))), in (sigma, 1).

    Parameters
    ----------
    q : ndarray of shape (n,)
        Scores in [0, 1]; 1 is the most certain.
    A, B : float
        Steepness and middle of the rise.
    sigma : float
        Smallest weight.
    """
    return sigma + (1.0 - sigma) / (1.0 + np.exp(-A * (q - B)))


def confidence(votes: Array, labels: NDArray[np.int64], corrected: bool) -> Array:
    """Score of each training label from the votes, in [0, 1].

    Parameters
    ----------
    votes : ndarray of shape (n,)
        Share v of the SubSVMs that vote +1.
    labels : ndarray of shape (n,)
        Labels that will be trained on.
    corrected : bool
        True: the unanimity |2 v - 1| of the vote behind a corrected label. False: the share
        of votes that agree with the given label.
    """
    if corrected:
        return np.abs(2.0 * votes - 1.0)
    return np.where(labels > 0, votes, 1.0 - votes)


def stratified_folds(
    y: NDArray[np.int64], n_folds: int, generator: np.random.Generator
) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Folds that deal out each class in turn, so that rare classes are spread evenly.

    Parameters
    ----------
    y : ndarray of shape (n,)
    n_folds : int
    generator : numpy.random.Generator

    Returns
    -------
    list of (train rows, test rows)
    """
    fold, dealt = np.empty(y.size, dtype=int), 0
    for label in np.unique(y):
        rows = generator.permutation(np.flatnonzero(y == label))
        fold[rows] = (np.arange(rows.size) + dealt) % n_folds
        dealt += rows.size
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n_folds)]


def choose(values: Array, candidates: NDArray[np.bool_], total: Array) -> int:
    """The candidate with the smallest value; among ties the one with the smallest weights."""
    tied = tied_best(values, candidates)
    return int(tied[np.argmin(total[tied])])


def loo_errors(solution: DualSolution, support: SupportKernel) -> NDArray[np.bool_]:
    """Training rows that the span-rule calls leave-one-out errors.

    Parameters
    ----------
    solution : DualSolution
    support : SupportKernel

    Returns
    -------
    ndarray of bool of shape (n,)
        Their mean is the span-rule. Rows that are no support vectors are never errors.
    """
    wrong = np.zeros(solution.y.size, dtype=bool)
    wrong[support_order(solution)] = span_errors(solution, support)
    return wrong


def tune_weights(
    data: str | Path,
    labels: str | Path,
    table: str | Path,
    *,
    settings: Mapping[str, Any],
    run: str,
    seed: int,
) -> None:
    """Train and choose weighted SVMs on the given and on the corrected labels.

    Parameters
    ----------
    data, labels : str or Path
        Prepared data set, and the labels and votes of the correction.
    table : str or Path
        Tidy results. Method "svm:<labels>:<weights>:<criterion>": error and bac on the test
        part. Method "grid:<labels>": rank_<criterion> (Spearman correlation of the estimate
        with the test error over the grid), n_models, n_set_aside, n_unsolved (those of them
        that did not reach the tolerance, on all rows or on a fold), seconds_train,
        seconds_span, seconds_cv.
    settings : mapping
        Section ``chain`` of the configuration.
    run : str
    seed : int
    """
    case, stored = load_chain_data(data, settings, seed), read_labels(labels)
    results, grids = Results(run, "chain"), _Grids(case, settings["svm"])
    cells = list(np.ndindex(*stored.votes.shape[:2]))
    for s, r in progress(cells, f"{case.name}: weighted SVMs"):
        cell = (case.name, stored.settings[s], r)
        for corrected in (False, True):
            if stored.usable(s, r, corrected):
                kind = LABELS[corrected]
                generator = rng(seed, "chain", *cell, kind, "folds")
                _add(results, cell, kind, grids.train(stored, (s, r), corrected, generator))
    results.write(table)


class _Grids:
    """One kernel matrix for all grids of a data set."""

    def __init__(self, case: ChainData, options: Mapping[str, Any]) -> None:
        self.options, self.y_test = options, case.y_test
        gamma = resolve_gamma("1/d", case.X.shape[1])
        self.K = np.ascontiguousarray(rbf_gram(case.X, None, gamma), dtype=np.float64)
        blocks = [block for _, block in rbf_blocks(case.X, case.X_test, gamma)]
        self.K_test = np.hstack(blocks)

    def train(
        self,
        stored: ChainLabels,
        cell: tuple[int, int],
        corrected: bool,
        generator: np.random.Generator,
    ) -> Models:
        """Train, judge and test every model of the grid on one label vector."""
        y = (stored.corrected if corrected else stored.noisy)[cell]
        weights, uniform = self.weights(confidence(stored.votes[cell], y, corrected))
        signs, tol = y.astype(np.float64), self.options["tol"]
        start = time.perf_counter()
        solutions = dict(train_grid(self.K, signs, weights, tol))
        trained = time.perf_counter()
        estimates, usable = self._judge(solutions, stored.corrected[cell])
        judged = time.perf_counter()
        folds = stratified_folds(y, self.options["folds"], generator)
        estimates["cv"], seconds_cv = cross_validate(self.K, signs, weights, folds, tol)
        estimates["best"], balanced = self._test(solutions)
        seconds = {"train": trained - start, "span": judged - trained, "cv": seconds_cv}
        total = np.array([w.sum() for w in weights])
        return Models(total, uniform, usable, estimates, balanced, seconds)

    def weights(self, q: Array) -> tuple[list[Array], NDArray[np.bool_]]:
        """Weights C_i of every model of the grid, and which have equal weights."""
        shapes = product(self.options["A"], self.options["B"])
        maps = [np.ones_like(q)]
        maps += [logistic_weights(q, A, B, self.options["sigma"]) for A, B in shapes]
        penalties = [2.0**power for power in self.options["log2_C"]]
        weights = [C * w for w in maps for C in penalties]
        return weights, np.arange(len(weights)) < len(penalties)

    def _judge(
        self, solutions: Mapping[int, DualSolution], corrected: NDArray[np.int64]
    ) -> tuple[dict[str, Array], NDArray[np.bool_]]:
        """Both readings of the span-rule, and which models have an in-bound support vector."""
        usable = np.zeros(len(solutions), dtype=bool)
        values = {name: np.zeros(len(solutions)) for name in ("span", "checked")}
        for index, solution in solutions.items():
            if not solution.solved:
                values["span"][index] = values["checked"][index] = np.nan
                continue
            support = support_kernel(solution, self.K)
            wrong = loo_errors(solution, support)
            usable[index] = support.n_in_bound > 0
            values["span"][index] = wrong.mean()
            # a leave-one-out error means that the other label was predicted
            predicted = np.where(wrong, -solution.y, solution.y)
            values["checked"][index] = (predicted != corrected).mean()
        return values, usable

    def _test(self, solutions: Mapping[int, DualSolution]) -> tuple[Array, Array]:
        """Error and balanced accuracy of every model on the test part."""
        grid = GridModels(len(solutions), len(self.K))
        for index, solution in solutions.items():
            grid.keep(index, solution)
        wrong = (grid.beta @ self.K_test + grid.intercept[:, None] > 0) != (self.y_test > 0)
        rates = [wrong[:, self.y_test == label].mean(axis=1) for label in (-1, 1)]
        known = np.where(np.isnan(grid.intercept), np.nan, 1.0)
        return known * wrong.mean(axis=1), known * (1.0 - (rates[0] + rates[1]) / 2.0)


def _add(results: Results, cell: tuple[str, str, int], labels: str, models: Models) -> None:
    dataset, setting, repeat = cell
    families = (models.uniform, ~models.uniform, np.ones_like(models.uniform))
    for weights, members in zip(WEIGHTS, families, strict=True):
        # a model is judged by all criteria or by none
        candidates = members & models.usable & np.isfinite(models.estimates["cv"])
        if not candidates.any():
            continue
        for criterion in CRITERIA:
            chosen = choose(models.estimates[criterion], candidates, models.total)
            method = f"svm:{labels}:{weights}:{criterion}"
            error = models.estimates["best"][chosen]
            results.add(dataset, method, setting, repeat, "error", error)
            results.add(dataset, method, setting, repeat, "bac", models.bac[chosen])
    for measure, value in _summary(models).items():
        results.add(dataset, f"grid:{labels}", setting, repeat, measure, value)


def _summary(models: Models) -> dict[str, float]:
    error, solved = models.estimates["best"], np.isfinite(models.estimates["cv"])
    kept = models.usable & solved
    ranks = {
        f"rank_{name}": rank_correlation(models.estimates[name][kept], error[kept])
        for name in CRITERIA[:-1]
    }
    counts = {"n_models": float(kept.size), "n_set_aside": float((~kept).sum())}
    counts["n_unsolved"] = float((~solved).sum())
    return ranks | counts | {f"seconds_{name}": value for name, value in models.seconds.items()}


def rank_correlation(estimate: Array, error: Array) -> float:
    """Spearman's correlation; NaN where one side is constant or there are too few models."""
    if estimate.size < 3 or np.ptp(estimate) == 0 or np.ptp(error) == 0:
        return float("nan")
    return float(spearmanr(estimate, error).statistic)
