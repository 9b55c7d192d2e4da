"""Progress for long loops: a bar on a terminal, a line now and then in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TextIO, TypeVar

__all__ = ["progress"]

Item = TypeVar("Item")


def progress(
    items: Iterable[Item],
    label: str,
    total: int | None = None,
    *,
    stream: TextIO | None = None,
    every: float = 10.0,
) -> Iterator[Item]:
    """Yield ``items`` and report how far along they are.

    Parameters
    ----------
    items : iterable
    label : str
        What is counted, as a reader would say it.
    total : int, optional
        Number of items, when ``items`` has no length.
    stream : text file, optional
        Standard error by default.
    every : float
        Seconds between two lines in a log; a terminal is refreshed ten times a second.
    """
    out = sys.stderr if stream is None else stream
    count = len(items) if total is None and isinstance(items, Sized) else total
    live = out.isatty()
    start = last = time.monotonic()
    done = 0
    for item in items:
        yield item
        done += 1
        now = time.monotonic()
        if now - last >= (0.1 if live else every):
            last = now
            out.write(_line(label, done, count, now - start, live))
            out.flush()
    if live and done:
        out.write("\r\x1b[K")
        out.flush()


def _line(label: str, done: int, total: int | None, elapsed: float, live: bool) -> str:
    if total:
        left = elapsed / done * (total - done)
        text = f"{label}: {done}/{total} ({100 * done / total:.0f}%), about {left:.0f} s left"
    else:
        text = f"{label}: {done} in {elapsed:.0f} s"
    return f"\r\x1b[K{text}" if live else f"{text}\n"
