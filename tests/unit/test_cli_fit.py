"""The command line tunes, bounds and predicts."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import CUSTOMERS, QUICK, READ, SMALL_GRID, TRUSTED, is_one_sentence

from marginlab import MinimaxRiskClassifier
from marginlab.commands.tune import logistic_weights
from marginlab.files import compressed
from marginlab.tabular import read_table


def test_tune_chooses_saves_and_predicts(run, tmp_path):
    model, table = tmp_path / "model.npz", tmp_path / "all.csv"
    options = [*SMALL_GRID, "--test", TRUSTED, "--out", model, "--table", table]
    code, text, err = run("tune", CUSTOMERS, *READ, *options, "--json")
    found = json.loads(text)
    assert (code, err) == (0, "")
    every = pd.read_csv(table)
    assert len(every) == found["settings"] == 6
    assert every["chosen"].tolist() == [True] + [False] * 5
    assert found["estimate"] == every["estimate"].min() == pytest.approx(every["estimate"][0])
    assert found["chosen"]["class weight"] == every["class weight"][0]
    code, text, _ = run("predict", model, TRUSTED, "--json")
    assert json.loads(text)["error"] == pytest.approx(found["test_error"])
    assert "model written to" in run("tune", CUSTOMERS, *READ, *options)[1]


@pytest.mark.parametrize("criterion", ["span_bound", "xi_alpha", "cv"])
def test_tune_by_other_estimates(run, criterion):
    code, text, _ = run("tune", CUSTOMERS, *READ, *SMALL_GRID, "--criterion", criterion)
    assert code == 0
    assert "first is chosen" in text


@pytest.mark.parametrize("how", ["logistic", "none"])
def test_tune_with_scores_of_rows_on_a_sample(run, tmp_path, how):
    out = tmp_path / "m.npz"
    options = ["--label", "outcome", "--categorical", "--weight", "confidence", "--map", how]
    code, text, err = run(
        "tune", CUSTOMERS, *options, *SMALL_GRID, "--max-rows", "200", "--out", out, "--json"
    )
    found = json.loads(text)
    assert code == 0
    assert "200 of 500 rows" in err
    assert found["rows_for_choosing"] == 200
    assert ("slope A" in found["chosen"]) == (how == "logistic")
    assert run("predict", out, CUSTOMERS)[0] == 0


def test_scores_may_have_any_range_and_large_ones_weigh_more(run, tmp_path):
    path = tmp_path / "percent.csv"
    frame = pd.read_csv(CUSTOMERS)
    frame.assign(confidence=100 * frame["confidence"] - 7).to_csv(path, index=False)
    options = ["--label", "outcome", "--categorical", "--weight", "confidence", *SMALL_GRID]
    tables = []
    for file in (CUSTOMERS, path):
        assert run("tune", file, *options, "--table", tmp_path / "t.csv")[0] == 0
        tables.append(pd.read_csv(tmp_path / "t.csv"))
    pd.testing.assert_frame_equal(*tables)
    weights = logistic_weights(np.array([0.0, 0.5, 1.0]), 4.0, 0.5)
    np.testing.assert_allclose(weights, 0.01 + 0.99 / (1 + np.exp([2.0, 0.0, -2.0])))


def test_bound_saves_and_predicts(run, tmp_path):
    model, out = tmp_path / "model.npz", tmp_path / "predicted.csv"
    options = ["--n-components", "40", "--test", TRUSTED, "--save", model]
    code, text, err = run(
        "bound", TRUSTED, "--label", "outcome", "--categorical", *options, "--json"
    )
    found = json.loads(text)
    assert (code, err) == (0, "")
    assert 0 < found["lower_bound"] <= found["minimax_risk"] + 1e-9
    assert found["worst_case_error"] - found["lower_bound"] < 2e-3
    assert found["test_error"] == found["training_error"] < found["worst_case_error"]
    code, text, _ = run("predict", model, TRUSTED, "--out", out)
    assert code == 0
    rows = pd.read_csv(out)
    assert list(rows.columns) == ["row", "prediction", "score"]
    assert (rows["prediction"] != pd.read_csv(TRUSTED)["outcome"]).mean() == found["test_error"]
    code, text, err = run("predict", model, TRUSTED, "--out", "-")
    assert text == out.read_text()
    assert "differs from the file's labels" in err
    assert "choose one" in run("predict", model, TRUSTED, "--out", "-", "--json")[2]
    assert "worst-case error" in run("bound", TRUSTED, "--label", "outcome", "--categorical")[1]


@pytest.mark.parametrize("names", ["xy", "xyz"])
def test_predict_writes_the_probabilities_of_a_minimax_rule(run, tmp_path, names):
    path, out, saved = (tmp_path / name for name in ("data.csv", "rows.csv", "m.npz"))
    X = np.random.default_rng(0).normal(size=(90, 2))
    y = np.array(list(names))[np.digitize(X[:, 0], [0.0, 0.6][: len(names) - 1])]
    pd.DataFrame(X, columns=["a", "b"]).assign(label=y).to_csv(path, index=False)
    linear = ["--mapping", "linear", "--scale", "none", "--eps-1", "1e-4"]
    assert run("bound", path, *linear, "--save", saved)[0] == 0
    assert run("predict", saved, path, "--probabilities", "--out", out)[0] == 0
    model = MinimaxRiskClassifier(eps_1=1e-4).fit(X, y)
    rows = pd.read_csv(out)
    found = rows[[f"probability {name}" for name in names]]
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-6)
    assert (found.idxmax(axis=1).str[-1] == rows["prediction"]).all()
    shown = json.loads(run("predict", saved, path, "--probabilities", "--json")[1])
    np.testing.assert_allclose(shown["probabilities"], found, atol=1e-9)
    assert "probability x" not in run("predict", saved, path)[1]


def test_an_svm_has_no_probabilities(run, tmp_path):
    saved = tmp_path / "m.npz"
    assert run("tune", CUSTOMERS, *READ, *SMALL_GRID, "--out", saved)[0] == 0
    code, out, err = run("predict", saved, TRUSTED, "--probabilities")
    assert (code, out) == (1, "")
    assert is_one_sentence(err)
    assert "an SVM, whose scores are no probabilities; a minimax risk classifier" in err


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_standard_output_carries_the_result_only(process, tmp_path, solver):
    path = tmp_path / "data.csv"
    path.write_text("a,label\n" + "".join(f"{i % 7},{'xyz'[i % 3]}\n" for i in range(30)))
    done = process("bound", path, "--mapping", "linear", "--solver", solver, "--json")
    assert json.loads(done.stdout)["classes"] == ["x", "y", "z"]
    assert done.stderr == b""


@pytest.mark.parametrize("ending", ["gz", "bz2", "xz"])
def test_files_are_compressed_by_their_endings_as_the_help_says(run, tmp_path, ending):
    assert f".{ending}" in run("--help")[1]
    data, votes, table, rows = (tmp_path / f"{name}.csv.{ending}" for name in "dvtp")
    model = tmp_path / "m.npz"
    for command in (
        ["correct", CUSTOMERS, *READ, *QUICK, "--out", data, "--votes", votes],
        ["tune", data, *READ, *SMALL_GRID, "--table", table, "--out", model],
        ["predict", model, data, "--out", rows],
    ):
        code, _, err = run(*command, "--quiet")
        assert (code, err) == (0, "")
    # pandas takes the compression from the ending and fails on any other content
    counts = [len(pd.read_csv(path)) for path in (data, votes, table, rows)]
    assert counts == [500, 500, 6, 500]
    assert "ending .npz" in run("bound", data, *READ, "--save", f"{model}.{ending}")[2]
    frame, stored = pd.read_csv(data), tmp_path / f"p.parquet.{ending}"
    raw, copy = frame.drop(columns="confidence").to_parquet(), tmp_path / f"o.parquet.{ending}"
    stored.write_bytes(compressed(raw, stored))
    options = ["--label", "outcome", "--categorical", *QUICK, "--quiet"]
    assert run("correct", stored, *options, "--out", copy)[0] == 0
    assert read_table(copy, label="outcome", categorical=True).X.shape[0] == 500
