"""Paper 1 on real data: corruptions, SubSVMs, and every measure of its tables."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginlab.datasets import Dataset, read_prepared
from marginlab.errors import DataError
from marginlab.experiments.corruption import CLEAN, corrupt
from marginlab.files import write_npz
from marginlab.measures import accuracy, auc, bac, sif
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import int_seed
from marginlab.subsvms import SubSVMs
from marginlab.svm.kernels import rbf_blocks, rbf_gram, resolve_gamma
from marginlab.svm.newton import train_l2

__all__ = ["CLEAN", "correct_dataset", "corrupt", "read_noise", "run_growth", "setting_name"]

# The retrained SVM starts from the points the vote was least sure of.
_UNSURE = 0.35


def setting_name(alpha: str | float) -> str:
    """How tables name a direction of attack: "clean" or "alpha=0.5"."""
    return CLEAN if alpha == CLEAN else f"alpha={float(alpha)}"


def read_noise(path: str | Path) -> NDArray[np.int64]:
    """Corrupted label vectors, shape (repeats, n), that `corrupt` wrote.

    Raises
    ------
    DataError
        If the file is missing or is something else.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            return np.asarray(content["y_noisy"], dtype=np.int64)
    except (OSError, KeyError, ValueError) as error:
        raise DataError(
            f"{path} holds no corrupted labels ({error}); delete it and run the workflow again"
        ) from None


def correct_dataset(
    data: str | Path,
    noise: Mapping[str, str | Path],
    table: str | Path,
    arrays: Mapping[str, str | Path] | None,
    *,
    settings: Mapping[str, Any],
    run: str,
    seed: int,
    method: str = "SubSVMs",
) -> None:
    """Correct every corrupted label vector of a data set, and measure the outcome.

    All directions of attack in one job: what a job costs to start is paid once.

    Parameters
    ----------
    data : path
        Prepared data set.
    noise : mapping of direction to path
        The labels of `corrupt` by alpha ("clean", "1.0", ...).
    table : path
        Tidy results: bac, sif, accuracy and auc_votes of the vote on the clean test
        set, auc and bac_retrained of an SVM retrained on the corrected data, label
        recovery (recovery_* of the noisy and the corrected training labels),
        kkt_residual and seconds_*.
    arrays : mapping of direction to path, optional
        ``labels_corrected`` and ``votes`` of shape (repeats, n).
    settings : mapping
        n_svms, sample_size, C, gamma, loss.
    run : str
    seed : int
    method : str
        Name in the tables.
    """
    dataset, results = read_prepared(data), Results(run, "subsvms")
    name = dataset.meta["name"]
    _warm_up(dataset, settings)
    for alpha, path in noise.items():
        setting = setting_name(alpha)
        labels, votes, models = _correct(dataset, read_noise(path), setting, settings, seed)
        for k, measured in enumerate(models):
            for measure, value in measured.items():
                results.add(name, method, setting, k, measure, value)
        if arrays is not None:
            small = {"labels_corrected": labels.astype(np.int8), "votes": votes.astype(np.float32)}
            write_npz(arrays[alpha], **small)
    results.write(table)


def _correct(
    dataset: Dataset,
    noisy: NDArray[np.int64],
    setting: str,
    settings: Mapping[str, Any],
    seed: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[dict[str, float]]]:
    """Corrected labels, votes and measures of every label vector of one setting."""
    corrected, votes, models = [], [], []
    name = dataset.meta["name"]
    for k, y in enumerate(progress(noisy, f"{name} {setting}: corruptions")):
        axes = ("subsvms", name, setting, k, "subsets")
        model = SubSVMs(random_state=int_seed(seed, *axes), **settings)
        measured = _fit_and_score(model, dataset, y)
        corrected.append(model.labels_corrected_)
        votes.append(model.votes_)
        models.append(measured)
    if settings.get("loss", "l2") == "l2":
        scores = _retrained(dataset, np.stack(corrected), np.stack(votes), settings)
        for measured, score in zip(models, scores, strict=True):
            measured |= score
    return np.stack(corrected), np.stack(votes), models


