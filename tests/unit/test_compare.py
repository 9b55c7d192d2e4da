"""Verdicts on numbers with known differences."""

import io

import numpy as np
import pandas as pd
import pytest

from marginlab.compare import (
    CLAIM_COLUMNS,
    compare_scores,
    compare_times,
    join_claims,
    print_summary,
    summarise,
)
from marginlab.errors import DataError
from marginlab.results import Results


def _published(rows):
    columns = ["paper_table", "measure", "setting", "method", "dataset", "value"]
    return pd.DataFrame(rows, columns=columns)


def _ours(rows):
    results = Results("quick", "subsvms")
    for dataset, method, setting, repeat, measure, value in rows:
        results.add(dataset, method, setting, repeat, measure, value)
    return results.frame()


def test_scores_get_the_verdict_of_their_difference():
    published = _published(
        [
            (2, "bac", "clean", "SubSVMs", "a1a", 0.80),
            (2, "bac", "clean", "SubSVMs", "a2a", 0.80),
            (2, "bac", "clean", "SubSVMs", "a3a", 0.80),
            (2, "bac", "clean", "SubSVMs", "a4a", 0.80),
        ]
    )
    ours = _ours(
        [
            ("a1a", "SubSVMs", "clean", 0, "bac", 0.81),
            ("a1a", "SubSVMs", "clean", 1, "bac", 0.83),
            ("a2a", "SubSVMs", "clean", 0, "bac", 0.76),
            ("a3a", "SubSVMs", "clean", 0, "bac", 0.90),
        ]
    )
    table = compare_scores(published, ours)
    assert table["verdict"].tolist() == ["agrees", "near", "differs", "no data"]
    assert table["difference"].iloc[0] == pytest.approx(0.02)
    assert table["spread"].iloc[0] == pytest.approx(np.std([0.81, 0.83], ddof=1))
    assert table["repeats"].iloc[0] == 2


def test_times_compare_by_order_against_subsvms():
    published = _published(
        [
            (7, "train_seconds", "clean", "Oracle-SVM", "a1a", 180),
            (7, "train_seconds", "clean", "Bag-SVM", "a1a", 64),
            (7, "train_seconds", "clean", "SubSVMs", "a1a", 3),
            (3, "train_seconds_mean", "mean over corruptions", "SubSVMs", "a1a", 3),
        ]
    )
    ours = _ours(
        [
            ("a1a", "Oracle-SVM", "clean", 0, "seconds_train", 2.0),
            ("a1a", "Bag-SVM", "clean", 0, "seconds_train", 0.01),
            ("a1a", "SubSVMs", "clean", 0, "seconds_train", 0.1),
            ("a1a", "SubSVMs", "alpha=1.0", 0, "seconds_train", 0.2),
            ("a1a", "SubSVMs", "alpha=0.0", 0, "seconds_train", 0.4),
        ]
    )
    table = compare_times(published, ours)
    assert table["verdict"].tolist() == ["agrees", "differs", "agrees", "agrees"]
    assert table["ours_ratio"].iloc[0] == pytest.approx(20)
    assert table["published_ratio"].iloc[0] == pytest.approx(60)
    assert table["ours"].iloc[3] == pytest.approx(0.3)


def test_summary_counts_every_published_value_once(tmp_path, monkeypatch):
    published = pd.read_csv("config/published/subsvms_tables.csv")
    empty = _ours([])
    scores, times = compare_scores(published, empty), compare_times(published, empty)
    claims = pd.DataFrame(
        [["x", "sec. 4", "says", "found", "file", "holds"]], columns=CLAIM_COLUMNS
    )
    path = tmp_path / "claims.csv"
    claims.to_csv(path, index=False)
    summary = summarise(scores, times, join_claims({"span": path}))
    numbers = summary[summary["item"] != "claims of the text"]
    assert numbers["values"].sum() == len(published) == 1365
    assert numbers["no data"].sum() == 1365
    assert summary[summary["paper"] == "span"]["agree"].tolist() == [1]

    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / "quick" / "compare"
    folder.mkdir(parents=True)
    summary.to_csv(folder / "summary.csv", index=False)
    out = io.StringIO()
    print_summary("quick", brief=True, stream=out)
    assert "1365 values: 0 agree, 0 near, 0 differ, 1365 no data" in out.getvalue()


def test_a_run_without_results_is_one_clear_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="run `make`"):
        print_summary("paper")


def test_a_strange_claims_file_is_refused(tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="not a claims table"):
        join_claims({"mrc": path})
