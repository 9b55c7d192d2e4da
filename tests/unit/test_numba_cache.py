"""Compiled code has a folder of its own where nothing else can be written."""

import os
import stat

import pytest

from marginlab import numba_cache

NOWHERE = "/proc/none"
pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs Linux's /proc")


@pytest.fixture
def locked(monkeypatch, tmp_path):
    """Neither the source nor the home folder can be written to."""
    monkeypatch.setenv("XDG_CACHE_HOME", NOWHERE)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def choose(source):
    numba_cache.ensure_cache_folder(source)
    return os.environ["NUMBA_CACHE_DIR"]


def test_a_folder_is_made_where_there_is_none(locked, monkeypatch):
    source = numba_cache.Path(NOWHERE)
    folder = locked / f"marginlab-{os.getuid()}"
    assert choose(source) == str(folder)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    monkeypatch.setenv("NUMBA_CACHE_DIR", "")
    assert choose(source) == str(folder), "the next process finds what the first has compiled"


def test_a_folder_that_others_can_fill_is_not_used(locked):
    folder = locked / f"marginlab-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    chosen = choose(numba_cache.Path(NOWHERE))
    assert chosen != str(folder)
    assert stat.S_IMODE(os.stat(chosen).st_mode) == 0o700


def test_what_can_be_written_or_is_named_stays(locked, monkeypatch, tmp_path):
    assert choose(tmp_path) == ""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "not yet there"))
    assert choose(numba_cache.Path(NOWHERE)) == ""
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/named")
    assert choose(numba_cache.Path(NOWHERE)) == "/named"
