"""Files that are written whole or not at all."""

from __future__ import annotations

import glob
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:  # pandas takes a second to import, and most jobs do without it
    import pandas as pd

__all__ = ["atomic_path", "write_csv", "write_npz", "write_text"]

_TAIL = 40  # characters of the name that the temporary name keeps: names end at 255 bytes


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Temporary path beside ``path`` that takes its name when the block ends well.

    Parameters
    ----------
    path : str or Path
        The final file; its folder is made when missing.

    Yields
    ------
    Path
        Where to write. It keeps the suffix of ``path``, since writers look at it.
    """
    final = Path(path)
    final.parent.mkdir(parents=True, exist_ok=True)
    _sweep(final)
    prefix = f".part-{_host()}-{os.getpid()}-"
    handle, name = tempfile.mkstemp(f"-{final.name[-_TAIL:]}", prefix, final.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o644)
        temporary.replace(final)
    finally:
        temporary.unlink(missing_ok=True)


def _host() -> str:
    return socket.gethostname().replace("-", "_").replace("/", "_")[:40] or "host"


def _sweep(final: Path) -> None:
    """Remove what a killed process of this machine left of the same file."""
    pattern = f".part-{glob.escape(_host())}-*-{glob.escape(final.name[-_TAIL:])}"
    for left in final.parent.glob(pattern):
        owner = left.name.split("-")[2]
        if owner.isdigit() and not _alive(int(owner)):
            left.unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        if os.name == "posix":  # elsewhere there is no signal that only asks
            os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to somebody else
        return True
    return True


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8 with Unix line ends, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_csv(frame: pd.DataFrame, path: str | Path) -> None:
    """Write a frame without its index; ten digits, so that the last bits do not show."""
    with atomic_path(path) as temporary:
        frame.to_csv(temporary, index=False, float_format="%.10g", lineterminator="\n")


def write_npz(path: str | Path, **arrays: Any) -> None:
    """Write arrays as .npz (no pickle, no time stamps: the same bytes each time)."""
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise TypeError(f"array {name!r} holds Python objects; store numbers or strings")
    with atomic_path(path) as temporary:
        np.savez(temporary, **arrays)
