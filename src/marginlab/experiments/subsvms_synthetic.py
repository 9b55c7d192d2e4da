"""Paper 1, Fig. 2: error correction on separable Gaussians, by number of machines."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from marginlab.datasets.generators import two_gaussians
from marginlab.noise import flip_labels
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import int_seed, rng

__all__ = ["SAMPLINGS", "curves", "method_name", "run_synthetic"]

#: The two samplings of Fig. 2: class-balanced (a, b) and uniform (c, d).
SAMPLINGS = ("balanced", "uniform")


def method_name(sampling: str, C: float) -> str:
    """Name of a variant in the tidy results."""
    return f"SubSVMs {sampling} C={C:g}"


def run_synthetic(
    table: str | Path, *, d: int, C: float, settings: Mapping[str, Any], run: str, seed: int
) -> None:
    """Accuracy of the corrected labels for one dimension and one C.

    Each share beta has one clean data set; each (beta, alpha) pair is corrupted several
    times, and both samplings correct the same labels. One run of 2^k machines gives all
    smaller numbers, since its first machines are a smaller run.

    Parameters
    ----------
    table : path
        Tidy results: measure ``accuracy_J<machines>``, setting ``beta=... alpha=...``.
    d : int
        Number of features.
    C : float
    settings : mapping
        n_rows, betas, alphas, rho, corruptions, n_svms, sample_size, gamma.
    run : str
    seed : int
    """
    results = Results(run, "subsvms")
    stops = powers_of_two(settings["n_svms"])
    cells = list(product(settings["betas"], settings["alphas"]))
    for beta, alpha in progress(cells, f"d={d} C={C:g}: pairs of beta and alpha"):
        stream = ("synthetic", d, f"beta={beta}")
        X, y = two_gaussians(settings["n_rows"], rng(seed, *stream, "points"), d, beta)
        for k in range(settings["corruptions"]):
            axes = (*stream, f"alpha={alpha}", k)
            noisy = flip_labels(y, settings["rho"], alpha, rng(seed, *axes, "noise"))
            for sampling in SAMPLINGS:
                state = int_seed(seed, *axes, sampling, f"C={C:g}")
                right = _accuracies(X, y, noisy, stops, sampling, C, state, settings)
                for stop, value in zip(stops, right, strict=True):
                    name, setting = method_name(sampling, C), f"beta={beta} alpha={alpha}"
                    results.add(f"gaussians d={d}", name, setting, k, f"accuracy_J{stop}", value)
    results.write(table)


def powers_of_two(largest: int) -> list[int]:
    """1, 2, 4, ... up to ``largest``."""
    return [2**k for k in range(int(largest).bit_length()) if 2**k <= largest]


def _accuracies(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    noisy: NDArray[np.int64],
    stops: list[int],
    sampling: str,
    C: float,
    state: int,
    settings: Mapping[str, Any],
) -> NDArray[np.float64]:
    from marginlab.subsvms import SubSVMs  # a second that the jobs that only draw do without

    model = SubSVMs(
        n_svms=stops[-1],
        sample_size=settings["sample_size"],
        sampling=sampling,
        C=C,
        gamma=settings["gamma"],
        random_state=state,
    ).train(X, noisy)
    return np.asarray((model.majority(model.votes_curve(X, stops)) == y).mean(axis=1))


def curves(frame: pd.DataFrame) -> pd.DataFrame:
    """Worst and mean accuracy over all corrupted data sets, per dimension and variant.

    Parameters
    ----------
    frame : DataFrame
        Tidy results of `run_synthetic`.

    Returns
    -------
    DataFrame
        Columns d, method, machines, worst, average, data_sets.
    """
    rows = frame[frame["measure"].str.startswith("accuracy_J")].copy()
    rows["machines"] = rows["measure"].str.removeprefix("accuracy_J").astype(int)
    rows["d"] = rows["dataset"].str.removeprefix("gaussians d=").astype(int)
    grouped = rows.groupby(["d", "method", "machines"])["value"]
    return grouped.agg(worst="min", average="mean", data_sets="size").reset_index()
