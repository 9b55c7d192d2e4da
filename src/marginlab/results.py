"""Tidy results: one row a measured value, the same columns for every job."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from marginlab.errors import DataError
from marginlab.files import write_csv

__all__ = ["COLUMNS", "TIME_PREFIXES", "Results", "is_time_measure", "read_results"]

COLUMNS = (
    "run",
    "paper",
    "dataset",
    "method",
    "setting",
    "repeat",
    "measure",
    "value",
    "seconds",
)
#: Measures of time and memory; they change from run to run and are left out
#: where two runs' tables are compared.
TIME_PREFIXES = ("seconds", "speedup", "peak_")


def is_time_measure(measure: str) -> bool:
    """Whether a measure is a time or a memory figure, by its name."""
    return measure.startswith(TIME_PREFIXES)


class Results:
    """Collects the rows of one job.

    Parameters
    ----------
    run : str
        "paper" or "quick".
    paper : str
        "subsvms", "span", "mrc", "chain" or "bench".
    """

    def __init__(self, run: str, paper: str) -> None:
        self.run = run
        self.paper = paper
        self._rows: list[tuple[object, ...]] = []

    def add(
        self,
        dataset: str,
        method: str,
        setting: str,
        repeat: int,
        measure: str,
        value: float,
        seconds: float = np.nan,
    ) -> None:
        """Add one measured value; ``seconds`` is the time it took, if known."""
        self._rows.append(
            (
                self.run,
                self.paper,
                dataset,
                method,
                setting,
                int(repeat),
                measure,
                float(value),
                float(seconds),
            )
        )

    def frame(self) -> pd.DataFrame:
        """The rows as a DataFrame with the columns of `COLUMNS`."""
        return pd.DataFrame(self._rows, columns=list(COLUMNS))

    def write(self, path: str | Path) -> None:
        """Write the rows as CSV, whole or not at all."""
        write_csv(self.frame(), path)


def read_results(paths: Iterable[str | Path]) -> pd.DataFrame:
    """Read and join tidy tables.

    Raises
    ------
    DataError
        If a file does not have the columns of `COLUMNS`.
    """
    frames = []
    for path in paths:
        frame = pd.read_csv(path, keep_default_na=True, dtype={"setting": str})
        if list(frame.columns) != list(COLUMNS):
            raise DataError(
                f"{path} is not a results table (columns {list(frame.columns)}); "
                f"delete it and run the workflow again"
            )
        if len(frame):
            frames.append(frame)
    if not frames:
        return pd.DataFrame(columns=list(COLUMNS))
    return pd.concat(frames, ignore_index=True)
