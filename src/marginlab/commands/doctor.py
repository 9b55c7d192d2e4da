"""``marginlab doctor``: does everything that marginlab needs work on this machine?"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from marginlab import __version__
from marginlab.commands.console import Console
from marginlab.errors import MarginlabError
from marginlab.mrc.quiet import silent_stdout

__all__ = ["checks", "run"]

_PACKAGES = (
    *("numpy", "scipy", "scikit-learn", "numba", "cvxopt", "pulp", "highspy"),
    *("pandas", "matplotlib", "pooch", "pyarrow", "pyyaml", "jsonschema", "threadpoolctl"),
)
_NEEDED_FREE = 2 * 2**30
Check = Callable[[], str]


class _Problem(Exception):
    """A check that failed: what is wrong and what to do."""


def run(args: argparse.Namespace) -> int:
    """Run the command; see ``marginlab doctor --help``."""
    console = Console(args)
    found = []
    for name, check in console.progress(list(checks().items()), "checks"):
        ok, detail = _try(check)
        found.append({"check": name, "ok": ok, "detail": detail})
    width = max(len(str(entry["check"])) for entry in found)
    lines = [
        f"{'ok     ' if entry['ok'] else 'problem'}  {str(entry['check']).ljust(width)}  "
        f"{entry['detail']}"
        for entry in found
    ]
    failed = sum(not entry["ok"] for entry in found)
    lines.append("everything works" if not failed else f"{failed} of {len(found)} checks failed")
    console.result({"marginlab": __version__, "checks": found, "failed": failed}, "\n".join(lines))
    return 1 if failed else 0


def checks() -> dict[str, Check]:
    """All checks by name, each a function that returns a detail or raises."""
    return {
        "python": _python,
        "packages": _packages,
        "CBC": _cbc,
        "HiGHS": _highs,
        "cvxopt": _cvxopt,
        "SVM solver": _svm,
        "threads": _threads,
        "BLAS": _blas,
        "registry": _registry,
        "mirror folder": _mirror,
        "cache folder": _cache,
        "temporary folder": _temporary,
    }


def _try(check: Check) -> tuple[bool, str]:
    try:
        with silent_stdout():
            return True, check()
    except (_Problem, MarginlabError) as error:
        return False, str(error)
    except Exception as error:  # a broken installation can fail in any way
        detail = " ".join(str(error).split())[:160]
        return False, f"{type(error).__name__}: {detail}; install marginlab's packages again"


def _python() -> str:
    version = ".".join(map(str, sys.version_info[:3]))
    return f"{version}, marginlab {__version__}"


def _packages() -> str:
    versions, missing = [], []
    for name in _PACKAGES:
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            missing.append(name)
    if missing:
        raise _Problem(f"not installed: {', '.join(missing)}; run pip install {' '.join(missing)}")
    return ", ".join(versions)


def _cbc() -> str:
    from marginlab.mrc.cbc_binary import cbc_path

    return f"solved the test problem ({cbc_path()})"


def _highs() -> str:
    import highspy
    import numpy as np

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    for cost in (2.0, 3.0):
        solver.addCol(cost, 0.0, np.inf, 0, np.empty(0, np.int32), np.empty(0))
    # min 2x + 3y subject to x + y >= 4: the least cost is 8
    solver.addRow(4.0, np.inf, 2, np.array([0, 1], np.int32), np.array([1.0, 1.0]))
    solver.run()
    value = solver.getInfo().objective_function_value
    if abs(value - 8.0) > 1e-9:
        raise _Problem(f"gave {value} where 8 is right; install highspy again")
    return f"solved the test problem (version {solver.version()})"


def _cvxopt() -> str:
    import cvxopt

    cvxopt.solvers.options["show_progress"] = False
    matrix = cvxopt.matrix
    # min x^2 + y^2 subject to x + y = 1: 1/2 at (1/2, 1/2)
    answer = cvxopt.solvers.qp(
        matrix([[2.0, 0.0], [0.0, 2.0]]),
        matrix([0.0, 0.0]),
        A=matrix([[1.0], [1.0]]),
        b=matrix([1.0]),
    )
    value = float(answer["primal objective"])
    if answer["status"] != "optimal" or abs(value - 0.5) > 1e-7:
        raise _Problem(f"gave {value} where 0.5 is right; install cvxopt again")
    return "solved the test problem"


def _svm() -> str:
    import numpy as np

    from marginlab.subsvms import SubSVMs
    from marginlab.svm.weighted import WeightedSVC

    X = np.array([[0.0, 0.1], [0.2, 0.0], [0.1, 0.2], [2.0, 2.1], [2.2, 2.0], [2.1, 2.2]])
    y = np.array([0, 0, 0, 1, 1, 1])
    votes = SubSVMs(n_svms=20, random_state=0).fit(X, y)
    machine = WeightedSVC(C=10.0).fit(X, y)
    worst = max(float(votes.kkt_residual_), float(machine.kkt_residual_))
    if worst > 1e-5 or (machine.predict(X) != y).any():
        raise _Problem(
            f"optimality conditions missed by {worst:.1e}; install numba and numpy again"
        )
    return f"optimality conditions met to {worst:.0e}"


def _threads() -> str:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    named = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    wrong = [n for n in named if not os.environ.get(n, "1").isdigit() or os.environ.get(n) == "0"]
    if wrong:
        raise _Problem(f"{wrong[0]} is {os.environ[wrong[0]]!r}; set it to a whole number or unset")
    given = ", ".join(f"{name}={os.environ[name]}" for name in named if name in os.environ)
    return f"{cores} cores; {given or 'no limits set in the environment'}"


def _blas() -> str:
    import numpy  # noqa: F401  (loads the library that is looked for)
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    if not pools:
        return "none that threadpoolctl knows; results may differ in the last digits"
    return "; ".join(
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', 'unknown')}, "
        f"{pool['num_threads']} threads)"
        for pool in pools
    )


def _registry() -> str:
    from marginlab.datasets.fetch import can_be_had
    from marginlab.datasets.registry import load_registry

    names = list(load_registry().datasets)
    reach = sum(can_be_had(name)[0] for name in names)
    return f"{reach} of {len(names)} data sets can be had here (marginlab datasets list)"


def _mirror() -> str:
    named = os.environ.get("MARGINLAB_MIRROR", "")
    if not named:
        return "none named (optional): MARGINLAB_MIRROR"
    if not Path(named).is_dir():
        raise _Problem(f"MARGINLAB_MIRROR is {named}, which is no folder; mend or unset it")
    return str(Path(named).resolve())


def _cache() -> str:
    from marginlab.datasets.fetch import Sources

    folder = Sources.find().cache
    return _writable(folder, "name another by MARGINLAB_CACHE")


def _temporary() -> str:
    return _writable(Path(tempfile.gettempdir()), "name another by TMPDIR")


def _writable(folder: Path, remedy: str) -> str:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            pass
        space = os.statvfs(folder)
    except OSError as error:
        raise _Problem(f"{folder} cannot be written ({error.strerror}); {remedy}") from None
    free = space.f_bavail * space.f_frsize
    if free < _NEEDED_FREE:
        raise _Problem(f"{folder} has only {free / 2**30:.1f} GB free; make room, or {remedy}")
    return f"{folder} is writable, {free / 2**30:.0f} GB free"
