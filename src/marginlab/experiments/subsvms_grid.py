"""The grid of SVMs behind paper 1's baselines: penalties, training, test scores, folds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginlab.datasets import Dataset
from marginlab.noise import minority_label
from marginlab.seeds import int_seed, rng
from marginlab.svm.grid_kernel import (
    CentredKernel,
    centred_kernel,
    shifted_blocks,
    unique_rows,
)
from marginlab.svm.grid_l2 import GridSolution, direct_guess, solve_grid
from marginlab.svm.grid_precondition import Preconditioner

__all__ = [
    "MEASURES",
    "GammaRun",
    "GridData",
    "class_penalties",
    "cross_validate",
    "decision_blocks",
    "decisions",
    "fold_scores",
    "point_scores",
    "run_gamma",
    "split_folds",
]

Floats = NDArray[np.float32]
MEASURES = ("accuracy", "bac", "sif", "auc")


@dataclass
class GridData:
    """A data set by its distinct rows.

    Attributes
    ----------
    rows : array or CSR matrix of shape (u, d)
        Distinct training rows.
    index : ndarray of shape (n,)
        Distinct row of each training point.
    test_rows : array or CSR matrix of shape (v, d)
    test_counts : ndarray of shape (v, 2)
        Negative and positive test points at each distinct test row.
    """

    rows: Any
    index: NDArray[np.intp]
    test_rows: Any
    test_counts: NDArray[np.float64]

    @classmethod
    def of(cls, dataset: Dataset) -> GridData:
        """Find the distinct rows of a data set."""
        rows, index = unique_rows(dataset.X_train)
        test_rows, at = unique_rows(dataset.X_test)
        signs = [np.bincount(at, dataset.y_test == s, test_rows.shape[0]) for s in (-1, 1)]
        return cls(rows, index, test_rows, np.stack(signs, axis=1))

    @property
    def size(self) -> int:
        """Number of distinct training rows."""
        return int(self.rows.shape[0])

    def collect(self, values: NDArray[np.floating]) -> NDArray[np.float64]:
        """Sums over the points at each distinct training row; one vector a row, or one vector."""
        flat = np.atleast_2d(values)
        sums = [np.bincount(self.index, row, self.size) for row in flat]
        collected = np.stack(sums).astype(np.float64)
        return collected if values.ndim == 2 else collected[0]

    def penalties(self, y: NDArray[np.int64], costs: NDArray[np.floating]) -> tuple[Floats, Floats]:
        """Penalties of positive and negative points at each distinct row.

        Parameters
        ----------
        y : ndarray of shape (n,)
        costs : ndarray of shape (m, n)
            C_i of each point for each SVM; 0 leaves a point out.
        """
        sides = [self.collect(costs * (y == sign)).astype(np.float32) for sign in (1, -1)]
        return sides[0], sides[1]

    def kernel(self, gamma: float) -> CentredKernel:
        """The centred kernel matrix of the distinct training rows."""
        return centred_kernel(self.rows, gamma)


def class_penalties(
    y: NDArray[np.int64], costs: Sequence[float], weights: Sequence[float]
) -> NDArray[np.float64]:
    """C_i of each point at each (C, W): W multiplies C on the minority of the given labels.

    Parameters
    ----------
    y : ndarray of shape (n,)
    costs, weights : sequences of float
        C and W; the rows of the result run over W fastest.

    Returns
    -------
    ndarray of shape (len(costs) * len(weights), n)
    """
    rare = y == minority_label(y)
    return np.stack([np.where(rare, C * W, C) for C, W in product(costs, weights)])


def decisions(
    data: GridData,
    kernel: CentredKernel,
    gamma: float,
    beta: Floats,
    bias: NDArray[np.float64],
) -> Floats:
    """Decision values of many SVMs on the distinct test rows.

    Returns
    -------
    ndarray of shape (m, v), float32
    """
    scores = np.empty((len(beta), data.test_rows.shape[0]), np.float32)
    for rows, block in decision_blocks(data, kernel, gamma, beta, bias):
        scores[:, rows] = block.T
    return scores


def decision_blocks(
    data: GridData,
    kernel: CentredKernel,
    gamma: float,
    beta: Floats,
    bias: NDArray[np.float64],
) -> Iterator[tuple[slice, Floats]]:
    """The same in blocks of test rows, each kernel block computed once for all SVMs.

    Yields
    ------
    rows : slice of the distinct test rows
    scores : ndarray of shape (length of rows, m), float32
    """
    weights, offset = kernel.expansion(beta, bias)
    columns = np.ascontiguousarray(weights.T.astype(np.float32))
    shift = offset.astype(np.float32)
    for rows, block in shifted_blocks(data.test_rows, data.rows, gamma):
        yield rows, block @ columns + shift


def split_folds(n: int, folds: int, random: np.random.Generator) -> NDArray[np.int64]:
    """Number of the fold of each of n points: a random split into folds of equal size."""
    fold = np.arange(n) % folds
    random.shuffle(fold)
    return fold


def cross_validate(
    data: GridData,
    kernel: CentredKernel,
    labels: NDArray[np.int64],
    costs: NDArray[np.float64],
    fold: NDArray[np.int64],
    *,
    tol: float,
    guess: Floats | None = None,
    preconditioner: Preconditioner | None = None,
) -> NDArray[np.float64]:
    """Points of each class right when held out, for each label vector and grid point.

    The labels of the held-out points are those given, as corrupted as the others.

    Parameters
    ----------
    data : GridData
    kernel : CentredKernel
    labels : ndarray of shape (k, n)
    costs : ndarray of shape (k, g, n)
        C_i at each grid point.
    fold : ndarray of shape (n,)
        Fold of each point.
    tol : float
    guess : ndarray of shape (k, g, u), optional
        Decision values of the SVMs of all points, NaN where direct steps do not pay.
    preconditioner : Preconditioner, optional
        Of the kernel matrix of all points.

    Returns
    -------
    ndarray of shape (k, g, 2)
        Numbers of negative and positive points; `fold_scores` makes accuracies of them.
    """
    right = np.zeros((*costs.shape[:2], 2))
    for number in np.unique(fold):
        inside = fold != number
        rows, out = (np.unique(data.index[part]) for part in (inside, ~inside))
        sides = [data.penalties(y, c * inside) for y, c in zip(labels, costs, strict=True)]
        positive, negative = (np.concatenate([s[i] for s in sides])[:, rows] for i in (0, 1))
        part = kernel.part(rows)
        near = None if guess is None else guess[:, :, rows].reshape(-1, len(rows))
        # coefficients cold: starting from the SVM of all points took three times as long
        solved = solve_grid(
            part,
            np.ascontiguousarray(positive),
            np.ascontiguousarray(negative),
            tol=tol,
            preconditioner=None if preconditioner is None else preconditioner.part(rows),
            guess=near,
        )
        values = solved.beta @ kernel.matrix[np.ix_(rows, out)]
        marked = (values + solved.bias[:, None].astype(np.float32) > 0).reshape(
            *costs.shape[:2], len(out)
        )
        for k, y in enumerate(labels):
            ups, downs = (data.collect(((y == s) & ~inside) * 1.0)[out] for s in (1, -1))
            right[k] += np.stack([~marked[k] @ downs, marked[k] @ ups], axis=1)
    return right


def fold_scores(
    right: NDArray[np.float64], labels: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Accuracy and balanced accuracy of a cross-validation, all its folds pooled.

    Parameters
    ----------
    right : ndarray of shape (k, g, 2)
        Of `cross_validate`.
    labels : ndarray of shape (k, n)

    Returns
    -------
    accuracy, balanced accuracy : ndarrays of shape (k, g)
    """
    counts = np.stack([(labels == sign).sum(axis=1) for sign in (-1, 1)], axis=1)
    return right.sum(axis=2) / labels.shape[1], (right / counts[:, None]).mean(axis=2)


