"""Data sets: registry, fetching with sha256, file formats, recipes, generators.

The public names load on first use: a job that only reads a prepared file imports no
reader, and its code hash depends on no recipe.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

_HOME = {
    "Dataset": "prepared",
    "Sources": "fetch",
    "can_be_had": "fetch",
    "dataset_names": "registry",
    "entry_hash": "registry",
    "fetch_dataset": "fetch",
    "load_dataset": "prepare",
    "load_registry": "registry",
    "read_libsvm": "libsvm_format",
    "read_prepared": "prepared",
    "save_prepared": "prepared",
    "verify": "prepare",
    "write_libsvm": "libsvm_format",
}

__all__ = [
    "Dataset",
    "Sources",
    "can_be_had",
    "dataset_names",
    "entry_hash",
    "fetch_dataset",
    "load_dataset",
    "load_registry",
    "read_libsvm",
    "read_prepared",
    "save_prepared",
    "verify",
    "write_libsvm",
]

if TYPE_CHECKING:
    from marginlab.datasets.fetch import Sources, can_be_had, fetch_dataset
    from marginlab.datasets.libsvm_format import read_libsvm, write_libsvm
    from marginlab.datasets.prepare import load_dataset, verify
    from marginlab.datasets.prepared import Dataset, read_prepared, save_prepared
    from marginlab.datasets.registry import dataset_names, entry_hash, load_registry


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"marginlab.datasets.{_HOME[name]}"), name)
    raise AttributeError(f"module 'marginlab.datasets' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
