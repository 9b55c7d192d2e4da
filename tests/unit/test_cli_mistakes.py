"""The command line takes a user's mistakes: one sentence, nothing lost."""

import shutil

import pytest
from command_line import CUSTOMERS, QUICK, READ, is_one_sentence

MISTAKES = {
    "missing file": (None, ["correct"], "does not exist"),
    "empty": ("", ["correct"], "is empty"),
    "one class": ("a,label\n1,x\n2,x\n", ["correct"], "every row has the label 'x'"),
    "three labels": ("a,label\n1,x\n2,y\n3,z\n", ["correct"], "3 different labels"),
    "single row": ("a,label\n1,x\n2,y\n3,y\n", ["correct"], "only one row has the label 'x'"),
    "quantity": (
        "a,label\n" + "".join(f"{i},{i / 7}\n" for i in range(40)),
        ["bound"],
        "only one row|quantity",
    ),
    "constant": ("a,label\n1,x\n1,y\n1,x\n1,y\n", ["correct"], "every feature is constant"),
    "missing value": ("a,label\n1,x\n,y\n", ["tune"], "missing value"),
    "text": ("a,label\nu,x\n2,y\n", ["bound"], "holds text"),
    "few for simulation": (
        "a,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(12)),
        ["correct", "--simulate"],
        "at least 10 of each class",
    ),
    "simulate and out": (
        "a,label\n1,x\n2,y\n3,x\n4,y\n",
        ["correct", "--simulate", "--out", "o.csv"],
        "leave --out",
    ),
    "share without out": ("a,label\n1,x\n2,y\n", ["correct", "--share", "s"], "--out"),
    "bad weights": (
        "a,q,label\n1,-1,x\n2,0,y\n3,1,x\n4,0,y\n",
        ["tune", "--weight", "q", "--map", "none"],
        "weights below 0",
    ),
    "constant scores": (
        "a,q,label\n1,1,x\n2,1,y\n3,1,x\n4,1,y\n",
        ["tune", "--weight", "q"],
        "one value only",
    ),
    "bad grid": ("a,label\n1,x\n2,y\n3,x\n4,y\n", ["tune", "--gamma", "0"], "above 0"),
    "huge grid": ("a,label\n1,x\n2,y\n3,x\n4,y\n", ["tune", "--log2-C", "99"], "powers of two"),
    "model name": (
        "a,label\n1,x\n2,y\n3,x\n4,y\n",
        ["bound", "--mapping", "linear", "--save", "m.pkl"],
        ".npz",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_sentence(run, tmp_path, case):
    content, (command, *options), words = MISTAKES[case]
    path = tmp_path / "data.csv"
    if content is not None:
        path.write_text(content)
    code, out, err = run(command, path, *options, "--quiet")
    assert (code, out) == (1, "")
    assert is_one_sentence(err), err
    assert any(word in err for word in words.split("|")), err


def test_a_second_file_that_does_not_fit(run, tmp_path):
    first, other = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("a,b,label\n" + "".join(f"{i % 5},{i % 3},{'xy'[i % 2]}\n" for i in range(30)))
    for content, words in (
        ("a,label\n1,x\n2,y\n", "no column 'b'"),
        ("a,b,label\n1,2,x\n2,2,z\n", "label 'z', which"),
        ("a,b,label\n1,2,x\n2,2,x\n", "same label"),
    ):
        other.write_text(content)
        code, _, err = run("correct", first, *QUICK, "--test", other, "--quiet")
        assert code == 1
        assert words in err
    assert "can be read once" in run("correct", "-", "--test", "-")[2]
    assert "choose one" in run("correct", first, "--out", "-", "--json")[2]


def test_nothing_is_half_written(run, tmp_path):
    target = tmp_path / "no" / "such"
    target.parent.write_text("a file where a folder should be")
    code, out, err = run("correct", CUSTOMERS, *READ, *QUICK, "--out", target, "--quiet")
    assert (code, out) == (1, "")
    assert is_one_sentence(err)
    assert [path.name for path in tmp_path.iterdir()] == ["no"]


def test_an_output_never_replaces_an_input(run, tmp_path):
    path = tmp_path / "data.csv"
    shutil.copy(CUSTOMERS, path)
    before = path.read_bytes()
    for command, *options in (
        ("correct", "--out", path),
        ("correct", "--votes", tmp_path / "." / "data.csv"),
        ("correct", "--out", tmp_path / "o.csv", "--votes", tmp_path / "o.csv"),
        ("tune", "--table", path),
        ("bound", "--save", path),
        ("predict", path, "--out", path),
    ):
        code, _, err = run(command, path, *options)
        assert code == 1
        assert "would replace another file" in err
        assert path.read_bytes() == before
    assert "cannot be standard output" in run("tune", path, "--out", "-")[2]


def test_constant_columns_are_remarked_on(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,same,label\n" + "".join(f"{i % 5},3,{'xy'[i % 2]}\n" for i in range(30)))
    err = run("correct", path, *QUICK)[2]
    assert "note: 1 constant feature carries nothing ('same')" in err
    assert run("correct", path, *QUICK, "--quiet")[2] == ""
