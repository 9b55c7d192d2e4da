"""The data rules on sets that need no download: skip, error, dry run, list."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from marginlab.datasets import read_prepared

ROOT = Path(__file__).resolve().parents[2]
SNAKEFILE = """
configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/availability.smk"
include: "rules/data.smk"
"""
CONFIG = {
    "run": "paper",
    "seed": 1,
    "mirror": "",
    "cache": "",
    "unavailable": "error",
    "subsvms": {"datasets": ["two_gaussians"]},
    "span": {"parts": [{"dataset": "twonorm_generated"}, {"dataset": "banana"}]},
    "mrc": {"datasets": ["yearbook"]},
}

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(
        subprocess.run([sys.executable, "-c", "import snakemake"], capture_output=True).returncode
        != 0,
        reason="needs Snakemake",
    ),
]


@pytest.fixture
def project(tmp_path):
    """A project with the real rules and scripts and a configuration of three sets."""
    folder = tmp_path / "a project"
    (folder / "config" / "schemas").mkdir(parents=True)
    shutil.copy(ROOT / "config/schemas/config.schema.yaml", folder / "config" / "schemas")
    shutil.copy(ROOT / "environment.yml", folder)
    for name in ("rules", "src"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "Snakefile").write_text(SNAKEFILE)
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(CONFIG))
    return folder


def run(folder, *arguments):
    environment = {**os.environ, "MARGINLAB_MIRROR": "", "MARGINLAB_OFFLINE": "1"}
    environment["MARGINLAB_CACHE"] = str(folder / "cache")
    environment["XDG_CACHE_HOME"] = str(folder / "xdg")
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_a_dry_run_needs_no_data(project):
    done = run(project, "-n", "data")
    assert done.returncode == 0, done.stderr
    assert not (project / "results").exists()


def test_error_stops_before_any_work(project):
    done = run(project, "data")
    assert done.returncode != 0
    assert "1 of this run's data sets cannot be had" in done.stderr
    assert "banana: ida/banana_train_data_1.asc is neither in the mirror" in done.stderr
    assert "set unavailable to skip" in done.stderr.replace("\n", " ")
    assert not list(project.glob("results/**/*.npz"))


def test_a_set_that_nobody_can_have_never_stops_a_run(project):
    done = run(project, "-n", "data")
    said = done.stdout + done.stderr  # a dry run speaks on standard output
    assert "no data for yearbook" in said
    assert "no data for banana" not in said
    assert "banana.npz" in said
    assert "yearbook.npz" not in said


def test_error_does_not_stop_what_needs_none_of_the_missing_sets(project):
    done = run(project, "results/paper/data/two_gaussians.npz")
    assert done.returncode == 0, done.stderr
    dataset = read_prepared(project / "results/paper/data/two_gaussians.npz")
    assert dataset.X_train.shape[1] == 16


@pytest.mark.slow
def test_skip_goes_on_and_the_list_says_no_data(project):
    done = run(project, "data", "--config", "unavailable=skip")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("no data for yearbook") == 1
    assert done.stderr.count("no data for banana") == 1
    table = (project / "results/paper/tables/data/datasets.md").read_text()
    assert "two_gaussians" in table
    assert "twonorm_generated" in table
    assert "no data: the paper uses features of a pretrained ResNet18" in table
    assert "no data: ida/banana_train_data_1.asc" in table
    again = run(project, "-n", "data", "--config", "unavailable=skip")
    assert "Nothing to be done" in again.stderr + again.stdout


def test_a_failing_set_is_one_sentence_in_the_log(project):
    done = run(project, "results/paper/data/mushrooms.npz")
    assert done.returncode != 0
    log = (project / "results/paper/logs/fetch_data/mushrooms.log").read_text()
    assert "libsvm/mushrooms cannot be had. Tried:" in log
    assert "Traceback" not in log
    assert not (project / "results/paper/data/mushrooms.npz").exists()
