"""Reads a data file into X, y and, if asked for, a column of importance scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from marginlab.datasets.libsvm_format import parse_libsvm
from marginlab.errors import DataError
from marginlab.tabular.labels import choose_column, class_values, parse_labels
from marginlab.tabular.layout import FIRST, Layout, learn_columns, numbers, reject_huge
from marginlab.tabular.raw import RawTable, read_raw

__all__ = ["Table", "read_table"]

# A sparse matrix with more than this share of non-zeros is kept dense: smaller and faster.
_DENSE_SHARE = 0.25


@dataclass(frozen=True)
class Table:
    """A data file as numbers.

    Attributes
    ----------
    X : ndarray or csr_matrix of float64, shape (n, d)
    y : ndarray of shape (n,), or None
        Labels as whole numbers or text; None if the file has none.
    layout : Layout
        Columns behind X, for reading a second file the same way.
    raw : RawTable
        The file as written.
    scores : ndarray of float64, shape (n,), or None
        The column of importance scores, if one was named.
    """

    X: NDArray[np.float64] | sparse.csr_matrix
    y: NDArray[Any] | None
    layout: Layout
    raw: RawTable
    scores: NDArray[np.float64] | None = None

    @property
    def source(self) -> str:
        """What messages call the file."""
        return self.raw.source

    @property
    def labels(self) -> NDArray[Any]:
        """The labels, which must be there."""
        if self.y is None:
            raise DataError(f"{self.source} has no label column; name one by --label")
        return self.y


def read_table(
    path: str | Path,
    *,
    label: str | None = None,
    weight: str | None = None,
    drop: Sequence[str] = (),
    categorical: bool = False,
    n_features: int | None = None,
    layout: Layout | None = None,
    origin: str = FIRST,
    need_labels: bool = True,
    format: str | None = None,
    header: bool | None = None,
    stdin: BinaryIO | None = None,
) -> Table:
    """Read a user's data file.

    Parameters
    ----------
    path : str or Path
        The file; ``-`` is standard input.
    label : str, optional
        Label column: a name, or a 1-based number (-1 is the last). By default a
        column named label, class, target or y. LIBSVM: the first entry of each row.
    weight : str, optional
        Column of importance scores; it is no feature.
    drop : sequence of str
        Columns to leave out.
    categorical : bool
        Turn columns of text into one 0/1 column a value.
    n_features : int, optional
        LIBSVM: width d; by default the largest index.
    layout : Layout, optional
        Read with the columns of an earlier file.
    origin : str
        What messages call that file.
    need_labels : bool
        Whether a file without a label column is an error.
    format, header, stdin
        See `read_raw`.

    Raises
    ------
    DataError
        With file, place and remedy.
    """
    raw = read_raw(path, format=format, header=header, stdin=stdin)
    named = {"--label": label, "--weight": weight, "--drop": drop, "--categorical": categorical}
    _reject_idle(raw, named, header)
    if raw.format == "libsvm":
        return _read_libsvm(raw, n_features, layout, origin)
    if n_features is not None:
        raise DataError(
            f"{raw.source} is no LIBSVM file, its columns are the features; leave out --n-features"
        )
    return _read_columns(raw, label, weight, drop, categorical, layout, origin, need_labels)


def _reject_idle(raw: RawTable, named: dict[str, Any], header: bool | None) -> None:
    """Refuse options that mean nothing for the file's format."""
    if raw.format == "libsvm":
        for option, value in named.items():
            if value:
                raise DataError(
                    f"{raw.source} is a LIBSVM file, which has no named columns; leave {option} "
                    f"out or give the data as CSV"
                )
    if header is False and raw.format != "csv":
        raise DataError(
            f"{raw.source} is no CSV file, so it has no line of column names that could be "
            f"missing; leave --no-header out"
        )


def _read_libsvm(
    raw: RawTable, n_features: int | None, layout: Layout | None, origin: str
) -> Table:
    X, labels = parse_libsvm(raw.data, raw.source, n_features)
    reject_huge(X.data, "a feature", raw.source)
    if layout is None:
        layout = Layout("libsvm", X.shape[1])
    elif layout.kind != "libsvm":
        raise DataError(f"{raw.source} is a LIBSVM file but {origin} is not; give both alike")
    elif X.shape[1] > layout.n_features:
        where = "to this command" if origin == FIRST else "when you train"
        raise DataError(
            f"{raw.source} has feature {X.shape[1]}, but {origin} only {layout.n_features}; leave "
            f"further features out, or give --n-features {X.shape[1]} {where}"
        )
    X = sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], layout.n_features))
    return Table(_dense_if_full(X), class_values(labels), layout, raw)


def _dense_if_full(X: sparse.csr_matrix) -> NDArray[np.float64] | sparse.csr_matrix:
    full = X.nnz > _DENSE_SHARE * X.shape[0] * X.shape[1]
    return X.toarray() if full else X


def _read_columns(
    raw: RawTable,
    label: str | None,
    weight: str | None,
    drop: Sequence[str],
    categorical: bool,
    layout: Layout | None,
    origin: str,
    need_labels: bool,
) -> Table:
    if layout is not None and layout.kind == "libsvm":
        raise DataError(f"{raw.source} is not a LIBSVM file but {origin} is; give both alike")
    learned = () if layout is None else [column.name for column in layout.columns]
    _reject_index(raw, [label, weight, *drop, *learned])
    names = list(raw.frame.columns)
    wanted = label if label is not None or layout is None else layout.label
    has_labels = need_labels or wanted is None or wanted in names
    target = choose_column(names, wanted, raw.source, "--label") if has_labels else ""
    score = choose_column(names, weight, raw.source, "--weight") if weight else ""
    if target and score == target:
        raise DataError(f"{raw.source}: --weight {weight} is the label column; name another")
    if layout is None:
        dropped = {choose_column(names, name, raw.source, "--drop") for name in drop}
        if target in dropped:
            raise DataError(
                f"{raw.source}: --drop leaves out the label column {target!r}; keep it, or name "
                f"another --label"
            )
        # A column without a name is the index that pandas and R write.
        layout = _learn_layout(raw, target, {target, score, ""} | dropped, categorical)
    y = parse_labels(raw.frame[target], target, raw.source) if target else None
    X = layout.encode(raw.frame, raw.source, origin)
    scores = numbers(raw.frame[score], score, raw.source) if score else None
    return Table(X, y, layout, raw, scores)


def _reject_index(raw: RawTable, wanted: Sequence[str | None]) -> None:
    for name in set(raw.index_names) - set(raw.frame.columns):
        if name in wanted:
            raise DataError(
                f"{raw.source}: {name!r} is the index that pandas has stored, not a column; write "
                f"the file again after reset_index()"
            )


def _learn_layout(raw: RawTable, target: str, skip: set[str], categorical: bool) -> Layout:
    names = [name for name in raw.frame.columns if name not in skip]
    if not names:
        raise DataError(f"{raw.source} has no column of features; check --label and --drop")
    columns = learn_columns(raw.frame, names, raw.source, categorical)
    return Layout("columns", sum(column.width for column in columns), columns, target)
