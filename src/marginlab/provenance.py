"""Where a result comes from: the code behind it and the machine it ran on."""

from __future__ import annotations

import ast
import hashlib
import os
import platform
import subprocess
import sys
from functools import lru_cache
from importlib import metadata
from pathlib import Path

__all__ = ["environment", "imported_modules", "library_hash"]

_SRC = Path(__file__).resolve().parents[1]
_PACKAGES = (
    "snakemake",
    "numpy",
    "scipy",
    "scikit-learn",
    "cvxopt",
    "pulp",
    "highspy",
    "numba",
    "pandas",
    "matplotlib",
)


def library_hash(script: str | Path) -> str:
    """Hash over a script and every marginlab module that it imports, however deep.

    Snakemake notices an edited script but not an edited module behind it; a rule
    that carries this hash among its parameters reruns after such an edit.

    Parameters
    ----------
    script : str or Path
        A Python file in the folder that holds the package.
    """
    digest = hashlib.sha256()
    for path in imported_modules(Path(script)):
        digest.update(path.name.encode())
        digest.update(_content(path))
    return digest.hexdigest()[:16]


def imported_modules(script: Path) -> list[Path]:
    """The script and the marginlab modules behind it, sorted by path."""
    seen: set[Path] = set()
    queue = [script.resolve()]
    while queue:
        path = queue.pop()
        if path not in seen:
            seen.add(path)
            queue.extend(_imports(path))
    return sorted(seen)


@lru_cache(maxsize=None)
def _content(path: Path) -> bytes:
    return path.read_bytes()


@lru_cache(maxsize=None)
def _imports(path: Path) -> tuple[Path, ...]:
    found: list[Path] = []
    for node in ast.walk(ast.parse(_content(path))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            if name == "marginlab" or name.startswith("marginlab."):
                found.extend(_files_of(name))
    return tuple(found)


def _files_of(module: str) -> list[Path]:
    base = _SRC.joinpath(*module.split("."))
    candidates = (base.with_suffix(".py"), base / "__init__.py")
    return [path.resolve() for path in candidates if path.is_file()]


def environment() -> dict[str, str]:
    """Versions, processor, BLAS threads and commit, for the report's provenance table."""
    facts = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "commit": _commit(),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "not set"),
    }
    for name in _PACKAGES:
        try:
            facts[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            facts[name] = "not installed"
    facts.update(_blas())
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    command = ["git", "-C", str(_SRC), "describe", "--always", "--dirty", "--abbrev=12"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return "unknown (not a git checkout)"
    return done.stdout.strip()


def _blas() -> dict[str, str]:
    import numpy  # noqa: F401  (loads the BLAS that is to be named)
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool.get("user_api") == "blas"]
    return {
        f"blas {index}": f"{pool.get('internal_api')} {pool.get('version')} "
        f"({pool.get('architecture')}, {pool.get('num_threads')} threads)"
        for index, pool in enumerate(pools)
    } | {"executable": Path(sys.executable).name}
