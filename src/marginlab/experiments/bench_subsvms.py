"""SubSVMs against scikit-learn's BaggingClassifier(SVC), on the same subsamples."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.ensemble import BaggingClassifier
from sklearn.svm import SVC

from marginlab.datasets import Dataset, load_dataset
from marginlab.experiments.timing import interleave, peak_mb
from marginlab.noise import flip_labels
from marginlab.seeds import int_seed, rng
from marginlab.subsvms import SubSVMs, subset_size
from marginlab.svm.active_set import train_subsets
from marginlab.svm.votes import VotingMachines, count_votes

__all__ = ["run", "time_growth", "time_training", "time_voting"]

_C = 100.0


class _Task(NamedTuple):
    """One problem, and the subsamples that the peer drew for it."""

    data: Dataset
    y: NDArray[np.float64]
    gamma: float
    size: int
    n_svms: int
    subsets: NDArray[np.int64]
    fit_peer: Callable[[], BaggingClassifier]

    def train(self, loss: str) -> VotingMachines:
        """Ours, on the peer's subsamples."""
        cost = np.full(len(self.y), _C)
        made = train_subsets(self.data.X_train, self.y, self.subsets, cost, self.gamma, loss)
        rows = (self.data.X_train, self.subsets, made.beta, made.intercept, self.gamma)
        return VotingMachines.from_subsets(*rows)


def run(quick: bool) -> pd.DataFrame:
    """Time training, voting and growth.

    Parameters
    ----------
    quick : bool
        100 machines and 2,000 test rows instead of 1000 machines and all rows.

    Returns
    -------
    DataFrame
        Columns comparison, size, ours_seconds, peer_seconds, ratio, ours_peak_mb,
        peer_peak_mb; the growth rows have no peer.
    """
    n_svms, n_test = (100, 2000) if quick else (1000, None)
    parts = [time_training("a1a", n_svms), time_voting("a1a", n_svms, n_test)]
    if not quick:
        parts.append(time_growth(("a1a", "a2a", "a3a", "a4a", "a5a", "a9a"), n_svms))
    return pd.concat(parts, ignore_index=True)


def time_training(name: str, n_svms: int) -> pd.DataFrame:
    """Training of all machines against `BaggingClassifier.fit`, one thread, interleaved.

    The peer draws class-balanced subsamples by sample weights; ours trains on exactly
    these, with the L2 loss (the default) and with LIBSVM's L1 loss.

    Parameters
    ----------
    name : str
        Data set.
    n_svms : int

    Returns
    -------
    DataFrame
    """
    task = _task(name, n_svms)
    l2, l1, peer = interleave(
        lambda: task.train("l2"), lambda: task.train("l1"), task.fit_peer, repeats=3
    )
    peer_peak = peak_mb(lambda: len(task.fit_peer().estimators_))
    rows = []
    for loss, seconds in (("L2", l2), ("L1", l1)):
        peak = peak_mb(partial(_machines, task, loss))
        title = f"SubSVMs ({loss} loss) against BaggingClassifier(SVC).fit"
        rows.append(
            _row(title, f"{name}, J={n_svms}, s={task.size}", seconds, peer, peak, peer_peak)
        )
    return pd.DataFrame(rows)


def time_voting(name: str, n_svms: int, n_test: int | None = None) -> pd.DataFrame:
    """Votes on the test rows against `BaggingClassifier.predict`, same machines' subsamples.

    Parameters
    ----------
    name : str
        Data set.
    n_svms : int
    n_test : int, optional
        Number of test rows; all by default.

    Returns
    -------
    DataFrame
        The peer's memory is not measured: tracing it would take as long again.
    """
    task = _task(name, n_svms)
    X = task.data.X_test[:n_test]
    machines, bag = task.train("l1"), task.fit_peer()
    count_votes(machines, X[:300])
    ours, peer = interleave(
        lambda: count_votes(machines, X), lambda: bag.predict(X), repeats=1, warmup=0
    )
    peak = peak_mb(lambda: count_votes(machines, X))
    title = "SubSVMs' votes against BaggingClassifier(SVC).predict"
    size = f"{name}, J={n_svms}, {X.shape[0]} rows"
    return pd.DataFrame([_row(title, size, ours, peer, peak, np.nan)])


def time_growth(names: tuple[str, ...], n_svms: int) -> pd.DataFrame:
    """Training, and training with votes on the training rows, by size of the training set.

    Parameters
    ----------
    names : tuple of str
        Data sets.
    n_svms : int

    Returns
    -------
    DataFrame
        Peer columns are NaN.
    """
    rows = []
    for name in names:
        data = load_dataset(name)
        model = SubSVMs(n_svms=n_svms, random_state=0)
        train, fit = interleave(
            partial(model.train, data.X_train, data.y_train),
            partial(model.fit, data.X_train, data.y_train),
            repeats=3,
        )
        peak = peak_mb(partial(_residual, model, data))
        size = f"{name}, l={len(data.y_train)}, J={n_svms}"
        for title, seconds in (("training", train), ("training and correction", fit)):
            rows.append(_row(f"SubSVMs' {title}", size, seconds, np.nan, peak, np.nan))
    return pd.DataFrame(rows)


def _task(name: str, n_svms: int) -> _Task:
    data = load_dataset(name)
    y = flip_labels(data.y_train, 0.75, 0.5, rng(0, "bench", name)).astype(float)
    gamma, size = 1.0 / data.X_train.shape[1], subset_size("log2", len(y))
    # a draw takes each class with probability 1/2
    weight = np.where(y > 0, 0.5 / (y > 0).sum(), 0.5 / (y < 0).sum())

    def fit_peer() -> BaggingClassifier:
        bag = BaggingClassifier(
            SVC(C=_C, gamma=gamma),
            n_estimators=n_svms,
            max_samples=size,
            random_state=int_seed(0, "bench", name, "bag"),
        )
        return bag.fit(data.X_train, y, sample_weight=weight)

    subsets = np.array(fit_peer().estimators_samples_, dtype=np.int64)
    return _Task(data, y, gamma, size, n_svms, subsets, fit_peer)


def _machines(task: _Task, loss: str) -> float:
    return float(len(task.train(loss.lower()).starts))


def _residual(model: SubSVMs, data: Dataset) -> float:
    return model.fit(data.X_train, data.y_train).kkt_residual_


def _row(
    comparison: str, size: str, ours: float, peer: float, ours_peak: float, peer_peak: float
) -> dict[str, object]:
    return {
        "comparison": comparison,
        "size": size,
        "ours_seconds": ours,
        "peer_seconds": peer,
        "ratio": peer / ours,
        "ours_peak_mb": ours_peak,
        "peer_peak_mb": peer_peak,
    }
