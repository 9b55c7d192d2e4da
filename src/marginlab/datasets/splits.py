"""Seeded splits of data sets that come without an official one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from marginlab.errors import DataError

__all__ = ["split_rows", "stratified_sizes"]


def split_rows(
    split: Mapping[str, Any], y: np.ndarray, extra: Mapping[str, np.ndarray], rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the training and of the test part, each ascending.

    Parameters
    ----------
    split : mapping
        ``kind: stratified`` with ``train`` and ``test`` rows, or ``kind: by_group`` with
        ``group`` (an extra column) and ``train`` groups; the other groups are the test part.
    y : ndarray of int, shape (n,)
    extra : mapping of ndarray
    rng : numpy.random.Generator

    Raises
    ------
    DataError
        If the pool is too small.
    """
    if split["kind"] == "by_group":
        return _by_group(extra[split["group"]], y, int(split["train"]), rng)
    n_train, n_test = int(split["train"]), int(split["test"])
    if n_train + n_test > y.size:
        raise DataError(f"a split of {n_train} + {n_test} rows was asked of {y.size}; lower it")
    train, left = _stratified(np.arange(y.size), y, n_train, rng)
    test, _ = _stratified(left, y, n_test, rng)
    return train, test


def stratified_sizes(counts: np.ndarray, total: int) -> np.ndarray:
    """How many of each class a sample of ``total`` takes: shares by largest remainder.

    Parameters
    ----------
    counts : ndarray of int, shape (K,)
    total : int
    """
    quota = counts * (total / counts.sum())
    sizes = np.floor(quota).astype(np.int64)
    order = np.argsort(-(quota - sizes), kind="stable")
    sizes[order[: total - int(sizes.sum())]] += 1
    return sizes


def _stratified(
    rows: np.ndarray, y: np.ndarray, total: int, rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    classes, counts = np.unique(y[rows], return_counts=True)
    taken = []
    for label, size in zip(classes, stratified_sizes(counts, total), strict=True):
        taken.append(rng.permutation(rows[y[rows] == label])[:size])
    chosen = np.sort(np.concatenate(taken))
    return chosen, np.setdiff1d(rows, chosen, assume_unique=True)


def _by_group(
    group: np.ndarray, y: np.ndarray, n_train: int, rng: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Whole groups (subjects) go to one side; classes of groups keep their shares."""
    names, first = np.unique(group, return_index=True)
    chosen, _ = _stratified(np.arange(names.size), y[first], n_train, rng)
    train = np.isin(group, names[chosen])
    return np.flatnonzero(train), np.flatnonzero(~train)