def point_scores(scores: Floats, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """The four measures of each SVM from its decision values.

    Parameters
    ----------
    scores : ndarray of shape (m, v)
        Larger means more positive; labels are positive where > 0.
    counts : ndarray of shape (v, 2)
        Negative and positive points at each distinct row.

    Returns
    -------
    ndarray of shape (m, 4)
        In the order of `MEASURES`.
    """
    negative, positive = counts.sum(axis=0)
    marked = (scores > 0).astype(np.float32) @ counts.astype(np.float32)
    fpr, tpr = marked[:, 0] / negative, marked[:, 1] / positive
    accuracy = (marked[:, 1] + negative - marked[:, 0]) / (negative + positive)
    areas = np.array([_area(row, counts) for row in scores])
    return np.stack([accuracy, (tpr + 1 - fpr) / 2, 2 * tpr / (tpr + fpr + 1), areas], axis=1)


def _area(scores: Floats, counts: NDArray[np.float64]) -> float:
    """Area under the ROC curve of weighted rows; equal scores count one half."""
    order = np.argsort(scores)
    ordered = scores[order]
    starts = np.concatenate([[0], np.flatnonzero(np.diff(ordered)) + 1])
    negative, positive = np.add.reduceat(counts[order], starts, axis=0).T
    below = np.cumsum(negative) - negative / 2
    return float(positive @ below / (positive.sum() * negative.sum()))


@dataclass
class GammaRun:
    """Everything of one kernel parameter: shapes (labels, C, W) and (splits, labels, C, W)."""

    scores: NDArray[np.float64]
    cv_accuracy: NDArray[np.float64]
    cv_bac: NDArray[np.float64]
    residuals: NDArray[np.float64]
    seconds_grid: float
    seconds_cv: float
    preconditioner: Preconditioner


def run_gamma(
    data: GridData,
    labels: NDArray[np.int64],
    gamma: float,
    *,
    settings: Mapping[str, Any],
    splits: int,
    folded: NDArray[np.bool_],
    seed: int,
    name: str,
) -> GammaRun:
    """Train, score and cross-validate all label vectors at one kernel parameter.

    Parameters
    ----------
    data : GridData
    labels : ndarray of shape (k, n)
    gamma : float
    settings : mapping
        C, W, cv_folds, tolerance.
    splits : int
        Random splits of the cross-validation.
    folded : ndarray of shape (k,)
        Which label vectors are cross-validated; the others get NaN.
    seed : int
    name : str
        The data set's name.
    """
    begin = time.perf_counter()
    costs = np.stack([class_penalties(y, settings["C"], settings["W"]) for y in labels])
    kernel = data.kernel(gamma)
    base = Preconditioner.of(kernel.matrix, seed=int_seed(seed, "subsvms", "preconditioner"))
    solved = _train(data, kernel, labels, costs, settings["tolerance"], base)
    scores = point_scores(
        decisions(data, kernel, gamma, solved.beta, solved.bias), data.test_counts
    )
    trained = time.perf_counter()
    guess = direct_guess(solved).reshape(*costs.shape[:2], -1)[folded]
    found = np.full((2, splits, *costs.shape[:2]), np.nan)
    for split in range(splits):
        random = rng(seed, "subsvms", name, "folds", split)
        fold = split_folds(labels.shape[1], settings["cv_folds"], random)
        right = cross_validate(
            data,
            kernel,
            labels[folded],
            costs[folded],
            fold,
            tol=settings["tolerance"],
            guess=guess,
            preconditioner=base,
        )
        found[:, split, folded] = fold_scores(right, labels[folded])
    done = time.perf_counter()
    shape = (len(labels), len(settings["C"]), len(settings["W"]))
    return GammaRun(
        scores.reshape(*shape, len(MEASURES)),
        found[0].reshape(splits, *shape),
        found[1].reshape(splits, *shape),
        solved.residuals.reshape(shape),
        trained - begin,
        done - trained,
        base,
    )


def _train(
    data: GridData,
    kernel: CentredKernel,
    labels: NDArray[np.int64],
    costs: NDArray[np.float64],
    tol: float,
    base: Preconditioner,
) -> GridSolution:
    sides = [data.penalties(y, c) for y, c in zip(labels, costs, strict=True)]
    positive, negative = (np.concatenate([side[i] for side in sides]) for i in (0, 1))
    return solve_grid(kernel.matrix, positive, negative, tol=tol, preconditioner=base)
