"""Paper 3's experiments: folds, budgets, jobs, tables and verdicts."""

import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from marginlab.datasets.prepared import Dataset, save_prepared
from marginlab.errors import ConfigError, SolverError
from marginlab.experiments.mrc_budget import run_within
from marginlab.experiments.mrc_claims import Evidence, judge
from marginlab.experiments.mrc_folds import Pool, make_fold, read_pool
from marginlab.experiments.mrc_methods import Task, method_call, wrong_share
from marginlab.experiments.mrc_runs import CURVE_COLUMNS, read_runs, run_job
from marginlab.experiments.mrc_summary import POINT, cell, ratio, with_risk
from marginlab.experiments.mrc_tables import check_table, time_table
from marginlab.mrc.lp import BudgetError

DEFAULTS = {
    "fraction": 0.8,
    "lambda_0": 0.05,
    "n_components": 10,
    "rows": 0,
    "n_classes": 0,
    "per_class": 0,
    "budget": 60,
    "memory_mb": 4000,
    "curves": True,
    "eps_1": 0.01,
    "eps_2": 1e-5,
    "n_max": 50,
    "m_max": 50,
    "max_rounds": 500,
    "iterations": 300,
    "lam": 0.1,
}
METHODS = {
    "ccg-highs": {"label": "MRC-CCG", "method": "ccg", "solver": "highs"},
    "ccg-highs-exact": {"label": "MRC-CCG", "method": "ccg", "solver": "highs", "eps_1": 1e-7},
    "lp-highs": {"label": "MRC-LP", "method": "lp", "solver": "highs"},
    "compact-highs": {"label": "MRC-compact", "method": "compact", "solver": "highs-ipm"},
    "sub": {"label": "MRC-SUB", "method": "subgradient"},
    "svm-multi-highs": {"label": "SVM-MULTI", "method": "svm_multi", "solver": "highs"},
}
JOB = {
    "name": "blobs",
    "dataset": "blobs",
    "features": "linear_scaled",
    "rows": [60, 90],
    "runs": dict.fromkeys(METHODS, 1) | {"ccg-highs": 2, "ccg-highs-exact": 2},
}


@pytest.fixture(scope="module")
def blobs(tmp_path_factory):
    random = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = random.normal(size=(150, 4))
    X[np.arange(150), y] += 2.0
    path = tmp_path_factory.mktemp("data") / "blobs.npz"
    empty = np.zeros((0, 4)), np.zeros(0, dtype=np.int64)
    save_prepared(Dataset(X, y, *empty, {"name": "blobs"}), path)
    return path


