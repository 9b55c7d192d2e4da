"""Paper 1's baselines on one data set, all settings in one job so that kernels are shared."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginlab.datasets import read_prepared
from marginlab.errors import DataError
from marginlab.experiments.subsvms_grid import (
    MEASURES,
    GammaRun,
    GridData,
    decision_blocks,
    point_scores,
    run_gamma,
)
from marginlab.experiments.subsvms_uci import read_noise, setting_name
from marginlab.files import write_npz
from marginlab.noise import minority_label
from marginlab.progress import progress
from marginlab.results import Results
from marginlab.seeds import rng
from marginlab.svm.grid_kernel import CentredKernel
from marginlab.svm.grid_l2 import GridSolution, direct_guess, solve_grid
from marginlab.svm.grid_precondition import Preconditioner

__all__ = ["choose_blind", "run_baselines"]

ORACLE, ORACLE_W, BLIND, BAG, CV, CV_BAC = (
    "Oracle-SVM",
    "Oracle-SVM (W searched)",
    "Blind-SVM",
    "Bag-SVM",
    "CV-SVM",
    "CV-SVM (BAC)",
)
_BLOCK = 768  # SVMs in one block of the solver


def run_baselines(
    data: str | Path,
    noise: Mapping[str, str | Path],
    table: str | Path,
    grid: str | Path,
    *,
    settings: Mapping[str, Any],
    run: str,
    seed: int,
) -> None:
    """Oracle-SVM, Bag-SVM and CV-SVM of one data set, and the scores of the whole grid.

    CV-SVM takes the point of the grid (C, W, gamma) of the best accuracy on held-out labels,
    as in the paper; CV-SVM (BAC), which is not the paper's, that of the best balanced
    accuracy, from the same folds and SVMs. Neither sees a clean label.

    Parameters
    ----------
    data : path
        Prepared data set.
    noise : mapping of direction to path
        Corrupted labels by alpha ("clean", "1.0", ...).
    table : path
        Tidy results.
    grid : path
        Test scores of every grid point (for Blind-SVM), KKT residuals, CV scores.
    settings : mapping
        C, W, gamma (multiples of 1/d), cv_folds, cv_splits, cv_splits_large,
        cv_repeats_large, large_rows, bags, tolerance.
    run : str
    seed : int
    """
    dataset = read_prepared(data)
    name = dataset.meta["name"]
    labels, tags = _label_vectors(noise)
    points = GridData.of(dataset)
    large = labels.shape[1] > settings["large_rows"]
    splits = settings["cv_splits_large" if large else "cv_splits"]
    most = settings["cv_repeats_large"] if large else len(labels)
    folded = np.array([repeat < most for _, repeat in tags])
    gammas = [g / dataset.X_train.shape[1] for g in settings["gamma"]]
    base, best = int(np.argmin(np.abs(np.log(settings["W"])))), _Best(len(labels))
    runs: list[GammaRun] = []
    for g, gamma in enumerate(progress(gammas, f"{name}: kernel parameters")):
        done = run_gamma(
            points,
            labels,
            gamma,
            settings=settings,
            splits=splits,
            folded=folded,
            seed=seed,
            name=name,
        )
        best.see(g, done, base)
        runs.append(done)
    bases = [done.preconditioner for done in runs]
    bags = _bag_scores(points, labels, tags, gammas, bases, best, settings, seed, name)
    results = Results(run, "subsvms")
    _add_grid_rows(results, name, tags, runs, base)
    _add_bag_rows(results, name, tags, bags)
    results.write(table)
    axes = {key: list(settings[key]) for key in ("gamma", "C", "W")}
    write_npz(
        grid,
        scores=np.stack([r.scores for r in runs], axis=1),
        cv_accuracy=np.stack([r.cv_accuracy for r in runs], axis=2),
        cv_bac=np.stack([r.cv_bac for r in runs], axis=2),
        residuals=np.stack([r.residuals for r in runs], axis=1),
        seconds=np.array([sum(r.seconds_grid for r in runs) / len(labels)]),
        meta=np.array(json.dumps({"dataset": name, "tags": tags, **axes})),
    )


def _label_vectors(
    noise: Mapping[str, str | Path],
) -> tuple[NDArray[np.int64], list[tuple[str, int]]]:
    """All label vectors of a data set, and the (setting, repeat) of each."""
    vectors, tags = [], []
    for alpha, path in noise.items():
        for k, y in enumerate(read_noise(path)):
            vectors.append(y)
            tags.append((setting_name(alpha), k))
    return np.stack(vectors), tags


class _Best:
    """Oracle-SVM's choice (W = 1) so far for each label vector."""

    def __init__(self, n_labels: int) -> None:
        self.accuracy = np.full(n_labels, -np.inf)
        self.gamma, self.cost = np.zeros((2, n_labels), dtype=int)

    def see(self, g: int, run: GammaRun, base: int) -> None:
        """Take over what is strictly better at this kernel parameter."""
        accuracy = run.scores[:, :, base, 0]
        for k, row in enumerate(accuracy):
            c = int(np.argmax(row))
            if row[c] > self.accuracy[k]:
                self.accuracy[k], self.gamma[k], self.cost[k] = row[c], g, c


