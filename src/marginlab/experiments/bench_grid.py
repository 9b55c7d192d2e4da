"""The grid solver against scikit-learn's SVC, per trained SVM."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.svm import SVC

from marginlab.datasets import load_dataset
from marginlab.experiments.subsvms_grid import GridData, class_penalties
from marginlab.experiments.timing import interleave, peak_mb
from marginlab.noise import flip_labels
from marginlab.seeds import rng
from marginlab.svm.grid_l2 import solve_grid
from marginlab.svm.kernels import rbf_gram

__all__ = ["run"]

_COSTS, _WEIGHTS = (1.0, 10.0, 100.0), (0.1, 0.3, 1.0, 3.0, 10.0)
_VECTORS = 10  # corrupted label vectors that share the kernel
_SAMPLE = 3  # grid points that LIBSVM is timed on


def run(quick: bool) -> pd.DataFrame:
    """Time a grid of L2-loss SVMs solved together against LIBSVM on one point at a time.

    Both solve to LIBSVM's default tolerance; the peer gets the kernel matrix with 1/C_i on
    the diagonal ready made, ours makes its own. Times are seconds per trained SVM.

    Parameters
    ----------
    quick : bool
        One data set and one kernel parameter.

    Returns
    -------
    DataFrame
        Columns comparison, size, ours_seconds, peer_seconds, ratio, ours_peak_mb, peer_peak_mb.
    """
    names = ("a1a",) if quick else ("a1a", "a3a", "a5a")
    gammas = (1.0,) if quick else (0.1, 1.0, 10.0)
    return pd.DataFrame([_row(name, gamma) for name, gamma in product(names, gammas)])


def _row(name: str, multiple: float) -> dict[str, object]:
    dataset = load_dataset(name)
    gamma = multiple / dataset.X_train.shape[1]
    labels = np.stack(
        [flip_labels(dataset.y_train, 0.75, 0.5, rng(0, "bench", name, k)) for k in range(_VECTORS)]
    )
    gram = rbf_gram(dataset.X_train, None, gamma)
    picks = rng(0, "bench", "grid").choice(len(_COSTS) * len(_WEIGHTS), _SAMPLE, replace=False)
    number = len(labels) * len(_COSTS) * len(_WEIGHTS)

    def ours() -> None:
        data = GridData.of(dataset)
        sides = [data.penalties(y, class_penalties(y, _COSTS, _WEIGHTS)) for y in labels]
        positive, negative = (np.concatenate([s[i] for s in sides]) for i in (0, 1))
        solve_grid(data.kernel(gamma).matrix, positive, negative)

    def peer() -> None:
        costs = class_penalties(labels[0], _COSTS, _WEIGHTS)
        for pick in picks:
            _libsvm(gram, labels[0], costs[pick])

    our_time, peer_time = interleave(ours, peer, repeats=3)
    our_time, peer_time = our_time / number, peer_time / _SAMPLE
    return {
        "comparison": "one L2-loss SVM of a grid: solve_grid against SVC(precomputed)",
        "size": f"{name}, gamma={multiple:g}/d, {number} SVMs",
        "ours_seconds": our_time,
        "peer_seconds": peer_time,
        "ratio": peer_time / our_time,
        "ours_peak_mb": peak_mb(ours),
        "peer_peak_mb": peak_mb(peer),
    }


def _libsvm(gram: NDArray[np.floating], y: NDArray[np.int64], costs: NDArray[np.float64]) -> SVC:
    matrix = gram.copy()
    matrix[np.diag_indices_from(matrix)] += 1 / costs
    return SVC(C=1e10, kernel="precomputed", tol=1e-3).fit(matrix, y)