@pytest.fixture(scope="module")
def job_files(blobs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("job")
    files = folder / "blobs.csv", folder / "curves.csv"
    run_job(blobs, *files, job=JOB, methods=METHODS, defaults=DEFAULTS, run="test", seed=1)
    return files


@pytest.fixture(scope="module")
def small_files(blobs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    files = folder / "blobs.csv", folder / "curves.csv"
    job = JOB | {"rows": [60]}
    run_job(blobs, *files, job=job, methods=METHODS, defaults=DEFAULTS, run="test", seed=1)
    return files


def test_parts_of_a_pool_are_nested_and_stratified(blobs):
    small = read_pool(blobs, rows=30, seed=1)
    large = read_pool(blobs, rows=60, seed=1)
    assert np.bincount(small.y).tolist() == [10, 10, 10]
    rows = {row.tobytes() for row in large.X}
    assert all(row.tobytes() in rows for row in small.X)
    assert set(read_pool(blobs, n_classes=2, per_class=7).y) == {0, 1}
    assert len(read_pool(blobs, n_classes=2, per_class=7).y) == 14


def test_folds_are_named_by_repetition(blobs):
    pool = read_pool(blobs)
    one, again = (make_fold(pool, "fourier_raw", fraction=0.8, repeat=0, seed=1) for _ in "ab")
    other = make_fold(pool, "fourier_raw", fraction=0.8, repeat=1, seed=1)
    assert np.array_equal(one.psi_train, again.psi_train)
    assert not np.array_equal(one.psi_train, other.psi_train)
    assert np.bincount(one.y_train).tolist() == [40, 40, 40]
    with pytest.raises(ConfigError, match="fourier_raw"):
        make_fold(pool, "cubic", fraction=0.8, repeat=0, seed=1)


def test_text_rows_have_length_one_and_no_unseen_words():
    from scipy import sparse

    counts = sparse.csr_matrix(np.array([[2, 0, 1], [0, 0, 3], [1, 0, 1], [4, 0, 0]] * 5))
    pool = Pool("words", counts, np.array([0, 1] * 10))
    fold = make_fold(pool, "text", fraction=0.5, repeat=0, seed=0)
    assert fold.psi_train.shape[1] == 1 + 2
    squares = np.asarray(fold.psi_train[:, 1:].multiply(fold.psi_train[:, 1:]).sum(axis=1))
    assert squares.ravel() == pytest.approx(np.ones(10))


def test_budget_ends_a_run_and_tells_why():
    fine = run_within(lambda: 7, 5.0)
    assert (fine.status, fine.value) == ("ok", 7)

    def late():
        raise BudgetError("no solution within the time budget")

    def wrong():
        raise SolverError("bounds do not meet")

    assert run_within(late, 5.0).status == "time"
    assert run_within(wrong, 5.0).message == "bounds do not meet"
    grown = run_within(lambda: float(np.ones(20_000_000).sum()), 20.0)
    assert 140 < grown.peak_mb < 400


def test_a_run_that_hangs_is_stopped():
    start = time.monotonic()
    outcome = run_within(lambda: time.sleep(60), -3.0)
    assert outcome.status == "time"
    assert time.monotonic() - start < 20


def test_a_run_that_takes_too_much_memory_is_stopped_and_told():
    def greedy():
        kept = [np.ones(25_000_000)]  # 200 MB, held while the run goes on
        time.sleep(60)
        return len(kept)

    start = time.monotonic()
    outcome = run_within(greedy, 50.0, 100.0)
    assert outcome.status == "memory"
    assert outcome.message == "no solution within the memory budget of 100 MB"
    assert time.monotonic() - start < 20
    assert run_within(lambda: 7, 50.0, 100.0).value == 7


def test_memory_of_a_solver_in_a_process_of_its_own_counts():
    hold = "x = bytearray(200_000_000); import time; time.sleep(60)"
    outcome = run_within(lambda: subprocess.run([sys.executable, "-c", hold]), 50.0, 100.0)
    assert outcome.status == "memory"


def test_every_exact_method_finds_the_same_risk(job_files):
    runs = with_risk(read_runs([job_files[0]]))
    assert (runs["status"] == 0).all()
    assert (runs["width"] <= 1e-6).all()
    for name in ("lp-highs", "compact-highs", "ccg-highs-exact"):
        assert runs.loc[runs["method"] == name, "off"].max() <= 1e-6
    assert runs.loc[runs["method"] == "ccg-highs", "off"].max() <= 1e-2
    # The subgradient method only bounds R* from above.
    sub = runs[runs["method"] == "sub"]
    assert (sub["objective"] >= sub["best"] - 1e-9).all()
    assert runs["error"].between(0, 1).all()


def test_a_risk_between_wide_bounds_is_unknown():
    """Generated features leave a wide lower bound: its middle is no R*, and no error either."""
    point = dict.fromkeys(POINT, 0) | {"status": 0}
    rows = [
        {"method": "ccg-highs-exact", "repeat": 0, "objective": 0.3, "lower": 0.28, "upper": 0.3},
        {"method": "ccg-highs", "repeat": 0, "objective": 0.3, "lower": 0.28, "upper": 0.31},
        {"method": "lp-highs", "repeat": 0, "objective": 0.29999, "lower": 0.29999, "upper": 0.3},
        {"method": "ccg-highs-exact", "repeat": 1, "objective": 0.3, "lower": 0.28, "upper": 0.3},
    ]
    runs = with_risk(pd.DataFrame([point | row for row in rows]))
    assert runs["best"].tolist()[:3] == pytest.approx([0.299995] * 3)
    assert np.isnan(runs["off"].iloc[3])


def test_jobs_go_through_their_list(job_files):
    runs = read_runs([job_files[0]])
    assert sorted(runs["n"].unique()) == [48, 72]
    assert (runs["job"] == "blobs").all()
    curves = pd.read_csv(job_files[1])
    assert list(curves.columns) == CURVE_COLUMNS
    steps = curves[curves["method"] == "ccg-highs-exact"]
    assert (steps.groupby("repeat").size() > 1).all()


def test_results_do_not_depend_on_the_run(job_files, small_files):
    keys = ["method", "repeat", "n"]
    first = read_runs([job_files[0]])
    first = first[first["n"] == 48].set_index(keys)["objective"].sort_index()
    second = read_runs([small_files[0]]).set_index(keys)["objective"].sort_index()
    pd.testing.assert_series_equal(first, second, rtol=0, atol=0)


def test_tables_name_what_is_missing(job_files):
    runs = with_risk(read_runs([job_files[0]]))
    one = runs[runs["n"] == 48]
    jobs = [{**DEFAULTS, **JOB}, {**DEFAULTS, **JOB, "name": "gone", "dataset": "gone"}]
    table = time_table(one, jobs, METHODS, ["MRC-CCG", "MRC-LP"], ["nowhere"])
    assert table["solver"].tolist() == ["CBC (PuLP)", "HiGHS", "no data", "no data"]
    assert table.loc[0, "MRC-LP s"] == "not run"
    over = one[one["method"] == "lp-highs"].assign(status=1, seconds_cpu=np.nan)
    assert cell(over, "seconds_cpu", "%.2f", jobs[0]) == "no solution within 60 s"
    checks = check_table(one)
    assert checks["within"].all()


def test_rows_of_the_check_show_the_first_repetition(tmp_path):
    lines = ["run,paper,dataset,method,setting,repeat,measure,value,seconds"]
    for method, repeat, m in [("lp-highs", 0, 90), ("ccg-highs", 0, 90), ("ccg-highs", 1, 88)]:
        setting = f"features=text;n=40;m={m};classes=2;lambda_0=0.1"
        facts = {"status": 0, "objective": 0.5 + repeat / 10}
        start = f"t,mrc,words,{method},{setting},{repeat}"
        lines += [f"{start},{name},{facts[name]}," for name in facts]
    path = tmp_path / "check_words.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    checks = check_table(read_runs([str(path)]))
    assert checks[["m", "R"]].to_numpy().tolist() == [[90, "0.500000"]]


def test_tables_take_the_interior_point_where_the_simplex_method_was_not_run(job_files):
    runs = with_risk(read_runs([job_files[0]]))
    one = runs[(runs["n"] == 48) & (runs["method"] != "lp-highs")].copy()
    ipm = runs[(runs["n"] == 48) & (runs["method"] == "lp-highs")]
    ipm = ipm.assign(method="lp-highs-ipm", solver="highs-ipm")
    methods = {**METHODS, "lp-highs-ipm": {**METHODS["lp-highs"], "solver": "highs-ipm"}}
    jobs = [{**DEFAULTS, **JOB}]
    table = time_table(pd.concat([one, ipm]), jobs, methods, ["MRC-CCG", "MRC-LP"])
    assert table.loc[1, "MRC-LP s"].endswith("(x1, interior point)")
    assert table.loc[1, "LP / CCG"].endswith("(lp-highs-ipm)")
    both = time_table(pd.concat([runs[runs["n"] == 48], ipm]), jobs, methods, ["MRC-LP"])
    assert both.loc[1, "MRC-LP s"].endswith("(x1)")


def test_ratio_pairs_repetitions():
    frame = pd.DataFrame(
        {
            "repeat": [0, 1, 0, 1],
            "method": ["slow", "slow", "fast", "fast"],
            "status": [0, 0, 0, 1],
            "seconds_cpu": [4.0, 100.0, 0.5, 0.1],
        }
    )
    assert ratio(frame, "slow", "fast") == pytest.approx(8.0)
    assert np.isnan(ratio(frame, "slow", "none"))


def test_verdicts_follow_the_evidence(small_files):
    runs = with_risk(read_runs([small_files[0]]))
    curves = pd.read_csv(small_files[1]).assign(job="blobs")
    parts = {key: ["blobs"] for key in ("binary", "multiclass", "convergence", "growth")}
    claims = pd.DataFrame(
        [("monotone", "Theorem 1", "never falls"), ("accuracy", "Table II", "below 1e-3")],
        columns=["claim", "place", "says"],
    )
    verdicts = judge(claims, Evidence(runs, curves, parts)).set_index("claim")["verdict"]
    assert verdicts["monotone"] == "holds"
    fallen = curves.copy()
    fallen.loc[fallen.index[fallen["method"] == "ccg-highs"][-1], "risk"] = 0.0
    worse = runs.assign(off=runs["off"] + 0.01)
    judged = judge(claims, Evidence(worse, fallen, parts)).set_index("claim")["verdict"]
    assert judged.tolist() == ["fails", "fails"]
    empty = judge(claims, Evidence(runs.head(0), curves.head(0), parts))
    assert (empty["verdict"] == "no data").all()


def test_unknown_method_is_told(blobs):
    fold = make_fold(read_pool(blobs), "linear_raw", fraction=0.8, repeat=0, seed=1)
    task = Task(fold, fold.problem(0.05), 10.0, 1000.0)
    with pytest.raises(ConfigError, match="simplex"):
        method_call(task, {"method": "simplex"})
    answer = method_call(task, {**DEFAULTS, **METHODS["ccg-highs"]})()
    assert wrong_share(fold, answer.weights) < 0.5