def _bag_scores(
    data: GridData,
    labels: NDArray[np.int64],
    tags: Sequence[tuple[str, int]],
    gammas: Sequence[float],
    bases: Sequence[Preconditioner],
    best: _Best,
    settings: Mapping[str, Any],
    seed: int,
    name: str,
) -> dict[int, tuple[NDArray[np.float64], float]]:
    """Measures and seconds of bagging for each label vector, at Oracle-SVM's parameters."""
    found: dict[int, tuple[NDArray[np.float64], float]] = {}
    bags = settings["bags"]
    for g in np.unique(best.gamma):
        begin = time.perf_counter()
        members = np.flatnonzero(best.gamma == g)
        kernel = data.kernel(gammas[g])
        costs = [settings["C"][best.cost[k]] for k in members]
        random = [rng(seed, "subsvms", name, *tags[int(k)], "bags") for k in members]
        beta, bias = _train_bags(
            data, kernel, bases[g], labels[members], costs, bags, random, settings["tolerance"]
        )
        votes = _bag_votes(data, kernel, gammas[g], beta, bias, bags)
        values = point_scores(_centred(votes, labels[members]), data.test_counts)
        seconds = (time.perf_counter() - begin) / len(members)
        found |= {int(k): (v, seconds) for k, v in zip(members, values, strict=True)}
    return found


