"""From verified files to a data set: read, name the classes, split, scale, check.

Every number that the registry states is compared with what the files hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from marginlab.datasets.fetch import Sources, fetch_dataset
from marginlab.datasets.generators import GENERATORS
from marginlab.datasets.prepared import Dataset
from marginlab.datasets.readers import READERS, RawPart
from marginlab.datasets.registry import DatasetSpec, Registry, load_registry
from marginlab.datasets.scaling import scale_parts, unit_interval
from marginlab.datasets.splits import split_rows, stratified_sizes
from marginlab.errors import DataError
from marginlab.seeds import rng

__all__ = ["load_dataset", "verify"]


def load_dataset(
    name: str,
    *,
    mirror: str | Path | None = None,
    cache: str | Path | None = None,
    offline: bool | None = None,
) -> Dataset:
    """A data set of the registry, fetched, verified and prepared.

    Parameters
    ----------
    name : str
        One of ``dataset_names()``, such as ``"a1a"``.
    mirror : str or Path, optional
        Folder with the publishers' files; MARGINLAB_MIRROR by default.
    cache : str or Path, optional
        Folder for fetched files; MARGINLAB_CACHE or the user's cache by default.
    offline : bool, optional
        Ask no web address; MARGINLAB_OFFLINE by default.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If a file cannot be had, or does not hold what the registry says.
    """
    registry = load_registry()
    spec = registry.dataset(name)
    if spec.generator:
        parts = _generated(spec, registry)
    else:
        paths = fetch_dataset(name, Sources.find(mirror, cache, offline), registry)
        parts = _read(spec, paths)
    dataset = _assemble(spec, registry, parts)
    _check(spec, dataset)
    return dataset


def verify(
    name: str,
    *,
    mirror: str | Path | None = None,
    cache: str | Path | None = None,
    offline: bool | None = None,
) -> dict[str, Any]:
    """Fetch and check a data set; the facts of what was found.

    Returns
    -------
    dict
        Shapes, class counts and sha256 of each file.
    """
    dataset = load_dataset(name, mirror=mirror, cache=cache, offline=offline)
    facts = {key: dataset.meta[key] for key in ("name", "n_features", "classes", "files")}
    for part, y in (("train", dataset.y_train), ("test", dataset.y_test)):
        facts[f"n_{part}"] = int(y.size)
        facts[f"counts_{part}"] = _counts(y, len(dataset.meta["classes"]))
    return facts


# ---------------------------------------------------------------- parts


def _generated(spec: DatasetSpec, registry: Registry) -> dict[str, RawPart]:
    settings = dict(spec.generator or {})
    make = GENERATORS[settings.pop("name")]
    sizes = {part: settings.pop(part) for part in ("train", "test")}
    parts = {}
    for part, n in sizes.items():
        X, y = make(n, rng(registry.split_seed, "generate", spec.name, part), **settings)
        parts[part] = RawPart(X, y.astype(np.float64))
    return parts


def _read(spec: DatasetSpec, paths: Mapping[str, Path]) -> dict[str, RawPart]:
    reader = READERS[str(spec.format)]
    parts = {}
    for part, files in spec.files.items():
        options = {**spec.options, "n_features": spec.n_features, "part": part}
        parts[part] = reader([paths[file] for file in files], options)
    return parts


def _assemble(spec: DatasetSpec, registry: Registry, parts: dict[str, RawPart]) -> Dataset:
    named = {part: _named(spec, raw) for part, raw in parts.items()}
    train, test = _train_and_test(spec, registry, named)
    scores = _scores(spec, train, test)
    X_train, X_test = scale_parts(spec.preprocessing, train.X, test.X)
    extra = {f"{key}_train": values for key, values in train.extra.items()}
    extra |= {f"{key}_test": values for key, values in test.extra.items()}
    meta = _meta(spec, registry)
    return Dataset(X_train, train.labels, X_test, test.labels, meta, extra | scores)


def _named(spec: DatasetSpec, raw: RawPart) -> RawPart:
    """Raw labels to -1 and +1, or 0 to K - 1; other labels are an error, or dropped."""
    values, inverse = np.unique(raw.labels, return_inverse=True)
    known = {_key(label): i for i, labels in enumerate(spec.classes.values()) for label in labels}
    codes = np.array([known.get(_key(value), -1) for value in values.tolist()])
    strange = [value for value, code in zip(values.tolist(), codes, strict=True) if code < 0]
    drop = bool(spec.options.get("drop_other_classes"))
    if strange and not drop:
        raise DataError(
            f"{spec.name}: label {strange[0]!r} is none of the registry's "
            f"({', '.join(map(str, known))}); the file is another one or the entry is wrong"
        )
    y = codes[inverse.ravel()].astype(np.int64)
    part = _take(replace(raw, labels=y), np.flatnonzero(y >= 0)) if strange else raw
    y = part.labels if strange else y
    return replace(part, labels=2 * y - 1 if spec.n_classes == 2 else y)


def _key(label: Any) -> Any:
    return label if isinstance(label, str) else float(label)


def _take(part: RawPart, rows: np.ndarray) -> RawPart:
    extra = {key: values[rows] for key, values in part.extra.items()}
    return RawPart(part.X[rows], part.labels[rows], extra)


def _train_and_test(
    spec: DatasetSpec, registry: Registry, parts: dict[str, RawPart]
) -> tuple[RawPart, RawPart]:
    if "pool" in parts:
        pool = parts["pool"]
        _check_counts(spec, "pool", pool.labels, spec.pool)
        if spec.split is None:
            return pool, _take(pool, np.arange(0))
        generator = rng(registry.split_seed, "split", spec.name)
        rows = split_rows(spec.split, pool.labels, pool.extra, generator)
        return _take(pool, rows[0]), _take(pool, rows[1])
    train, test = parts["train"], parts.get("test")
    if spec.split is not None:
        generator = rng(registry.split_seed, "split", spec.name)
        train = _take(train, _subsample(train.labels, int(spec.split["train"]), generator))
    return train, test if test is not None else _take(train, np.arange(0))


def _subsample(y: np.ndarray, total: int, generator: np.random.Generator) -> np.ndarray:
    labels, counts = np.unique(y, return_counts=True)
    sizes = stratified_sizes(counts, total)
    taken = [
        generator.permutation(np.flatnonzero(y == label))[:size]
        for label, size in zip(labels, sizes, strict=True)
    ]
    return np.sort(np.concatenate(taken))


def _scores(spec: DatasetSpec, train: RawPart, test: RawPart) -> dict[str, np.ndarray]:
    """Importance q in [0, 1]: a column scaled by its range in the training part.

    With ``score_of: positive`` only +1 rows are scaled, and all others get 1.
    """
    column = spec.options.get("score")
    if column is None:
        return {}
    only = spec.options.get("score_of") == "positive"
    reference = train.extra[column][train.labels == 1] if only else train.extra[column]
    scores = {}
    for part, raw in (("train", train), ("test", test)):
        q = unit_interval(raw.extra[column], reference)
        scores[f"q_{part}"] = np.where(raw.labels == 1, q, 1.0) if only else q
    return scores


def _meta(spec: DatasetSpec, registry: Registry) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.title,
        "classes": list(spec.classes),
        "positive": spec.positive,
        "n_features": spec.n_features,
        "preprocessing": dict(spec.preprocessing),
        "split": dict(spec.split) if spec.split else None,
        "generator": dict(spec.generator) if spec.generator else None,
        "files": {
            file: registry.file(file).sha256 or "given by the user"
            for file in registry.inputs(spec.name)
        },
        "licence": spec.licence,
        "citation": spec.citation,
        "note": spec.note,
    }


# ---------------------------------------------------------------- checks


def _check(spec: DatasetSpec, dataset: Dataset) -> None:
    for part in ("train", "test"):
        X, y = getattr(dataset, f"X_{part}"), getattr(dataset, f"y_{part}")
        if X.shape != (y.size, spec.n_features):
            raise DataError(
                f"{spec.name}: the {part} part has {X.shape[1]} features, the registry says "
                f"{spec.n_features}; the file is another one or the entry is wrong"
            )
        values = X.data if sparse.issparse(X) else X
        if not np.isfinite(values).all():
            raise DataError(f"{spec.name}: the {part} part holds NaN or infinity; fetch it again")
        if part in spec.rows and y.size != spec.rows[part]:
            raise DataError(
                f"{spec.name}: the {part} part has {y.size} rows, not {spec.rows[part]} as the "
                f"registry says; the file is another one or the entry is wrong"
            )
        _check_counts(spec, part, y, spec.counts.get(part))


def _check_counts(
    spec: DatasetSpec, part: str, y: np.ndarray, expected: tuple[int, ...] | None
) -> None:
    found = _counts(y, spec.n_classes)
    if expected is not None and found != list(expected):
        raise DataError(
            f"{spec.name}: the {part} part has class counts {found}, not {list(expected)} as the "
            f"registry says; the file is another one or the entry is wrong"
        )


def _counts(y: np.ndarray, n_classes: int) -> list[int]:
    codes = (y + 1) // 2 if n_classes == 2 else y
    return np.bincount(codes, minlength=n_classes).tolist()
