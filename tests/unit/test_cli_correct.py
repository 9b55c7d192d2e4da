"""The command line corrects labels."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import CUSTOMERS, QUICK, READ, ROOT, TRUSTED

from marginlab.commands.evaluate import paired_error, verdict
from marginlab.seeds import int_seed
from marginlab.subsvms import SubSVMs


def test_correct_writes_the_corrected_file_and_the_votes(run, tmp_path):
    out, votes = tmp_path / "out.csv", tmp_path / "votes.csv"
    code, text, err = run(
        "correct", CUSTOMERS, *READ, *QUICK, "--out", out, "--votes", votes, "--share", "sure"
    )
    assert (code, err) == (0, "")
    before, after, rows = pd.read_csv(CUSTOMERS), pd.read_csv(out), pd.read_csv(votes)
    assert [*before.columns, "sure"] == list(after.columns)
    kept = before.drop(columns="outcome")
    pd.testing.assert_frame_equal(kept, after[kept.columns])
    assert (rows["label"] == before["outcome"]).all()
    assert (rows["corrected"] == after["outcome"]).all()
    assert (rows["changed"] == (before["outcome"] != after["outcome"])).all()
    assert rows["share"].between(0.5, 1).all()
    assert f"{rows['changed'].sum()} of 500 labels changed" in text


def test_correct_gives_the_votes_of_the_estimator(run, tmp_path):
    votes = tmp_path / "votes.csv"
    run("correct", CUSTOMERS, *READ, *QUICK, "--seed", "3", "--votes", votes)
    frame = pd.read_csv(CUSTOMERS)
    X = pd.get_dummies(frame.drop(columns=["outcome", "confidence"]), dtype=float).to_numpy()
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    model = SubSVMs(n_svms=60, random_state=int_seed(3, "correct")).fit(X, frame["outcome"])
    rows = pd.read_csv(votes)
    assert (rows["corrected"] == model.labels_corrected_).all()
    share = np.where(rows["corrected"] == "stays", model.votes_, 1 - model.votes_)
    np.testing.assert_allclose(rows["share"], share, atol=1e-9)


def test_correct_is_the_same_twice_and_differs_by_seed(run):
    first = run("correct", CUSTOMERS, *READ, *QUICK, "--json")[1]
    again = run("correct", CUSTOMERS, *READ, *QUICK, "--json")[1]
    other = run("correct", CUSTOMERS, *READ, *QUICK, "--json", "--seed", "1")[1]
    first, again, other = (json.loads(text) | {"seconds": 0} for text in (first, again, other))
    assert first == again
    assert first != other
    assert sum(entry["rows"] for entry in first["certainty"]) == 500
    assert sum(entry["changed"] for entry in first["counts"]) == first["changed"]


def test_correct_reads_standard_input_and_writes_standard_output(process):
    data = (ROOT / CUSTOMERS).read_bytes()
    done = process("correct", "-", *READ, *QUICK, "--out", "-", input=data)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == data.splitlines()[0]
    assert b"labels changed" in done.stderr
    quiet = process("correct", "-", *READ, *QUICK, "--json", "--quiet", input=data)
    assert quiet.stderr == b""
    assert json.loads(quiet.stdout)["file"] == "standard input"


LABELS = [("-1", "+1"), ("0", "1"), ("1.5", "2.5"), ("no", "yes")]
# LIBSVM labels are numbers.
SPELLINGS = [(kind, labels) for kind in ("csv", "libsvm", "parquet") for labels in LABELS]
SPELLINGS.remove(("libsvm", ("no", "yes")))


@pytest.mark.parametrize(("kind", "labels"), SPELLINGS)
def test_any_two_labels_and_any_format_come_back_in_their_own_spelling(run, tmp_path, kind, labels):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2)).round(3)
    spelled = np.array(labels)[(X[:, 0] + 0.5 * random.normal(size=60) > 0).astype(int)]
    path, out = tmp_path / f"data.{kind}", tmp_path / f"out.{kind}"
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "label": spelled})
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        path.write_text("".join(f"{y} 1:{a} 2:{b}\n" for y, (a, b) in zip(spelled, X, strict=True)))
    assert run("correct", path, *QUICK, "--out", out, "--quiet")[0] == 0
    if kind == "libsvm":
        found = [line.split()[0] for line in out.read_text().splitlines()]
        assert [line.split()[1:] for line in out.read_text().splitlines()] == [
            line.split()[1:] for line in path.read_text().splitlines()
        ]
    else:
        read = pd.read_csv(out, dtype=str) if kind == "csv" else pd.read_parquet(out)
        found = read["label"].tolist()
    assert set(found) == set(labels)


def test_correct_against_trusted_labels(run):
    code, text, _ = run("correct", CUSTOMERS, *READ, *QUICK, "--test", TRUSTED, "--json")
    check = json.loads(text)["check"]
    assert code == 0
    assert check["test_rows"] == 400
    plain, balanced = "SVM on the labels as given", "class-balanced SVM on the labels as given"
    assert set(check["answers"]) == {plain, balanced}
    # 60 of those who left are recorded as "stays": the votes see through it.
    vote = check["bac"]["SubSVMs, majority vote"]
    assert check["answers"][plain]["verdict"] == "helps"
    for given, answer in check["answers"].items():
        assert answer["gain"] == pytest.approx(vote - check["bac"][given])
        assert answer["error"] > 0
    # A class-balanced SVM sees through such mistakes as well, and the command says so.
    assert check["answers"][balanced]["verdict"] != "helps"
    assert (
        "In short: SubSVMs against the SVM helps"
        in run("correct", CUSTOMERS, *READ, *QUICK, "--test", TRUSTED)[1]
    )


def test_correct_simulates_noise_on_the_users_own_data(run):
    options = [*READ, *QUICK, "--simulate", "--repeats", "2", "--alpha", "0,1", "--max-rows", "200"]
    code, text, err = run("correct", CUSTOMERS, *options, "--json")
    found = json.loads(text)["simulation"]
    assert code == 0
    assert "note: training parts are cut to 200 rows" in err
    assert [one["alpha"] for one in found["scenarios"]] == [None, 0.0, 1.0]
    untouched, minority, _ = found["scenarios"]
    assert untouched["labels"]["right_before"] == 1.0
    for one in found["scenarios"]:
        for given, answer in one["answers"].items():
            gain = one["bac"]["SubSVMs, majority vote"] - one["bac"][given]
            assert answer["gain"] == pytest.approx(gain)
    # rho .5 of the 19% who leave
    assert minority["labels"]["right_before"] == pytest.approx(1 - 0.5 * 0.186, abs=0.01)
    assert "In short: SubSVMs" in run("correct", CUSTOMERS, *options, "--quiet")[1]


def test_verdicts():
    assert verdict(0.05, 0.02) == "helps"
    assert verdict(-0.05, 0.02) == "hurts"
    assert verdict(0.05, 0.03) == "no clear difference"
    assert verdict(0.005, 0.0) == "no clear difference"
    assert verdict(float("nan"), 0.1) == "no clear difference"
    y = np.array([1, 1, 1, 1, -1, -1])
    one = np.array([1, 1, 0, 0, 1, 1], dtype=bool)
    assert paired_error(y, one, one) == 0.0
    # half of the positives differ: variance 1/4 over 4 rows, a quarter of it
    assert paired_error(y, np.ones(6, bool), one) == pytest.approx(np.sqrt(0.25 / 4) / 2)
