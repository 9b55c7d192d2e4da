"""A call in a process of its own: CPU seconds and peak memory, solvers included."""

from __future__ import annotations

import ctypes
import multiprocessing as mp
import resource
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import numpy as np

from marginlab.mrc.lp import BudgetError

__all__ = ["Run", "run_apart"]

BRIEF = 1.0  # CPU seconds below which a call is repeated
AGAIN = 5


class Run(NamedTuple):
    """What one run cost.

    ``seconds`` is NaN when there was no answer; ``stopped_after`` then holds the CPU
    seconds that a run over its time budget had used (NaN for other failures).
    """

    seconds: float
    peak_mb: float
    value: float
    stopped_after: float = np.nan


def run_apart(call: Callable[[], float], limit: float) -> Run:
    """Run ``call`` in a forked process.

    A call of less than a second is called again, five times, and the median counts: the
    first time a process touches memory can take longer than a short computation.

    Parameters
    ----------
    call : callable
        Returns a number.
    limit : float
        Wall seconds after which the process is ended.

    Returns
    -------
    Run
        CPU seconds of the process and its children, and the growth of its memory in
        MB (what compiled solvers allocate is seen; a child's memory is added).
    """
    context = mp.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_inside, args=(call, sender))
    process.start()
    sender.close()
    try:
        answer = receiver.recv() if receiver.poll(2.0 * limit) else None
    except EOFError:  # the process died, for instance of too little memory
        answer = None
    if answer is None:
        process.terminate()
    process.join()
    return Run(*answer) if answer else Run(np.nan, np.nan, np.nan)


def _inside(call: Callable[[], float], sender: Connection) -> None:
    # What the parent freed but kept would hide the first allocations of the call.
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)
    before = _resident("VmRSS")
    # Peak memory counts from here on (Linux).
    Path("/proc/self/clear_refs").write_text("5")
    start = _cpu()
    try:
        value = float(call())
    except Exception as error:
        print(f"no answer: {error}", flush=True)
        over_time = isinstance(error, BudgetError) and "time" in str(error)
        used = _cpu() - start if over_time else np.nan
        sender.send((np.nan, np.nan, np.nan, used))
        return
    seconds = _cpu() - start
    peak = _resident("VmHWM") - before
    if seconds < BRIEF:
        seconds = float(np.median([_seconds(call) for _ in range(AGAIN)]))
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    sender.send((seconds, peak + children, value))


def _seconds(call: Callable[[], float]) -> float:
    start = _cpu()
    call()
    return _cpu() - start


def _cpu() -> float:
    # os.times counts in ticks of 10 ms, too coarse for short runs
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _resident(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return float(line.split()[1]) / 1024
    return float("nan")
