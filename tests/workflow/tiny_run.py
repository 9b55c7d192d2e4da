"""A tiny run of the workflow in a folder of its own, for tests of faults and repetition."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OVERLAY = Path(__file__).with_name("tiny.yaml")
#: One job of every kind that computes, with a table and two figures; about 20 jobs.
TARGETS = (
    "results/tiny/subsvms/two_gaussians/rows.csv",
    "results/tiny/subsvms/baselines/two_gaussians.csv",
    "results/tiny/span/grid_class_twonorm_generated.csv",
    "results/tiny/mrc/check.csv",
    "results/tiny/chain/two_gaussians/svm.csv",
    "results/tiny/chain/two_gaussians/mrc.csv",
    "results/tiny/tables/subsvms/table1_datasets.csv",
    "figures/tiny/subsvms/figure2.png",
    "figures/tiny/subsvms/theory.png",
)


class Tiny:
    """The tiny run in one folder: Snakemake's own process, group and output.

    Parameters
    ----------
    folder : Path
        Working folder of the run; made when missing.
    """

    def __init__(self, folder):
        self.folder = folder
        self.results, self.figures = folder / "results/tiny", folder / "figures/tiny"
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "config").exists():
            (folder / "config").symlink_to(ROOT / "config")

    def start(self, *arguments, env=None, snakefile=ROOT / "Snakefile"):
        """Start Snakemake in a process group of its own."""
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile)]
        command += ["--configfile", str(OVERLAY), "--quiet", "rules", "host", "--nocolor"]
        own = {"MARGINLAB_OFFLINE": "1", "MARGINLAB_CACHE": str(self.folder / "cache")}
        inherited = {k: v for k, v in os.environ.items() if k != "MARGINLAB_MIRROR"}
        return subprocess.Popen(
            [*command, *arguments],
            cwd=self.folder,
            env=inherited | own | (env or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments, timeout=600, **options):
        """Run Snakemake to its end; its exit code and what it printed."""
        process = self.start(*arguments, **options)
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.kill(process)
            raise
        return process.returncode, output

    def make(self, *arguments, **options):
        """Run to the end and insist on success."""
        code, output = self.run(*arguments, **options)
        assert code == 0, output
        return output

    def kill(self, process):
        """kill -9 of Snakemake and all its jobs, as a power cut would."""
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0]

    def wait_for(self, process, pattern, timeout=300):
        """Wait until a file that matches appears, while the process runs."""
        end = time.monotonic() + timeout
        while not list(self.folder.glob(pattern)):
            if process.poll() is not None:
                pytest.fail(f"ended before {pattern} came:\n{process.communicate()[0]}")
            assert time.monotonic() < end, f"{pattern} did not come within {timeout} s"
            time.sleep(0.02)
