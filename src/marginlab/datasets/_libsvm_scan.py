"""Compiled scanner behind `libsvm_format`: bytes of a LIBSVM file to CSR parts.

It only recognises; every sentence for the user is made in `libsvm_format`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = [
    "BAD_INDEX",
    "BAD_LABEL",
    "BAD_VALUE",
    "BLANK_LINE",
    "DUPLICATE",
    "NEGATIVE_INDEX",
    "NO_COLON",
    "OK",
    "TOO_LARGE",
    "UNSORTED",
    "ZERO_INDEX",
    "scan",
]

OK = 0
BAD_LABEL = 1
BAD_INDEX = 2
BAD_VALUE = 3
NO_COLON = 4
ZERO_INDEX = 5
NEGATIVE_INDEX = 6
DUPLICATE = 7
UNSORTED = 8
TOO_LARGE = 9
BLANK_LINE = 10

_EXACT, _LONG, _WRONG = 0, 1, 2
_TAB, _NEWLINE, _RETURN, _BLANK = 9, 10, 13, 32
_HASH, _PLUS, _MINUS, _DOT, _ZERO, _NINE, _COLON = 35, 43, 45, 46, 48, 57, 58
_POW10 = 10.0 ** np.arange(23)  # powers of ten that a double holds exactly


@njit(cache=True, inline="always")
def _is_digit(byte):  # type: ignore[no-untyped-def]
    return _ZERO <= byte <= _NINE


@njit(cache=True, inline="always")
def _is_end(buf, pos):  # type: ignore[no-untyped-def]
    if pos >= buf.size:
        return True
    byte = buf[pos]
    return byte in (_BLANK, _NEWLINE, _RETURN, _TAB, _HASH)


@njit(cache=True, inline="always")
def _skip_blanks(buf, pos):  # type: ignore[no-untyped-def]
    while pos < buf.size and (buf[pos] == _BLANK or buf[pos] == _TAB or buf[pos] == _RETURN):
        pos += 1
    return pos


@njit(cache=True)
def _digits(buf, pos, mantissa, count):  # type: ignore[no-untyped-def]
    """Append decimal digits to a mantissa; count its significant digits."""
    while pos < buf.size and _is_digit(buf[pos]):
        if count > 0 or buf[pos] != _ZERO:
            count += 1
        if count <= 18:
            mantissa = mantissa * 10 + (buf[pos] - _ZERO)
        pos += 1
    return pos, mantissa, count


@njit(cache=True)
def _exponent(buf, pos):  # type: ignore[no-untyped-def]
    """Read e+12 at ``pos``; returns (position, exponent), position -1 if malformed."""
    pos += 1
    negative = False
    if pos < buf.size and (buf[pos] == _PLUS or buf[pos] == _MINUS):
        negative = buf[pos] == _MINUS
        pos += 1
    first = pos
    value = 0
    while pos < buf.size and _is_digit(buf[pos]):
        if value < 100000:
            value = value * 10 + (buf[pos] - _ZERO)
        pos += 1
    if pos == first:
        return -1, 0
    return pos, -value if negative else value


@njit(cache=True)
def _number(buf, pos):  # type: ignore[no-untyped-def]
    """Decimal number at ``pos``: (end, value, _EXACT | _LONG | _WRONG).

    A mantissa below 2^53 and a power of ten up to 22 make one rounding, hence the
    correctly rounded double; anything longer is left to Python's float.
    """
    negative = False
    if pos < buf.size and (buf[pos] == _PLUS or buf[pos] == _MINUS):
        negative = buf[pos] == _MINUS
        pos += 1
    first = pos
    pos, mantissa, count = _digits(buf, pos, 0, 0)
    n_digits = pos - first
    power = 0
    if pos < buf.size and buf[pos] == _DOT:
        dot = pos + 1
        pos, mantissa, count = _digits(buf, dot, mantissa, count)
        power = dot - pos
        n_digits += pos - dot
    if n_digits == 0:
        return pos, 0.0, _WRONG
    if pos < buf.size and (buf[pos] == 69 or buf[pos] == 101):  # E, e
        pos, exponent = _exponent(buf, pos)
        if pos < 0:
            return pos, 0.0, _WRONG
        power += exponent
    if not _is_end(buf, pos):
        return pos, 0.0, _WRONG
    if count > 18 or mantissa > 9007199254740992 or power < -22 or power > 22:
        return pos, 0.0, _LONG
    value = mantissa * _POW10[power] if power >= 0 else mantissa / _POW10[-power]
    return pos, -value if negative else value, _EXACT


@njit(cache=True)
def _index(buf, pos):  # type: ignore[no-untyped-def]
    """Feature index and colon at ``pos``: (position after the colon, index, code)."""
    if pos < buf.size and buf[pos] == _MINUS:
        return pos, 0, NEGATIVE_INDEX
    first = pos
    value = 0
    while pos < buf.size and _is_digit(buf[pos]):
        if value < 10_000_000_000:
            value = value * 10 + (buf[pos] - _ZERO)
        pos += 1
    if _is_end(buf, pos):
        return pos, 0, NO_COLON
    if pos == first or buf[pos] != _COLON:
        return pos, 0, BAD_INDEX
    if value == 0:
        return pos, 0, ZERO_INDEX
    return pos + 1, value, OK


@njit(cache=True, inline="always")
def _note_long(slots, starts, n_long, slot, start):  # type: ignore[no-untyped-def]
    """Remember a number for Python's float; count it even when there is no room."""
    if n_long < slots.size:
        slots[n_long] = slot
        starts[n_long] = start
    return n_long + 1