def _warm_up(dataset: Dataset, settings: Mapping[str, Any]) -> None:
    # the first call compiles or loads compiled code; it must not be timed
    options = {**settings, "n_svms": 2}
    SubSVMs(random_state=0, **options).fit(dataset.X_train, dataset.y_train)


def _fit_and_score(model: SubSVMs, dataset: Dataset, y: NDArray[np.int64]) -> dict[str, float]:
    # CPU time of one thread: other jobs on the machine do not count
    start = time.process_time()
    # the paper's training time: all machines, without any vote
    model.train(dataset.X_train, y)
    trained = time.process_time()
    model.finish()
    corrected = time.process_time()
    shares = model.votes_curve(dataset.X_test, [model.n_svms])[0]
    done = time.process_time()
    predicted, truth = model.majority(shares), dataset.y_test
    clean, labels = dataset.y_train, model.labels_corrected_
    return {
        "bac": bac(truth, predicted),
        "sif": sif(truth, predicted),
        "accuracy": accuracy(truth, predicted),
        "auc_votes": auc(truth, shares),
        "recovery_accuracy_noisy": accuracy(clean, y),
        "recovery_accuracy_corrected": accuracy(clean, labels),
        "recovery_bac_noisy": bac(clean, y),
        "recovery_bac_corrected": bac(clean, labels),
        "kkt_residual": model.kkt_residual_,
        "seconds_train": trained - start,
        "seconds_correct": corrected - trained,
        "seconds_vote_test": done - corrected,
    }


def _retrained(
    dataset: Dataset,
    corrected: NDArray[np.int64],
    votes: NDArray[np.float64],
    settings: Mapping[str, Any],
) -> list[dict[str, float]]:
    """AUC and BAC of an SVM trained on each corrected label vector (Appendix C)."""
    X, gamma = dataset.X_train, resolve_gamma(settings["gamma"], dataset.X_train.shape[1])
    kernel = rbf_gram(X, None, gamma)
    betas, offsets = np.zeros(corrected.shape), np.zeros(len(corrected))
    for k, (y, share) in enumerate(zip(corrected, votes, strict=True)):
        margin = np.abs(2 * share - 1)
        unsure = margin <= np.quantile(margin, _UNSURE)
        betas[k], offsets[k] = train_l2(kernel, y.astype(float), settings["C"], unsure)
    weights, dtype = betas.astype(np.float32), np.float32
    parts = [weights @ part for _, part in rbf_blocks(X, dataset.X_test, gamma, 1024, dtype)]
    scores = np.hstack(parts) + offsets[:, None]
    return [
        {
            "auc": auc(dataset.y_test, f),
            "bac_retrained": bac(dataset.y_test, np.where(f > 0, 1, -1)),
        }
        for f in scores
    ]


def run_growth(
    data: str | Path,
    table: str | Path,
    *,
    n_svms: list[int],
    settings: Mapping[str, Any],
    run: str,
    seed: int,
    repeats: int,
) -> None:
    """Training and voting times by number of machines, on one data set's clean labels.

    Parameters
    ----------
    data, table : path
    n_svms : list of int
        Numbers of machines.
    settings : mapping
        As in `correct_dataset`.
    run : str
    seed : int
    repeats : int
        Timings of each; tables take the median.
    """
    dataset = read_prepared(data)
    name, results = dataset.meta["name"], Results(run, "subsvms")
    options = {key: value for key, value in settings.items() if key != "n_svms"}
    _warm_up(dataset, settings)
    for k in range(repeats):
        for number in n_svms:
            state = int_seed(seed, "subsvms", name, "growth", number, k)
            model = SubSVMs(n_svms=number, random_state=state, **options)
            start = time.process_time()
            model.train(dataset.X_train, dataset.y_train)
            trained = time.process_time()
            model.finish()
            seconds = {"train": trained - start, "correct": time.process_time() - trained}
            for part, value in seconds.items():
                results.add(name, "SubSVMs", f"J={number}", k, f"seconds_{part}", value)
        results.add(name, "SubSVMs", "size", k, "n_train", dataset.X_train.shape[0])
    results.write(table)
