"""Whether two runs give the same results, times apart.

    python -m marginlab.experiments.same_tables results/quick other/results/quick

Compared byte for byte: arrays (.npz), figures (.png) and tables, after times and memory are
taken out. Left out: files whose name starts with ``time_`` or ends with ``_times.csv``, columns
and rows of measures that `marginlab.results.is_time_measure` names, benchmarks, logs, and what
the provenance table says of the machine. Of a claim, the verdict and the evidence are compared
only where they speak of no time.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from marginlab.errors import DataError, MarginlabError
from marginlab.results import is_time_measure

__all__ = ["differences", "main", "result_files"]

_APART = ("benchmarks", "logs", "bench")
_ENDINGS = (".csv", ".md", ".tex", ".html", ".npz", ".png")
_PROVENANCE = ("provenance.csv",)
_TIMELY = ("provenance.", "published_times.", "report.html")
_RENDERED = (".md", ".tex", ".html")
#: Words by which a claim's evidence, or a table's row or column, speaks of time or memory.
_TIME_WORDS = ("time", "second", " s ", " s;", " s,", " ms", "faster", "slower", " MB", "CPU")


def result_files(folder: str | Path) -> dict[str, Path]:
    """Comparable files of a run.

    Parameters
    ----------
    folder : str or Path
        ``results/<run>`` or ``figures/<run>``.

    Returns
    -------
    dict of str to Path
        By path relative to ``folder``, sorted.

    Raises
    ------
    DataError
        If the folder holds no results.
    """
    root = Path(folder)
    found = {
        path.relative_to(root).as_posix(): path
        for path in sorted(root.rglob("*"))
        if path.suffix in _ENDINGS and _is_compared(path.relative_to(root))
    }
    if not found:
        raise DataError(f"{root} holds no results; give the folder results/<run> of a finished run")
    return found


def differences(first: str | Path, second: str | Path) -> list[str]:
    """What differs between two runs, one sentence each; empty when they agree.

    Parameters
    ----------
    first, second : str or Path
        ``results/<run>`` or ``figures/<run>`` of each.
    """
    ours, theirs = result_files(first), result_files(second)
    missing = [f"{name}: only in {first}" for name in sorted(set(ours) - set(theirs))]
    missing += [f"{name}: only in {second}" for name in sorted(set(theirs) - set(ours))]
    common = sorted(set(ours) & set(theirs))
    notes = ((name, _compare(ours[name], theirs[name])) for name in common)
    return missing + [f"{name}: {note}" for name, note in notes if note]


def _is_compared(path: Path) -> bool:
    if path.parts[0] in _APART or path.name.startswith(("time_", *_TIMELY[1:])):
        return False
    if path.name.startswith("peak_") or path.name.startswith(".part-"):
        return False
    return path.name in _PROVENANCE or not path.name.startswith("provenance.")


def _compare(first: Path, second: Path) -> str:
    if _digest(first) == _digest(second):
        return ""
    if first.suffix == ".npz":
        return _compare_arrays(first, second)
    if first.suffix == ".csv":
        return _compare_tables(_timeless(first), _timeless(second))
    if first.suffix in _RENDERED and first.with_suffix(".csv").exists():
        # Rendered from the .csv beside it: what may differ there may differ here.
        alike = _digest(first.with_suffix(".csv")) == _digest(second.with_suffix(".csv"))
        return "differs, though the .csv beside it does not" if alike else ""
    return "the bytes differ"


def _compare_arrays(first: Path, second: Path) -> str:
    with np.load(first, allow_pickle=False) as ours, np.load(second, allow_pickle=False) as theirs:
        if ours.files != theirs.files:
            return f"arrays {ours.files} against {theirs.files}"
        names = [name for name in ours.files if not is_time_measure(name)]
        unequal = [name for name in names if ours[name].tobytes() != theirs[name].tobytes()]
    return f"arrays {', '.join(unequal)} differ" if unequal else ""


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _timeless(path: Path) -> pd.DataFrame:
    """A table without its columns and rows of time and memory, all as text."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    if path.name in _PROVENANCE:
        return frame[frame["kind"] == "data"].reset_index(drop=True)
    if path.name.endswith("claims.csv") and "evidence" in frame:
        timely = frame["evidence"].map(_speaks_of_time) | frame["published"].map(_speaks_of_time)
        frame.loc[timely, ["ours", "evidence", "verdict"]] = "(of times)"
    if path.name == "summary.csv":  # counts verdicts, some of them on times
        frame = frame[~frame["item"].map(lambda item: "claims" in item or _speaks_of_time(item))]
    if "measure" in frame:
        frame = frame[~frame["measure"].map(is_time_measure)]
    kept = [name for name in frame.columns if not _names_a_time(name)]
    return frame[kept].reset_index(drop=True)


def _names_a_time(column: str) -> bool:
    return is_time_measure(column) or _speaks_of_time(f" {column} ")


def _speaks_of_time(text: str) -> bool:
    return any(word in text for word in _TIME_WORDS)


def _compare_tables(first: pd.DataFrame, second: pd.DataFrame) -> str:
    if list(first.columns) != list(second.columns):
        return f"columns {list(first.columns)} against {list(second.columns)}"
    if len(first) != len(second):
        return f"{len(first)} rows against {len(second)}"
    unequal = first.ne(second)
    if not unequal.to_numpy().any():
        return ""
    row = int(unequal.any(axis=1).to_numpy().argmax())
    column = str(unequal.columns[unequal.iloc[row].to_numpy().argmax()])
    count = int(unequal.any(axis=1).sum())
    return (
        f"{count} of {len(first)} rows differ; first in row {row + 1}, column {column!r}: "
        f"{first.at[row, column]!r} against {second.at[row, column]!r}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Print what differs between two folders of results; 0 when they agree."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0] if __doc__ else None)
    parser.add_argument("first", help="results/<run> or figures/<run> of one run")
    parser.add_argument("second", help="the same of the other run")
    args = parser.parse_args(argv)
    try:
        found = differences(args.first, args.second)
        count = len(result_files(args.first))
    except MarginlabError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for sentence in found:
        print(sentence)
    print(f"{count} files compared, {len(found)} differ (times apart)")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
