"""Fixtures of the tests that run the workflow."""

import fcntl
import os

import pytest
from tiny_run import TARGETS, Tiny


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """The tiny run on one core, made once a session, whatever the number of workers."""
    base = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent
    tiny = Tiny(base / "reference run")
    with open(base / "reference.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (tiny.folder / "done").exists():
            tiny.make("--cores", "1", "--", *TARGETS)
            (tiny.folder / "done").touch()
    return tiny


@pytest.fixture
def tiny(tmp_path):
    """A tiny run that nobody else has touched."""
    return Tiny(tmp_path / "run")
