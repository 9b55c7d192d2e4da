"""Fair timing: two calls in turn, CPU seconds, medians, and the memory each one needs."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import numpy as np

__all__ = ["interleave", "peak_mb"]


def interleave(*calls: Callable[[], object], repeats: int = 5, warmup: int = 1) -> list[float]:
    """Median CPU seconds of several calls, run in turn (A B A B ...).

    Parameters
    ----------
    *calls : callable
    repeats : int
        Counted rounds.
    warmup : int
        Rounds before them that are not counted (compilation, caches).

    Returns
    -------
    list of float
        One median a call, in seconds of process time.
    """
    seconds: list[list[float]] = [[] for _ in calls]
    for turn in range(warmup + repeats):
        for index, call in enumerate(calls):
            gc.collect()
            start = time.process_time()
            call()
            if turn >= warmup:
                seconds[index].append(time.process_time() - start)
    return [float(np.median(each)) for each in seconds]


def peak_mb(call: Callable[[], object]) -> float:
    """Peak of the memory that Python and NumPy allocate during a call, in MB.

    Notes
    -----
    Memory that a compiled solver allocates by itself is not seen; where that matters,
    a bench measures the whole process instead.
    """
    import tracemalloc

    gc.collect()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()
