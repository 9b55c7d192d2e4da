"""What every step of the chain starts from: capped rows, corrupted labels, names of settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginlab.datasets import read_prepared
from marginlab.datasets.splits import stratified_sizes
from marginlab.errors import ConfigError, DataError
from marginlab.experiments.subsvms_uci import read_noise
from marginlab.files import write_npz
from marginlab.seeds import rng

__all__ = [
    "CLEAN",
    "LABELS",
    "ChainData",
    "ChainLabels",
    "capped_rows",
    "load_chain_data",
    "read_labels",
    "save_labels",
    "setting_name",
    "stack_noise",
]

#: Name of the setting without label errors.
CLEAN = "clean"
#: Training labels as given (corrupted, or clean in the setting `CLEAN`), and corrected ones.
LABELS = ("given", "corrected")
Labels = NDArray[np.int64]


@dataclass(frozen=True)
class ChainData:
    """One data set as all steps of the chain see it.

    Attributes
    ----------
    name : str
    X, X_test : ndarray or CSR matrix
        Rows that are trained and tested on.
    y, y_test : ndarray of int
        Clean labels -1 and +1.
    rows : ndarray of int
        Numbers of the rows of ``X`` in the prepared training part.
    """

    name: str
    X: Any
    y: Labels
    X_test: Any
    y_test: Labels
    rows: NDArray[np.int64]


@dataclass(frozen=True)
class ChainLabels:
    """Labels and votes that the correction hands to the later steps.

    Attributes
    ----------
    settings : list of str
        Names of the S settings.
    noisy, corrected : ndarray of int, shape (S, repeats, n)
    votes : ndarray of shape (S, repeats, n)
        Share of the SubSVMs that vote +1; NaN where the corrupted labels of the rows are
        of one class only, so that nothing can be trained.
    """

    settings: list[str]
    noisy: Labels
    corrected: Labels
    votes: NDArray[np.float64]

    def usable(self, setting: int, repeat: int, corrected: bool) -> bool:
        """Whether the labels hold both classes, so that a classifier can be trained."""
        if np.isnan(self.votes[setting, repeat]).any():
            return False
        labels = self.corrected if corrected else self.noisy
        return np.unique(labels[setting, repeat]).size == 2


def setting_name(alpha: float, rho: float) -> str:
    """Name of a corruption in the tables, such as "alpha=0.5 rho=0.75"."""
    return f"alpha={float(alpha)} rho={float(rho)}"


def capped_rows(y: Labels, cap: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Ascending rows of a stratified subsample; all rows when there are no more than ``cap``.

    Parameters
    ----------
    y : ndarray of shape (n,)
    cap : int
        Largest number of rows.
    generator : numpy.random.Generator
    """
    if y.size <= cap:
        return np.arange(y.size)
    classes, counts = np.unique(y, return_counts=True)
    sizes = stratified_sizes(counts, cap)
    taken = [
        generator.permutation(np.flatnonzero(y == label))[:size]
        for label, size in zip(classes, sizes, strict=True)
    ]
    return np.sort(np.concatenate(taken))


def load_chain_data(path: str | Path, settings: Mapping[str, Any], seed: int) -> ChainData:
    """Read a prepared data set and cap its rows.

    Parameters
    ----------
    path : str or Path
    settings : mapping
        ``max_train`` and ``max_test``, the largest numbers of rows.
    seed : int
        The run's base seed; the same rows are drawn in every step.
    """
    data = read_prepared(path)
    name = str(data.meta["name"])
    if data.y_test.size == 0:
        raise DataError(f"data set {name!r} has no test part; take it out of chain.datasets")
    train = capped_rows(data.y_train, settings["max_train"], rng(seed, "chain", name, "train rows"))
    test = capped_rows(data.y_test, settings["max_test"], rng(seed, "chain", name, "test rows"))
    return ChainData(
        name,
        data.X_train[train],
        data.y_train[train],
        data.X_test[test],
        data.y_test[test],
        train,
    )


def stack_noise(
    data: ChainData, noise: Mapping[tuple[float, float], str | Path], repeats: int
) -> tuple[list[str], Labels]:
    """Corrupted labels of the chain's rows, the clean labels first.

    Parameters
    ----------
    data : ChainData
    noise : mapping
        Pairs (alpha, rho) to files of corrupted labels of the whole training part.
    repeats : int
        Corruptions taken from each file.

    Returns
    -------
    settings : list of str
    labels : ndarray of shape (1 + len(noise), repeats, n)

    Raises
    ------
    ConfigError
        If a file holds fewer corruptions than ``repeats``.
    """
    names, stacked = [CLEAN], [np.tile(data.y, (repeats, 1))]
    for (alpha, rho), path in noise.items():
        labels = read_noise(path)
        if len(labels) < repeats:
            raise ConfigError(
                f"{path} holds {len(labels)} corruptions, but chain.repeats is {repeats}; "
                f"lower chain.repeats or raise subsvms.repeats"
            )
        names.append(setting_name(alpha, rho))
        stacked.append(labels[:repeats, data.rows])
    return names, np.stack(stacked)


def save_labels(labels: ChainLabels, path: str | Path) -> None:
    """Write what `read_labels` reads."""
    write_npz(
        path,
        settings=np.array(labels.settings),
        noisy=labels.noisy.astype(np.int8),
        corrected=labels.corrected.astype(np.int8),
        votes=labels.votes,
    )


def read_labels(path: str | Path) -> ChainLabels:
    """Labels and votes of one data set.

    Raises
    ------
    DataError
        If the file is missing or damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            return ChainLabels(
                [str(name) for name in content["settings"]],
                content["noisy"].astype(np.int64),
                content["corrected"].astype(np.int64),
                content["votes"],
            )
    except (OSError, KeyError, ValueError) as error:
        raise DataError(
            f"{path} holds no corrected labels ({error}); delete it and run the workflow again"
        ) from None
