"""The CBC binary: self-test, exact error texts, temporary folders."""

import os
import stat

import numpy as np
import pytest

from marginlab.errors import SolverError
from marginlab.mrc.cbc_binary import cbc_path, scratch_folder, self_test
from marginlab.mrc.estimator import MinimaxRiskClassifier


def test_a_missing_solver_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MARGINLAB_CBC", str(tmp_path / "nowhere"))
    with pytest.raises(SolverError, match=r"CBC was not found at '.*nowhere' \(MARGINLAB_CBC\)"):
        cbc_path()


def test_a_solver_without_permission_is_named(monkeypatch, tmp_path):
    binary = tmp_path / "cbc"
    binary.write_text("#!/bin/sh\n")
    binary.chmod(stat.S_IRUSR)
    monkeypatch.setenv("MARGINLAB_CBC", str(binary))
    with pytest.raises(SolverError, match=r"is not executable: run 'chmod \+x"):
        cbc_path()


def test_a_solver_that_answers_wrongly_fails_its_self_test(tmp_path):
    binary = tmp_path / "cbc"
    binary.write_text('#!/bin/sh\nfor a; do f="$a"; done\necho "Optimal - objective 9" > "$f"\n')
    binary.chmod(0o755)
    with pytest.raises(SolverError, match="failed its self-test"):
        self_test(str(binary))


def test_a_solver_that_crashes_is_named(tmp_path):
    binary = tmp_path / "cbc"
    binary.write_text("#!/bin/sh\nexit 3\n")
    binary.chmod(0o755)
    with pytest.raises(SolverError, match="ended with code 3"):
        self_test(str(binary))


@pytest.mark.parametrize("solver", ["cbc", "cbc-mps"])
def test_a_blank_in_the_temporary_folder_does_no_harm(monkeypatch, tmp_path, solver):
    blank = tmp_path / "my folder"
    blank.mkdir()
    monkeypatch.setenv("TMPDIR", str(blank))
    monkeypatch.setenv("TMP", str(blank))
    monkeypatch.setattr("tempfile.tempdir", str(blank))
    with scratch_folder() as folder:
        assert " " not in str(folder)
    assert not os.path.exists(folder)
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = MinimaxRiskClassifier(method="ccg", solver=solver, eps_1=1e-4).fit(X, X[:, 0] > 0)
    assert model.upper_bound_ - model.lower_bound_ <= 2e-4
