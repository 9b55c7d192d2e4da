"""The methods that paper 3 compares, each as one function of a fold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from marginlab.errors import ConfigError
from marginlab.experiments.mrc_folds import Fold
from marginlab.mrc.ccg import CcgOptions, solve_ccg
from marginlab.mrc.choice import MANY_FEATURES
from marginlab.mrc.compact import solve_compact
from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.estimator import MASTERS
from marginlab.mrc.full_lp import solve_full_lp
from marginlab.mrc.history import MrcResult
from marginlab.mrc.ipm import solve_interior
from marginlab.mrc.l1svm import L1SVM, svm_ccg, svm_lp, svm_multi
from marginlab.mrc.subgradient import solve_subgradient

__all__ = ["METHODS", "Answer", "Task", "method_call", "wrong_share"]


@dataclass(frozen=True)
class Task:
    """A problem to be learned, shared by all methods of a comparison.

    Attributes
    ----------
    fold : Fold
    problem : MrcProblem
    budget : float
        Wall seconds for a run.
    memory_mb : float
        Memory in MB that a run may take.
    """

    fold: Fold
    problem: MrcProblem
    budget: float
    memory_mb: float


@dataclass(frozen=True)
class Answer:
    """What a method learned.

    Attributes
    ----------
    objective : float
        Value of the method's own objective (minimax risk, or the SVM's).
    lower, upper : float
        Bounds on the optimum of that objective, recomputed in NumPy.
    weights : ndarray of shape (n_blocks, d + 1)
        Weights on psi: one block for two classes (positive: the first class).
    rounds, constraints, features : int
        Rounds or iterations, and the size of the last linear program.
    history : DataFrame
        Columns seconds, cpu_seconds and risk, one row a round.
    """

    objective: float
    lower: float
    upper: float
    weights: np.ndarray
    rounds: int
    constraints: int
    features: int
    history: pd.DataFrame


def wrong_share(fold: Fold, weights: np.ndarray) -> float:
    """Share of the test part that the rule argmax_y Phi(x, y).mu gets wrong.

    Parameters
    ----------
    fold : Fold
    weights : ndarray of shape (n_blocks, d + 1)
    """
    scores = np.asarray(fold.psi_test @ weights.T)
    chosen = np.where(scores[:, 0] > 0, 0, 1) if scores.shape[1] == 1 else scores.argmax(axis=1)
    return float(np.mean(chosen != fold.y_test))


def method_call(task: Task, settings: Mapping[str, Any]) -> Callable[[], Answer]:
    """The run that a method's settings describe.

    Parameters
    ----------
    task : Task
    settings : mapping
        ``method`` is a key of `METHODS`; the rest is passed on.

    Raises
    ------
    ConfigError
        If the method is unknown.
    """
    name = settings["method"]
    if name not in METHODS:
        raise ConfigError(f"mrc method {name!r} is not known; use one of {', '.join(METHODS)}")
    if name == "subgradient":
        # Compiled here, once, and not in the timed process.
        solve_subgradient(task.problem, 1)
    return lambda: METHODS[name](task, settings)


def _ccg(task: Task, settings: Mapping[str, Any]) -> Answer:
    solver = settings["solver"]
    psi = task.problem.phi.psi
    options = CcgOptions(
        eps_1=settings["eps_1"],
        eps_2=settings["eps_2"],
        n_max=settings["n_max"],
        m_max=settings["m_max"],
        max_rounds=settings["max_rounds"],
        seconds=task.budget,
        grow_features=hasattr(psi, "indptr") and psi.shape[1] > MANY_FEATURES,
    )
    master: Any = MASTERS[solver]
    return _answer(task, solve_ccg(task.problem, master, options))


def _full(task: Task, settings: Mapping[str, Any]) -> Answer:
    result = solve_full_lp(task.problem, settings["solver"], task.budget, task.memory_mb)
    return _answer(task, result)


def _compact(task: Task, settings: Mapping[str, Any]) -> Answer:
    result = solve_compact(task.problem, settings["solver"], task.budget, task.memory_mb)
    return _answer(task, result)


def _interior(task: Task, settings: Mapping[str, Any]) -> Answer:
    return _answer(task, solve_interior(task.problem, settings["eps_1"], task.budget))


def _subgradient(task: Task, settings: Mapping[str, Any]) -> Answer:
    # A number of iterations, not seconds, so that every run gives the same numbers.
    iterations = settings["iterations"]
    result = solve_subgradient(task.problem, iterations, task.budget)
    done = min(iterations, 100 * len(result.history))
    return _answer(task, result, done)


def _answer(task: Task, result: MrcResult, rounds: int | None = None) -> Answer:
    last = result.history.iloc[-1]
    return Answer(
        result.risk,
        result.lower,
        result.upper,
        task.problem.original_units(result.mu),
        len(result.history) if rounds is None else rounds,
        int(last["constraints"]),
        int(last["features"]),
        result.history[["seconds", "cpu_seconds", "risk"]],
    )


def _svm(task: Task, settings: Mapping[str, Any]) -> Answer:
    fold, lam = task.fold, settings["lam"]
    inputs = fold.psi_train[:, 1:]
    common = {"solver": settings["solver"], "time_limit": task.budget}
    if settings["method"] == "svm_multi":
        return _svm_answer(svm_multi(inputs, fold.y_train, lam, **common))
    solve = svm_ccg if settings["method"] == "svm_ccg" else svm_lp
    # The sign follows the MRC's: positive scores stand for the first class.
    return _svm_answer(solve(inputs, np.where(fold.y_train == 0, 1.0, -1.0), lam, **common))


def _svm_answer(model: L1SVM) -> Answer:
    weights = np.column_stack([model.intercept, np.atleast_2d(model.coef)])
    rows = [(entry["seconds"], np.nan, entry["objective"]) for entry in model.history]
    history = pd.DataFrame(rows, columns=["seconds", "cpu_seconds", "risk"])
    return Answer(
        model.objective,
        model.lower_bound,
        model.objective,
        weights,
        model.rounds,
        model.samples,
        model.features,
        history,
    )


#: Method -> function of a task and the method's settings.
METHODS: dict[str, Callable[[Task, Mapping[str, Any]], Answer]] = {
    "ccg": _ccg,
    "lp": _full,
    "compact": _compact,
    "interior": _interior,
    "subgradient": _subgradient,
    "svm_lp": _svm,
    "svm_ccg": _svm,
    "svm_multi": _svm,
}
