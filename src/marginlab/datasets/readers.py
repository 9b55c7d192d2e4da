"""Readers: verified files of a data set to raw features, raw labels and extra columns.

A reader gets the paths of one part (train, test or pool) and the registry's options,
and knows nothing about classes, splits or scaling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from marginlab.datasets.images import read_idx
from marginlab.datasets.libsvm_format import read_libsvm
from marginlab.errors import DataError

if TYPE_CHECKING:  # most files are no tables, and their jobs do without the import
    import pandas as pd

__all__ = ["READERS", "RawPart"]


@dataclass
class RawPart:
    """One part of a data set as its files have it.

    Attributes
    ----------
    X : ndarray or csr_matrix, shape (n, d), float64
    labels : ndarray, shape (n,)
        Raw labels, numbers or text.
    extra : dict of ndarray, each of shape (n,)
        Columns that are no features (subject, score).
    """

    X: Any
    labels: np.ndarray
    extra: dict[str, np.ndarray] = field(default_factory=dict)


Paths = Sequence[Path]
Options = Mapping[str, Any]


def _libsvm(paths: Paths, options: Options) -> RawPart:
    return RawPart(*read_libsvm(paths[0], options["n_features"]))


def _ida(paths: Paths, options: Options) -> RawPart:
    data, labels = (_loadtxt(path) for path in paths)
    return RawPart(data, labels.ravel())


def _loadtxt(path: Path) -> np.ndarray:
    try:
        return np.loadtxt(path, dtype=np.float64, ndmin=2)
    except ValueError as error:
        raise DataError(f"{path} is not a table of numbers ({error}); fetch it again") from None


def _table(path: Path, **settings: Any) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_csv(path, encoding="utf-8-sig", skipinitialspace=True, **settings)
    except (ValueError, pd.errors.ParserError) as error:
        detail = " ".join(str(error).split())
        raise DataError(f"{path} is not the table expected ({detail}); fetch it again") from None


def _numbers(frame: pd.DataFrame, path: Path) -> np.ndarray:
    try:
        X = frame.to_numpy(dtype=np.float64)
    except ValueError as error:
        raise DataError(f"{path} holds text where numbers belong ({error})") from None
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise DataError(f"{path}, data row {row + 1}, column {column + 1}: a value is missing")
    return X


def _one_hot(frame: pd.DataFrame) -> pd.DataFrame:
    """Text columns become one 0/1 column a value, values in alphabetical order."""
    import pandas as pd

    text = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    return pd.get_dummies(frame, columns=text, dtype=np.float64) if text else frame


def _csv(paths: Paths, options: Options) -> RawPart:
    """Delimited numbers; the label is the first or the last column."""
    frame = _table(paths[0], header=None, skiprows=options.get("skip", 0))
    column = frame.columns[0 if options.get("label") == "first" else -1]
    labels = frame.pop(column).to_numpy()
    X = _numbers(_one_hot(frame) if options.get("one_hot") else frame, paths[0])
    return RawPart(sparse.csr_matrix(X) if options.get("sparse") else X, labels)


def _mat(paths: Paths, options: Options) -> RawPart:
    """MATLAB file with sparse X_Train, Y_Train, X_Test, Y_Test."""
    from scipy.io import loadmat

    part = options["part"].capitalize()
    try:
        content = loadmat(paths[0], variable_names=[f"X_{part}", f"Y_{part}"])
        X, labels = content[f"X_{part}"], np.asarray(content[f"Y_{part}"])
    except (ValueError, KeyError, TypeError, NotImplementedError) as error:
        raise DataError(f"{paths[0]} is not the MATLAB file expected ({error})") from None
    return RawPart(sparse.csr_matrix(X, dtype=np.float64), labels.ravel().astype(np.float64))


def _idx(paths: Paths, options: Options) -> RawPart:
    images, labels = (read_idx(path) for path in paths)
    return RawPart(images.reshape(len(images), -1).astype(np.float64), labels.astype(np.float64))


def _parkinson(paths: Paths, options: Options) -> RawPart:
    """Speech of 40 subjects, 26 recordings each: subject, 26 features, UPDRS, class."""
    table = _numbers(_table(paths[0], header=None), paths[0])
    if table.shape[1] != 29:
        raise DataError(f"{paths[0]} has {table.shape[1]} columns, not 29; fetch it again")
    extra = {"subject": table[:, 0].astype(np.int64), "updrs": table[:, 27]}
    return RawPart(table[:, 1:27], table[:, 28], extra)


def _bank(paths: Paths, options: Options) -> RawPart:
    """Bank marketing. Text columns one-hot ("unknown" is a value of its own).

    ``pdays`` is 999 for customers never called before; it becomes a 0/1 column for that
    and the number of days, 0 if there is none. ``duration`` is no feature but a score.
    """
    frame = _table(paths[0], sep=";")
    try:
        labels = frame.pop("y").to_numpy()
        duration = frame.pop("duration").to_numpy(dtype=np.float64)
        days = frame.pop("pdays")
    except KeyError as error:
        raise DataError(f"{paths[0]} has no column {error}; fetch it again") from None
    frame["called_before"] = (days != 999).astype(np.float64)
    frame["pdays"] = days.where(days != 999, 0)
    return RawPart(_numbers(_one_hot(frame), paths[0]), labels, {"duration": duration})


READERS: dict[str, Callable[[Paths, Options], RawPart]] = {
    "libsvm": _libsvm,
    "ida": _ida,
    "csv": _csv,
    "mat": _mat,
    "idx": _idx,
    "parkinson": _parkinson,
    "bank": _bank,
}
