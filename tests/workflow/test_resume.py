"""kill -9 in the middle of the stages; resumed, the run gives the reference's bytes."""

import shutil

import pytest
from tiny_run import TARGETS, Tiny

from marginlab.experiments.same_tables import differences

#: A stage is in the middle of its work once its log is there and its table is not.
STAGES = (
    ("logs/prepare_data/twonorm_generated.log", "data/twonorm_generated.npz"),
    ("logs/run_span_grid/*.log", "span/grid_class_twonorm_generated.csv"),
    ("logs/run_mrc/check.log", "mrc/check.csv"),
    ("logs/correct_chain/*.log", "chain/two_gaussians/labels.csv"),
)


@pytest.mark.slow
@pytest.mark.workflow
def test_a_killed_run_resumes_to_the_same_bytes(reference, tiny):
    for log, table in STAGES:
        process = tiny.start("--cores", "1", "--rerun-incomplete", "--", f"results/tiny/{table}")
        tiny.wait_for(process, f"results/tiny/{log}")
        tiny.kill(process)
        assert not (tiny.results / table).exists(), "the stage was over before the kill"
        if (log, table) == STAGES[0]:  # the lock that a killed run leaves is told with its remedy
            code, output = tiny.run("--cores", "1", "--", f"results/tiny/{table}")
            assert code != 0
            assert "--unlock" in output
        tiny.make("--unlock")
    tiny.make("--cores", "8", "--rerun-incomplete", "--", *TARGETS)
    assert differences(reference.results, tiny.results) == []
    assert differences(reference.figures, tiny.figures) == []


@pytest.mark.slow
@pytest.mark.workflow
def test_a_finished_run_has_nothing_to_do_and_a_lost_table_comes_back(reference, tmp_path):
    shutil.copytree(reference.folder, tmp_path / "copy", symlinks=True)
    copy = Tiny(tmp_path / "copy")
    assert "Nothing to be done" in copy.make("--cores", "1", "--", *TARGETS)
    (copy.results / "mrc" / "check.csv").unlink()
    output = copy.make("--cores", "1", "--", *TARGETS)
    assert output.count("Execute 1 jobs") == 1
    assert differences(reference.results, copy.results) == []
