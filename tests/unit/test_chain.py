"""The chain: its rows, steps, certificates, answers, tables and figures."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marginlab.datasets import Dataset, save_prepared
from marginlab.datasets.generators import two_gaussians
from marginlab.errors import ConfigError, DataError
from marginlab.experiments.chain_claims import RULES, judge_questions, verdict_of
from marginlab.experiments.chain_data import (
    CLEAN,
    ChainLabels,
    capped_rows,
    load_chain_data,
    read_labels,
    save_labels,
    setting_name,
    stack_noise,
)
from marginlab.experiments.chain_figures import draw_figures
from marginlab.experiments.chain_frames import (
    CHAIN,
    ORACLE,
    PLAIN,
    certificates,
    means,
    with_oracle,
)
from marginlab.experiments.chain_labels import correct_labels
from marginlab.experiments.chain_risk import bound_risk, features_of
from marginlab.experiments.chain_tables import summarise, write_tables
from marginlab.experiments.chain_weights import tune_weights
from marginlab.experiments.subsvms_uci import corrupt
from marginlab.results import COLUMNS, is_time_measure, read_results
from marginlab.seeds import rng
from marginlab.selection import SpanSearch
from marginlab.svm import dual
from marginlab.svm.weighted import WeightedSVC

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = {
    "datasets": ["blobs"],
    "alphas": [1.0, 0.0],
    "rhos": [0.5],
    "repeats": 2,
    "max_train": 60,
    "max_test": 200,
    "subsvms": {"n_svms": 40, "sample_size": "log2", "C": 100.0, "gamma": "1/d"},
    "svm": {"log2_C": [-1, 3], "A": [8], "B": [0.5], "sigma": 0.01, "folds": 3, "tol": 1e-6},
    "mrc": {
        "linear_from": 100,
        "n_components": 10,
        "lambda_0": [0.01, 0.1],
        "eps_1": 1e-4,
        "solver": "highs",
        "time_limit": 60,
    },
}
QUESTIONS = pd.read_csv(ROOT / "config" / "published" / "chain_claims.csv")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A small prepared data set and its corrupted labels."""
    folder = tmp_path_factory.mktemp("chain")
    X, y = two_gaussians(400, rng(0, "chain test"), d=3, beta=0.3, variance=0.4)
    data = Dataset(X[:90], y[:90], X[90:], y[90:], {"name": "blobs"})
    save_prepared(data, folder / "blobs.npz")
    noise = {}
    for alpha in SETTINGS["alphas"]:
        path = folder / f"{alpha}.npz"
        corrupt(folder / "blobs.npz", path, alpha=str(alpha), rho=0.5, repeats=2, seed=7)
        noise[alpha, 0.5] = path
    return folder, noise


def run_chain(prepared, out):
    folder, noise = prepared
    common = {"settings": SETTINGS, "run": "quick", "seed": 7}
    data, labels = folder / "blobs.npz", out / "labels.npz"
    correct_labels(data, noise, labels, out / "labels.csv", **common)
    tune_weights(data, labels, out / "svm.csv", **common)
    bound_risk(data, labels, out / "mrc.csv", **common)
    return read_results([out / f"{step}.csv" for step in ("labels", "svm", "mrc")])


def test_models_that_are_not_solved_are_counted_and_left_out(prepared, tmp_path, monkeypatch):
    folder, noise = prepared
    solve = dual.solve_box_qp

    def failing(K, c, lo, hi, start, tol):
        few = 0 if (hi - lo).max() > 7.9 else 5000
        return solve(K, c, lo, hi, start, tol, max_rounds=few)

    monkeypatch.setattr(dual, "solve_box_qp", failing)
    common = {"settings": SETTINGS, "run": "quick", "seed": 7}
    labels = tmp_path / "labels.npz"
    correct_labels(folder / "blobs.npz", noise, labels, tmp_path / "labels.csv", **common)
    tune_weights(folder / "blobs.npz", labels, tmp_path / "svm.csv", **common)
    rows = read_results([tmp_path / "svm.csv"])
    counts = rows[rows["measure"] == "n_unsolved"]["value"]
    assert (counts >= 1).all()
    assert (counts < rows[rows["measure"] == "n_models"]["value"].to_numpy()).all()
    errors = rows[rows["method"].str.endswith(":best") & (rows["measure"] == "error")]["value"]
    assert errors.size
    assert errors.notna().all()


@pytest.fixture(scope="module")
def rows(prepared, tmp_path_factory):
    return run_chain(prepared, tmp_path_factory.mktemp("rows"))


# --- rows and labels ---------------------------------------------------------------


@settings(deadline=None, max_examples=30)
@given(n=st.integers(20, 200), cap=st.integers(20, 200), seed=st.integers(0, 99))
def test_capped_rows_keep_the_shares_of_the_classes(n, cap, seed):
    y = np.where(np.arange(n) % 4 == 0, 1, -1)
    chosen = capped_rows(y, cap, np.random.default_rng(seed))
    assert len(chosen) == min(n, cap)
    assert (np.diff(chosen) > 0).all()
    expected = (y == 1).mean() * len(chosen)
    assert abs((y[chosen] == 1).sum() - expected) <= 1


