"""Runs in a process of their own, and the bench's methods by name."""

import numpy as np
import pandas as pd
import pytest

from marginlab.experiments import bench, bench_mrc, isolated
from marginlab.experiments.bench_mrc import _row, _solve
from marginlab.experiments.isolated import run_apart
from marginlab.mrc.estimates import make_problem
from marginlab.mrc.features import hstack_ones
from marginlab.mrc.lp import BudgetError


def _problem(k=2):
    random = np.random.default_rng(0)
    codes = np.arange(60) % k
    X = random.normal(size=(60, 3)) + codes[:, None]
    return make_problem(hstack_ones(X), codes, k, 0.05, np.arange(60))


def test_a_run_apart_reports_value_time_and_memory():
    run = run_apart(lambda: float(np.ones(4_000_000).sum()), 60.0)
    assert run.value == 4e6
    assert run.seconds >= 0.0
    assert 25.0 < run.peak_mb < 500.0


@pytest.mark.parametrize(("brief", "calls"), [(1e9, 1 + isolated.AGAIN), (0.0, 1)])
def test_a_brief_call_is_repeated_in_its_process(tmp_path, monkeypatch, brief, calls):
    monkeypatch.setattr(isolated, "BRIEF", brief)
    log = tmp_path / "calls"

    def call():
        with log.open("a") as file:
            file.write("x")
        return float(log.stat().st_size)

    assert run_apart(call, 60.0).value == 1.0, "the answer is the first call's"
    assert log.stat().st_size == calls


def test_a_failed_run_has_no_time(capfd):
    def fail():
        raise ValueError("made to fail")

    assert np.isnan(run_apart(fail, 60.0).seconds)
    assert "no answer: made to fail" in capfd.readouterr().out


@pytest.mark.parametrize("what", ["lp highs-ipm", "linprog", "ccg highs 1e-7", "ccg ipm 1e-7"])
def test_methods_by_name_agree(what):
    problem = _problem()
    assert _solve(problem, what) == pytest.approx(_solve(problem, "lp highs"), abs=1e-6)


def test_a_row_names_both_sides():
    row = _row("toy", _problem(3), "compact ipm", "compact highs")
    assert row["comparison"] == "toy: compact ipm against compact highs"
    assert row["size"] == "n=60 m=12 |Y|=3"


def _row_with_lost_peer(monkeypatch, message):
    def solve(problem, what):
        np.linalg.svd(np.random.default_rng(0).normal(size=(300, 300)))
        if what == "peer":
            for _ in range(3):
                np.linalg.svd(np.random.default_rng(0).normal(size=(400, 400)))
            raise BudgetError(message)
        return 0.0

    monkeypatch.setattr(bench_mrc, "_solve", solve)
    return _row("toy", _problem(), "ours", "peer")


def test_the_ratio_of_a_peer_out_of_time_is_a_lower_bound(monkeypatch):
    row = _row_with_lost_peer(monkeypatch, "no solution within the time budget (CBC)")
    assert np.isnan(row["peer_seconds"])
    assert row["ratio"] > 1.0
    assert f"(no solution within 300 s: ratio > {int(row['ratio'])})" in row["comparison"]


def test_a_long_peer_is_run_once_for_all_pairs_of_a_problem(monkeypatch):
    calls = []

    def apart(call, limit):
        calls.append(call)
        return bench_mrc.Run(50.0 if len(calls) == 2 else 1.0, 1.0, 0.0)

    monkeypatch.setattr(bench_mrc, "run_apart", apart)
    long = {}
    first = _row("toy", _problem(), "ours", "peer", long)
    assert (first["ratio"], len(calls)) == (50.0, bench_mrc.REPEATS + 1)
    second = _row("toy", _problem(), "ours at 1e-6", "peer", long)
    assert (second["ratio"], len(calls)) == (50.0, 2 * bench_mrc.REPEATS + 1)


def test_a_peer_out_of_memory_has_no_ratio(monkeypatch):
    row = _row_with_lost_peer(monkeypatch, "no solution within the memory budget of 1 MB")
    assert np.isnan(row["ratio"])
    assert row["comparison"].endswith("against peer (no solution)")


def test_the_figure_shows_where_the_peer_is_faster(monkeypatch, tmp_path):
    limits = []
    monkeypatch.setattr(bench, "save_figure", lambda fig, _: limits.extend(fig.axes[0].get_xlim()))
    frame = pd.DataFrame(
        {"part": "span", "comparison": ["a", "b"], "size": "n=1", "ratio": [0.1, 50.0]}
    )
    bench._draw(frame, tmp_path / "figure")
    assert limits[0] < 0.1
    assert limits[1] > 50.0
