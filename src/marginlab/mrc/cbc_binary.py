"""Finding, testing and running the CBC binary, with budgets and exact error texts."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from marginlab.errors import SolverError
from marginlab.mrc.lp import BudgetError

__all__ = ["cbc_path", "run_cbc", "scratch_folder", "self_test"]

ENVIRONMENT = "MARGINLAB_CBC"
TINY_MPS = """NAME tiny
ROWS
 N cost
 G need
COLUMNS
 x cost 2 need 1
 y cost 3 need 1
RHS
 rhs need 4
ENDATA
"""


def cbc_path() -> str:
    """Path of a CBC that passed the self-test.

    The environment variable ``MARGINLAB_CBC`` comes first, then the binary that
    PuLP carries, then ``cbc`` on the search path.

    Raises
    ------
    SolverError
        If there is none, it may not be executed, or it fails a two-variable problem.
    """
    named = os.environ.get(ENVIRONMENT)
    candidates = [named] if named else [_bundled(), shutil.which("cbc")]
    found = next((c for c in candidates if c and Path(c).is_file()), None)
    if found is None:
        where = f" at '{named}' ({ENVIRONMENT})" if named else ""
        raise SolverError(
            f"CBC was not found{where}: run 'pip install pulp', or set {ENVIRONMENT} to the "
            "path of a cbc binary, or use solver='highs'."
        )
    if not os.access(found, os.X_OK):
        raise SolverError(
            f"CBC at '{found}' is not executable: run 'chmod +x {found}', or use solver='highs'."
        )
    self_test(found)
    return found


@lru_cache(maxsize=8)
def self_test(path: str) -> None:
    """Solve a two-variable problem of known value, once per binary and process."""
    with scratch_folder() as folder:
        model, answer = folder / "tiny.mps", folder / "tiny.sol"
        model.write_text(TINY_MPS)
        run_cbc(path, [str(model), "-initialSolve", "-solution", str(answer)], 60.0)
        first = answer.read_text().split("\n", 1)[0] if answer.exists() else "no answer"
    if not first.startswith("Optimal") or abs(float(first.split()[-1]) - 8.0) > 1e-6:
        raise SolverError(
            f"CBC at '{path}' failed its self-test (value 8 expected, got '{first}'): "
            "install PuLP again, or use solver='highs'."
        )


def run_cbc(
    path: str, arguments: list[str], seconds: float, memory_mb: float | None = None
) -> None:
    """Run CBC; a crash, a missing permission or an overrun becomes one sentence.

    Parameters
    ----------
    path : str
    arguments : list of str
    seconds : float
        Wall time after which CBC is stopped.
    memory_mb : float, optional
        Address space allowed to CBC, in MiB.
    """
    limit = None if memory_mb is None else int(memory_mb * 2**20)

    def confine() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    try:
        done = subprocess.run(
            [path, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=None if seconds == float("inf") else max(seconds, 0.01),
            preexec_fn=confine,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise BudgetError("no solution within the time budget (CBC)") from None
    except OSError as error:
        raise SolverError(f"CBC at '{path}' could not be started: {error.strerror}.") from None
    if done.returncode != 0:
        text = done.stdout.decode(errors="replace")
        if limit is not None and ("bad_alloc" in text or done.returncode < 0):
            raise BudgetError(f"no solution within the memory budget of {memory_mb:g} MB (CBC)")
        raise SolverError(f"CBC at '{path}' ended with code {done.returncode}")


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A temporary folder whose path has no blank (CBC splits its command at blanks)."""
    choices = [tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", os.getcwd()]
    usable = [c for c in choices if " " not in c and os.path.isdir(c) and os.access(c, os.W_OK)]
    if not usable:
        raise SolverError(
            "CBC needs a writable temporary folder without blanks in its path: set TMPDIR to one."
        )
    folder = tempfile.mkdtemp(prefix="marginlab-cbc-", dir=usable[0])
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _bundled() -> str | None:
    try:
        import pulp
    except ImportError:
        return None
    return str(Path(pulp.PULP_CBC_CMD.pulp_cbc_path).resolve())