def test_all_steps_see_the_same_rows_and_the_corruption_of_paper_1(prepared):
    folder, noise = prepared
    case = load_chain_data(folder / "blobs.npz", SETTINGS, 7)
    names, labels = stack_noise(case, noise, 2)
    assert names == [CLEAN, "alpha=1.0 rho=0.5", "alpha=0.0 rho=0.5"]
    assert np.array_equal(labels[0, 1], case.y)
    with np.load(noise[1.0, 0.5]) as content:
        assert np.array_equal(labels[1], content["y_noisy"][:, case.rows])
    again = load_chain_data(folder / "blobs.npz", SETTINGS, 7)
    assert np.array_equal(case.rows, again.rows)
    assert not np.array_equal(case.rows, load_chain_data(folder / "blobs.npz", SETTINGS, 8).rows)


def test_too_few_corruptions_are_named(prepared):
    folder, noise = prepared
    case = load_chain_data(folder / "blobs.npz", SETTINGS, 7)
    with pytest.raises(ConfigError, match=r"holds 2 corruptions, but chain\.repeats is 3"):
        stack_noise(case, noise, 3)


def test_labels_of_one_class_are_not_trained_on(tmp_path):
    noisy = np.array([[[1, 1, 1], [1, -1, 1], [1, -1, 1]]])
    corrected = np.array([[[1, 1, 1], [1, 1, 1], [-1, -1, 1]]])
    votes = np.array([[[np.nan] * 3, [0.9, 0.8, 0.7], [0.1, 0.2, 0.7]]])
    save_labels(ChainLabels(["a"], noisy, corrected, votes), tmp_path / "labels.npz")
    stored = read_labels(tmp_path / "labels.npz")
    assert [stored.usable(0, r, False) for r in range(3)] == [False, True, True]
    assert [stored.usable(0, r, True) for r in range(3)] == [False, False, True]


def test_a_damaged_file_of_labels_is_named(tmp_path):
    (tmp_path / "labels.npz").write_text("nothing")
    with pytest.raises(DataError, match=r"labels\.npz holds no corrected labels"):
        read_labels(tmp_path / "labels.npz")


# --- the three steps -------------------------------------------------------------------


def test_rows_are_tidy_complete_and_the_same_each_time(prepared, rows, tmp_path):
    assert list(rows.columns) == list(COLUMNS)
    assert set(rows["paper"]) == {"chain"}
    assert set(rows["setting"]) == {CLEAN, setting_name(1, 0.5), setting_name(0, 0.5)}
    counts = rows[rows["measure"] == "error"].groupby(["setting", "repeat"]).size()
    assert counts.nunique() == 1
    first, again = (
        frame[~frame["measure"].map(is_time_measure)].reset_index(drop=True)
        for frame in (rows, run_chain(prepared, tmp_path))
    )
    pd.testing.assert_frame_equal(first, again)


def test_the_span_rule_chooses_as_span_search_does(prepared, rows, tmp_path):
    folder, _ = prepared
    case = load_chain_data(folder / "blobs.npz", SETTINGS, 7)
    grid = {"C": [0.5, 8.0]}
    search = SpanSearch(WeightedSVC(), grid, ties="smallest").fit(case.X, case.y)
    error = 1 - search.score(case.X_test, case.y_test)
    ours = rows[(rows["setting"] == CLEAN) & (rows["method"] == "svm:given:uniform:span")]
    values = ours[ours["measure"] == "error"]["value"]
    assert len(values) == SETTINGS["repeats"]
    assert values.to_numpy() == pytest.approx(error)


def test_no_choice_beats_the_best_of_the_grid(rows):
    error = means(rows, "error")
    for labels in ("given", "corrected"):
        for weights in ("uniform", "votes", "either"):
            best = error[f"svm:{labels}:{weights}:best"]
            for criterion in ("span", "checked", "cv"):
                assert (error[f"svm:{labels}:{weights}:{criterion}"] >= best - 1e-12).all()
        either = error[f"svm:{labels}:either:best"]
        parts = error[[f"svm:{labels}:{w}:best" for w in ("uniform", "votes")]].min(axis=1)
        assert np.allclose(either, parts)


def test_generation_and_full_program_agree_and_bounds_meet(rows):
    keys = ["dataset", "setting", "labels", "lambda_0", "repeat"]
    both = certificates(rows, "ccg").merge(certificates(rows, "lp"), on=keys, suffixes=("", "_lp"))
    assert len(both) == 3 * 2 * 2 * 2
    assert (both["risk"] - both["risk_lp"]).abs().max() <= SETTINGS["mrc"]["eps_1"]
    gap = rows[(rows["measure"] == "gap") & rows["method"].str.contains(":ccg:")]["value"]
    assert gap.max() <= SETTINGS["mrc"]["eps_1"] + 1e-9
    assert rows[rows["measure"] == "failed"]["value"].sum() == 0


def test_wider_uncertainty_raises_the_risk(rows):
    fits = certificates(rows).set_index(["setting", "labels", "repeat", "lambda_0"])["risk"]
    wide = fits.unstack("lambda_0")
    assert (wide[0.1] >= wide[0.01] - 1e-6).all()


