"""The registry: what every data set is, where it comes from, what it must contain.

The facts stand in ``config/datasets.yaml``; this module reads them into plain
dataclasses and knows nothing about fetching.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from marginlab.errors import ConfigError, DataError

__all__ = [
    "DatasetSpec",
    "FileSpec",
    "PackageSpec",
    "Registry",
    "dataset_names",
    "entry_hash",
    "load_registry",
    "registry_path",
]


@dataclass(frozen=True)
class PackageSpec:
    """A wheel that carries data files; it is read as a zip archive, never installed."""

    name: str
    version: str
    wheel: str
    sha256: str
    licence: str
    title: str = ""


@dataclass(frozen=True)
class FileSpec:
    """One final file: what it must be (sha256) and where it can come from.

    ``values_sha256`` accepts another spelling of the same LIBSVM rows (line ends);
    ``sha256`` None means that the project does not know it and the user must give it.
    """

    name: str
    sha256: str | None
    values_sha256: str | None = None
    system: str | None = None
    recipe: Mapping[str, Any] | None = None
    package: str | None = None
    member: str | None = None
    url: str | None = None
    unpack: str | None = None
    max_bytes: int = 268_435_456


@dataclass(frozen=True)
class DatasetSpec:
    """One data set: its files, its expected shape and counts, how it is prepared.

    ``classes`` maps a class name to its raw labels, in our order: for two classes the
    second is +1, the first -1; for more, 0 to K - 1.
    """

    name: str
    title: str
    papers: tuple[str, ...]
    licence: str
    citation: str
    address: str
    format: str | None = None
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    generator: Mapping[str, Any] | None = None
    n_features: int | None = None
    classes: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    positive: str | None = None
    pool: tuple[int, ...] | None = None
    counts: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    split: Mapping[str, Any] | None = None
    preprocessing: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    unavailable: str = ""

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)


@dataclass(frozen=True)
class Registry:
    """All packages, files and data sets, and the seed of our own splits."""

    path: Path
    split_seed: int
    packages: Mapping[str, PackageSpec]
    files: Mapping[str, FileSpec]
    datasets: Mapping[str, DatasetSpec]

    def dataset(self, name: str) -> DatasetSpec:
        """The data set called ``name``.

        Raises
        ------
        DataError
            If there is none; the sentence offers the nearest names.
        """
        if name not in self.datasets:
            near = difflib.get_close_matches(str(name), list(self.datasets), n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "see dataset_names()"
            raise DataError(f"no data set is called {name!r}; {hint}")
        return self.datasets[name]

    def file(self, name: str) -> FileSpec:
        """The file called ``name`` (its path in the mirror folder)."""
        if name not in self.files:
            raise ConfigError(f"{self.path}: file {name!r} is used but not described; add it")
        return self.files[name]

    def inputs(self, name: str) -> list[str]:
        """All file names that data set ``name`` reads, in the order of its parts."""
        return [file for part in self.dataset(name).files.values() for file in part]


def registry_path() -> Path:
    """Where the registry stands: MARGINLAB_DATASETS, the project's config folder, the package."""
    given = os.environ.get("MARGINLAB_DATASETS")
    if given:
        return Path(given)
    project = Path(__file__).resolve().parents[3] / "config" / "datasets.yaml"
    return project if project.is_file() else Path(__file__).with_name("datasets.yaml")


@lru_cache(maxsize=8)
def _load(path: Path, _stamp: int) -> Registry:
    try:
        raw = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
        return _build(path, raw)
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError, AttributeError) as error:
        detail = " ".join(str(error).split())
        raise ConfigError(f"{path} is not a valid registry ({detail}); mend that entry") from None


_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_registry(path: str | Path | None = None) -> Registry:
    """Read the registry (cached until the file changes).

    Parameters
    ----------
    path : str or Path, optional
        By default `registry_path`.

    Raises
    ------
    ConfigError
        If the file is missing or malformed.
    """
    where = Path(path) if path is not None else registry_path()
    try:
        stamp = where.stat().st_mtime_ns
    except OSError:
        raise ConfigError(f"{where} is missing; restore it from the project") from None
    return _load(where, stamp)


def dataset_names(paper: str | None = None) -> list[str]:
    """Names of all data sets, or of those that ``paper`` uses (subsvms, span, mrc, chain)."""
    sets = load_registry().datasets.values()
    return [spec.name for spec in sets if paper is None or paper in spec.papers]


def entry_hash(name: str) -> str:
    """Hash of all that the registry says on one data set and its files.

    A workflow rule carries it among its parameters, so that an edit of one entry
    reruns the jobs of that data set alone.
    """
    registry = load_registry()
    parts: list[Any] = [registry.dataset(name), registry.split_seed]
    parts += [registry.files.get(file) for file in registry.inputs(name)]
    text = json.dumps(parts, default=_plain, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    return {item.name: getattr(value, item.name) for item in fields(value)}


def _build(path: Path, raw: Mapping[str, Any]) -> Registry:
    packages = {name: PackageSpec(name=name, **entry) for name, entry in raw["packages"].items()}
    files = {name: FileSpec(name=name, **entry) for name, entry in raw["files"].items()}
    datasets = {name: _dataset(name, entry) for name, entry in raw["datasets"].items()}
    registry = Registry(path, int(raw["split_seed"]), packages, files, datasets)
    for spec in datasets.values():
        _check_entry(registry, spec)
    return registry


def _dataset(name: str, entry: Mapping[str, Any]) -> DatasetSpec:
    frozen = dict(entry)
    for key in ("papers", "pool"):
        if frozen.get(key) is not None:
            frozen[key] = tuple(frozen[key])
    for key in ("files", "classes", "counts"):
        frozen[key] = {part: tuple(values) for part, values in frozen.get(key, {}).items()}
    return DatasetSpec(name=name, **frozen)


def _check_entry(registry: Registry, spec: DatasetSpec) -> None:
    for file in registry.inputs(spec.name):
        registry.file(file)
    if spec.n_classes == 2 and spec.positive != list(spec.classes)[1]:
        raise ConfigError(
            f"{registry.path}: data set {spec.name!r} names {spec.positive!r} as positive, "
            f"but its second class is {list(spec.classes)[1]!r}; make them agree"
        )
    if not (spec.files or spec.generator or spec.unavailable):
        raise ConfigError(
            f"{registry.path}: data set {spec.name!r} has no files, no generator and no reason "
            f"why it cannot be had; give one of the three"
        )
