"""Fixtures that several of the unit tests share."""

import os
import subprocess
import sys

import pytest
from command_line import ROOT

from marginlab.cli import main
from marginlab.datasets.fetch import Sources


@pytest.fixture
def run(capsys):
    """Run a command; gives exit code, standard output, standard error."""

    def call(*args):
        try:
            code = main([str(arg) for arg in args])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def process():
    """Run a command as a process of its own."""

    def call(*args, **options):
        env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, "-m", "marginlab", *map(str, args)]
        return subprocess.run(command, env=env, capture_output=True, timeout=120, **options)

    return call


@pytest.fixture
def sources(tmp_path):
    """An empty mirror, and a cache that does not exist yet."""
    (tmp_path / "mirror").mkdir()
    return Sources(tmp_path / "mirror", tmp_path / "cache")
