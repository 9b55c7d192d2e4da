"""CBC as solver of the restricted problem, through PuLP or an MPS file of our own.

Both paths hand the same model to the same binary and get the same check. CBC prints
eight digits, so the check is made at 1e-5; METHODS knows one model that CBC calls
'Optimal' .013 off, which is why a failed check is solved again with other options.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TextIO, TypeVar

import numpy as np
import scipy.sparse as sp

from marginlab.errors import SolverError
from marginlab.mrc.cbc_binary import cbc_path, run_cbc, scratch_folder
from marginlab.mrc.features import Matrix
from marginlab.mrc.lp import (
    BudgetError,
    LpSolution,
    RangedLp,
    RestrictedLp,
    accept_first,
    checked,
    horizontal,
    vertical,
)

__all__ = ["CbcMaster", "CbcMpsMaster", "solve_cbc", "write_mps"]

T = TypeVar("T")
Answer = tuple[np.ndarray, np.ndarray]  # row multipliers, variables

TOLERANCE = 1e-5
PULP_BYTES_PER_ENTRY = 600  # measured: 7 GB for 11.5 million entries
ATTEMPTS: list[tuple[str, list[str]]] = [
    ("default options", []),
    ("primal simplex", ["primalS"]),
    ("tolerances 1e-9", ["primalT 1e-9", "dualT 1e-9", "primalS"]),
    ("no scaling or presolve", ["scaling off", "presolve off", "primalT 1e-9", "dualT 1e-9"]),
]


def solve_cbc(
    lp: RangedLp,
    check: Callable[[np.ndarray, np.ndarray], T],
    seconds: float = float("inf"),
    interface: str = "pulp",
    memory_mb: float | None = None,
) -> T:
    """Solve one linear program with CBC.

    Parameters
    ----------
    lp : RangedLp
    check : callable
        Turns (row multipliers, variables) into the result, or raises SolverError.
    seconds : float
        Wall time budget.
    interface : {"pulp", "mps"}
        Build the model with PuLP, or write an MPS file straight from the arrays.
    memory_mb : float, optional
        Memory budget in MiB.

    Raises
    ------
    BudgetError
        If a budget does not suffice.
    SolverError
        If no set of options gives an answer that passes its check.
    """
    run = {"pulp": _through_pulp, "mps": _through_mps}[interface]
    binary = cbc_path()

    def attempt(options: list[str]) -> Callable[[], T]:
        return lambda: check(*run(binary, lp, options, seconds, memory_mb))

    return accept_first((name, attempt(options)) for name, options in ATTEMPTS)


class CbcMaster:
    """Restricted problem solved from scratch by CBC in each round."""

    interface = "pulp"

    def __init__(self, rows: Matrix, b: np.ndarray, tau: np.ndarray, lam: np.ndarray) -> None:
        self.lp = RestrictedLp(rows, b, tau, lam)
        self._alpha = np.zeros(len(b))

    def add_constraints(self, rows: Matrix, b: np.ndarray) -> None:
        """Append constraints."""
        lp = self.lp
        self.lp = RestrictedLp(vertical([lp.rows, rows]), np.concatenate([lp.b, b]), lp.tau, lp.lam)

    def add_features(self, columns: Matrix, tau: np.ndarray, lam: np.ndarray) -> None:
        """Append features."""
        lp = self.lp
        tau, lam = np.concatenate([lp.tau, tau]), np.concatenate([lp.lam, lam])
        self.lp = RestrictedLp(horizontal([lp.rows, columns]), lp.b, tau, lam)

    def drop_constraints(self, keep: np.ndarray) -> None:
        """Keep only some constraints."""
        lp = self.lp
        self.lp = RestrictedLp(lp.rows[keep], lp.b[keep], lp.tau, lp.lam)

    def basic(self) -> np.ndarray:
        """Constraints with weight in the last solution."""
        return self._alpha > 0

    def solve(self, seconds: float) -> LpSolution:
        """Solve from scratch, check, and try other options on a failed check."""
        lp = self.lp

        def check(dual: np.ndarray, weights: np.ndarray) -> LpSolution:
            return checked(lp, dual[1:], weights, TOLERANCE)

        solution = solve_cbc(lp.ranged(), check, seconds, self.interface)
        self._alpha = solution.alpha
        return solution


class CbcMpsMaster(CbcMaster):
    """The same, through an MPS file written from the arrays."""

    interface = "mps"


def _through_pulp(
    binary: str, lp: RangedLp, options: list[str], seconds: float, memory_mb: float | None
) -> Answer:
    import pulp

    _fits(lp, memory_mb)
    model = pulp.LpProblem("mrc", pulp.LpMinimize)
    x = [pulp.LpVariable(f"c{i}", 0.0) for i in range(len(lp.cost))]
    model += pulp.LpAffineExpression(list(zip(x, lp.cost.tolist(), strict=True)))
    # PuLP has no ranged rows: a bounded slack variable takes the range.
    width = (lp.high - lp.low).tolist()
    for j, (variables, values) in enumerate(_by_row(lp.columns, x)):
        pairs = list(zip(variables, values, strict=True))
        if width[j] > 0:
            slack = pulp.LpVariable(f"s{j}", 0.0, None if np.isinf(width[j]) else width[j])
            pairs.append((slack, -1.0))
        # A list of pairs, never lpSum: that one is 20 times slower.
        expression = pulp.LpAffineExpression(pairs)
        model.addConstraint(
            pulp.LpConstraint(expression, pulp.LpConstraintEQ, f"r{j}", float(lp.low[j]))
        )
    limit = None if seconds == float("inf") else max(seconds, 0.01)
    solver = pulp.COIN_CMD(
        mip=False, msg=False, path=binary, options=options, timeLimit=limit, threads=1
    )
    with scratch_folder() as folder:
        solver.tmpDir = str(folder)
        try:
            model.solve(solver)
        except pulp.PulpSolverError as error:
            raise SolverError(f"PuLP could not run CBC at '{binary}': {error}") from None
    # A run that was stopped reports status Optimal; only sol_status tells.
    if model.sol_status != pulp.LpSolutionOptimal:
        if limit is not None and model.status in (pulp.LpStatusNotSolved, pulp.LpStatusOptimal):
            raise BudgetError("no solution within the time budget (CBC through PuLP)")
        raise SolverError(f"CBC ended with '{pulp.LpStatus[model.status]}'")
    dual = [model.constraints[f"r{j}"].pi or 0.0 for j in range(len(lp.low))]
    return np.array(dual), np.array([v.varValue or 0.0 for v in x])


def _by_row(columns: Matrix, variables: list) -> list[tuple[list, list[float]]]:
    """Per row of the program, its variables and their entries."""
    if not sp.issparse(columns):
        return [(variables, row.tolist()) for row in columns.T]
    by_row = sp.csc_array(columns)
    cuts = zip(by_row.indptr[:-1], by_row.indptr[1:], strict=True)
    return [
        ([variables[i] for i in by_row.indices[a:z]], by_row.data[a:z].tolist()) for a, z in cuts
    ]


def _fits(lp: RangedLp, memory_mb: float | None) -> None:
    entries = lp.columns.nnz if sp.issparse(lp.columns) else lp.columns.size
    need = entries * PULP_BYTES_PER_ENTRY / 2**20
    if memory_mb is not None and need > memory_mb:
        raise BudgetError(
            f"no solution within the memory budget of {memory_mb:g} MB "
            f"(the PuLP model needs about {need:.0f} MB)"
        )


def _through_mps(
    binary: str, lp: RangedLp, options: list[str], seconds: float, memory_mb: float | None
) -> Answer:
    with scratch_folder() as folder:
        model, answer = folder / "mrc.mps", folder / "mrc.sol"
        write_mps(lp, model)
        flags = [part for option in options for part in f"-{option}".split()]
        arguments = [str(model), *flags, "-initialSolve", "-printingOptions", "all"]
        run_cbc(binary, [*arguments, "-solution", str(answer)], seconds, memory_mb)
        if not answer.exists():
            raise SolverError("CBC wrote no solution")
        return _read_solution(answer, lp)


def write_mps(lp: RangedLp, path: Path) -> None:
    """Write the program as a free MPS file; rows are ``low + range``."""
    low, width = lp.low.tolist(), (lp.high - lp.low).tolist()
    with open(path, "w") as out:
        out.write("NAME mrc\nROWS\n N z\n")
        out.writelines(f" {'G' if w > 0 else 'E'} r{j}\n" for j, w in enumerate(width))
        out.write("COLUMNS\n")
        _write_columns(lp, out)
        out.write("RHS\n")
        out.writelines(f" h r{j} {v!r}\n" for j, v in enumerate(low) if v)
        out.write("RANGES\n")
        out.writelines(f" g r{j} {w!r}\n" for j, w in enumerate(width) if 0 < w < np.inf)
        out.write("ENDATA\n")


def _write_columns(lp: RangedLp, out: TextIO) -> None:
    cost = lp.cost.tolist()
    if sp.issparse(lp.columns):
        packed = sp.csr_array(lp.columns)
        for i, c in enumerate(cost):
            cut = slice(packed.indptr[i], packed.indptr[i + 1])
            pairs = zip(packed.indices[cut].tolist(), packed.data[cut].tolist(), strict=True)
            out.write(f" c{i} z {c!r}\n" + "".join(f" c{i} r{j} {v!r}\n" for j, v in pairs))
        return
    # One template per column: the whole column is formatted by one call.
    template = " @ z %.17g\n" + "".join(f" @ r{j} %.17g\n" for j in range(len(lp.low)))
    for i, c in enumerate(cost):
        out.write(template.replace("@", f"c{i}") % (c, *lp.columns[i].tolist()))


def _read_solution(answer: Path, lp: RangedLp) -> Answer:
    dual, x = np.zeros(len(lp.low)), np.zeros(len(lp.cost))
    with open(answer) as lines:
        first = next(lines)
        if first.startswith("Stopped on time"):
            raise BudgetError("no solution within the time budget (CBC)")
        if not first.startswith("Optimal"):
            raise SolverError(f"CBC ended with '{first.split(' - ')[0].strip()}'")
        for line in lines:
            parts = line.replace("**", "").split()
            kind, number = parts[1][0], int(parts[1][1:])
            if kind == "r":
                dual[number] = float(parts[3])
            else:
                x[number] = float(parts[2])
    return dual, x
