"""A data set ready for learning, and its file on disk."""

from __future__ import annotations

import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from marginlab.errors import DataError
from marginlab.files import write_npz

__all__ = ["Dataset", "read_prepared", "save_prepared"]

_MANY = 65_536  # arrays of more entries are stored as codes if they hold few values


@dataclass
class Dataset:
    """Training and test part of a data set.

    Attributes
    ----------
    X_train, X_test : ndarray or csr_matrix, shape (n, d), float64
        CSR for sparse text formats. A set without test part has X_test of shape (0, d).
    y_train, y_test : ndarray of int64, shape (n,)
        -1 and +1 for two classes (+1 as the registry says), else 0 to K - 1.
    meta : dict
        Name, title, class names, shapes, preprocessing, sha256 of the files, citation.
    extra : dict of ndarray
        Further columns such as ``q_train``, ``subject_train``.
    """

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    meta: dict[str, Any]
    extra: dict[str, np.ndarray] = field(default_factory=dict)


def save_prepared(dataset: Dataset, path: str | Path) -> None:
    """Write a data set as .npz without pickles; the same bytes for the same data.

    Parameters
    ----------
    dataset : Dataset
    path : str or Path
        Written whole or not at all.
    """
    arrays: dict[str, Any] = {"meta": np.array(json.dumps(dataset.meta, sort_keys=True))}
    for part in ("train", "test"):
        _put_matrix(arrays, f"X_{part}", getattr(dataset, f"X_{part}"))
        arrays[f"y_{part}"] = getattr(dataset, f"y_{part}")
    for name, values in dataset.extra.items():
        arrays[f"extra.{name}"] = values
    write_npz(path, **arrays)


def read_prepared(path: str | Path) -> Dataset:
    """Read what `save_prepared` wrote.

    Raises
    ------
    DataError
        If the file is missing or damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
        meta = json.loads(str(arrays["meta"]))
        X_train, X_test = _get_matrix(arrays, "X_train"), _get_matrix(arrays, "X_test")
        y_train, y_test = arrays["y_train"], arrays["y_test"]
    except FileNotFoundError:
        raise DataError(f"{path} is missing; run the rule prepare_data that makes it") from None
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{path} is damaged ({error}); delete it and run again") from None
    prefix = "extra."
    extra = {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
    return Dataset(X_train, y_train, X_test, y_test, meta, extra)


def _put_matrix(arrays: dict[str, Any], name: str, X: Any) -> None:
    if sparse.issparse(X):
        _put_values(arrays, f"{name}.data", X.data)
        arrays |= {f"{name}.indices": X.indices, f"{name}.indptr": X.indptr}
        arrays[f"{name}.shape"] = np.array(X.shape)
    else:
        _put_values(arrays, name, X)


def _get_matrix(arrays: dict[str, Any], name: str) -> Any:
    if f"{name}.indptr" not in arrays:
        return _get_values(arrays, name)
    parts = (_get_values(arrays, f"{name}.data"), arrays[f"{name}.indices"])
    X = sparse.csr_matrix(
        (*parts, arrays[f"{name}.indptr"]), shape=tuple(arrays[f"{name}.shape"].tolist())
    )
    X.has_sorted_indices = X.has_canonical_format = True
    return X


def _put_values(arrays: dict[str, Any], name: str, values: np.ndarray) -> None:
    """Store an array; one of few distinct values (images, counts) as one byte an entry."""
    if values.size > _MANY:
        table = np.unique(values.ravel()[:: max(1, values.size // _MANY)])
        codes = np.minimum(np.searchsorted(table, values), table.size - 1)
        if table.size <= 256 and np.array_equal(table[codes], values):
            arrays[f"{name}.table"], arrays[f"{name}.codes"] = table, codes.astype(np.uint8)
            return
    arrays[name] = values


def _get_values(arrays: dict[str, Any], name: str) -> np.ndarray:
    if name in arrays:
        return arrays[name]
    return arrays[f"{name}.table"][arrays[f"{name}.codes"]]
