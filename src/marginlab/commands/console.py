"""What every command prints: results to standard output, notes and progress to error."""

from __future__ import annotations

import argparse
import json
import math
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from marginlab.files import named_errors
from marginlab.progress import progress

__all__ = ["Console", "plain", "rows_text", "wrap"]

Item = TypeVar("Item")


class Console:
    """Where a command's words go.

    Parameters
    ----------
    args : Namespace
        Its ``json`` and ``quiet`` are looked at.
    data_to_stdout : bool
        Standard output carries data; the summary goes to standard error.
    """

    def __init__(self, args: argparse.Namespace, data_to_stdout: bool = False) -> None:
        self._json = bool(args.json)
        self._quiet = bool(args.quiet)
        self._data = data_to_stdout

    def note(self, text: str) -> None:
        """A remark for the user, silenced by --quiet."""
        if not self._quiet:
            clear = "\r\x1b[K" if self.shows_progress else ""
            sys.stderr.write(f"{clear}note: {text}\n")

    @property
    def shows_progress(self) -> bool:
        """Whether a person watches: standard error is a terminal, without --quiet."""
        return not self._quiet and sys.stderr.isatty()

    def progress(self, items: Iterable[Item], label: str) -> Iterator[Item]:
        """Yield items; a bar on a terminal, nothing otherwise."""
        return progress(items, label) if self.shows_progress else iter(items)

    @contextmanager
    def busy(self, what: str) -> Iterator[None]:
        """A line on a terminal while a step runs that cannot count its work."""
        if self.shows_progress:
            sys.stderr.write(f"{what} ...")
            sys.stderr.flush()
        try:
            yield
        finally:
            if self.shows_progress:
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()

    def result(self, values: dict[str, Any], text: str) -> None:
        """Print a command's result: one JSON object with --json, text otherwise."""
        if self._json:
            text = json.dumps(plain(values), indent=2, allow_nan=False)
        out = sys.stderr if self._data else sys.stdout
        with named_errors("standard error" if self._data else "standard output"):
            out.write(text.rstrip("\n") + "\n")
            out.flush()


def plain(value: Any) -> Any:
    """NumPy values as Python's own, for JSON; NaN and infinity become null."""
    if isinstance(value, dict):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def wrap(sentence: str) -> str:
    """A long sentence in lines that fit a terminal."""
    return textwrap.fill(sentence, width=88, break_long_words=False, break_on_hyphens=False)


def rows_text(head: Sequence[str], rows: Iterable[Sequence[Any]], indent: str = "  ") -> str:
    """A table for a terminal: text to the left, numbers to the right."""
    cells = [list(head), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    right = [all(_is_number(row[i]) for row in cells[1:]) for i in range(len(head))]
    lines = []
    for row in cells:
        padded = [
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(row, widths, right, strict=True)
        ]
        lines.append((indent + "  ".join(padded)).rstrip())
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return "-" if not math.isfinite(value) else f"{value:.3f}"
    return str(value)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text == "-"
    return True
