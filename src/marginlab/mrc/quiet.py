"""Keeps a solver's greeting out of standard output, which carries results."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

__all__ = ["greet_highs", "silent_stdout"]


@contextmanager
def silent_stdout() -> Iterator[None]:
    """Send what compiled code writes to standard output to nowhere."""
    sys.stdout.flush()
    try:
        kept = os.dup(1)
    except OSError:
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        _flush_c()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def _flush_c() -> None:
    # C's own buffer would otherwise be written after the redirection ends.
    try:
        ctypes.CDLL(None).fflush(None)
    except (OSError, AttributeError, TypeError):
        return


@lru_cache(maxsize=1)
def greet_highs() -> None:
    """Let HiGHS print the version line of a process's first solver, unseen.

    Its option for silence can be set only on a solver, when the line is out.
    """
    import highspy

    with silent_stdout():
        highspy.Highs()
