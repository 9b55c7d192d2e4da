"""Files that are written whole or not at all."""

from __future__ import annotations

import bz2
import errno
import glob
import gzip
import lzma
import os
import shutil
import socket
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marginlab.errors import UserError

if TYPE_CHECKING:  # pandas takes a second to import, and most jobs do without it
    import pandas as pd

__all__ = [
    "atomic_path",
    "check_target",
    "compressed",
    "named_errors",
    "write_csv",
    "write_npz",
    "write_text",
]

_TAIL = 40  # characters of the name that the temporary name keeps: names end at 255 bytes
_SLASHES = tuple(mark for mark in (os.sep, os.altsep) if mark)
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def atomic_path(path: str | Path) -> Iterator[Path]:
    """Temporary path beside ``path`` that takes its name when the block ends well.

    A link stays: what it points to is replaced. A file that is replaced keeps its mode.
    A FIFO or a device is not replaced but written to, once the block has ended well.

    Parameters
    ----------
    path : str or Path
        The final file; its folder is made when missing.

    Yields
    ------
    Path
        Where to write. It keeps the suffix of ``path``, since writers look at it.

    Raises
    ------
    UserError
        If ``path`` is a folder.
    OSError
        Named by ``path``, never by the temporary path.
    """
    temporary = None
    try:
        status = _status(path)
        special = status is not None and not stat.S_ISREG(status.st_mode)
        folder = Path(tempfile.gettempdir()) if special else Path(os.path.realpath(path)).parent
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder, Path(path).name)
        temporary = _part(folder, Path(path).name, None if special else status)
        yield temporary
        if special:
            _pour(temporary, path)
        else:
            if status is not None:
                temporary.chmod(stat.S_IMODE(status.st_mode))
            temporary.replace(os.path.realpath(path))
    except OSError as error:
        if _ours(error, temporary):
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        if temporary is not None:
            temporary.unlink(missing_ok=True)


def check_target(path: str | Path) -> None:
    """Refuse early what `atomic_path` could not write in the end.

    Raises
    ------
    UserError
        If ``path`` is a folder or write-protected, or if its folder is missing or takes
        no file.
    """
    try:
        status = _status(path)
        if status is not None and not os.access(path, os.W_OK):
            raise UserError(f"{path} is write-protected; name another file")
        if status is not None and stat.S_ISSOCK(status.st_mode):
            raise UserError(f"{path} is a socket; name a file")
        if status is not None and not stat.S_ISREG(status.st_mode):
            return
        folder = Path(os.path.realpath(path)).parent
        if not folder.is_dir():
            raise UserError(f"{path} lies in a folder that does not exist; make {folder} first")
        _part(folder, Path(path).name, None).unlink()
    except OSError as error:
        raise UserError(
            f"{path} cannot be written ({error.strerror or error}); name a file elsewhere"
        ) from None


@contextmanager
def named_errors(name: str) -> Iterator[None]:
    """Give an OSError of the block that names no file the name of what is written."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = name
        raise


def compressed(data: bytes, path: str | Path) -> bytes:
    """``data`` as the ending of ``path`` wants it: .gz, .bz2, .xz, or as it is."""
    ending = Path(path).suffix.lower()
    if ending == ".gz":
        return gzip.compress(data, mtime=0)  # no time stamp: the same bytes each time
    if ending == ".bz2":
        return bz2.compress(data)
    return lzma.compress(data) if ending == ".xz" else data


def _status(path: str | Path) -> os.stat_result | None:
    """What is there, through links; None if nothing is, or at the end of a link."""
    if str(path).endswith(_SLASHES) or Path(path).is_dir():
        raise UserError(f"{path} is a folder; name a file")
    try:
        return os.stat(path)
    except FileNotFoundError:
        return None


def _part(folder: Path, name: str, replaced: os.stat_result | None) -> Path:
    # The mode is given on opening, so that the process's umask counts and what a
    # private file holds is private from the first byte on.
    mode = 0o666 if replaced is None else (replaced.st_mode & 0o777) | 0o600
    prefix = f".part-{_host()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    part = folder / f"{prefix}-{name[-_TAIL:]}"
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    return part


def _pour(temporary: Path, path: str | Path) -> None:
    # Without O_CREAT: Linux forbids it on another user's FIFO in /tmp.
    with temporary.open("rb") as source, open(os.open(path, os.O_WRONLY), "wb") as target:
        shutil.copyfileobj(source, target)


def _ours(error: OSError, temporary: Path | None) -> bool:
    """Whether an error is about the file that is written, not about one that is read."""
    if temporary is None or error.filename is None:
        return temporary is None or error.errno in _FULL
    return str(error.filename) == str(temporary)


def _host() -> str:
    return socket.gethostname().replace("-", "_").replace("/", "_")[:40] or "host"


def _sweep(folder: Path, name: str) -> None:
    """Remove what a killed process of this machine left of the same file."""
    pattern = f".part-{glob.escape(_host())}-*-{glob.escape(name[-_TAIL:])}"
    for left in folder.glob(pattern):
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
    """Write a frame without its index; ten digits, so that the last bits do not show.

    Compressed if ``path`` ends in .gz, .bz2 or .xz; cells are apart by tabs in a .tsv.
    """
    mark = "\t" if ".tsv" in [ending.lower() for ending in Path(path).suffixes[-2:]] else ","
    text = frame.to_csv(None, sep=mark, index=False, float_format="%.10g", lineterminator="\n")
    with atomic_path(path) as temporary:
        temporary.write_bytes(compressed(text.encode(), path))


def write_npz(path: str | Path, **arrays: Any) -> None:
    """Write arrays as .npz (no pickle, no time stamps: the same bytes each time)."""
    for name, array in arrays.items():
        if np.asarray(array).dtype.hasobject:
            raise TypeError(f"array {name!r} holds Python objects; store numbers or strings")
    with atomic_path(path) as temporary:
        np.savez(temporary, **arrays)
