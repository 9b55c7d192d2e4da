"""Training and test folds of paper 3, and the features they are learned on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.model_selection import train_test_split

from marginlab.datasets.prepared import read_prepared
from marginlab.errors import ConfigError
from marginlab.mrc.estimates import MrcProblem, make_problem
from marginlab.mrc.features import FourierFeatures, hstack_ones, unique_rows
from marginlab.seeds import int_seed, rng

__all__ = ["FEATURES", "Fold", "Pool", "make_fold", "read_pool"]

#: How samples become features. "raw": as the data come, which is what the paper's authors
#: do; "scaled": columns standardised on the training fold; "text": log(1 + count), rows of
#: length one, words absent from the training fold dropped.
FEATURES = ("fourier_raw", "fourier_scaled", "linear_raw", "linear_scaled", "text")


@dataclass(frozen=True)
class Pool:
    """All samples of a data set, with class numbers 0, 1, ...

    Attributes
    ----------
    name : str
    X : ndarray or csr_matrix of shape (n, d)
    y : ndarray of int, shape (n,)
    """

    name: str
    X: Any
    y: np.ndarray


@dataclass(frozen=True)
class Fold:
    """One repetition: features of the training and the test part.

    Attributes
    ----------
    psi_train, psi_test : ndarray or csr_array of shape (n, d + 1)
        Sample features; the first column is 1.
    y_train, y_test : ndarray of int
        Class numbers.
    n_classes : int
    """

    psi_train: Any
    y_train: np.ndarray
    psi_test: Any
    y_test: np.ndarray
    n_classes: int

    def problem(self, lambda_0: float) -> MrcProblem:
        """The minimax risk problem (3) of the training part."""
        distinct = unique_rows(self.psi_train)
        return make_problem(self.psi_train, self.y_train, self.n_classes, lambda_0, distinct)


def read_pool(
    path: str | Path, *, rows: int = 0, n_classes: int = 0, per_class: int = 0, seed: int = 0
) -> Pool:
    """Read a prepared data set, training and test part together, or a part of it.

    Parameters
    ----------
    path : path
    rows : int
        Number of samples to keep, drawn with the classes' shares; 0 keeps all.
    n_classes : int
        Number of classes to keep, the first ones; 0 keeps all.
    per_class : int
        Number of samples to keep of each class; 0 keeps all.
    seed : int
        The run's base seed.

    Returns
    -------
    Pool
    """
    dataset = read_prepared(path)
    name = str(dataset.meta["name"])
    parts = [part for part in (dataset.X_train, dataset.X_test) if part.shape[0]]
    stack = sparse.vstack if sparse.issparse(parts[0]) else np.vstack
    X = stack(parts)
    X = sparse.csr_matrix(X) if sparse.issparse(X) else np.asarray(X, dtype=float)
    y = np.unique(np.concatenate([dataset.y_train, dataset.y_test]), return_inverse=True)[1]
    random = rng(seed, "mrc", name, "subset")
    kept = _kept(y, rows, n_classes, per_class, random)
    return Pool(name, X[kept], y[kept])


def _kept(
    y: np.ndarray, rows: int, n_classes: int, per_class: int, random: np.random.Generator
) -> np.ndarray:
    order = random.permutation(len(y))
    if n_classes:
        order = order[y[order] < n_classes]
    if per_class:
        places = [order[y[order] == c][:per_class] for c in np.unique(y[order])]
        order = np.concatenate(places)
    if rows and rows < len(order):
        # Taking each class's first members in proportion makes smaller parts nested.
        rank = np.empty(len(order))
        for c in np.unique(y[order]):
            mine = np.flatnonzero(y[order] == c)
            rank[mine] = (np.arange(len(mine)) + 0.5) / len(mine)
        order = order[np.argsort(rank, kind="stable")[:rows]]
    return np.sort(order)


def make_fold(
    pool: Pool, features: str, *, fraction: float, repeat: int, seed: int, n_components: int = 400
) -> Fold:
    """A stratified random part of the pool for training, the rest for testing.

    Parameters
    ----------
    pool : Pool
    features : str
        One of `FEATURES`.
    fraction : float
        Share of the samples to train on (the paper: 0.8, in Fig. 1 0.7).
    repeat : int
        Number of the repetition; it names the random streams.
    seed : int
        The run's base seed.
    n_components : int
        Number of random Fourier features.

    Returns
    -------
    Fold

    Raises
    ------
    ConfigError
        If `features` is unknown.
    """
    if features not in FEATURES:
        raise ConfigError(f"features {features!r} are not known; use one of {', '.join(FEATURES)}")
    split = int_seed(seed, "mrc", pool.name, repeat, "split")
    train, test = train_test_split(
        np.arange(len(pool.y)), train_size=fraction, stratify=pool.y, random_state=split
    )
    draw = int_seed(seed, "mrc", pool.name, repeat, "fourier")
    make = _text if features == "text" else _dense
    psi_train, psi_test = make(pool.X[train], pool.X[test], features, n_components, draw)
    n_classes = int(pool.y.max()) + 1
    return Fold(
        hstack_ones(psi_train), pool.y[train], hstack_ones(psi_test), pool.y[test], n_classes
    )


def _text(train: Any, test: Any, features: str, n_components: int, draw: int) -> tuple[Any, Any]:
    present = np.flatnonzero(np.asarray(abs(train).sum(axis=0)).ravel() > 0)
    return _log_rows(train[:, present]), _log_rows(test[:, present])


def _log_rows(counts: Any) -> Any:
    logs = sparse.csr_array(counts, dtype=float)
    logs.data = np.log1p(logs.data)
    length = np.sqrt(np.asarray(logs.multiply(logs).sum(axis=1)).ravel())
    return sparse.csr_array(sparse.diags_array(1.0 / np.where(length > 0, length, 1.0)) @ logs)


def _dense(train: Any, test: Any, features: str, n_components: int, draw: int) -> tuple[Any, Any]:
    kind, scaling = features.split("_")
    if scaling == "scaled":
        mean, spread = train.mean(axis=0), train.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        train, test = (train - mean) / spread, (test - mean) / spread
    if kind == "linear":
        return train, test
    gamma = 1.0 / (train.shape[1] * float(train.var()))
    fourier = FourierFeatures.draw(train.shape[1], n_components, gamma, np.random.RandomState(draw))
    return fourier(train), fourier(test)
