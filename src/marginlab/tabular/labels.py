"""Labels as the user spells them: any values, compared as numbers where all are numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from marginlab.errors import DataError
from marginlab.tabular.layout import MISSING, shorten

__all__ = [
    "GUESSES",
    "choose_column",
    "class_values",
    "like_classes",
    "parse_labels",
    "spelling_of",
]

#: Column names taken for the label when none is given, in any case.
GUESSES = ("label", "class", "target", "y")
_SHOWN = 12


def choose_column(names: Sequence[str], wanted: str | None, source: str, option: str) -> str:
    """The column that a user means by a name or a 1-based number (-1 is the last).

    Parameters
    ----------
    names : sequence of str
        The file's columns.
    wanted : str or None
        What the user gave; with None one of `GUESSES` is taken.
    source, option : str
        File and command-line option, for the message.
    """
    if wanted is None:
        matches = [name for name in names if name.lower() in GUESSES]
        if len(matches) == 1:
            return matches[0]
        found = f"columns {' and '.join(map(repr, matches))}" if matches else _known(names)
        raise DataError(f"{source}: which column holds the labels? name it by {option} ({found})")
    if wanted in names:
        return wanted
    position = _position(wanted, len(names))
    if position is None:
        raise DataError(f"{source} has no column {wanted!r} for {option} ({_known(names)})")
    return names[position]


def _known(names: Sequence[str]) -> str:
    shown = ", ".join(shorten(name, 24) for name in names[:_SHOWN])
    return f"its columns: {shown}{', ...' if len(names) > _SHOWN else ''}"


def _position(wanted: str, count: int) -> int | None:
    try:
        number = int(wanted)
    except ValueError:
        return None
    position = number - 1 if number > 0 else number + count
    return position if number and 0 <= position < count else None


def parse_labels(column: pd.Series, name: str, source: str) -> NDArray[Any]:
    """Labels as whole numbers or text, whichever fits all of them (see `class_values`).

    Raises
    ------
    DataError
        If a label is missing.
    """
    cells = column.astype(str).str.strip()
    absent = cells.str.lower().isin(MISSING) | column.isna()
    if absent.any():
        row, count = int(np.flatnonzero(absent)[0]) + 1, int(absent.sum())
        raise DataError(
            f"{source}: label column {name!r} has {count} empty "
            f"cell{'s' if count > 1 else ''} (first in row {row}); drop those rows, or fill in "
            f"your best guess to have it checked"
        )
    if pd.api.types.is_bool_dtype(column):
        return cells.to_numpy(dtype=str)
    values = np.asarray(pd.to_numeric(cells, errors="coerce"), dtype=np.float64)
    if not np.isfinite(values).all():
        return cells.to_numpy(dtype=str)
    return class_values(values)


def class_values(values: NDArray[np.float64]) -> NDArray[Any]:
    """Numbers as class labels: whole numbers, or else text.

    scikit-learn takes broken numbers for quantities, so 0.5 becomes "0.5".
    """
    if (values == np.rint(values)).all() and np.abs(values).max(initial=0.0) < 2.0**62:
        return values.astype(np.int64)
    return np.array([repr(value) for value in values.tolist()])


def like_classes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Labels of a second file in the form that the first file's labels have.

    A file may hold only "1" and "2" of the labels "1", "2", "none", or of 1, 2, 2.5.
    """
    if classes.dtype.kind not in "US" or y.dtype.kind in "US":
        return y
    known = set(classes.tolist())
    broken = np.array([repr(float(value)) for value in y.tolist()])
    return broken if set(broken.tolist()) <= known else y.astype(str)


def spelling_of(y: NDArray[Any], cells: Sequence[Any]) -> dict[Any, Any]:
    """For every label the first of the user's own spellings ("+1", "yes", True)."""
    spelling: dict[Any, Any] = {}
    for value, cell in zip(y.tolist(), cells, strict=True):
        spelling.setdefault(value, cell)
    return spelling
