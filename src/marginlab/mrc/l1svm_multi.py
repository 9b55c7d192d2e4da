"""Multi-class L1-norm SVM through one linear program (SVM-MULTI of paper 3)."""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from marginlab.errors import SolverError, UserError
from marginlab.mrc.box_lp import open_box_lp
from marginlab.mrc.features import Matrix
from marginlab.mrc.l1svm_solution import GAP, L1SVM

__all__ = ["bounds_multi", "svm_multi"]


def svm_multi(
    X: Matrix,
    y: np.ndarray,
    lam: float = 0.01,
    *,
    solver: str = "highs",
    time_limit: float = 600.0,
) -> L1SVM:
    """Multi-class L1-norm SVM through one LP (SVM-MULTI).

    Minimises sum_i max over c of ([c != y_i] + s_ic - s_{i,y_i}) + lam |B|_1 over B and the
    intercepts (free), with s_ic = x_i.B_c + b_c, the hinge of Crammer and Singer. The dual
    has one column for each sample and wrong class, one row a sample (its alphas sum to at
    most 1) and one a class and feature.

    Parameters
    ----------
    X : ndarray or csr_matrix of shape (n, m)
    y : ndarray of shape (n,)
        Class numbers 0 .. n_classes - 1, each present.
    lam, solver, time_limit
        As in `svm_lp`.

    Returns
    -------
    L1SVM

    Raises
    ------
    UserError, SolverError
        As in `svm_lp`.
    """
    start = time.perf_counter()
    n_classes = int(np.max(y)) + 1
    if n_classes < 2 or len(np.unique(y)) != n_classes:
        raise UserError(
            "svm_multi takes class numbers 0, 1, ... with every class present; "
            "encode the labels with numpy.unique(y, return_inverse=True)"
        )
    n, m = X.shape
    master = open_box_lp(solver)
    master.add_rows(np.zeros((0, n_classes)), 0.0, 0.0)
    master.add_rows(np.zeros((0, n_classes * m)), -lam, lam)
    master.add_rows(np.zeros((0, n)), 0.0, 1.0)
    wrong = _wrong_classes(y, n_classes)
    master.add_columns(_multi_columns(X, y, wrong, n_classes), -1.0, np.inf)
    values, duals = master.solve(time_limit - (time.perf_counter() - start))
    coef = -duals[n_classes : n_classes * (m + 1)].reshape(n_classes, m)
    intercept = -duals[:n_classes]
    alpha = np.zeros((n, n_classes))
    alpha[np.arange(n)[:, None], wrong] = values.reshape(n, n_classes - 1)
    upper, lower = bounds_multi(X, y, coef, intercept, alpha, lam)
    answer = L1SVM(coef, intercept, upper, lower, time.perf_counter() - start, 1, n, n_classes * m)
    if answer.gap > GAP:
        raise SolverError(
            f"{solver} left the multi-class L1-norm SVM between {lower:.8g} and {upper:.8g}, "
            f"further apart than {GAP:g} of its value; try the other solver"
        )
    return answer


def bounds_multi(
    X: Matrix,
    y: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    alpha: np.ndarray,
    lam: float,
) -> tuple[float, float]:
    """Upper and lower bound on the optimum of the multi-class L1-norm SVM.

    Parameters
    ----------
    X, y, lam
        The problem, as in `svm_multi`.
    coef : ndarray of shape (n_classes, m)
    intercept : ndarray of shape (n_classes,)
    alpha : ndarray of shape (n, n_classes)
        Weight of each sample's wrong classes; 0 at its own.

    Returns
    -------
    (upper, lower) : (float, float)

    Notes
    -----
    The lower bound scales alpha until its rows sum to at most 1 and no feature exceeds lam.
    What is left of the intercepts' balance is charged with twice the largest intercept, so
    the bound holds for every solution whose intercepts are no larger than that.
    """
    each = np.arange(len(alpha))
    scores = np.asarray(X @ coef.T + intercept)
    lead = scores - scores[each, y][:, None] + 1.0
    lead[each, y] = 0.0
    upper = float(lead.max(axis=1).sum() + lam * np.abs(coef).sum())
    flow = np.maximum(alpha, 0.0)
    flow[each, y] = 0.0
    flow = flow / np.maximum(1.0, flow.sum(axis=1, keepdims=True))
    signed = -flow
    signed[each, y] += flow.sum(axis=1)
    worst = float(np.abs(X.T @ signed).max(initial=0.0))
    scale = min(1.0, lam / worst if worst > 0 else 1.0)
    unbalanced = float(np.abs(signed.sum(axis=0)).sum())
    charge = 2.0 * (float(np.abs(intercept).max(initial=0.0)) + 1.0) * unbalanced
    return upper, scale * (float(flow.sum()) - charge)


def _wrong_classes(y: np.ndarray, n_classes: int) -> np.ndarray:
    table = np.array([[c for c in range(n_classes) if c != own] for own in range(n_classes)])
    return table[y]


def _multi_columns(
    X: Matrix, y: np.ndarray, wrong: np.ndarray, n_classes: int
) -> sparse.csr_matrix:
    """One row a (sample, wrong class): +x in the own class's block, -x in the wrong one's."""
    n, m = X.shape
    others = n_classes - 1
    repeated = sparse.csr_matrix(X)[np.repeat(np.arange(n), others)]
    place = np.repeat(np.arange(n * others), np.diff(repeated.indptr))
    own, other = np.repeat(y, others), wrong.ravel()
    shape = (n * others, n_classes * m)
    plus = sparse.csr_matrix(
        (repeated.data, repeated.indices + m * own[place], repeated.indptr), shape=shape
    )
    minus = sparse.csr_matrix(
        (repeated.data, repeated.indices + m * other[place], repeated.indptr), shape=shape
    )
    lines = np.arange(n * others)
    ones = np.ones(n * others)
    narrow = (n * others, n_classes)
    balance = sparse.csr_matrix((ones, (lines, own)), shape=narrow) - sparse.csr_matrix(
        (ones, (lines, other)), shape=narrow
    )
    sums = sparse.csr_matrix(
        (ones, (lines, np.repeat(np.arange(n), others))), shape=(len(lines), n)
    )
    return sparse.csr_matrix(sparse.hstack([balance, plus - minus, sums]))
