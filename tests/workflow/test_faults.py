"""Faults of the machine: full and read-only disks, odd paths, two runs at once, a lost parent."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from tiny_run import ROOT, Tiny

from marginlab.job import job
from marginlab.results import read_results

DATA = "results/tiny/data/two_gaussians.npz"
MRC = "results/tiny/mrc/binary.csv"
ONE_CORE = ("--cores", "1", "--rerun-incomplete", "--")
pytestmark = pytest.mark.workflow


@pytest.fixture
def small_disk(tiny):
    """A disk of 1 MB under results/; needs root, and is taken down at the end."""
    disk = tiny.folder / "results"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if os.geteuid() or not shutil.which("mount") or subprocess.run(command).returncode:
        pytest.skip("a small disk can only be mounted by root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_one_sentence_and_leaves_nothing_half_written(tiny, small_disk):
    filler = small_disk / "filler"
    filler.write_bytes(bytes(900 * 1024))
    code, output = tiny.run(*ONE_CORE, DATA)
    assert code != 0
    assert f"marginlab: prepare_data: No space left on device ({DATA}); free space" in output
    assert "Traceback" not in output
    assert [path.name for path in (small_disk / "tiny/data").iterdir()] == [
        "two_gaussians.files.json"
    ]
    filler.unlink()
    tiny.make(*ONE_CORE, DATA)
    assert (tiny.folder / DATA).stat().st_size > 100_000


def test_a_read_only_disk_is_one_sentence(tiny, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    code, output = tiny.run(*ONE_CORE, DATA)
    assert code != 0
    assert "Read-only file system: 'results/tiny" in output
    assert "Traceback" not in output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_disk_so_full_that_no_log_can_be_written(capsys):
    fake = SimpleNamespace(log=["/dev/full"], rule="rule_x", output=["results/x.csv"])
    with pytest.raises(SystemExit), job(fake):
        print("a line for the log")
    assert capsys.readouterr().err == (
        "marginlab: rule_x: No space left on device (results/x.csv); free space or mend the "
        "permissions and run again\n"
    )
    with job(fake):  # nothing to say but that it is done: that must not fail it
        pass


@pytest.mark.slow
def test_blanks_and_other_letters_in_every_path(tmp_path):
    clone, scratch = tmp_path / "my clone ü 数", tmp_path / "scratch dir é"
    scratch.mkdir()
    for name in ("rules", "config", "src"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, clone / name, ignore=ignore)
    for name in ("Snakefile", "environment.yml"):
        shutil.copy2(ROOT / name, clone / name)
    run = Tiny(clone)
    run.make(*ONE_CORE, MRC, env={"TMPDIR": str(scratch)}, snakefile=clone / "Snakefile")
    table = (clone / MRC).read_text()
    assert table.count("ccg-cbc") >= 3  # CBC ran, though its command line splits at blanks
    # Snakemake's own scheduler may leave a file there; marginlab leaves none.
    assert not [path for path in scratch.iterdir() if "marginlab" in path.name]


@pytest.mark.slow
def test_two_runs_in_one_folder_the_second_is_told_and_the_first_goes_on(tiny):
    first = tiny.start(*ONE_CORE, MRC)
    tiny.wait_for(first, "results/tiny/logs/fetch_data/*.log")
    code, output = tiny.run(*ONE_CORE, MRC)
    assert code != 0
    assert "Directory cannot be locked" in output
    assert "Traceback" not in output
    output, _ = first.communicate(timeout=300)
    assert first.returncode == 0, output
    assert (tiny.folder / MRC).exists()


@pytest.mark.slow
def test_without_cbc_its_rows_say_so_and_the_rest_is_measured(tiny):
    tiny.make(*ONE_CORE, MRC, env={"MARGINLAB_CBC": str(tiny.folder / "nowhere")})
    log = (tiny.results / "logs/run_mrc/binary.log").read_text()
    assert "CBC was not found at" in log
    assert "pip install pulp" in log
    rows = read_results([tiny.folder / MRC])
    status = rows[rows["measure"] == "status"].groupby("method")["value"].max()
    assert status["ccg-cbc"] != 0
    assert status["ccg-highs"] == status["lp-highs"] == 0


CHILD = """
import os, sys, time
from marginlab.experiments.mrc_budget import run_within

def linger():
    print(os.getpid(), flush=True)
    time.sleep(120)

run_within(linger, 100.0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux ends a child with its parent")
def test_a_killed_job_leaves_no_solver_running_behind():
    job_process = subprocess.Popen(
        [sys.executable, "-c", CHILD],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    child = int(job_process.stdout.readline())
    job_process.send_signal(signal.SIGKILL)
    job_process.wait()
    for _ in range(100):
        if not _runs(child):
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the run outlived the job it belongs to")


def _runs(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
