"""Records of the workflow: which files a data set came from, which sets a run has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from marginlab.datasets.checksum import sha256_of
from marginlab.datasets.fetch import Sources, fetch_dataset
from marginlab.datasets.prepared import read_prepared
from marginlab.datasets.registry import load_registry
from marginlab.files import write_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["list_data", "record_files"]


def record_files(
    name: str,
    output: str | Path,
    *,
    mirror: str | Path | None = None,
    cache: str | Path | None = None,
) -> None:
    """Fetch and verify the files of a data set; record name, size and sha256 of each.

    Parameters
    ----------
    name : str
        A data set of the registry.
    output : str or Path
        JSON file. It does not say where a file came from, so that runs with different
        sources have equal records; standard output does.
    mirror, cache : str or Path, optional
        See `load_dataset`.

    Raises
    ------
    DataError
        If a file cannot be had.
    """
    paths = fetch_dataset(name, Sources.find(mirror, cache))
    files = {
        file: {"sha256": sha256_of(path), "bytes": path.stat().st_size}
        for file, path in paths.items()
    }
    for file, path in paths.items():
        print(f"{file}: {path}")
    generator = load_registry().dataset(name).generator
    record = {"dataset": name, "files": files, "generator": generator}
    write_text(output, json.dumps(record, indent=1, sort_keys=True) + "\n")


def list_data(prepared: Iterable[str | Path], missing: Mapping[str, str]) -> pd.DataFrame:
    """One row a data set: sizes, classes and smallest class share, or why it is missing.

    Parameters
    ----------
    prepared : iterable of str or Path
        Files of `save_prepared`.
    missing : mapping of str
        Data set -> reason why it cannot be had.
    """
    import pandas as pd

    rows = [_row(path) for path in prepared]
    rows += [{"dataset": name, "note": f"no data: {why}"} for name, why in missing.items()]
    columns = ["dataset", "title", "n_features", "n_train", "n_test", "classes"]
    columns += ["smallest_class_train", "note"]
    frame = pd.DataFrame(rows, columns=columns)
    whole = ["n_features", "n_train", "n_test", "classes", "smallest_class_train"]
    frame[whole] = frame[whole].astype("Int64")
    return frame.fillna({"title": "", "note": ""})


def _row(path: str | Path) -> dict[str, Any]:
    dataset = read_prepared(path)
    meta = dataset.meta
    return {
        "dataset": meta["name"],
        "title": meta["title"],
        "n_features": meta["n_features"],
        "n_train": dataset.y_train.size,
        "n_test": dataset.y_test.size,
        "classes": len(meta["classes"]),
        "smallest_class_train": int(np.unique(dataset.y_train, return_counts=True)[1].min()),
        "note": meta["note"],
    }
