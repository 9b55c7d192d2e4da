"""Where Numba keeps compiled code when neither the source nor the home folder can be written.

Numba refuses to compile a cached function where it finds no folder to write to, as in a
container with a read-only file system; a private temporary folder does.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

__all__ = ["ensure_cache_folder", "private_folder"]

_VARIABLE = "NUMBA_CACHE_DIR"


def ensure_cache_folder(source: Path = Path(__file__).parent) -> None:
    """Set NUMBA_CACHE_DIR when Numba would find no folder for its cache.

    Parameters
    ----------
    source : Path
        Folder of the compiled functions' source.
    """
    user_wide = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if os.environ.get(_VARIABLE) or os.access(source, os.W_OK) or _usable(user_wide):
        return
    try:
        os.environ[_VARIABLE] = str(private_folder())
    except OSError:
        return  # nowhere to write at all: Numba tells


def private_folder() -> Path:
    """A temporary folder that only this user can write to.

    Compiled code is run as it is found, so a folder that others could have filled is
    not used.
    """
    import tempfile  # only here: every command imports this module

    user = os.getuid()
    folder = Path(tempfile.gettempdir()) / f"marginlab-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if stat.S_ISDIR(found.st_mode) and found.st_uid == user and not found.st_mode & 0o077:
        return folder
    return Path(tempfile.mkdtemp(prefix="marginlab-"))


def _usable(folder: Path) -> bool:
    import tempfile

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False