@njit(cache=True, inline="always")
def _skip_line(buf, pos):  # type: ignore[no-untyped-def]
    while pos < buf.size and buf[pos] != _NEWLINE:
        pos += 1
    return pos


@njit(cache=True, inline="always")
def _index_fault(index, last, limit):  # type: ignore[no-untyped-def]
    if index > limit:
        return TOO_LARGE
    if index == last:
        return DUPLICATE
    return UNSORTED if index < last else OK


@njit(cache=True)
def _entries(buf, pos, indices, values, entry, slots, starts, n_long, limit):  # type: ignore[no-untyped-def]
    """Read the entries of one row: (code, position, entries, long numbers, last index)."""
    last = 0
    while True:
        pos = _skip_blanks(buf, pos)
        if pos < buf.size and buf[pos] == _HASH:
            pos = _skip_line(buf, pos)
        if pos >= buf.size or buf[pos] == _NEWLINE:
            return OK, pos, entry, n_long, last
        start = pos
        pos, index, code = _index(buf, pos)
        if code == OK:
            code = _index_fault(index, last, limit)
        if code != OK:
            return code, start, entry, n_long, last
        number = pos
        pos, value, status = _number(buf, pos)
        if status == _WRONG:
            return BAD_VALUE, start, entry, n_long, last
        last = index
        if status == _EXACT and value == 0.0:
            continue
        if status == _LONG:
            n_long = _note_long(slots, starts, n_long, entry, number)
        indices[entry] = index - 1
        values[entry] = value
        entry += 1


@njit(cache=True)
def scan(buf, labels, indptr, indices, values, slots, starts, limit):  # type: ignore[no-untyped-def]
    """Fill the CSR parts from the bytes of a file.

    Parameters
    ----------
    buf : ndarray of uint8
    labels, indptr, indices, values : ndarray
        Filled in place; large enough for the numbers of lines and colons.
    slots, starts : ndarray of int64
        Filled with the slot (entry number, or -1 - row for a label) and the position
        of each number that needs Python's float.
    limit : int
        Largest index allowed.

    Returns
    -------
    tuple
        (code, line, position, rows, entries, number of long numbers, largest index)
    """
    pos, line, row, entry, n_long, blank, widest = 0, 1, 0, 0, 0, 0, 0
    while True:
        pos = _skip_blanks(buf, pos)
        if pos >= buf.size:
            return OK, line, pos, row, entry, n_long, widest
        if buf[pos] == _NEWLINE or buf[pos] == _HASH:
            if buf[pos] == _NEWLINE and blank == 0:
                blank = line
        elif blank > 0:
            return BLANK_LINE, blank, pos, row, entry, n_long, widest
        else:
            start = pos
            pos, labels[row], status = _number(buf, pos)
            if status == _WRONG:
                return BAD_LABEL, line, start, row, entry, n_long, widest
            if status == _LONG:
                n_long = _note_long(slots, starts, n_long, -1 - row, start)
            code, pos, entry, n_long, last = _entries(
                buf, pos, indices, values, entry, slots, starts, n_long, limit
            )
            if code != OK:
                return code, line, pos, row, entry, n_long, widest
            widest = max(widest, last)
            row += 1
            indptr[row] = entry
        pos = _skip_line(buf, pos) + 1
        line += 1
