"""What a solver of the minimax risk problem hands back, and its log of rounds."""

from __future__ import annotations

import resource
import time
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

__all__ = ["Clock", "History", "MrcResult"]

COLUMNS = [
    "iteration",
    "seconds",
    "cpu_seconds",
    "risk",
    "lower",
    "upper",
    "violation",
    "constraints",
    "features",
]


class Clock:
    """Wall and CPU seconds (own process and finished children) since the start."""

    def __init__(self, budget: float = float("inf")) -> None:
        self._wall, self._cpu, self._budget = time.perf_counter(), _cpu(), budget

    def wall(self) -> float:
        """Wall seconds since the start."""
        return time.perf_counter() - self._wall

    def cpu(self) -> float:
        """CPU seconds since the start."""
        return _cpu() - self._cpu

    def left(self) -> float:
        """Wall seconds left of the budget."""
        return self._budget - self.wall()


@dataclass
class History:
    """Rows of the convergence log."""

    rows: list[dict[str, float]] = field(default_factory=list)

    def add(self, clock: Clock, **values: float) -> None:
        """Append one round."""
        stamp = {"seconds": clock.wall(), "cpu_seconds": clock.cpu()}
        self.rows.append({"iteration": len(self.rows) + 1, **stamp, **values})

    def frame(self) -> pd.DataFrame:
        """The log, one row a round."""
        return pd.DataFrame(self.rows, columns=COLUMNS)


@dataclass(frozen=True)
class MrcResult:
    """Solution of problem (3) with its certificate.

    Attributes
    ----------
    mu : ndarray of shape (m,)
        Coefficients in the problem's scaled columns.
    risk : float
        Minimax risk R reported for the method.
    lower, upper : float
        Bounds on the optimal minimax risk R*, recomputed in NumPy.
    dual_violation : float
        Largest violation of a dual constraint behind ``lower``.
    history : DataFrame
    """

    mu: np.ndarray
    risk: float
    lower: float
    upper: float
    dual_violation: float
    history: pd.DataFrame


def _cpu() -> float:
    # Finer than os.times, whose clock ticks in hundredths of a second.
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