def _train_bags(
    data: GridData,
    kernel: CentredKernel,
    base: Preconditioner,
    labels: NDArray[np.int64],
    costs: Sequence[float],
    bags: int,
    random: Sequence[np.random.Generator],
    tol: float,
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Coefficients and biases of the bags of several label vectors, vector by vector."""
    each = [np.full((1, labels.shape[1]), cost) for cost in costs]
    whole = _solve(
        kernel, [data.penalties(*of) for of in zip(labels, each, strict=True)], tol, base
    )
    guess = direct_guess(whole)
    share, solved = max(1, _BLOCK // bags), []
    for low in range(0, len(labels), share):
        part = range(low, min(low + share, len(labels)))
        sides = [_bag_penalties(data, labels[k], costs[k], bags, random[k]) for k in part]
        solved.append(_solve(kernel, sides, tol, base, np.repeat(guess[part], bags, axis=0)))
    return np.concatenate([s.beta for s in solved]), np.concatenate([s.bias for s in solved])


def _solve(
    kernel: CentredKernel,
    sides: Sequence[tuple[NDArray[np.float32], NDArray[np.float32]]],
    tol: float,
    base: Preconditioner,
    guess: NDArray[np.float32] | None = None,
) -> GridSolution:
    positive, negative = (np.concatenate([side[i] for side in sides]) for i in (0, 1))
    return solve_grid(kernel.matrix, positive, negative, tol=tol, preconditioner=base, guess=guess)


def _bag_penalties(
    data: GridData, y: NDArray[np.int64], cost: float, bags: int, random: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """A bootstrap is a number of copies of each point, so it multiplies the point's penalty."""
    copies = random.multinomial(len(y), np.full(len(y), 1 / len(y)), size=bags)
    return data.penalties(y, cost * copies)


def _bag_votes(
    data: GridData,
    kernel: CentredKernel,
    gamma: float,
    beta: NDArray[np.float32],
    bias: NDArray[np.float64],
    bags: int,
) -> NDArray[np.float64]:
    """Share of the bags that vote positive, for each label vector at each distinct test row."""
    votes = np.empty((len(beta) // bags, data.test_rows.shape[0]))
    for rows, scores in decision_blocks(data, kernel, gamma, beta, bias):
        votes[:, rows] = (scores > 0).reshape(len(scores), -1, bags).mean(axis=2).T
    return votes


def _centred(votes: NDArray[np.floating], labels: NDArray[np.int64]) -> NDArray[np.float32]:
    """Votes as scores: positive above one half; a tie goes to the majority class."""
    scores = votes.astype(np.float32) - np.float32(0.5)
    ahead = np.array([minority_label(y) == -1 for y in labels])
    scores[ahead] = np.where(scores[ahead] == 0, np.float32(1e-6), scores[ahead])
    return scores


def _add_grid_rows(
    results: Results,
    name: str,
    tags: Sequence[tuple[str, int]],
    runs: Sequence[GammaRun],
    base: int,
) -> None:
    scores = np.stack([r.scores for r in runs], axis=1)
    cv = np.stack([r.cv_accuracy for r in runs], axis=2)
    cv_bac = np.stack([r.cv_bac for r in runs], axis=2)
    weights = scores.shape[3]
    grid = sum(r.seconds_grid for r in runs) / len(tags)
    # NaN marks label vectors that were not cross-validated
    folded = [k for k in range(len(tags)) if len(cv) and not np.isnan(cv[:, k]).any()]
    folds = sum(r.seconds_cv for r in runs) / max(len(folded) * len(cv), 1)
    for k, (setting, repeat) in enumerate(tags):
        flat = scores[k].reshape(-1, len(MEASURES))
        only = scores[k, :, :, base].reshape(-1, len(MEASURES))
        chosen = {
            ORACLE: (only[np.argmax(only[:, 0])], grid / weights),
            ORACLE_W: (flat[np.argmax(flat[:, 0])], grid),
        }
        if k in folded:
            for method, held_out in ((CV, cv), (CV_BAC, cv_bac)):
                mean = np.mean([flat[np.argmax(split[k])] for split in held_out], axis=0)
                chosen[method] = (mean, grid + folds)
        for method, (values, seconds) in chosen.items():
            _add(results, name, method, setting, repeat, values, seconds)
        worst = max(float(r.residuals[k].max()) for r in runs)
        results.add(name, ORACLE_W, setting, repeat, "kkt_residual", worst)
        results.add(name, CV, setting, repeat, "cv_splits", len(cv) if k in folded else 0)


def _add_bag_rows(
    results: Results,
    name: str,
    tags: Sequence[tuple[str, int]],
    bags: Mapping[int, tuple[NDArray[np.float64], float]],
) -> None:
    for k, (setting, repeat) in enumerate(tags):
        _add(results, name, BAG, setting, repeat, *bags[k])


def _add(
    results: Results,
    name: str,
    method: str,
    setting: str,
    repeat: int,
    values: NDArray[np.float64],
    seconds: float,
) -> None:
    for measure_name, value in zip(MEASURES, values, strict=True):
        results.add(name, method, setting, repeat, measure_name, value)
    results.add(name, method, setting, repeat, "seconds_train", seconds)


def choose_blind(
    grids: Sequence[str | Path], table: str | Path, choices: str | Path, *, run: str
) -> None:
    """Blind-SVM: the grid point (W = 1) of the best mean accuracy over all data sets.

    Parameters
    ----------
    grids : sequence of path
        Files of `run_baselines`, one a data set.
    table : path
        Tidy results of the chosen point on every data set.
    choices : path
        The point chosen for each setting, as tidy results of "all".
    run : str
    """
    loaded = [_read_grid(path) for path in grids]
    if not loaded:
        Results(run, "subsvms").write(table)
        Results(run, "subsvms").write(choices)
        return
    results, chosen = Results(run, "subsvms"), Results(run, "subsvms")
    meta = loaded[0][0]
    base = int(np.argmin(np.abs(np.log(meta["W"]))))
    for setting in dict.fromkeys(tag[0] for tag in meta["tags"]):
        means = [_setting(m, s, setting)[:, :, :, base].mean(axis=0) for m, s, _ in loaded]
        best = np.mean(means, axis=0)[..., 0]
        g, c = np.unravel_index(int(np.argmax(best)), best.shape)
        for key, value in (("gamma_times_d", meta["gamma"][g]), ("C", meta["C"][c])):
            chosen.add("all", BLIND, setting, 0, key, value)
        for m, scores, seconds in loaded:
            share = seconds / scores.shape[3]
            for repeat, values in enumerate(_setting(m, scores, setting)[:, g, c, base]):
                _add(results, m["dataset"], BLIND, setting, repeat, values, share)
    results.write(table)
    chosen.write(choices)


def _setting(
    meta: Mapping[str, Any], scores: NDArray[np.float64], setting: str
) -> NDArray[np.float64]:
    return scores[[k for k, tag in enumerate(meta["tags"]) if tag[0] == setting]]


def _read_grid(path: str | Path) -> tuple[dict[str, Any], NDArray[np.float64], float]:
    try:
        with np.load(path, allow_pickle=False) as content:
            meta = json.loads(str(content["meta"]))
            return meta, content["scores"], float(content["seconds"][0])
    except (OSError, KeyError, ValueError) as error:
        raise DataError(
            f"{path} holds no grid scores ({error}); delete it and run the workflow again"
        ) from None
