"""What the command line says of data and options that it cannot use, or should remark on."""

import io

import numpy as np
import pandas as pd
import pytest
from command_line import QUICK, SMALL_GRID, is_one_sentence

ROWS = "a,b,label\n" + "".join(f"{i * 7 % 11},{i % 3},{'xy'[i % 2]}\n" for i in range(60))


def numbered(row, n=60):
    return "".join(row.format(i=i, y="xy"[i % 2], r=i * 7 % 11) for i in range(n))


MISTAKES = {
    "more folds than rows": (
        ROWS,
        ["tune", "--criterion", "cv", "--cv", "100"],
        "--cv 100 is more than the 30 rows of label x",
    ),
    "more folds than weighed rows": (
        "a,q,label\n" + numbered("{r},1,{y}\n", 8) + "5,0,x\n5,0,x\n5,0,x\n",
        ["tune", "--criterion", "cv", "--cv", "5", "--weight", "q", "--map", "none"],
        "--cv 5 is more than the 4 rows of label x",
    ),
    "one class drawn": (
        "a,label\n" + "".join(f"{i * 7 % 11},{'x' if i in (3, 9) else 'y'}\n" for i in range(900)),
        ["tune", "--max-rows", "20"],
        "give a larger --max-rows",
    ),
    "values too large": (
        "a,label\n1e308,x\n-1e308,y\n" + numbered("{r},{y}\n", 20),
        ["correct"],
        "column 'a' has 1e+308, too large",
    ),
    "LIBSVM values too large": (
        "1 1:1e308\n-1 1:-1e308\n1 1:2\n-1 1:1\n",
        ["bound", "--format", "libsvm"],
        "a feature has 1e+308, too large",
    ),
    "short row": (ROWS + "1\n", ["correct"], "line 62: 1 cell where the first line has 3"),
    "label as weight": (ROWS, ["tune", "--weight", "label"], "--weight label is the label column"),
    "label dropped": (ROWS, ["tune", "--drop", "label"], "leaves out the label column 'label'"),
    "missing in two": (
        "a,b,c,label\n1,,NA,x\n2,3,4,y\n3,,5,x\n",
        ["correct"],
        "2 columns have missing values ('b' 2, 'c' 1; cells like NA",
    ),
    "text in two": ("a,b,label\nu,v,x\n1,2,y\n", ["bound"], "2 columns hold text ('a', 'b')"),
    "rho alone": (ROWS, ["correct", "--rho", "0.2"], "--rho has no effect without --simulate"),
    "alpha alone": (ROWS, ["correct", "--alpha", "1"], "--alpha has no effect without --simulate"),
    "repeats alone": (ROWS, ["correct", "--repeats", "6"], "--repeats has no effect without --sim"),
    "rows of no check": (
        ROWS,
        ["correct", "--max-rows", "50"],
        "--max-rows has no effect without --simulate or --test; add that or leave --max-rows out",
    ),
    "rows to show of a simulation": (
        ROWS,
        ["correct", "--simulate", "--show=5"],
        "--show has no effect with --simulate, which corrects nothing for you; leave --show out",
    ),
    "folds of no criterion": (
        ROWS,
        ["tune", "--cv", "5"],
        "--cv has no effect without --criterion cv; add that or leave --cv out",
    ),
    "map of no weights": (ROWS, ["tune", "--map", "none"], "--map has no effect without --weight"),
    "slope of no map": (
        ROWS,
        ["tune", "--weight", "b", "--map", "none", "--slope", "2"],
        "--slope has no effect with --map none; leave --slope out",
    ),
    "components of linear": (
        ROWS,
        ["bound", "--mapping", "linear", "--n-components", "9"],
        "--n-components has no effect with --mapping linear",
    ),
    "components of many features": (
        "".join(f"{i % 2} 1:{i} 120:{i % 3}\n" for i in range(30)),
        ["bound", "--format", "libsvm", "--n-components", "9"],
        "--n-components has no effect with linear features, which --mapping auto takes for 120",
    ),
    "gap of a whole programme": (
        ROWS,
        ["bound", "--method", "lp", "--eps-1", "1e-4"],
        "--eps-1 has no effect with --method lp",
    ),
    "gap of a compact programme": (
        ROWS,
        ["bound", "--method", "compact", "--solver", "cbc", "--eps-1", "1e-4"],
        "--eps-1 has no effect with --method compact --solver cbc",
    ),
    "solver of descent": (
        ROWS,
        ["bound", "--method", "subgradient", "--solver", "auto"],
        "--solver has no effect with --method subgradient",
    ),
    "categories of LIBSVM": (
        "1 1:1\n-1 1:2\n",
        ["correct", "--format", "libsvm", "--categorical"],
        "leave --categorical out or give the data as CSV",
    ),
    "header of LIBSVM": (
        "1 1:1\n-1 1:2\n",
        ["correct", "--format", "libsvm", "--no-header"],
        "leave --no-header out",
    ),
    "width of a CSV": (ROWS, ["correct", "--n-features", "9"], "leave out --n-features"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_sentence(run, tmp_path, case):
    content, (command, *options), words = MISTAKES[case]
    path = tmp_path / "data.csv"
    path.write_text(content)
    code, out, err = run(command, path, *options, "--quiet")
    assert (code, out) == (1, ""), err
    assert is_one_sentence(err), err
    assert words in err


def test_options_that_do_something_are_let_through(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(ROWS)
    for command, *options in (
        ("tune", *SMALL_GRID, "--criterion", "cv", "--cv", "3"),
        ("tune", *SMALL_GRID, "--weight", "b", "--slope", "2", "--middle", "0"),
        ("bound", "--mapping", "linear", "--method", "compact", "--eps-1", "1e-4"),
        ("correct", *QUICK, "--test", path, "--max-rows", "50"),
    ):
        code, _, err = run(command, path, *options, "--quiet")
        assert (code, err) == (0, "")


def test_a_brief_comparison_is_text(run):
    code, out, err = run("compare", "--brief", "--json")
    assert (code, out) == (1, "")
    assert is_one_sentence(err)
    assert "--brief has no effect with --json" in err


@pytest.mark.parametrize("option", [("--rho", "0"), ("--rho", "1.5"), ("--alpha", "2")])
def test_shares_out_of_range_are_wrong_usage(run, option):
    code, _, err = run("correct", "data.csv", "--simulate", *option)
    assert code == 2
    assert f"argument {option[0]}: '{option[1]}'" in err


def test_a_sample_may_leave_out_one_row(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,label\n" + numbered("{r},{y}\n", 21))
    code, _, err = run("tune", path, *SMALL_GRID, "--max-rows", "20", "--quiet")
    assert (code, err) == (0, "")


def test_the_line_of_a_short_row_counts_lines_within_quotes(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('a,b,label\n1,"u\nv",x\n\n2,y\n')
    assert "line 5: 2 cells" in run("correct", path, "--categorical")[2]


@pytest.fixture
def model(run, tmp_path):
    first, saved = tmp_path / "first.csv", tmp_path / "model.npz"
    first.write_text(ROWS)
    assert run("bound", first, "--mapping", "linear", "--save", saved, "--quiet")[0] == 0
    return saved


def test_predict_speaks_of_the_file_of_the_model(run, tmp_path, model):
    other = tmp_path / "other.csv"
    for content, name, words in (
        ("a\n1\n", other, "'b', which the file that the model was trained on has"),
        ("1 1:1\n", tmp_path / "o.libsvm", "but the file that the model was trained on is not"),
    ):
        name.write_text(content)
        code, _, err = run("predict", model, name)
        assert code == 1
        assert words in err
    code, _, err = run("predict", tmp_path, other)
    assert code == 1
    assert "is a folder" in err


def test_predict_remarks_on_foreign_labels(run, tmp_path, model):
    other = tmp_path / "other.csv"
    other.write_text("a,b,label\n1,2,yes\n2,1,no\n")
    code, out, err = run("predict", model, other)
    assert code == 0
    assert "differs" not in out
    assert err == (
        "note: no error is reported: the file has the labels 'no', 'yes', the model knows "
        "'x', 'y'\n"
    )


def test_columns_like_ids_are_remarked_on(run, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(",patient,name,a,label\n" + numbered("{i},{i}0,n{i},{r},{y}\n"))
    err = run("correct", path, *QUICK, "--categorical")[2]
    assert "note: the column without a name is left out as an index" in err
    for name in ("patient", "name"):
        words = f"note: '{name}' has a different value in every row; --drop it if it is an ID\n"
        assert words in err
    assert "'a' has" not in err


INDEXES = {
    "named": (pd.Index([f"p{i}" for i in range(60)], name="patient"), "the index 'patient'"),
    "two levels": (
        pd.MultiIndex.from_arrays([np.arange(60) // 3, np.arange(60) % 3], names=["site", "visit"]),
        "the index 'site', 'visit'",
    ),
    "dates": (pd.date_range("2020-01-01", periods=60, freq=None), "the index"),
    "row numbers": (pd.Index(np.arange(60)[::-1] * 2), ""),
}


@pytest.mark.parametrize("case", INDEXES)
def test_the_index_of_a_parquet_file_is_remarked_on_and_kept(run, tmp_path, model, case):
    index, words = INDEXES[case]
    path, out = tmp_path / "data.parquet", tmp_path / "out.parquet"
    pd.read_csv(io.StringIO(ROWS)).set_axis(index).to_parquet(path)
    code, _, err = run("correct", path, *QUICK, "--out", out)
    note = f"{words} of {path} is not used; write the file after reset_index() to make it a column"
    assert (code, err.count(note)) == (0, bool(words))
    pd.testing.assert_index_equal(pd.read_parquet(out).index, pd.read_parquet(path).index)
    for command in (["tune", path, *SMALL_GRID], ["predict", model, path]):
        code, _, err = run(*command)
        assert (code, err.count(note)) == (0, bool(words))


def test_an_index_is_no_column_and_a_parquet_file_has_no_header(run, tmp_path):
    path, frame = tmp_path / "data.parquet", pd.read_csv(io.StringIO(ROWS))
    frame.assign(id=range(100, 160)).set_index("id").to_parquet(path)
    for options, words in (
        (["--label", "id"], "'id' is the index that pandas has stored, not a column; write the"),
        (["--share", "id", "--out", tmp_path / "o.parquet"], "has a column 'id' already"),
        (["--no-header"], "is no CSV file"),
    ):
        code, _, err = run("correct", path, *options, "--quiet")
        assert code == 1
        assert is_one_sentence(err)
        assert words in err
    first = tmp_path / "first.csv"
    frame.assign(id=range(100, 160)).to_csv(first, index=False)
    code, _, err = run("correct", first, *QUICK, "--test", path, "--quiet")
    assert code == 1
    assert "'id' is the index" in err
