"""Writes a data file again with other labels; everything else stays as it was."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from marginlab.errors import DataError, UserError
from marginlab.files import atomic_path, compressed, named_errors
from marginlab.tabular.labels import spelling_of
from marginlab.tabular.raw import RawTable, format_of_ending
from marginlab.tabular.reading import Table

__all__ = ["check_ending", "check_extra", "replace_labels"]

_FIRST_TOKEN = re.compile(rb"^[^\s#]+", re.MULTILINE)
_NAMES = {"csv": "CSV", "libsvm": "LIBSVM", "parquet": "Parquet"}
# Endings of formats that are written nowhere here.
_FOREIGN = (".feather", ".html", ".json", ".npz", ".xls", ".xlsx", ".zip", ".zst")


def check_ending(path: str | Path, format: str) -> None:
    """Refuse a name whose ending tells another format than the one to be written.

    Parameters
    ----------
    path : str or Path
        The file to be written.
    format : {"csv", "libsvm", "parquet"}

    Raises
    ------
    UserError
        With the ending that disagrees.
    """
    told = format_of_ending(path)
    if Path(path).suffix.lower() in _FOREIGN or told not in (None, format):
        raise UserError(
            f"{path} would hold {_NAMES[format]}, which its ending does not say; end it in "
            f".{format}"
        )


def replace_labels(
    table: Table,
    labels: NDArray[Any],
    path: str | Path,
    stdout: BinaryIO | None = None,
    extra: tuple[str, NDArray[np.float64]] | None = None,
) -> None:
    """Write ``table``'s file with other labels, in its own format.

    Parameters
    ----------
    table : Table
        The file as read.
    labels : ndarray of shape (n,)
        New labels, of the values that the file already has; each is written in the
        file's own spelling ("+1", "yes").
    path : str or Path
        The new file, written whole or not at all, compressed if it ends in .gz, .bz2 or
        .xz; ``-`` is standard output.
    stdout : binary file, optional
        What ``-`` writes to.
    extra : (str, ndarray of shape (n,)), optional
        Name and numbers of a column to add at the end (CSV and Parquet).

    Raises
    ------
    DataError
        If the extra column cannot be added.
    UserError
        If the ending of ``path`` tells another format.
    """
    data = _content(table, np.asarray(labels), extra)
    if str(path) == "-":
        out = stdout or sys.stdout.buffer
        with named_errors("standard output"):
            out.write(data)
            out.flush()
        return
    check_ending(path, table.raw.format)
    with atomic_path(path) as temporary:
        temporary.write_bytes(compressed(data, path))


def _content(table: Table, labels: NDArray[Any], extra: Any) -> bytes:
    if extra is not None:
        check_extra(table, extra[0])
    if table.raw.format == "libsvm":
        return _libsvm(table, labels)
    raw, name = table.raw, table.layout.label
    spelling = spelling_of(table.labels, raw.frame[name].tolist())
    new = [spelling[value] for value in labels.tolist()]
    frame = raw.frame.copy()
    frame[name] = np.array(new, dtype=raw.frame[name].to_numpy().dtype)
    frame = frame.astype({name: raw.frame[name].dtype})
    if extra is not None:
        frame[extra[0]] = np.round(extra[1], 10)
    return _parquet(raw, frame) if raw.format == "parquet" else _csv(raw, frame)


def check_extra(table: Table, name: str) -> None:
    """Refuse a column that cannot be added to the file of ``table``."""
    if table.raw.format == "libsvm" or not table.raw.header:
        raise DataError(
            f"{table.source} has no column names, so no column {name!r} can be added; give CSV "
            f"with a header"
        )
    if name in [*table.raw.frame.columns, *table.raw.index_names]:
        raise DataError(f"{table.source} has a column {name!r} already; choose another name")


def _parquet(raw: RawTable, frame: Any) -> bytes:
    if raw.index is None:
        return bytes(frame.to_parquet(None, engine="pyarrow", index=False))
    return bytes(frame.set_axis(raw.index).to_parquet(None, engine="pyarrow"))


def _csv(raw: RawTable, frame: Any) -> bytes:
    text = frame.to_csv(
        None, sep=raw.delimiter, index=False, header=raw.header, lineterminator="\n"
    )
    return str(text).encode()


def _libsvm(table: Table, labels: NDArray[Any]) -> bytes:
    # Only the first entry of each row is exchanged: values keep their spelling too.
    # A leading blank would hide a row's label from the pattern.
    data = re.sub(rb"(?m)^[ \t]+", b"", table.raw.data.removeprefix(b"\xef\xbb\xbf"))
    old = [match.group() for match in _FIRST_TOKEN.finditer(data)]
    spelling = spelling_of(table.labels, old)
    new = iter([spelling[value] for value in labels.tolist()])
    return _FIRST_TOKEN.sub(lambda _: next(new), data)
