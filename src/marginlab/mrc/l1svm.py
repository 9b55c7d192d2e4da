"""L1-norm support vector machines by linear programming: the baselines of paper 3.

Binary, with y in {-1, +1}::

    min over beta, b of  sum_i max(0, 1 - y_i (x_i.beta + b)) + lam |beta|_1

`svm_lp` solves the whole LP, `svm_ccg` the same one by constraint and column generation
(Dedieu, Mazumder and Wang 2022), `svm_multi` the LP of the multi-class hinge of Crammer and
Singer with an L1 penalty. All of them pose the dual, whose rows are the features
(-lam <= sum_i alpha_i y_i x_ij <= lam) and whose columns are the samples (0 <= alpha_i <= 1):
m + 1 rows where the primal has n. Every answer carries bounds on the optimum that are
recomputed in NumPy from its own alpha and beta, so no solver has to be believed.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from marginlab.errors import SolverError, UserError
from marginlab.mrc.box_lp import BoxLP, open_box_lp
from marginlab.mrc.features import Matrix
from marginlab.mrc.l1svm_multi import bounds_multi, svm_multi
from marginlab.mrc.l1svm_solution import GAP, L1SVM

__all__ = ["L1SVM", "bounds_binary", "bounds_multi", "svm_ccg", "svm_lp", "svm_multi"]


def svm_lp(
    X: Matrix, y: np.ndarray, lam: float = 0.01, *, solver: str = "highs", time_limit: float = 600.0
) -> L1SVM:
    """Binary L1-norm SVM through one LP over all samples and features (SVM-LP).

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, m)
    y : ndarray of shape (n,)
        Labels -1 and +1.
    lam : float
        Weight of the penalty; the sum of hinge losses is not divided by n.
    solver : {"highs", "highs-ipm", "cbc"}
    time_limit : float
        Seconds.

    Returns
    -------
    L1SVM

    Raises
    ------
    UserError
        If y is not -1/+1 or lam is not positive.
    SolverError
        If no certified solution was found in time.
    """
    X, y = _checked(X, y, lam)
    problem = _Binary(X, y, lam)
    everything = np.arange(X.shape[0]), np.arange(X.shape[1])
    return _generate(problem, *everything, solver, time_limit, 0, 0)


def svm_ccg(
    X: Matrix,
    y: np.ndarray,
    lam: float = 0.01,
    *,
    solver: str = "highs",
    n_max: int = 1500,
    m_max: int = 400,
    time_limit: float = 600.0,
) -> L1SVM:
    """Binary L1-norm SVM by constraint and column generation (SVM-CCG).

    It starts from `n_max` samples and the `m_max` features that correlate most with y, and
    adds per round the `n_max` samples of largest hinge loss and the `m_max` features that
    violate the dual most (Dedieu et al. 2022, Section 2), until the bounds meet.

    Parameters
    ----------
    X, y, lam, solver, time_limit
        As in `svm_lp`.
    n_max, m_max : int
        Samples and features a round.

    Returns
    -------
    L1SVM

    Raises
    ------
    UserError, SolverError
        As in `svm_lp`.
    """
    X, y = _checked(X, y, lam)
    problem = _Binary(X, y, lam)
    columns = _spread(y, n_max)
    strength = np.abs(problem.correlations(np.ones(len(y))))
    rows = np.sort(np.argsort(-strength, kind="stable")[:m_max])
    return _generate(problem, columns, rows, solver, time_limit, n_max, m_max)


def bounds_binary(
    X: Matrix, y: np.ndarray, coef: np.ndarray, intercept: float, alpha: np.ndarray, lam: float
) -> tuple[float, float]:
    """Upper and lower bound on the optimum of the binary L1-norm SVM.

    The upper one is the objective itself. For the lower one alpha is made feasible: clipped
    to [0, 1], the heavier class scaled down until sum(y alpha) = 0, and all of it scaled
    until no feature exceeds lam; then sum(alpha) is a value of the dual.

    Parameters
    ----------
    X, y, lam
        The problem, as in `svm_lp`.
    coef : ndarray of shape (m,)
    intercept : float
    alpha : ndarray of shape (n,)

    Returns
    -------
    (upper, lower) : (float, float)
    """
    margin = y * (X @ coef + intercept)
    upper = float(np.maximum(0.0, 1.0 - margin).sum() + lam * np.abs(coef).sum())
    alpha = np.clip(alpha, 0.0, 1.0)
    mass = np.array([alpha[y < 0].sum(), alpha[y > 0].sum()])
    if mass.min() <= 0:
        return upper, 0.0
    alpha = alpha * np.where(y > 0, mass.min() / mass[1], mass.min() / mass[0])
    worst = float(np.abs(X.T @ (y * alpha)).max(initial=0.0))
    return upper, float(alpha.sum()) * min(1.0, lam / worst if worst > 0 else 1.0)


class _Binary:
    """The dual as rows (features, then the intercept) and columns (samples)."""

    def __init__(self, X: Matrix, y: np.ndarray, lam: float) -> None:
        self.X, self.y, self.lam = X, y, lam
        self.shape = X.shape

    def correlations(self, alpha: np.ndarray) -> np.ndarray:
        return np.asarray(self.X.T @ (self.y * alpha))

    def block(self, columns: np.ndarray, rows: np.ndarray) -> np.ndarray | sparse.csr_matrix:
        """Signed data of some samples (along the first axis) and features."""
        # Features join in the order of their violation, so all of them may be there unsorted.
        whole = len(rows) == self.shape[1] and bool((np.diff(rows) == 1).all())
        part = self.X[columns] if whole else self.X[columns][:, rows]
        sign = self.y[columns]
        if sparse.issparse(part):
            return sparse.csr_matrix(part.multiply(sign[:, None]))
        return part * sign[:, None]


def _generate(
    problem: _Binary,
    columns: np.ndarray,
    rows: np.ndarray,
    solver: str,
    time_limit: float,
    n_max: int,
    m_max: int,
) -> L1SVM:
    start = time.perf_counter()
    master = open_box_lp(solver)
    _open(master, problem, columns, rows)
    history: list[dict[str, float]] = []
    lower = 0.0
    while True:
        left = time_limit - (time.perf_counter() - start)
        coef, intercept, alpha = _read(master, problem, columns, rows, left)
        upper, new_lower = bounds_binary(problem.X, problem.y, coef, intercept, alpha, problem.lam)
        lower = max(lower, new_lower)
        history.append(_entry(start, upper, lower, columns, rows, len(history)))
        more_columns = _violated_samples(problem, coef, intercept, columns, n_max)
        more_rows = _violated_features(problem, alpha, rows, m_max)
        done = upper - lower <= GAP * max(1.0, upper)
        if done or not (len(more_columns) or len(more_rows)):
            break
        master.add_rows(problem.block(columns, more_rows), -problem.lam, problem.lam)
        rows = np.concatenate([rows, more_rows])
        _add_columns(master, problem, more_columns, rows)
        columns = np.concatenate([columns, more_columns])
    if not done:
        raise SolverError(
            f"{solver} left the L1-norm SVM between {lower:.8g} and {upper:.8g}, further apart "
            f"than {GAP:g} of its value; try the other solver"
        )
    seconds = time.perf_counter() - start
    return L1SVM(
        coef, np.array([intercept]), upper, lower, seconds,
        len(history), len(columns), len(rows), history,
    )  # fmt: skip


def _open(master: BoxLP, problem: _Binary, columns: np.ndarray, rows: np.ndarray) -> None:
    # The intercept's row comes first, so that features can be appended after it.
    master.add_rows(np.zeros((0, 1)), 0.0, 0.0)
    master.add_rows(np.zeros((0, len(rows))), -problem.lam, problem.lam)
    _add_columns(master, problem, columns, rows)


def _add_columns(master: BoxLP, problem: _Binary, columns: np.ndarray, rows: np.ndarray) -> None:
    block = problem.block(columns, rows)
    sign = problem.y[columns][:, None]
    whole = (
        sparse.hstack([sign, block], "csr") if sparse.issparse(block) else np.hstack([sign, block])
    )
    master.add_columns(whole, -1.0, 1.0)


def _read(
    master: BoxLP, problem: _Binary, columns: np.ndarray, rows: np.ndarray, left: float
) -> tuple[np.ndarray, float, np.ndarray]:
    values, duals = master.solve(left)
    alpha = np.zeros(problem.shape[0])
    alpha[columns] = values
    coef = np.zeros(problem.shape[1])
    # d = -1 - (y x).dual is the reduced cost of a sample, so beta = -dual.
    coef[rows] = -duals[1:]
    return coef, float(-duals[0]), alpha


def _entry(
    start: float, upper: float, lower: float, columns: np.ndarray, rows: np.ndarray, count: int
) -> dict[str, float]:
    return {
        "round": count + 1,
        "seconds": time.perf_counter() - start,
        "objective": upper,
        "lower_bound": lower,
        "samples": len(columns),
        "features": len(rows),
    }


def _violated_samples(
    problem: _Binary, coef: np.ndarray, intercept: float, columns: np.ndarray, n_max: int
) -> np.ndarray:
    hinge = 1.0 - problem.y * (problem.X @ coef + intercept)
    hinge[columns] = 0.0
    return _largest(hinge, n_max)


def _violated_features(
    problem: _Binary, alpha: np.ndarray, rows: np.ndarray, m_max: int
) -> np.ndarray:
    excess = np.abs(problem.correlations(alpha)) - problem.lam
    excess[rows] = 0.0
    return _largest(excess, m_max)


def _largest(values: np.ndarray, count: int, above: float = 1e-7) -> np.ndarray:
    found = np.flatnonzero(values > above)
    if len(found) > count:
        found = found[np.argsort(-values[found], kind="stable")[:count]]
    return np.sort(found)


def _spread(y: np.ndarray, count: int) -> np.ndarray:
    """About `count` samples, evenly through both classes in their order."""
    half = max(1, count // 2)
    parts = []
    for label in (-1, 1):
        members = np.flatnonzero(y == label)
        parts.append(members[np.linspace(0, len(members) - 1, min(half, len(members))).astype(int)])
    return np.sort(np.concatenate(parts))


def _checked(X: Matrix, y: np.ndarray, lam: float) -> tuple[Matrix, np.ndarray]:
    y = np.asarray(y, dtype=float)
    if set(np.unique(y)) != {-1.0, 1.0}:
        raise UserError("the binary L1-norm SVM takes labels -1 and +1, both present; recode y")
    if not lam > 0:
        raise UserError(f"lam is {lam}, but the penalty of the L1-norm SVM must be positive")
    return X, y
