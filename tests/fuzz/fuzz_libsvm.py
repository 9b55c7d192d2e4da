"""Coverage-guided fuzzing of the LIBSVM reader, against a plain reader written here.

    pip install atheris
    NUMBA_DISABLE_JIT=1 PYTHONPATH=src python tests/fuzz/fuzz_libsvm.py \
        -max_len=120 -max_total_time=300 /tmp/corpus tests/fuzz/corpus

Without its compiler the scanner is plain Python: the fuzzer sees its branches, and an access
outside an array is an error. Ends with a crash file when the reader raises anything but
DataError, when the two readers accept different input, or when they read different numbers.
"""

import math
import re
import sys
from types import FunctionType

import numpy as np

from marginlab.datasets.libsvm_format import parse_libsvm
from marginlab.errors import DataError

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\Z")
_INDEX = re.compile(rb"\d+\Z")
_LIMIT = 2**31 - 1


def plain_rows(data):
    """Rows as (label, {index: value}) by the format's rules; None when one is broken."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    rows = []
    blank = False
    for line in lines:
        tokens = line.split(b"#")[0].split()
        if not tokens:
            blank = blank or b"#" not in line
            continue
        if blank:
            return None
        row = _plain_row(tokens)
        if row is None:
            return None
        rows.append(row)
    return rows or None


def _plain_row(tokens):
    label = _finite(tokens[0])
    if label is None:
        return None
    entries, last = {}, 0
    for token in tokens[1:]:
        index, colon, value = token.partition(b":")
        number = _finite(value)
        if not colon or not _INDEX.match(index) or number is None:
            return None
        place = int(index)
        if not last < place <= _LIMIT:
            return None
        entries[place], last = number, place
    return label, entries


def _finite(token):
    if not _NUMBER.match(token):
        return None
    value = float(token)
    return value if math.isfinite(value) else None


def is_text(data):
    """Whether the plain reader's rules say all: no archive, no web page, no odd blanks."""
    odd = any(byte in data for byte in b"\x00\x0b\x0c")
    packed = data.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ"))
    return not odd and not packed and data.lstrip()[:1] != b"<"


def check(data):
    """One input through both readers."""
    try:
        X, y = parse_libsvm(data)
    except DataError as error:
        assert str(error)
        accepted = None
    else:
        accepted = (X, y)
    if not is_text(data):
        return
    expected = plain_rows(data)
    assert (accepted is None) == (expected is None), (data, expected)
    if accepted is None:
        return
    assert [row[0] for row in expected] == y.tolist(), data
    for number, (_, entries) in enumerate(expected):
        part = slice(X.indptr[number], X.indptr[number + 1])
        found = dict(zip((X.indices[part] + 1).tolist(), X.data[part].tolist(), strict=True))
        assert found == {k: v for k, v in entries.items() if v != 0.0}, data
    assert np.isfinite(X.data).all()


class Buffer(list):
    """Bytes as plain whole numbers, with an array's size and no wrap-around at its ends."""

    @property
    def size(self):
        return len(self)

    def __getitem__(self, place):
        assert place >= 0, "an access before the first byte"
        return super().__getitem__(place)


def main():
    """Let atheris see the branches of the reader and its scanner, and start."""
    import atheris

    import marginlab.datasets._libsvm_scan as scanner
    import marginlab.datasets.libsvm_format as reader

    for module in (scanner, reader):
        for name, value in list(vars(module).items()):
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                setattr(module, name, atheris.instrument_func(value))
    scan = scanner.scan
    # Compiled, a byte counts as a 64-bit number; as a NumPy scalar it would overflow at 255.
    scanner.scan = lambda buf, *rest: scan(Buffer(buf.tolist()), *rest)
    globals()["parse_libsvm"] = reader.parse_libsvm
    atheris.Setup(sys.argv, check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
