"""Values on the command line: numbers, lists of numbers, each with a clear complaint."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

__all__ = [
    "at_least",
    "gamma",
    "number_list",
    "positive",
    "sample_size",
    "share_list",
    "share_of_errors",
]


def number_list(text: str) -> list[float]:
    """Numbers written as ``1,2,5`` or, first:last:step, as ``-2:8:2``."""
    try:
        if ":" in text:
            first, last, step = (_finite(part) for part in text.split(":"))
            if not (step > 0 and last >= first and (last - first) / step <= 1000):
                raise ValueError
            return [first + i * step for i in range(int((last - first) / step + 1e-9) + 1)]
        return [_finite(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of numbers; write 1,2,5 or first:last:step"
        ) from None


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError
    return value


def at_least(least: int) -> Callable[[str], int]:
    """A reader of whole numbers of at least ``least``."""

    def whole(text: str) -> int:
        if not text.isdigit() or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of {least} or more")
        return int(text)

    return whole


def positive(text: str) -> float:
    """A finite number above 0."""
    try:
        value = _finite(text)
    except ValueError:
        value = 0.0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def share_of_errors(text: str) -> float:
    """A number above 0 and below 1."""
    try:
        value = _finite(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0 and below 1")
    return value


def share_list(text: str) -> list[float]:
    """Numbers from 0 to 1, written as `number_list` reads them."""
    values = number_list(text)
    if min(values) < 0 or max(values) > 1:
        raise argparse.ArgumentTypeError(f"{text!r} has numbers outside 0 to 1")
    return values


def gamma(text: str) -> float | str:
    """``1/d`` or a positive number."""
    return text if text == "1/d" else positive(text)


def sample_size(text: str) -> int | str:
    """``log2``, ``log`` or a whole number of at least 2."""
    return text if text in ("log2", "log") else at_least(2)(text)
