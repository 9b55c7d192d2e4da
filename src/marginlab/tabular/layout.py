"""Which columns of a table are features, and how each becomes numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from marginlab.errors import DataError

__all__ = ["MISSING", "Column", "Layout", "numbers", "shorten"]

#: Cells that mean "no value", in lower case.
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-nan", "#n/a"})
_DECIMAL_COMMA = re.compile(r"^[-+]?\d+,\d+$")
_TOO_MANY = 200
_SHOWN = 5
#: Larger numbers overflow once they are squared or subtracted.
_LARGEST = 1e100
_FILL = "fill or drop those rows first (cells like NA and ? count as empty)"
#: What messages call the file that fixed the layout.
FIRST = "the first file"


class _MissingValues(DataError):
    """Some cells of a column are empty; the other columns are looked at too."""


@dataclass(frozen=True)
class Column:
    """A column of features; ``categories`` is empty for a column of numbers."""

    name: str
    categories: tuple[str, ...] = ()

    @property
    def width(self) -> int:
        """Features it makes: one a category, or one."""
        return len(self.categories) or 1


@dataclass(frozen=True)
class Layout:
    """The features of a file, fixed by the training file and kept in a saved model.

    Attributes
    ----------
    kind : str
        "columns" (CSV, Parquet) or "libsvm".
    columns : tuple of Column
        The features in order; for LIBSVM none, indices are positions.
    n_features : int
        Width d of X.
    label : str
        Name of the label column; "" for LIBSVM.
    """

    kind: str
    n_features: int
    columns: tuple[Column, ...] = field(default=())
    label: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain lists and strings."""
        return {
            "kind": self.kind,
            "n_features": self.n_features,
            "label": self.label,
            "columns": [[column.name, list(column.categories)] for column in self.columns],
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> Layout:
        """The layout that `to_json` described."""
        columns = tuple(Column(str(name), tuple(map(str, c))) for name, c in plain["columns"])
        return cls(str(plain["kind"]), int(plain["n_features"]), columns, str(plain["label"]))

    def feature_names(self) -> list[str]:
        """A name for every feature, in the order of X's columns."""
        if self.kind == "libsvm":
            return [f"feature {i + 1}" for i in range(self.n_features)]
        return [
            f"{column.name}={category}" if category else column.name
            for column in self.columns
            for category in (column.categories or ("",))
        ]

    def encode(self, frame: pd.DataFrame, source: str, origin: str = FIRST) -> NDArray[np.float64]:
        """The features of a frame as numbers, shape (n, d); ``origin`` fixed the layout."""
        missing = [column.name for column in self.columns if column.name not in frame.columns]
        if missing:
            raise DataError(
                f"{source} has no column {missing[0]!r}, which {origin} has "
                f"({len(missing)} of {len(self.columns)} missing); give both the same columns"
            )
        try:
            blocks = [_encode_column(frame[c.name], c, source, origin) for c in self.columns]
        except _MissingValues as error:
            raise _all_missing(frame[[c.name for c in self.columns]], source) or error from None
        return np.column_stack(blocks) if blocks else np.empty((len(frame), 0))


def learn_columns(
    frame: pd.DataFrame, names: Sequence[str], source: str, categorical: bool
) -> tuple[Column, ...]:
    """Decide for every column whether it holds numbers or categories."""
    if not categorical:
        _reject_texts([name for name in names if _first_text(frame[name])], source)
    return tuple(_learn(frame[name], name, source, categorical) for name in names)


def _reject_texts(texts: Sequence[str], source: str) -> None:
    # Several columns of text at once; `_learn` says more of a single one.
    if len(texts) > 1:
        raise DataError(
            f"{source}: {len(texts)} columns hold text ({_some(list(map(repr, texts)))}); leave "
            f"them out by --drop, or turn text into 0/1 columns by --categorical"
        )


def _some(items: Sequence[str]) -> str:
    return ", ".join(items[:_SHOWN]) + (", ..." if len(items) > _SHOWN else "")


def _all_missing(frame: pd.DataFrame, source: str) -> DataError | None:
    # Every column with missing values, if it is more than one.
    cells = {name: frame[name].astype(str).str.strip().str.lower() for name in frame.columns}
    counts = {name: int((c.isin(MISSING) | frame[name].isna()).sum()) for name, c in cells.items()}
    found = [f"{name!r} {count}" for name, count in counts.items() if count]
    if len(found) < 2:
        return None
    return DataError(
        f"{source}: {len(found)} columns have missing values ({_some(found)}; cells like NA and ? "
        f"count as empty); fill or drop those rows or columns first"
    )


def _learn(column: pd.Series, name: str, source: str, categorical: bool) -> Column:
    text = _first_text(column)
    if text is None:
        return Column(name)
    row, cell = text
    if not categorical:
        hint = " (write decimals with a point)" if _DECIMAL_COMMA.match(cell) else ""
        raise DataError(
            f"{source}: column {name!r} holds text ({shorten(cell)!r} in row {row + 1}){hint}; "
            f"leave it out by --drop, or turn text into 0/1 columns by --categorical"
        )
    categories = tuple(sorted(set(column.astype(str).str.strip()) - _missing_in(column)))
    if len(categories) > _TOO_MANY:
        raise DataError(
            f"{source}: text column {name!r} has {len(categories)} different values, too many "
            f"for 0/1 columns (at most {_TOO_MANY}); leave it out by --drop"
        )
    return Column(name, categories)


def _missing_in(column: pd.Series) -> set[str]:
    return {cell for cell in column.astype(str).str.strip().unique() if cell.lower() in MISSING}


def _first_text(column: pd.Series) -> tuple[int, str] | None:
    # The first cell that is neither a number nor missing.
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return None
    cells = column.astype(str).str.strip()
    bad = pd.to_numeric(cells, errors="coerce").isna() & ~cells.str.lower().isin(MISSING)
    if not bad.any():
        return None
    row = int(np.flatnonzero(bad)[0])
    return row, str(cells.iloc[row])


def numbers(column: pd.Series, name: str, source: str) -> NDArray[np.float64]:
    """A column as finite numbers.

    Raises
    ------
    DataError
        For text, missing or infinite cells, with the first row.
    """
    text = _first_text(column)
    if text is not None:
        raise DataError(
            f"{source}: column {name!r} must hold numbers, but row {text[0] + 1} has "
            f"{shorten(text[1])!r}; mend it"
        )
    plain = column if pd.api.types.is_numeric_dtype(column) else column.astype(str).str.strip()
    values = np.asarray(pd.to_numeric(plain, errors="coerce"), dtype=np.float64)
    _reject(np.isnan(values), name, source, "missing value", _FILL, _MissingValues)
    _reject(np.isinf(values), name, source, "infinite value", "mend or drop those rows first")
    reject_huge(values, f"column {name!r}", source)
    return values


def reject_huge(values: NDArray[np.float64], where: str, source: str) -> None:
    """Refuse finite numbers that overflow once they are squared or subtracted."""
    huge = np.flatnonzero(np.abs(values) > _LARGEST)
    if huge.size:
        raise DataError(
            f"{source}: {where} has {values[huge[0]]:g}, too large to calculate with (at most "
            f"{_LARGEST:g} in size); mend or drop such values first"
        )


def _reject(
    bad: NDArray[np.bool_],
    name: str,
    source: str,
    what: str,
    remedy: str,
    kind: type[DataError] = DataError,
) -> None:
    count = int(bad.sum())
    if count:
        first = int(np.flatnonzero(bad)[0]) + 1
        plural = "s" if count > 1 else ""
        raise kind(
            f"{source}: column {name!r} has {count} {what}{plural} (first in row {first}); {remedy}"
        )


def _encode_column(
    column: pd.Series, spec: Column, source: str, origin: str
) -> NDArray[np.float64]:
    if not spec.categories:
        return numbers(column, spec.name, source)[:, None]
    cells = column.astype(str).str.strip()
    absent = cells.str.lower().isin(MISSING).to_numpy(dtype=bool)
    _reject(absent, spec.name, source, "missing value", _FILL, _MissingValues)
    unknown = ~cells.isin(spec.categories).to_numpy(dtype=bool)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise DataError(
            f"{source}: column {spec.name!r} has {shorten(str(cells.iloc[row]))!r} in row "
            f"{row + 1}, a value that {origin} does not have; drop the row or the column"
        )
    return (cells.to_numpy()[:, None] == np.array(spec.categories)[None, :]).astype(np.float64)


def shorten(text: str, limit: int = 40) -> str:
    """A cell short enough for an error message."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
