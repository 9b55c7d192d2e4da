"""A data file as its author wrote it: cells, lines and spelling are kept for writing back."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pandas as pd

from marginlab.errors import DataError, UserError

__all__ = ["FORMATS", "STANDARD_INPUT", "RawTable", "format_of_ending", "read_raw"]

#: What error messages call standard input.
STANDARD_INPUT = "standard input"
FORMATS = ("csv", "libsvm", "parquet")

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".libsvm": "libsvm",
    ".svm": "libsvm",
    ".svmlight": "libsvm",
}
_OPENERS = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}
_ARCHIVES = (".gz", ".bz2", ".xz")
_LIBSVM_LINE = re.compile(r"^\s*[-+.\deE]+(\s+\d+:\S+)*\s*(#.*)?$")


@dataclass(frozen=True)
class RawTable:
    """A file's content before any of it is taken for a number.

    Attributes
    ----------
    source : str
        What error messages call the file.
    format : str
        "csv", "libsvm" or "parquet".
    frame : DataFrame
        CSV: every cell as text. Parquet: the columns as stored. LIBSVM: empty.
    data : bytes
        LIBSVM: the decompressed text. Otherwise empty.
    delimiter : str
        CSV: the separator of cells.
    header : bool
        CSV: whether the first line names the columns.
    index : Index, optional
        Parquet: the index that pandas has stored, unless it only counts the rows.
    """

    source: str
    format: str
    frame: pd.DataFrame = field(default_factory=pd.DataFrame)
    data: bytes = b""
    delimiter: str = ","
    header: bool = True
    index: pd.Index | None = None

    @property
    def index_names(self) -> list[str]:
        """Names of the index, text even where pandas allows numbers."""
        return [] if self.index is None else [str(n) for n in self.index.names if n is not None]

    @property
    def index_words(self) -> str:
        """What to call an index that may carry meaning; "" for one of mere row numbers."""
        if self.index_names:
            return f"the index {', '.join(map(repr, self.index_names))}"
        plain = self.index is None or pd.api.types.is_integer_dtype(self.index.dtype)
        return "" if plain else "the index"


def read_raw(
    path: str | Path,
    *,
    format: str | None = None,
    header: bool | None = None,
    stdin: BinaryIO | None = None,
) -> RawTable:
    """Read a file, or standard input for ``-``.

    Parameters
    ----------
    path : str or Path
        CSV (comma, semicolon, tab), LIBSVM or Parquet, also compressed by gzip, bzip2
        or xz.
    format : {"csv", "libsvm", "parquet"}, optional
        By default told by the name's ending, otherwise by the content.
    header : bool, optional
        Whether the first line of a CSV file names the columns; by default it does
        unless all of its cells are numbers.
    stdin : binary file, optional
        What ``-`` reads.

    Raises
    ------
    DataError
        With the file and the remedy, if it cannot be read.
    """
    name, data = _content(path, stdin)
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        raise DataError(f"{name} is empty; check that it was written or fetched whole")
    kind = format or _format_of(name, data)
    if kind == "parquet":
        stored = _parquet(name, data)
        plain = isinstance(stored.index, pd.RangeIndex) and stored.index.name is None
        index = None if plain else stored.index
        return RawTable(name, kind, frame=stored.reset_index(drop=True), index=index)
    if kind == "libsvm":
        return RawTable(name, kind, data=data)
    if kind == "csv":
        return _csv(name, data, header)
    raise UserError(f"format {kind!r} is not known; use one of {', '.join(FORMATS)}")


def _content(path: str | Path, stdin: BinaryIO | None) -> tuple[str, bytes]:
    if str(path) == "-":
        name, data = STANDARD_INPUT, (stdin or sys.stdin.buffer).read()
    else:
        name, data = str(path), _bytes_of(Path(path))
    for magic, decompress in _OPENERS.items():
        if data.startswith(magic):
            try:
                return name, decompress(data)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
                raise DataError(f"{name} is a damaged archive; write or fetch it again") from None
    return name, data


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{path} does not exist; check the path") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name a data file in it") from None
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror}); check its permissions"
        ) from None


def _format_of(name: str, data: bytes) -> str:
    if data.startswith(b"PAR1"):
        return "parquet"
    told = format_of_ending(name)
    if told is not None:
        return told
    lines = data[:65536].decode("utf-8", errors="replace").splitlines()
    first = [line for line in lines if line.strip()][:5]
    if first and all(":" in line and _LIBSVM_LINE.match(line) for line in first[:-1] or first):
        return "libsvm"
    return "csv"


def format_of_ending(name: str | Path) -> str | None:
    """The format that a name's ending tells, under .gz, .bz2 or .xz too; None if it does not."""
    stem = Path(name)
    suffix = Path(stem.stem).suffix if stem.suffix.lower() in _ARCHIVES else stem.suffix
    return _SUFFIXES.get(suffix.lower())


