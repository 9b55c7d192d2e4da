"""Solvers that are missing, broken, out of time or handed a singular problem."""

import numpy as np
import pytest

from marginlab.errors import SolverError
from marginlab.mrc.cbc_binary import cbc_path, scratch_folder
from marginlab.mrc.estimator import MinimaxRiskClassifier
from marginlab.mrc.lp import BudgetError
from marginlab.svm.weighted import WeightedSVC

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) + np.repeat([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]], 30, axis=0)
Y = np.repeat([1, -1], 30)


def fit(**options):
    return MinimaxRiskClassifier(solver="cbc", **options).fit(X, Y)


def script(path, body, mode=0o755):
    """A program that stands where CBC should be."""
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize(
    ("body", "mode", "words"),
    [
        ("exit 0", 0o755, "failed its self-test"),
        ("exit 3", 0o755, "ended with code 3"),
        ("exit 0", 0o644, "is not executable: run 'chmod"),
    ],
    ids=["says nothing", "crashes", "not executable"],
)
def test_a_cbc_that_is_none_is_told_with_a_remedy(tmp_path, monkeypatch, body, mode, words):
    monkeypatch.setenv("MARGINLAB_CBC", script(tmp_path / "cbc", body, mode))
    with pytest.raises(SolverError, match=words):
        fit()


def test_a_cbc_that_is_no_program_of_this_machine(tmp_path, monkeypatch):
    (tmp_path / "cbc").write_bytes(b"\x7fELF but not quite")
    (tmp_path / "cbc").chmod(0o755)
    monkeypatch.setenv("MARGINLAB_CBC", str(tmp_path / "cbc"))
    with pytest.raises(SolverError, match="could not be started"):
        fit()


def test_no_cbc_at_all_is_told_with_two_remedies(tmp_path, monkeypatch):
    monkeypatch.delenv("MARGINLAB_CBC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("marginlab.mrc.cbc_binary._bundled", lambda: None)
    with pytest.raises(SolverError, match=r"CBC was not found: .*pip install.*solver='highs'"):
        fit()


@pytest.mark.parametrize("method", ["ccg", "lp", "compact"])
@pytest.mark.parametrize("solver", ["cbc", "cbc-mps", "highs"])
def test_a_time_limit_that_is_too_short_is_an_error_and_no_answer(method, solver):
    try:
        model = MinimaxRiskClassifier(solver=solver, method=method, time_limit=1e-6)
        model.fit(X, Y)
    except (BudgetError, SolverError) as error:
        assert "time" in str(error)
    else:  # solved before it looked at the clock: then the answer holds
        assert model.lower_bound_ <= model.minimax_risk_ + 1e-6
        assert model.dual_violation_ <= 1e-2 + 1e-6


def test_a_cbc_that_hangs_is_stopped(tmp_path, monkeypatch):
    real = cbc_path()
    # Answers the self-test, then never comes back.
    body = f'case "$*" in *tiny*) exec "{real}" "$@";; *) exec sleep 60;; esac'
    monkeypatch.setenv("MARGINLAB_CBC", script(tmp_path / "cbc", body))
    with pytest.raises(BudgetError, match="time budget"):
        MinimaxRiskClassifier(solver="cbc-mps", time_limit=1.0).fit(X, Y)


def test_a_scratch_folder_never_has_a_blank_and_is_gone_at_the_end(tmp_path, monkeypatch):
    odd = tmp_path / "with blank"
    odd.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(odd))
    with scratch_folder() as folder:
        assert " " not in str(folder)
        (folder / "x").write_text("x")
    assert not folder.exists()
    assert fit().minimax_risk_ == pytest.approx(
        MinimaxRiskClassifier(solver="highs").fit(X, Y).minimax_risk_, abs=2e-2
    )


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_spans_of_singular_kernels_by_cvxopt_are_those_of_the_closed_form(kernel):
    rows, y = np.vstack([X[::3], X[::3]]), np.concatenate([Y[::3], Y[::3]])  # every row twice
    model = WeightedSVC(C=1.0, kernel=kernel, gamma=0.2).fit(rows, y)
    closed, programmes = model.spans("closed"), model.spans("qp")
    assert np.linalg.matrix_rank(rows @ rows.T) < len(rows)
    np.testing.assert_allclose(programmes, closed, rtol=1e-6, atol=1e-6)
    assert (model.spans("boxed") >= closed - 1e-6).all()
