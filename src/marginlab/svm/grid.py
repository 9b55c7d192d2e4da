"""Many weighted SVMs on one kernel matrix: the models of a grid, their estimates, their folds.

What is shared is where the speed comes from: one kernel matrix a grid, one a fold; each model
starts from its neighbour with proportional weights; the test rows of all models are scored by one
matrix product.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from marginlab.svm.dual import DualSolution, train_path
from marginlab.svm.span_rules import (
    KernelRange,
    box_binds,
    non_empty_sets,
    span_bound,
    span_rule,
    support_kernel,
    xi_alpha,
)

__all__ = ["GridModels", "chains", "cross_validate", "error_rates", "estimates", "train_grid"]

Array = NDArray[np.float64]
Fold = tuple[NDArray[np.intp], NDArray[np.intp]]


def chains(weights: Sequence[Array]) -> list[list[int]]:
    """Group models with proportional weights, each group by growing weight.

    Parameters
    ----------
    weights : sequence of ndarray of shape (l,)

    Returns
    -------
    list of list of int
        Positions in ``weights``; every model once.
    """
    groups: dict[bytes, list[int]] = {}
    for index, C in enumerate(weights):
        key = np.round(C / C.max(), 9).tobytes()
        groups.setdefault(key, []).append(index)
    return [sorted(group, key=lambda i: float(weights[i].max())) for group in groups.values()]


def train_grid(
    K: Array, y: Array, weights: Sequence[Array], tol: float = 1e-6
) -> Iterator[tuple[int, DualSolution]]:
    """Train the models of a grid, chain by chain.

    Parameters
    ----------
    K : ndarray of shape (l, l)
    y : ndarray of shape (l,)
    weights : sequence of ndarray of shape (l,)
        Instance weights of each model, all positive.
    tol : float

    Yields
    ------
    index : int
        Position in ``weights``.
    solution : DualSolution
        Its ``solved`` is False where the training failed.
    """
    for chain in chains(weights):
        solutions = train_path(K, y, [weights[i] for i in chain], tol)
        yield from zip(chain, solutions, strict=True)


def estimates(
    solution: DualSolution, K: Array, size: KernelRange, names: Iterable[str]
) -> dict[str, float]:
    """Error estimates and counts of one model.

    Parameters
    ----------
    solution : DualSolution
    K : ndarray of shape (l, l)
    size : KernelRange
    names : iterable of str
        Of "span_rule", "span_bound", "xi_alpha", "n_in_bound", "n_support", "n_empty" (in-bound
        support vectors with empty Lambda_p) and "box_binds" (share of support vectors whose
        nearest point lies outside the box).

    Returns
    -------
    dict
        Of a model that is not solved: NaN, and 0 for counts.
    """
    if not solution.solved:
        return {name: 0.0 if name.startswith("n_") else float("nan") for name in names}
    kernel = support_kernel(solution, K)
    n = kernel.n_in_bound
    compute: dict[str, Callable[[], float]] = {
        "span_rule": lambda: span_rule(solution, kernel),
        "span_bound": lambda: span_bound(solution, kernel, size).value,
        "xi_alpha": lambda: xi_alpha(solution, size),
        "n_in_bound": lambda: float(n),
        "n_support": lambda: float(kernel.size),
        "n_empty": lambda: float((~non_empty_sets(solution)[:n]).sum()),
        "box_binds": lambda: box_binds(kernel),
    }
    return {name: compute[name]() for name in names}


class GridModels:
    """Coefficients of all models of a grid, scored together.

    Parameters
    ----------
    n_models, n_rows : int
    """

    def __init__(self, n_models: int, n_rows: int) -> None:
        self.beta = np.zeros((n_models, n_rows))
        self.intercept = np.zeros(n_models)

    def keep(self, index: int, solution: DualSolution) -> None:
        """Remember one model."""
        self.beta[index] = solution.beta
        self.intercept[index] = solution.intercept

    def errors(self, K_new: Array, y_new: Array) -> Array:
        """Number of rows with y f(x) <= 0, for every model.

        Parameters
        ----------
        K_new : ndarray of shape (l, n_new)
            Kernel of the training rows against the new ones.
        y_new : ndarray of shape (n_new,)

        Returns
        -------
        ndarray of shape (n_models,)
            NaN for a model that was not solved.
        """
        values = self.beta @ K_new + self.intercept[:, None]
        wrong = (values * y_new <= 0).sum(axis=1)
        return np.where(np.isnan(self.intercept), np.nan, wrong)


def error_rates(
    models: GridModels, blocks: Iterable[tuple[slice, NDArray[np.floating]]], y_new: Array
) -> Array:
    """Error rate of every model on new rows whose kernel comes in blocks of columns.

    Parameters
    ----------
    models : GridModels
    blocks : iterable of (slice, ndarray of shape (l, at most block))
        As `marginlab.svm.kernels.rbf_blocks` gives them.
    y_new : ndarray of shape (n_new,)

    Returns
    -------
    ndarray of shape (n_models,)
    """
    wrong = np.zeros(models.intercept.size)
    for part, K_new in blocks:
        wrong += models.errors(np.asarray(K_new, dtype=np.float64), y_new[part])
    return wrong / y_new.size


def cross_validate(
    K: Array,
    y: Array,
    weights: Sequence[Array],
    folds: Sequence[Fold],
    tol: float = 1e-6,
    watch: Callable[[Iterable[Fold]], Iterable[Fold]] = iter,
) -> tuple[Array, float]:
    """K-fold cross-validation error of every model of a grid.

    Parameters
    ----------
    K, y, weights, tol
        As in `train_grid`.
    folds : sequence of (train rows, test rows)
    watch : callable, optional
        Wraps the folds to show progress.

    Returns
    -------
    errors : ndarray of shape (n_models,)
        Wrong rows over all folds, by the number of test rows; a fold that trains on one class
        predicts that class. NaN for a model that was not solved on some fold.
    seconds : float
    """
    begin = time.perf_counter()
    wrong, total = np.zeros(len(weights)), 0
    for train, test in watch(folds):
        total += test.size
        if np.unique(y[train]).size < 2:
            wrong += (y[test] != y[train][0]).sum()
            continue
        wrong += _fold_errors(K, y, weights, (train, test), tol)
    return wrong / total, time.perf_counter() - begin


def _fold_errors(K: Array, y: Array, weights: Sequence[Array], fold: Fold, tol: float) -> Array:
    train, test = fold
    models = GridModels(len(weights), train.size)
    K_train = np.ascontiguousarray(K[np.ix_(train, train)])
    for index, solution in train_grid(K_train, y[train], [C[train] for C in weights], tol):
        models.keep(index, solution)
    return models.errors(K[np.ix_(train, test)], y[test])
