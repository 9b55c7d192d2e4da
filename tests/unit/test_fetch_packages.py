"""Fetching one file of a Python package: the right wheel, read within limits, once."""

import multiprocessing
import zipfile

import pytest
from toy_registry import CONTENT, make_registry, sha

from marginlab.datasets import wheels
from marginlab.datasets.fetch import fetch_file
from marginlab.datasets.registry import PackageSpec
from marginlab.errors import DataError


def make_wheel(folder, member="toydata/set.txt", content=CONTENT, name="toydata", version="1.0"):
    """A real wheel that pip accepts, with one data file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    info = f"{name}-{version}.dist-info"
    members = {
        member: content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{key},,\n" for key in [*members, f"{info}/RECORD"])
    with zipfile.ZipFile(path, "w") as archive:
        for key, data in {**members, f"{info}/RECORD": record.encode()}.items():
            archive.writestr(zipfile.ZipInfo(key), data)
    return path


def package_of(path, sha256=None):
    digest = sha256 or sha(path.read_bytes())
    return PackageSpec("toydata", "1.0", path.name, digest, "none")


@pytest.fixture
def local_index(tmp_path, monkeypatch):
    """pip looks into this folder and nowhere else."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


def test_one_member_of_a_wheel_is_read_through_pip(tmp_path, sources, local_index):
    wheel = make_wheel(local_index)
    entry = {"sha256": sha(CONTENT), "package": "toydata", "member": "toydata/set.txt"}
    registry = make_registry(tmp_path, packages=[package_of(wheel)], **{"a.txt": entry})
    path = fetch_file("a.txt", sources, registry)
    assert path.read_bytes() == CONTENT
    assert (sources.cache / "wheels" / wheel.name).is_file()
    assert not (sources.cache / "toydata").exists()
    assert not list((sources.cache / "wheels").glob(".pip-*"))


def test_a_wrong_wheel_is_refused_and_not_kept(tmp_path, sources, local_index):
    wheel = make_wheel(local_index)
    package = package_of(wheel, sha256="0" * 64)
    entry = {"sha256": sha(CONTENT), "package": "toydata", "member": "toydata/set.txt"}
    registry = make_registry(tmp_path, packages=[package], **{"a.txt": entry})
    with pytest.raises(DataError, match=r"package toydata 1.0: wrong wheel: toydata-1.0"):
        fetch_file("a.txt", sources, registry)
    assert not list((sources.cache / "wheels").glob("*.whl"))


def test_an_index_without_the_wheel_is_told(tmp_path, sources, local_index):
    package = PackageSpec("toydata", "1.0", "toydata-1.0-py3-none-any.whl", "0" * 64, "none")
    with pytest.raises(DataError, match=r"pip could not download toydata==1\.0"):
        wheels.read_member(package, "x", sources.folders(), 100)


def test_a_wheel_in_the_mirror_needs_no_pip(tmp_path, sources, monkeypatch):
    wheel = make_wheel(sources.mirror / "wheels")
    monkeypatch.setattr(wheels, "_pip_download", lambda *args: pytest.fail("pip was called"))
    data = wheels.read_member(package_of(wheel), "toydata/set.txt", sources.folders(), 100)
    assert data == CONTENT


def test_a_wrong_wheel_in_the_mirror_is_passed_over_and_named(sources, local_index):
    wheel = make_wheel(sources.mirror / "wheels", content=b"other")
    package = package_of(wheel, sha256="0" * 64)
    with pytest.raises(DataError, match="was passed over, since its sha256 is another"):
        wheels.read_member(package, "toydata/set.txt", sources.folders(), 100)
    right = make_wheel(local_index)
    data = wheels.read_member(package_of(right), "toydata/set.txt", sources.folders(), 100)
    assert data == CONTENT


@pytest.mark.parametrize(
    ("member", "limit", "words"),
    [("toydata/other.txt", 100, "has no member"), ("toydata/set.txt", 5, "larger than the 5")],
)
def test_members_are_read_within_limits(sources, member, limit, words):
    wheel = make_wheel(sources.mirror / "wheels")
    with pytest.raises(DataError, match=words):
        wheels.read_member(package_of(wheel), member, sources.folders(), limit)


def test_a_damaged_archive_is_told(sources):
    folder = sources.mirror / "wheels"
    folder.mkdir()
    path = folder / "toydata-1.0-py3-none-any.whl"
    path.write_bytes(b"PK\x03\x04 not a zip")
    with pytest.raises(DataError, match="damaged archive"):
        wheels.read_member(package_of(path), "x", sources.folders(), 100)


def _fetch_in_process(tmp_path, digest, log):
    def counted(package, folder):
        with open(log, "a") as stream:
            stream.write("download\n")
        make_wheel_in = make_wheel(type(log)(folder))
        assert make_wheel_in.exists()

    wheels._pip_download = counted
    package = PackageSpec("toydata", "1.0", "toydata-1.0-py3-none-any.whl", digest, "none")
    data = wheels.read_member(package, "toydata/set.txt", [tmp_path / "cache"], 100)
    assert data == CONTENT


def test_jobs_at_the_same_time_fetch_a_wheel_once(tmp_path):
    digest = sha(make_wheel(tmp_path / "elsewhere").read_bytes())
    log = tmp_path / "log"
    context = multiprocessing.get_context("fork")
    jobs = [
        context.Process(target=_fetch_in_process, args=(tmp_path, digest, log)) for _ in range(4)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0, 0, 0, 0]
    assert log.read_text() == "download\n"
