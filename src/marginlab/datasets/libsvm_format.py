"""Reader and writer of LIBSVM's sparse text format.

A row is ``label index:value index:value ...`` with 1-based, strictly ascending
indices. Nothing is guessed: indices always count from 1, the number of features is
given (or is the largest index), and every malformed entry is an error with its line.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import math
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from scipy import sparse

from marginlab.datasets import _libsvm_scan as scanner
from marginlab.errors import DataError
from marginlab.files import atomic_path

__all__ = ["parse_libsvm", "read_libsvm", "values_digest", "write_libsvm"]

_MAX_INDEX = 2**31 - 1
_TOKEN_END = b" \t\r\n#"
_OPENERS: dict[bytes, Callable[[io.BytesIO], IO[bytes]]] = {
    b"\x1f\x8b": gzip.open,  # type: ignore[dict-item]
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
_MAX_UNPACKED = 4 * 2**30  # bytes; a small archive can hold more than any memory
_REASONS = {
    scanner.BAD_LABEL: "label {token!r} is not a number; give one numeric label a row",
    scanner.BAD_INDEX: "entry {token!r} has no whole-number index; write it as index:value",
    scanner.BAD_VALUE: "entry {token!r} has no numeric value; write it as index:value",
    scanner.NO_COLON: "entry {token!r} has no colon; write it as index:value",
    scanner.ZERO_INDEX: "entry {token!r} has index 0; indices count from 1, so add 1 to all",
    scanner.NEGATIVE_INDEX: "entry {token!r} has a negative index; indices count from 1",
    scanner.DUPLICATE: "entry {token!r} repeats an index of its row; keep one of the two",
    scanner.UNSORTED: "entry {token!r} has a smaller index than the one before; sort the row",
    scanner.BLANK_LINE: "the line is blank but rows follow; delete it (a row needs a label)",
}


def read_libsvm(
    source: str | Path | IO[Any], n_features: int | None = None
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Read a LIBSVM file.

    Parameters
    ----------
    source : str, Path or file object
        The file; ``-`` is standard input. Files compressed by gzip, bzip2 or xz are
        recognised by their content.
    n_features : int, optional
        Number of columns d. By default the largest index of the file.

    Returns
    -------
    X : scipy.sparse.csr_matrix of float64, shape (n, d)
        Canonical; zeros that the file spells out are not stored.
    y : ndarray of float64, shape (n,)
        The labels as the file gives them.

    Raises
    ------
    DataError
        With file, line and remedy, for whatever is not a LIBSVM file.
    """
    data, name = _read_bytes(source)
    return parse_libsvm(data, name, n_features)


