"""The workflow through a Slurm of one node gives the tables of a local run.

Run by `make slurm-test`; needs root and the Debian packages slurm-wlm and munge. The node is
started and stopped by tests/slurm/one_node.sh.
"""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from tiny_run import ROOT, TARGETS

from marginlab.experiments.same_tables import differences

ONE_NODE = ROOT / "tests" / "slurm" / "one_node.sh"
COMMANDS = ("sbatch", "squeue", "slurmctld", "slurmd", "munged")
FLAGS = [
    *("--executor", "slurm", "--jobs", "2", "--latency-wait", "30"),
    *("--slurm-no-account", "--default-resources", "slurm_partition=main"),
    *("--slurm-status-command", "squeue", "--seconds-between-status-checks", "2"),
    *("--slurm-init-seconds-before-status-checks", "2", "--slurm-keep-successful-logs"),
]


@pytest.fixture
def slurm(tmp_path):
    """A Slurm of one node, gone at the end."""
    if not os.environ.get("MARGINLAB_SLURM_TEST"):
        pytest.skip("starts a Slurm on this machine and takes minutes: make slurm-test")
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="needs pip install .[slurm]")
    lacking = [name for name in COMMANDS if not shutil.which(name)]
    if lacking:
        pytest.skip(f"Slurm is not installed here: no {', '.join(lacking)}")
    if os.geteuid():
        pytest.skip("a Slurm of one node can only be started by root")
    if Path("/etc/slurm/slurm.conf").exists():
        pytest.skip("this machine has a Slurm of its own")
    folder = tmp_path / "slurm"
    try:
        subprocess.run(["bash", str(ONE_NODE), "start", str(folder)], check=True, timeout=120)
        yield folder
    finally:
        subprocess.run(["bash", str(ONE_NODE), "stop", str(folder)], check=True, timeout=60)


@pytest.mark.slow
@pytest.mark.workflow
def test_tables_through_slurm_are_those_of_a_local_run(slurm, tiny, request):
    reference = request.getfixturevalue("reference")  # only now: nothing is run to be skipped
    start = time.monotonic()
    tiny.make(*FLAGS, "--", *TARGETS, timeout=1800)
    print(f"through Slurm: {time.monotonic() - start:.0f} s")
    done = subprocess.run(
        ["squeue", "--states=all", "--noheader", "--format=%T"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(done) >= 15, "the jobs ran somewhere else"
    print(f"{len(done)} Slurm jobs")
    assert differences(reference.results, tiny.results) == []
    assert differences(reference.figures, tiny.figures) == []
