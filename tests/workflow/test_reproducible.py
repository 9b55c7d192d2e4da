"""The same tables and pictures each time, on one core and on two; and what counts as the same."""

import shutil

import pandas as pd
import pytest
from tiny_run import TARGETS, Tiny

from marginlab.experiments.same_tables import differences, main, result_files
from marginlab.results import Results


@pytest.mark.slow
@pytest.mark.workflow
def test_a_second_run_on_two_cores_gives_the_same_bytes(reference, tmp_path):
    again = Tiny(tmp_path / "again")
    again.make("--cores", "2", "--", *TARGETS)
    assert differences(reference.results, again.results) == []
    assert differences(reference.figures, again.figures) == []
    tables, pictures = result_files(again.results), result_files(again.figures)
    assert sum(name.endswith(".csv") for name in tables) >= 8
    assert sum(name.endswith(".npz") for name in tables) >= 5
    assert {"subsvms/figure2.png", "subsvms/theory.png"} <= set(pictures)


def _run(folder, value=0.5, seconds=1.0, extra=""):
    results = Results("tiny", "mrc")
    results.add("d", "m", "s", 0, "error", value, seconds)
    results.add("d", "m", "s", 0, "seconds_fit", seconds)
    results.add("d", "m", "s", 0, "peak_mb", 100 * seconds)
    results.write(folder / "mrc" / "job.csv")
    (folder / "tables").mkdir()
    (folder / "tables" / "time_of_all.csv").write_text(f"what,value\na,{seconds}\n")
    (folder / "tables" / "errors.csv").write_text(f"what,value\na,{value}\n")
    (folder / "tables" / "errors.md").write_text(f"{value}{extra}\n")
    claims = {
        "claim": ["c1", "c2"],
        "published": ["errs less", "is faster"],
        "evidence": [f"error {value}", f"took {seconds} seconds"],
        "verdict": ["holds", "holds" if seconds < 5 else "fails"],
        "ours": ["", ""],
    }
    pd.DataFrame(claims).to_csv(folder / "mrc_claims.csv", index=False)
    return folder


def test_times_may_differ_and_nothing_else(tmp_path, capsys):
    for name in "abc":
        (tmp_path / name).mkdir()
    first = _run(tmp_path / "a")
    assert differences(first, _run(tmp_path / "b", seconds=9.0)) == []
    found = differences(first, _run(tmp_path / "c", value=0.25))
    assert {sentence.split(":")[0] for sentence in found} == {
        "mrc/job.csv",
        "mrc_claims.csv",
        "tables/errors.csv",
    }
    assert "first in row 1, column 'value': '0.5' against '0.25'" in " ".join(found)
    assert main([str(first), str(tmp_path / "b")]) == 0
    assert main([str(first), str(tmp_path / "c")]) == 1
    assert capsys.readouterr().out.endswith("4 files compared, 3 differ (times apart)\n")


def test_a_missing_file_and_another_rendering_are_told(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    first, second = _run(tmp_path / "a"), _run(tmp_path / "b", extra="!")
    assert differences(first, second) == [
        "tables/errors.md: differs, though the .csv beside it does not"
    ]
    (second / "tables" / "errors.md").unlink()
    assert differences(first, second) == [f"tables/errors.md: only in {first}"]


def test_a_folder_without_results_is_one_sentence(tmp_path, capsys):
    (tmp_path / "benchmarks").mkdir()
    shutil.copy(__file__, tmp_path / "benchmarks" / "x.csv")
    assert main([str(tmp_path), str(tmp_path)]) == 2
    assert "holds no results" in capsys.readouterr().err
