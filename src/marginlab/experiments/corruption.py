"""Corrupted labels of a data set. Loads nothing heavy: its jobs are short."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from marginlab.datasets.prepared import read_prepared
from marginlab.files import write_npz
from marginlab.noise import flip_labels
from marginlab.seeds import rng

__all__ = ["CLEAN", "corrupt"]

#: Name of the uncorrupted setting, in file names and tables.
CLEAN = "clean"


def corrupt(
    data: str | Path, out: str | Path, *, alpha: str, rho: float, repeats: int, seed: int
) -> None:
    """Write the corrupted label vectors of one data set and direction.

    Parameters
    ----------
    data : path
        Prepared data set.
    out : path
        ``y_noisy`` of shape (repeats, n), one row for "clean"; ``y_clean`` of shape (n,).
    alpha : str
        Direction of attack as a number in text, or "clean".
    rho : float
        Errors as a share of the minority class.
    repeats : int
        Number of corruptions.
    seed : int
        The run's base seed.
    """
    dataset = read_prepared(data)
    y, name = dataset.y_train, dataset.meta["name"]
    if alpha == CLEAN:
        noisy = y[None, :]
    else:
        axes = ("noise", name, f"alpha={float(alpha)}", f"rho={float(rho)}")
        noisy = np.stack(
            [flip_labels(y, rho, float(alpha), rng(seed, *axes, k)) for k in range(repeats)]
        )
    write_npz(out, y_noisy=noisy.astype(np.int8), y_clean=y.astype(np.int8))