def parse_libsvm(
    data: bytes, name: str = "<bytes>", n_features: int | None = None
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Parse the bytes of a LIBSVM file; see `read_libsvm`.

    Parameters
    ----------
    data : bytes
    name : str
        What error messages call the file.
    n_features : int, optional
    """
    limit = _MAX_INDEX if n_features is None else _checked_width(n_features)
    data = _decompress(data, name).removeprefix(b"\xef\xbb\xbf")
    _reject_foreign(data, name)
    labels, indptr, indices, values, widest = _scan(data, name, limit)
    if labels.size == 0:
        raise DataError(f"{name} holds no rows; check that the file was written or fetched whole")
    width = n_features if n_features is not None else widest
    X = sparse.csr_matrix((values, indices, indptr), shape=(labels.size, width), copy=False)
    X.has_sorted_indices = X.has_canonical_format = True
    if not values.all():  # the scanner leaves out zeros, but not what is too small for a double
        X.eliminate_zeros()
    return X, labels


def values_digest(source: str | Path) -> str:
    """Sha256 of the numbers of a LIBSVM file, whatever its line ends and spelling.

    The hash runs over labels, row ends, 0-based indices and values as little-endian
    64-bit numbers.
    """
    X, y = read_libsvm(source)
    digest = hashlib.sha256()
    for array, kind in ((y, "<f8"), (X.indptr, "<i8"), (X.indices, "<i8"), (X.data, "<f8")):
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    return digest.hexdigest()


def _checked_width(n_features: int) -> int:
    if not 1 <= int(n_features) <= _MAX_INDEX:
        raise DataError(f"n_features is {n_features}, but must lie in 1 to {_MAX_INDEX}")
    return int(n_features)


def _read_bytes(source: str | Path | IO[Any]) -> tuple[bytes, str]:
    if not isinstance(source, str | Path):
        data = source.read()
        name = str(getattr(source, "name", "<stream>"))
        return (data.encode() if isinstance(data, str) else data), name
    if str(source) == "-":
        return sys.stdin.buffer.read(), "<standard input>"
    try:
        return Path(source).read_bytes(), str(source)
    except OSError as error:
        raise DataError(
            f"{source} cannot be read ({error.strerror}); check the path and its permissions"
        ) from None


def _decompress(data: bytes, name: str) -> bytes:
    for magic, opener in _OPENERS.items():
        if data.startswith(magic):
            try:
                with opener(io.BytesIO(data)) as stream:
                    unpacked = stream.read(_MAX_UNPACKED + 1)
            except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
                raise DataError(f"{name} is a damaged archive; fetch it again") from None
            if len(unpacked) > _MAX_UNPACKED:
                raise DataError(
                    f"{name} unpacks to more than {_MAX_UNPACKED} bytes; if that is right, unpack "
                    "it yourself and give the text file"
                )
            return unpacked
    return data


def _reject_foreign(data: bytes, name: str) -> None:
    head = data[:4096]
    if head.lstrip()[:1] == b"<":
        raise DataError(f"{name} is a web page, not data; fetch the file itself")
    if b"\x00" in head:
        raise DataError(f"{name} is a binary file, not LIBSVM text; give the text file")


def _scan(
    data: bytes, name: str, limit: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    buf = np.frombuffer(data, dtype=np.uint8)
    n_lines, n_entries = data.count(b"\n") + 1, data.count(b":")
    labels, values = np.empty(n_lines), np.empty(n_entries)
    wide = n_entries > _MAX_INDEX
    indices = np.empty(n_entries, dtype=np.int64 if wide else np.int32)
    indptr = np.zeros(n_lines + 1, dtype=indices.dtype)
    room = 1024
    while True:
        slots, starts = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        code, line, pos, rows, entries, n_long, widest = scanner.scan(
            buf, labels, indptr, indices, values, slots, starts, limit
        )
        if n_long <= room:
            break
        room = n_long
    if code != scanner.OK:
        raise DataError(_sentence(code, name, line, _token(data, pos), limit))
    _fill_long(data, name, labels, values, slots[:n_long], starts[:n_long])
    return labels[:rows].copy(), indptr[: rows + 1], indices[:entries], values[:entries], widest


def _fill_long(
    data: bytes,
    name: str,
    labels: np.ndarray,
    values: np.ndarray,
    slots: np.ndarray,
    starts: np.ndarray,
) -> None:
    """Give numbers of many digits or large powers to Python's correctly rounded float."""
    for slot, start in zip(slots.tolist(), starts.tolist(), strict=True):
        value = float(_whole_token(data, start))
        if not math.isfinite(value):
            line = data.count(b"\n", 0, start) + 1
            raise DataError(
                f"{name}, line {line}: {_token(data, start)!r} is beyond the range of a "
                f"double; rescale the feature"
            )
        if slot < 0:
            labels[-1 - slot] = value
        else:
            values[slot] = value


def _token(data: bytes, start: int, longest: int = 60) -> str:
    # The start of a token is enough for a message.
    return _whole_token(data[start : start + longest], 0)


def _whole_token(data: bytes, start: int) -> str:
    end = start
    while end < len(data) and data[end] not in _TOKEN_END:
        end += 1
    return data[start:end].decode("ascii", errors="replace")


def _sentence(code: int, name: str, line: int, token: str, limit: int) -> str:
    if code == scanner.TOO_LARGE:
        reason = f"entry {token!r} lies beyond the {limit} features; check n_features or the file"
    elif code == scanner.BAD_VALUE and _not_finite(token):
        reason = f"entry {token!r} is not finite; remove the row or fill in the value"
    else:
        reason = _REASONS[code].format(token=token)
    return f"{name}, line {line}: {reason}"


def _not_finite(token: str) -> bool:
    word = token.rpartition(":")[2].lstrip("+-").lower()
    return word in {"nan", "inf", "infinity"}


def write_libsvm(target: str | Path | IO[str], X: Any, y: Any) -> None:
    """Write a LIBSVM file; reading it back gives the same numbers.

    Parameters
    ----------
    target : str, Path or text file object
        The file, written whole or not at all; ``-`` is standard output.
    X : array or sparse matrix, shape (n, d)
        Finite numbers; zeros are left out.
    y : array of numbers, shape (n,)

    Raises
    ------
    DataError
        If the shapes disagree or a number is not finite.
    """
    text = "".join(_rows(X, y))
    if not isinstance(target, str | Path):
        target.write(text)
    elif str(target) == "-":
        sys.stdout.write(text)
    else:
        with atomic_path(target) as temporary:
            temporary.write_text(text, encoding="ascii", newline="\n")


def _rows(X: Any, y: Any) -> list[str]:
    matrix = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    labels = np.asarray(y, dtype=np.float64)
    if labels.shape != (matrix.shape[0],):
        raise DataError(f"y has shape {labels.shape}, but X has {matrix.shape[0]} rows")
    if not (np.isfinite(matrix.data).all() and np.isfinite(labels).all()):
        raise DataError("X or y holds NaN or infinity, which a LIBSVM file cannot; clean them")
    entries = [
        f" {j}:{_text(v)}"
        for j, v in zip((matrix.indices + 1).tolist(), matrix.data.tolist(), strict=True)
    ]
    ends = matrix.indptr.tolist()
    return [
        _text(label) + "".join(entries[ends[i] : ends[i + 1]]) + "\n"
        for i, label in enumerate(labels.tolist())
    ]


def _text(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