def _parquet(name: str, data: bytes) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(io.BytesIO(data), engine="pyarrow")
    except Exception as error:  # pyarrow raises a dozen kinds for a damaged file
        detail = " ".join(str(error).split())[:120]
        raise DataError(
            f"{name} is not a readable Parquet file ({detail}); write it again, "
            f"or name its format by --format"
        ) from None
    if frame.empty:
        raise DataError(f"{name} holds no rows; check that it was written whole")
    frame.columns = [str(column) for column in frame.columns]
    return frame


def _csv(name: str, data: bytes, header: bool | None) -> RawTable:
    text = _decode(name, data)
    delimiter = _delimiter(text)
    cells = _cells(name, text, delimiter)
    first = [str(cell).strip() for cell in cells.iloc[0]]
    named = not _looks_like_data(first) if header is None else header
    if named:
        _check_names(name, first)
        cells = cells.iloc[1:].reset_index(drop=True)
    if cells.empty:
        raise DataError(
            f"{name} holds a line of column names but no rows; check that it is whole"
            + ("" if header else ", or add --no-header if that line is data")
        )
    cells.columns = first if named else [str(i + 1) for i in range(cells.shape[1])]
    return RawTable(name, "csv", frame=cells, delimiter=delimiter, header=named)


def _decode(name: str, data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name}, line {line}: not UTF-8 text; save the file as CSV in UTF-8, "
            f"or name its format by --format"
        ) from None
    if "\x00" in text[:65536]:
        raise DataError(f"{name} is a binary file; give CSV, LIBSVM or Parquet")
    if text.lstrip()[:1] == "<":
        raise DataError(f"{name} is a web page, not data; fetch the file itself")
    return text


def _delimiter(text: str) -> str:
    # The separator that cuts the first line, outside quotes, into the most cells.
    line = next(line for line in text.splitlines() if line.strip())
    counts = {mark: len(next(csv.reader([line], delimiter=mark))) for mark in ",;\t"}
    return max(counts, key=lambda mark: counts[mark])


def _cells(name: str, text: str, delimiter: str) -> pd.DataFrame:
    try:
        cells = pd.read_csv(
            io.StringIO(text),
            sep=delimiter,
            header=None,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
        ).fillna("")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if found:
            raise DataError(
                f"{name}, line {found[2]}: {found[3]} cells where the first line has "
                f"{found[1]}; quote cells that contain {delimiter!r} or mend the line"
            ) from None
        detail = " ".join(str(error).split())
        raise DataError(f"{name} is not a CSV file ({detail}); mend it") from None
    # pandas fills a short line up by empty cells, so the last one is empty.
    if (cells.iloc[:, -1] == "").any():
        _reject_short_line(name, text, delimiter, cells.shape[1])
    return cells


def _reject_short_line(name: str, text: str, delimiter: str, width: int) -> None:
    reader = csv.reader(io.StringIO(text, newline=None), delimiter=delimiter)
    try:
        for row in reader:
            blank = len(row) < 2 and not "".join(row).strip()
            if len(row) < width and not blank:
                raise DataError(
                    f"{name}, line {reader.line_num}: {len(row)} "
                    f"cell{'s' if len(row) > 1 else ''} where the first line has {width}; "
                    f"fill or drop the line"
                )
    except csv.Error:
        return


def _looks_like_data(first: list[str]) -> bool:
    try:
        values = [float(cell) for cell in first]
    except ValueError:
        return False
    # 0,1,2,... is the header that pandas gives a bare array, not a row.
    return len(values) < 2 or values != [float(i) for i in range(len(values))]


def _check_names(name: str, names: list[str]) -> None:
    twice = sorted({column for column in names if names.count(column) > 1})
    if twice:
        shown = "a blank name" if twice[0] == "" else repr(twice[0])
        raise DataError(
            f"{name} has two columns named {shown}; rename one, or add --no-header if the "
            f"first line is data"
        )
