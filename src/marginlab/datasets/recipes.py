"""Rebuilds the publishers' files from other files, byte for byte.

The recipes were found by comparing files; each result is checked by sha256, so
a wrong rebuild is never used. The tables of the recipes are the JSON files beside
this module.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from marginlab.datasets.images import mnist_to_idx
from marginlab.errors import DataError

__all__ = ["apply_recipe", "msvc_rand"]

_N_ADULT_TRAIN = 32561
_RAND_MAX = 32767
_ADULT_COLUMNS = (
    *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status"),
    *("occupation", "relationship", "race", "sex", "capital-gain", "capital-loss"),
    *("hours-per-week", "native-country"),
)


def apply_recipe(recipe: Mapping[str, Any], data: bytes) -> bytes:
    """Make a file from another one.

    Parameters
    ----------
    recipe : mapping
        ``kind`` (extract, adult, splice or mnist), ``part`` (train or test), for extract
        also ``share``, for mnist ``content`` (images or labels).
    data : bytes
        Content of the source file.

    Raises
    ------
    DataError
        If the source does not look as the recipe expects.
    """
    kind, part = recipe["kind"], recipe["part"]
    try:
        if kind == "extract":
            return _extract(data, float(recipe["share"]), part)
        if kind == "adult":
            return _adult(data, part)
        if kind == "splice":
            return _splice(data, part)
        if kind == "mnist":
            return mnist_to_idx(data, part, recipe["content"])
    except DataError:
        raise
    except (ValueError, KeyError, IndexError) as error:
        raise DataError(f"recipe {kind} does not fit its source file ({error!r})") from None
    raise DataError(f"there is no recipe {kind!r}; use extract, adult, splice or mnist")


def msvc_rand(n: int, seed: int = 1) -> list[int]:
    """First ``n`` numbers of Microsoft C's ``rand()``: 15 bits of a 32-bit generator."""
    state, numbers = seed, []
    for _ in range(n):
        state = (state * 214013 + 2531011) & 0xFFFFFFFF
        numbers.append(state >> 16 & 0x7FFF)
    return numbers


def _extract(data: bytes, share: float, part: str) -> bytes:
    """Rows whose random number lies below ``share`` of RAND_MAX are the training part."""
    lines = data.splitlines(keepends=True)
    threshold = int(share * _RAND_MAX)
    wanted = part == "train"
    draws = msvc_rand(len(lines))
    return b"".join(line for line, r in zip(lines, draws, strict=True) if (r < threshold) == wanted)


@lru_cache(maxsize=2)
def _table(name: str) -> dict[str, Any]:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _adult(data: bytes, part: str) -> bytes:
    table = _table("adult_to_a9a.json")
    lines = data.decode("ascii").splitlines()[2:]
    wanted = slice(0, _N_ADULT_TRAIN) if part == "train" else slice(_N_ADULT_TRAIN, None)
    numbered = list(enumerate(lines))[wanted]
    rows = [_adult_row(table, number, line.split(",")) for number, line in numbered]
    return "".join(rows).encode("ascii")


def _adult_row(table: Mapping[str, Any], number: int, cells: list[str]) -> str:
    exceptions = table["exceptions"].get(str(number), {})
    features: list[int] = []
    for name, cell in zip(_ADULT_COLUMNS, cells[:-1], strict=True):
        if name in exceptions:
            features.append(exceptions[name])
        elif name in table["continuous"]:
            rule = table["continuous"][name]
            exceeded = bisect.bisect_left(rule["upper_cuts"], float(cell))
            features.append(rule["first_feature"] + exceeded)
        else:
            features.extend(table["categorical"][name][cell])
    label = "+1" if cells[-1] == "1" else "-1"
    return label + "".join(f" {j}:1" for j in sorted(features)) + " \n"


def _splice(data: bytes, part: str) -> bytes:
    table = _table("splice_order.json")
    lines = data.decode("ascii").splitlines()
    coding, labels = table["coding"], table["label"]
    rows = []
    for number in table[f"{part}_rows"]:
        *bases, label = (cell.strip() for cell in lines[number].split(","))
        entries = [f"{j}:{coding[base]}.000000" for j, base in enumerate(bases, 1)]
        rows.append(f"{labels[label]} {' '.join(entries)}{_SPLICE_END}")
    return "".join(rows).encode("ascii")


_SPLICE_END = " \n"
