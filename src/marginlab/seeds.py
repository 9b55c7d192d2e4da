"""Random numbers by name: one base seed, one stream per set of named axes.

Streams depend only on the names, never on the order of calls or the number of
cores, so a rerun of one job gives the numbers of the whole run.
"""

from __future__ import annotations

import hashlib

import numpy as np

__all__ = ["int_seed", "rng", "seed_sequence"]

Axis = str | int | float | bool


def seed_sequence(base: int, *axes: Axis) -> np.random.SeedSequence:
    """Seed sequence of the stream named by ``axes``.

    Parameters
    ----------
    base : int
        The run's base seed, at least 0.
    *axes : str, int, float or bool
        Names of the stream, such as ``("subsvms", "a1a", "alpha=0.5", 3)``.

    Returns
    -------
    numpy.random.SeedSequence
    """
    text = "\x1f".join(f"{type(axis).__name__}:{axis!r}" for axis in map(_plain, axes))
    digest = hashlib.sha256(text.encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.SeedSequence([int(base), *words])


def rng(base: int, *axes: Axis) -> np.random.Generator:
    """PCG64 generator of the stream named by ``axes`` (see `seed_sequence`)."""
    return np.random.Generator(np.random.PCG64(seed_sequence(base, *axes)))


def int_seed(base: int, *axes: Axis) -> int:
    """A 31-bit integer seed of the named stream, for libraries that take integers."""
    return int(seed_sequence(base, *axes).generate_state(1)[0] & 0x7FFFFFFF)


def _plain(axis: Axis) -> Axis:
    # NumPy scalars and Python scalars of one value must name the same stream.
    return axis.item() if isinstance(axis, np.generic) else axis