def test_features_follow_the_number_of_columns():
    options = {"linear_from": 100, "n_components": 40}
    assert features_of(100, options) == {"features": "linear"}
    assert features_of(99, options) == {"features": "fourier", "n_components": 40}


# --- frames, answers, tables, figures ---------------------------------------------------


def made_rows(values):
    """Rows from (dataset, setting, method, measure, value)."""
    frame = pd.DataFrame(values, columns=["dataset", "setting", "method", "measure", "value"])
    return frame.assign(run="quick", paper="chain", repeat=0, seconds=np.nan)[list(COLUMNS)]


def test_certificates_stand_beside_the_real_error():
    noise = setting_name(1, 0.5)
    frame = certificates(
        made_rows(
            [
                ("a", noise, "mrc:given:ccg:0.01", "risk", 0.2),
                ("a", noise, "mrc:given:ccg:0.01", "error", 0.25),
                ("a", noise, "labels:given", "accuracy", 0.9),
            ]
        )
    )
    assert frame.iloc[0]["wrong_labels"] == pytest.approx(0.1)
    assert not frame.iloc[0]["holds"]
    assert frame.iloc[0]["holds_with_label_errors"]


def test_the_oracle_is_the_plain_svm_on_clean_labels():
    noise = setting_name(1, 0.5)
    table = with_oracle(
        means(made_rows([("a", CLEAN, PLAIN, "bac", 0.9), ("a", noise, PLAIN, "bac", 0.6)]), "bac")
    )
    assert (table[ORACLE] == 0.9).all()


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(1.0, "holds"), (0.9, "holds"), (0.89, "partly"), (0.5, "partly"), (0.49, "fails")],
)
def test_verdicts_follow_the_share_of_cases(share, verdict):
    assert verdict_of(share) == verdict
    assert verdict_of(float("nan")) == "no data"


def test_every_question_has_a_rule_and_every_rule_a_question():
    assert list(QUESTIONS["claim"]) == list(RULES)


def test_an_unknown_question_is_named(rows):
    strange = QUESTIONS.assign(claim="is_it_good")
    with pytest.raises(DataError, match="asks 'is_it_good', which no rule answers"):
        judge_questions(strange, rows, SETTINGS)


def test_without_rows_every_answer_is_no_data():
    answers = judge_questions(QUESTIONS, made_rows([]), SETTINGS)
    assert set(answers["verdict"]) == {"no data"}


def test_an_answer_counts_cases_and_names_where_it_hurts():
    noise = setting_name(1, 0.5)
    values = [("good", 0.6, 0.8), ("fine", 0.6, 0.7), ("bad", 0.7, 0.6)]
    frame = made_rows(
        [(d, noise, PLAIN, "bac", old) for d, old, _ in values]
        + [(d, noise, CHAIN, "bac", new) for d, _, new in values]
    )
    one = QUESTIONS[QUESTIONS["claim"] == "chain_bac"]
    answer = judge_questions(one, frame, SETTINGS).iloc[0]
    assert answer["published"] == "-"
    assert answer["verdict"] == "partly"
    assert answer["ours"] == "true in 66.7% of the cases"
    assert "better by more than 0.01 in 2, worse in 1" in answer["evidence"]
    assert "it hurts bad (-0.100)" in answer["evidence"]


def test_answers_of_a_run_are_all_given(rows):
    answers = judge_questions(QUESTIONS, rows, SETTINGS)
    columns = ["claim", "place", "published", "ours", "evidence", "verdict"]
    assert list(answers.columns) == columns
    assert set(answers["verdict"]) <= {"holds", "partly", "fails"}
    assert answers["evidence"].str.len().min() > 10


def test_the_summary_has_a_row_a_setting(rows):
    table = summarise(rows, SETTINGS)
    assert table["rho"].tolist() == [0.0, 0.5, 0.5]
    assert table["labels right, given"].iloc[0] == 1
    assert table.notna().to_numpy()[1:].all()


def test_tables_and_figures_are_those_that_the_rules_promise(prepared, tmp_path):
    # times included: the table of costs needs them
    fresh = run_chain(prepared, tmp_path)
    write_tables(fresh, tmp_path / "tables", SETTINGS)
    draw_figures(fresh, tmp_path / "figures", SETTINGS)
    text = (ROOT / "rules" / "chain.smk").read_text()
    for folder, name, endings in (
        ("tables", "CHAIN_TABLES", ("csv", "md", "tex", "html")),
        ("figures", "CHAIN_FIGURES", ("pdf", "png", "svg")),
    ):
        block = re.search(rf"{name} = \{{(.*?)\}}", text, re.DOTALL)[1]
        promised = re.findall(r'^ +"(\w+)":', block, re.MULTILINE)
        made = {path.name for path in (tmp_path / folder).iterdir()}
        assert made == {f"{stem}.{ending}" for stem in promised for ending in endings}
    for stem in promised:
        assert (ROOT / "rules" / "report" / f"chain_{stem}.rst").exists()
