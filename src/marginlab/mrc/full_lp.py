"""MRC-LP: the linear program (6) with all its n (2^|Y| - 1) constraints at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from marginlab.mrc.certificate import lower_bound, pair_weights, upper_bound
from marginlab.mrc.estimates import MrcProblem
from marginlab.mrc.features import Matrix
from marginlab.mrc.history import Clock, History, MrcResult
from marginlab.mrc.lp import BudgetError, LpSolution, RangedLp, RestrictedLp, checked
from marginlab.mrc.lp_cbc import TOLERANCE as CBC_TOLERANCE
from marginlab.mrc.lp_cbc import solve_cbc
from marginlab.mrc.lp_highs import TOLERANCE as HIGHS_TOLERANCE
from marginlab.mrc.lp_highs import solve_highs

__all__ = ["SOLVERS", "all_constraints", "all_subsets", "solve_full_lp", "solve_ranged"]

# Solver name -> how it is run; "highs-ipm" is HiGHS's interior point with crossover,
# "cbc-mps" the CBC binary on an MPS file written straight from the arrays.
SOLVERS = ("highs", "highs-ipm", "cbc", "cbc-mps")
T = TypeVar("T")
BYTES_PER_ENTRY = 60  # matrix in CSR, its transpose and the solver's own copy


def all_subsets(n_classes: int) -> np.ndarray:
    """All non-empty subsets of the labels, bool array of shape (2^|Y| - 1, |Y|)."""
    codes = np.arange(1, 2**n_classes)
    return (codes[:, None] >> np.arange(n_classes)) & 1 == 1


def all_constraints(problem: MrcProblem) -> tuple[np.ndarray, np.ndarray]:
    """Samples and subsets of every constraint of (6), repeated zero rows left out.

    With two labels the pair {1, 2} gives the same row (nu >= 1/2) for each sample.
    """
    n, k = problem.phi.n_samples, problem.n_classes
    if k == 2:
        samples = np.concatenate([np.repeat(np.arange(n), 2), [0]])
        subsets = np.vstack([np.tile(np.eye(2, dtype=bool), (n, 1)), [[True, True]]])
        return samples, subsets
    subsets = all_subsets(k)
    return np.repeat(np.arange(n), len(subsets)), np.tile(subsets, (n, 1))


def solve_full_lp(
    problem: MrcProblem,
    solver: str = "highs",
    seconds: float = float("inf"),
    memory_mb: float | None = None,
) -> MrcResult:
    """Solve (6) with all constraints and features.

    Parameters
    ----------
    problem : MrcProblem
    solver : {"highs", "highs-ipm", "cbc", "cbc-mps"}
    seconds : float
        Wall time budget.
    memory_mb : float, optional
        Memory budget in MiB.

    Raises
    ------
    BudgetError
        If a budget does not suffice.
    SolverError
        If no answer passes its check.
    """
    clock, history = Clock(seconds), History()
    _fits(problem, memory_mb)
    samples, subsets = all_constraints(problem)
    rows = _packed_rows(problem, samples, subsets)
    lp = RestrictedLp(rows, 1.0 / subsets.sum(axis=1) - 1.0, problem.tau, problem.lam)
    tolerance = CBC_TOLERANCE if solver.startswith("cbc") else HIGHS_TOLERANCE

    def check(dual: np.ndarray, weights: np.ndarray) -> LpSolution:
        return checked(lp, dual[1:], weights, tolerance)

    solution = solve_ranged(lp.ranged(), check, solver, clock.left(), memory_mb)
    upper = upper_bound(problem, solution.mu)
    weights = pair_weights(problem.phi.n_samples, samples, subsets, solution.alpha)
    lower, violation = lower_bound(problem, problem.phi, weights)
    size = {"constraints": len(samples), "features": problem.phi.n_features}
    history.add(clock, risk=solution.risk, lower=lower, upper=upper, violation=0.0, **size)
    return MrcResult(solution.mu, solution.risk, lower, upper, violation, history.frame())


def solve_ranged(
    lp: RangedLp,
    check: Callable[[np.ndarray, np.ndarray], T],
    solver: str,
    seconds: float,
    memory_mb: float | None,
) -> T:
    """Run ``lp`` through the solver of that name (see `SOLVERS`)."""
    if solver.startswith("cbc"):
        interface = "mps" if solver == "cbc-mps" else "pulp"
        return solve_cbc(lp, check, seconds, interface, memory_mb)
    return solve_highs(lp, check, seconds, "ipm" if solver == "highs-ipm" else "simplex")


def _packed_rows(problem: MrcProblem, samples: np.ndarray, subsets: np.ndarray) -> Matrix:
    """All rows; one-hot blocks are packed chunk by chunk, so zeros are never held."""
    if problem.n_classes == 2:
        return problem.phi.rows(samples, subsets)
    chunk = max(1, 2**22 // problem.phi.n_features)
    parts = [
        sp.csr_array(problem.phi.rows(samples[a : a + chunk], subsets[a : a + chunk]))
        for a in range(0, len(samples), chunk)
    ]
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _fits(problem: MrcProblem, memory_mb: float | None) -> None:
    if memory_mb is None:
        return
    psi, k = problem.phi.psi, problem.n_classes
    entries = float(psi.nnz if sp.issparse(psi) else psi.size)
    entries *= 2.0 if k == 2 else k * 2.0 ** (k - 1)
    need = entries * BYTES_PER_ENTRY / 2**20
    if need > memory_mb:
        raise BudgetError(
            f"no solution within the memory budget of {memory_mb:g} MB: all constraints of "
            f"{problem.phi.n_samples} samples and {k} labels need about {need:.3g} MB"
        )
