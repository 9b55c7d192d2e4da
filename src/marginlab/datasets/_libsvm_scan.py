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


_LOWEST, _HIGHEST = -342, 308  # beyond, 18 digits make zero or more than a double holds


def _powers_of_five() -> np.ndarray:
    """Leading 128 bits of 5^q, two words each, for q from _LOWEST to _HIGHEST.

    Cut off, but rounded up from -27 to -1, where ties can occur: as Lemire's proof asks for.
    """
    words = np.empty((_HIGHEST - _LOWEST + 1, 2), dtype=np.uint64)
    for q in range(_LOWEST, _HIGHEST + 1):
        bits = 5 ** abs(q)
        if q < 0:
            bits = (1 << (bits.bit_length() + 192)) // bits
        bits = (bits << 128 >> bits.bit_length()) + (-27 <= q < 0)
        words[q - _LOWEST] = bits >> 64, bits & (2**64 - 1)
    return words


_FIVES = _powers_of_five()
_TWOS = np.ldexp(1.0, np.arange(-1075, 972))  # [e]: 2^(e - 1075), e the biased exponent
_HALF = np.uint64(32)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_ONE, _THREE, _NINE_BITS = np.uint64(1), np.uint64(3), np.uint64(9)
_UNSURE = np.uint64(0x1FF)
_TOP = np.uint64(63)


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


@njit(cache=True, inline="always")
def _product(a, b):  # type: ignore[no-untyped-def]
    """High and low word of the product of two 64-bit numbers."""
    a_high, a_low = a >> _HALF, a & _LOW_WORD
    b_high, b_low = b >> _HALF, b & _LOW_WORD
    low = a_low * b_low
    middle = a_high * b_low + (low >> _HALF)
    other = a_low * b_high + (middle & _LOW_WORD)
    high = a_high * b_high + (middle >> _HALF) + (other >> _HALF)
    return high, a * b


@njit(cache=True)
def _rounded(mantissa, power):  # type: ignore[no-untyped-def]
    """The double nearest to mantissa 10^power, and whether it could be told.

    Lemire's algorithm ("Number parsing at a gigabyte per second", 2021, section 5): the
    mantissa times the leading bits of 5^power; what lies too near to a tie, or below the
    normal numbers, is left to the caller. ``mantissa`` is a positive number below 2^63.
    """
    if power < _LOWEST or power > _HIGHEST:
        return 0.0, False
    w = np.uint64(mantissa)
    zeros = 0
    while w >> _TOP == 0:
        w = w << _ONE
        zeros += 1
    five = _FIVES[power - _LOWEST]
    high, low = _product(w, five[0])
    if high & _UNSURE == _UNSURE:
        more, _ = _product(w, five[1])
        low = low + more
        if low < more:
            high = high + _ONE
    upper = high >> _TOP
    digits = high >> (upper + _NINE_BITS)
    exponent = ((217706 * power) >> 16) + 1086 + np.int64(upper) - zeros
    tie = low <= _ONE and -4 <= power <= 23 and digits & _THREE == _ONE
    unsure = low == ~np.uint64(0) and not -27 <= power <= 55
    if exponent <= 0 or unsure:
        return 0.0, False
    if tie and digits << (upper + _NINE_BITS) == high:
        digits = digits & ~_ONE
    digits = (digits + (digits & _ONE)) >> _ONE
    if exponent >= 2046:
        return 0.0, False
    return np.float64(np.int64(digits)) * _TWOS[exponent], True


@njit(cache=True)
def _number(buf, pos):  # type: ignore[no-untyped-def]
    """Decimal number at ``pos``: (end, value, _EXACT | _LONG | _WRONG).

    A mantissa below 2^53 and a power of ten up to 22 make one rounding, hence the
    correctly rounded double; up to 18 digits `_rounded` finds it, and anything longer is
    left to Python's float.
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
        value, sure = _rounded(mantissa, power) if 0 < count <= 18 else (0.0, False)
        return pos, -value if negative else value, _EXACT if sure else _LONG
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
