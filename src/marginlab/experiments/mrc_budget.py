"""One run in a process of its own: limits of time and memory, CPU seconds and peak memory."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from marginlab.errors import SolverError
from marginlab.mrc.lp import BudgetError

__all__ = ["Outcome", "run_within"]

OK, OVER_TIME, OVER_MEMORY, FAILED = "ok", "time", "memory", "failed"
_LOOK = 0.5  # seconds between two looks at a run's memory


@dataclass(frozen=True)
class Outcome:
    """What came of a run.

    Attributes
    ----------
    status : {"ok", "time", "memory", "failed"}
        Solved; over its time or memory budget; refused by its certificate.
    value : object or None
        What the call returned.
    seconds : float
        Wall time.
    cpu : float
        CPU seconds of the process and of the solvers it started.
    peak_mb : float
        Growth of the process's resident memory over its start, or the peak of a solver that
        ran as a process of its own where that is larger, in MB.
    message : str
        The error, in one sentence.
    """

    status: str
    value: Any
    seconds: float
    cpu: float
    peak_mb: float
    message: str = ""


def run_within(call: Callable[[], Any], seconds: float, memory_mb: float = float("inf")) -> Outcome:
    """Run a call in a forked process that ends with its budget.

    Parameters
    ----------
    call : callable
        Its result is sent back, so it must be something pickle can carry.
    seconds : float
        Wall time. The call is expected to keep it; five seconds and a tenth later it is
        stopped, with all processes it started.
    memory_mb : float, default=inf
        Memory in MB by which the call and the solvers it starts may grow; a call that takes
        more is stopped (Linux).

    Returns
    -------
    Outcome

    Notes
    -----
    A fork shares the data without copying, and the memory a method needs is not mixed with
    that of the methods before it.
    """
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    start = time.perf_counter()
    process = context.Process(target=_work, args=(call, there), daemon=False)
    sys.stdout.flush()
    sys.stderr.flush()
    process.start()
    there.close()
    try:
        limit = memory_mb + _own_mb("self")  # the fork begins with the parent's
        while time.perf_counter() - start < 1.1 * seconds + 5.0:
            if here.poll(_LOOK):
                return _receive(here, start)
            if _group_mb(process.pid) > limit:
                text = f"no solution within the memory budget of {memory_mb:g} MB"
                return _unfinished(OVER_MEMORY, start, text)
        return _unfinished(OVER_TIME, start)
    finally:
        _stop(process)
        here.close()


def _unfinished(status: str, start: float, text: str = "") -> Outcome:
    spent = time.perf_counter() - start
    return Outcome(status, None, spent, float("nan"), float("nan"), text)


def _receive(here: Connection, start: float) -> Outcome:
    try:
        return here.recv()  # type: ignore[no-any-return]
    except EOFError:
        text = "the run's process was stopped, most likely for want of memory"
        return _unfinished(OVER_MEMORY, start, text)


def _group_mb(group: int | None) -> float:
    """Memory of a run's process and of the solvers it started: a group of its own."""
    total = 0.0
    for number in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        # after the name in brackets: state, parent, group
        fields = _proc(f"/proc/{number}/stat").rpartition(")")[2].split()
        if len(fields) > 2 and fields[2] == str(group):
            total += _own_mb(number)
    return total


def _own_mb(process: str) -> float:
    """Memory that a process has asked for; a fork has its parent's, but not the mapped files."""
    for line in _proc(f"/proc/{process}/status").splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024 / 1e6
    return 0.0


def _stop(process: Any) -> None:
    # The run is a group of its own, so a solver it started ends with it.
    if process.is_alive():
        process.join(1.0)
    if process.is_alive():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            process.kill()
    process.join()


def _work(call: Callable[[], Any], there: Connection) -> None:
    os.setpgid(0, 0)
    _end_with_parent()
    before = _resident_mb()
    start, cpu = time.perf_counter(), _cpu()
    status, value, message = OK, None, ""
    try:
        value = call()
    except BudgetError as error:
        status, message = (OVER_MEMORY if "memory" in str(error) else OVER_TIME), str(error)
    except MemoryError:
        status, message = OVER_MEMORY, "not enough memory"
    except SolverError as error:
        status, message = FAILED, str(error)
    spent, used = time.perf_counter() - start, _cpu() - cpu
    peak = _growth(before)
    there.send(Outcome(status, value, spent, used, peak, message))
    there.close()


def _end_with_parent() -> None:
    # A group of its own gets no signal of the job's group: Linux ends it with its parent.
    parent = os.getppid()
    if sys.platform == "linux":
        set_parent_death_signal = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def _growth(before: float) -> float:
    """Growth of the larger process: this one, or a solver that ran as one of its own."""
    own, solver = _peak_mb(), _maxrss(resource.RUSAGE_CHILDREN)
    # A child counts its parent's size too until it starts its own program.
    return max(0.0, own - before, solver if solver > 1.05 * own else 0.0)


def _resident_mb() -> float:
    pages = _proc("/proc/self/statm")
    if pages:
        return int(pages.split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    return _peak_mb()


def _peak_mb() -> float:
    for line in _proc("/proc/self/status").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024 / 1e6
    return _maxrss(resource.RUSAGE_SELF)


def _maxrss(who: int) -> float:
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(who).ru_maxrss * unit / 1e6


def _proc(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            return source.read()
    except OSError:
        return ""
