"""Sizing: what the benchmark files of a run add up to, and bounds on more cores."""

import os

import pandas as pd
import pytest

from marginlab.errors import DataError
from marginlab.experiments.run_scale import (
    busy_seconds,
    chain,
    import_seconds,
    project,
    read_jobs,
    render_scale,
    sum_by_rule,
)

HEAD = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
GRAPH = {"fetch": set(), "fit": {"fetch"}, "draw": {"fit"}, "sum": set(), "all": {"draw", "sum"}}


@pytest.fixture
def results(tmp_path):
    """fetch (1 s), fit (4 s and 10 s), draw (2 s), sum (3 s, no log)."""
    folder = tmp_path / "results" / "r"
    jobs = [("fetch/a", 1, 0), ("fit/a", 4, 1), ("fit/b", 10, 1), ("draw", 2, 11), ("sum", 3, 20)]
    for name, seconds, start in jobs:
        path = folder / "benchmarks" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{HEAD}{seconds}.0\t0:00:01\t{100 * seconds}\t1\t1\t1\t-\t-\t90\t0.5\n")
        os.utime(path, (1e9 + start + seconds, 1e9 + start + seconds))
        if name != "sum":
            log = folder / "logs" / f"{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_text(f"working\ndone in {seconds - 0.5} s\n")
    return folder


def test_jobs_and_sums_by_rule(results):
    jobs = read_jobs(results)
    assert sorted(jobs["rule"]) == ["draw", "fetch", "fit", "fit", "sum"]
    table = sum_by_rule(jobs).set_index("rule")
    assert table.index[0] == "fit"
    assert table.loc["fit", ["jobs", "wall", "longest", "start_up", "memory"]].tolist() == [
        2,
        14.0,
        10.0,
        1.0,
        1000.0,
    ]
    assert table.loc["sum", "start_up"] == 0.0
    assert busy_seconds(jobs) == pytest.approx(13.0 + 3.0)


def test_the_longest_chain_and_the_bounds(results):
    jobs = read_jobs(results)
    assert chain(jobs, GRAPH) == (13.0, ["fetch", "fit", "draw"])
    table = project(jobs, GRAPH, (1, 2, 1000)).set_index("cores")
    assert table.loc[1, ["at_least", "at_most"]].tolist() == [20.0, 20.0]
    assert table.loc[2, ["at_least", "at_most"]].tolist() == [13.0, 16.5]
    assert table.loc[1000, "at_least"] == 13.0
    assert table["limited_by"].tolist() == ["the work", "fit", "fit"]
    assert table.loc[2, "memory"] == 1400.0


def test_the_bounds_hold_for_a_schedule_that_leaves_no_core_idle(results):
    # 2 cores: fetch, then fit/b beside fit/a and sum, then draw: 13 s.
    table = project(read_jobs(results), GRAPH, (2,))
    assert table.loc[0, "at_least"] <= 13.0 <= table.loc[0, "at_most"]


def test_start_up_is_measured():
    assert 0.0 < import_seconds(("numpy",), 1)["numpy"] < 10.0


def test_the_page_and_a_run_that_is_not_there(results, monkeypatch):
    monkeypatch.setattr("marginlab.experiments.run_scale.rule_graph", lambda *_: GRAPH)
    monkeypatch.setattr("marginlab.experiments.run_scale.MODULES", ("sys",))
    text = render_scale(results.parents[1], "r")
    assert "5 jobs, 0.3 core minutes, run within 0.3 minutes" in text
    assert "| `fit` | 2 | 14.0 | 10.0 | 1.0 | 1000 |" in text
    assert "| 512 | 0.2 |" in text
    with pytest.raises(DataError, match="no benchmark files"):
        read_jobs(results / "nowhere")
    assert isinstance(read_jobs(results), pd.DataFrame)
