"""The command line: what it prints, writes and returns, and how it takes mistakes."""

import io
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from marginlab import __version__
from marginlab.cli import main
from marginlab.commands import doctor
from marginlab.commands.console import plain, rows_text
from marginlab.commands.evaluate import paired_error, verdict
from marginlab.commands.parser import build_parser
from marginlab.commands.tune import logistic_weights
from marginlab.seeds import int_seed
from marginlab.subsvms import SubSVMs

ROOT = Path(__file__).resolve().parents[2]
CUSTOMERS = "examples/customers.csv"
TRUSTED = "examples/trusted.csv"
READ = ["--label", "outcome", "--drop", "confidence", "--categorical"]
COMMANDS = ("correct", "tune", "bound", "predict", "datasets", "compare", "doctor")
QUICK = ["--n-svms", "60"]
SMALL_GRID = ["--log2-C=0:6:3", "--gamma", "1", "--class-weights", "1,2"]


@pytest.fixture
def run(capsys):
    """Run a command; gives exit code, standard output, standard error."""

    def call(*args):
        try:
            code = main([str(arg) for arg in args])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


@pytest.fixture
def process():
    """Run a command as a process of its own."""

    def call(*args, **options):
        env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, "-m", "marginlab", *map(str, args)]
        return subprocess.run(command, env=env, capture_output=True, timeout=120, **options)

    return call


def is_one_sentence(err):
    lines = err.strip().splitlines()
    return len(lines) == 1 and lines[0].startswith("marginlab: ") and "Traceback" not in err


# ---------------------------------------------------------------- the frame


def test_help_is_fast_and_has_examples(process):
    times = []
    for _ in range(3):
        start = time.perf_counter()
        done = process("--help")
        times.append(time.perf_counter() - start)
    assert done.returncode == 0
    assert b"examples:" in done.stdout
    # 0.08 s on the machine it was written on; the margin is for a busy one.
    assert min(times) < 1.0


def test_help_loads_nothing_heavy(process):
    code = (
        "import sys; from marginlab.commands.parser import build_parser; build_parser();"
        "import marginlab.cli; print({'numpy', 'pandas', 'sklearn'} & set(sys.modules))"
    )
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples_and_the_same_habits(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"marginlab {command}" in out.split("examples:")[1]
    assert "--json" in out
    assert "--quiet" in out


def test_every_option_explains_itself():
    actions = build_parser()._subparsers._group_actions[0].choices
    for name, parser in actions.items():
        for action in parser._actions:
            assert action.help, f"{name}: {action.option_strings or action.dest} has no help"


def test_every_example_of_the_help_parses():
    parser = build_parser()
    texts = [parser.epilog]
    texts += [p.epilog for p in parser._subparsers._group_actions[0].choices.values()]
    count = 0
    for line in "\n".join(texts).splitlines():
        if "marginlab " in line and line.startswith("  "):
            words = line.split("marginlab ", 1)[1].split("  ")[0].split(" > ")[0].split()
            parser.parse_args(words)
            count += 1
    assert count >= 20


def test_version_usage_and_unknown_commands(run):
    assert run("--version") == (0, f"marginlab {__version__}\n", "")
    assert run()[0] == 2
    for wrong in (
        ["fix"],
        ["correct"],
        ["tune", "f", "--gamma", "x"],
        ["bound", "f", "--seed", "-1"],
    ):
        code, out, err = run(*wrong)
        assert (code, out) == (2, "")
        assert "usage:" in err


def test_lists_of_numbers():
    parse = build_parser().parse_args
    assert parse(["tune", "f", "--log2-C=-2:8:5"]).log2_c == [-2, 3, 8]
    assert parse(["tune", "f", "--gamma", "0.5,2"]).gamma == [0.5, 2]
    for wrong in ("1:0:1", "0:1:0", "a", "nan", "0:1e9:1"):
        with pytest.raises(SystemExit):
            parse(["tune", "f", "--gamma", wrong])


def test_a_defect_is_told_apart_and_shows_its_traceback_on_demand(run, monkeypatch):
    monkeypatch.setattr("marginlab.commands.doctor.checks", lambda: 1 / 0)
    code, out, err = run("doctor")
    assert code == 3
    assert out == ""
    assert is_one_sentence(err)
    assert "Traceback" in run("doctor", "--debug")[2]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (BrokenPipeError(), 141),
        (MemoryError(), 1),
        (OSError(28, "full"), 1),
    ],
)
def test_interruptions(run, monkeypatch, error, code):
    def fail():
        raise error

    monkeypatch.setattr("marginlab.cli._silence_stdout", lambda: None)
    monkeypatch.setattr("marginlab.commands.doctor.checks", fail)
    got, out, err = run("doctor")
    assert (got, out) == (code, "")
    assert err == "" or is_one_sentence(err)


def test_a_closed_pipe_is_no_error(process):
    env = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "marginlab", "datasets", "list", "--json"]
    with subprocess.Popen(
        command, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        child.stdout.close()
        err = child.stderr.read()
        code = child.wait(timeout=60)
    assert code == 141
    assert err == b""


# ---------------------------------------------------------------- correct


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


# ---------------------------------------------------------------- tune, bound, predict


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


@pytest.mark.parametrize("solver", ["highs", "cbc"])
def test_standard_output_carries_the_result_only(process, tmp_path, solver):
    path = tmp_path / "data.csv"
    path.write_text("a,label\n" + "".join(f"{i % 7},{'xyz'[i % 3]}\n" for i in range(30)))
    done = process("bound", path, "--mapping", "linear", "--solver", solver, "--json")
    assert json.loads(done.stdout)["classes"] == ["x", "y", "z"]
    assert done.stderr == b""


# ---------------------------------------------------------------- datasets, compare, doctor


def test_datasets_list_and_info(run):
    code, text, _ = run("datasets", "list", "--json")
    names = [entry["name"] for entry in json.loads(text)["datasets"]]
    assert code == 0
    assert {"a1a", "splice", "mnist"} <= set(names)
    assert "can be had here" in run("datasets", "list")[1]
    code, text, _ = run("datasets", "info", "a1a")
    assert code == 0
    assert "123" in text


def test_datasets_verify_says_what_failed(run, tmp_path, monkeypatch):
    monkeypatch.setenv("MARGINLAB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MARGINLAB_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.setenv("MARGINLAB_OFFLINE", "1")
    assert run("datasets", "verify", "two_gaussians")[0] == 0
    code, _, err = run("datasets", "verify", "a1a")
    assert code == 1
    assert "marginlab datasets fetch a1a" in err
    (tmp_path / "mirror/libsvm").mkdir(parents=True)
    for name in ("svmguide1", "svmguide1.t"):
        (tmp_path / "mirror/libsvm" / name).write_text("1 1:0\n")
    code, text, _ = run("datasets", "verify", "svmguide1", "two_gaussians")
    assert code == 1
    assert "problem  svmguide1" in text
    assert "1 of 2 data sets verified" in text
    code, _, err = run("datasets", "fetch", "a1a", "a1b")
    assert code == 1
    assert is_one_sentence(err)
    assert "a1b" in err


def test_datasets_without_a_name(run):
    for action in ("info", "fetch"):
        code, _, err = run("datasets", action)
        assert code == 1
        assert is_one_sentence(err)


def test_compare(run, tmp_path, monkeypatch):
    code, out, err = run("compare", "--run", "none")
    assert (code, out) == (1, "")
    assert is_one_sentence(err)
    assert run("compare", "--run", "../quick")[0] == 1
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results/quick/compare"
    folder.mkdir(parents=True)
    row = "subsvms,Table 2 (bac),3,1,1,1,0,0.02,0.06"
    head = "paper,item,values,agree,near,differ,no data,mean |difference|,largest |difference|"
    (folder / "summary.csv").write_text(f"{head}\n{row}\n")
    (folder / "summary.md").write_text("the table\n")
    assert run("compare", "--run", "quick")[1] == "the table\n"
    assert "3 values: 1 agree" in run("compare", "--run", "quick", "--brief")[1]
    assert json.loads(run("compare", "--run", "quick", "--json")[1])["summary"][0]["values"] == 3


def test_doctor_is_well_here(run):
    code, text, _ = run("doctor", "--json")
    found = {entry["check"]: entry for entry in json.loads(text)["checks"]}
    assert code == 0, text
    assert {"CBC", "HiGHS", "cvxopt", "BLAS", "cache folder", "threads"} <= set(found)
    assert run("doctor")[1].rstrip().endswith("everything works")


def test_doctor_tells_each_problem_with_a_remedy(run, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("MARGINLAB_CACHE", str(blocked / "cache"))
    monkeypatch.setenv("MARGINLAB_MIRROR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("MARGINLAB_CBC", str(tmp_path / "cbc"))
    monkeypatch.setenv("OMP_NUM_THREADS", "many")
    monkeypatch.setattr(doctor, "_PACKAGES", ("numpy", "no-such-package"))
    code, text, _ = run("doctor")
    bad = [line for line in text.splitlines() if line.startswith("problem")]
    assert code == 1
    for words in (
        "MARGINLAB_CACHE",
        "MARGINLAB_MIRROR",
        "MARGINLAB_CBC",
        "OMP_",
        "pip install no-",
    ):
        assert any(words in line for line in bad), f"{words}: {bad}"


# ---------------------------------------------------------------- mistakes

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
    "bad rho": (
        "a,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(60)),
        ["correct", "--simulate", "--rho", "1.5", "--repeats", "2"],
        "rho is 1.5",
    ),
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
    assert "note: 1 constant features carry nothing ('same')" in err
    assert run("correct", path, *QUICK, "--quiet")[2] == ""


# ---------------------------------------------------------------- printing


def test_tables_and_plain_values():
    text = rows_text(("name", "value"), [("a", 1), ("long", 12.5), ("c", float("nan"))])
    assert text.splitlines() == [
        "  name   value",
        "  a          1",
        "  long  12.500",
        "  c          -",
    ]
    values = {"x": np.float64("nan"), 1: np.arange(2), "t": (np.bool_(True), float("inf"))}
    assert json.loads(json.dumps(plain(values), allow_nan=False)) == {
        "x": None,
        "1": [0, 1],
        "t": [True, None],
    }


def test_progress_shows_on_a_terminal_only(run, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    args = ("correct", CUSTOMERS, *READ, *QUICK, "--simulate", "--repeats", "2", "--alpha", "0")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    assert main([*args, "--max-rows", "100"]) == 0
    assert "simulations: " in terminal.getvalue()
    assert main(["bound", TRUSTED, "--label", "outcome", "--categorical"]) == 0
    assert "fitting on 400 rows ...\r" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")
    quiet = Terminal()
    monkeypatch.setattr(sys, "stderr", quiet)
    assert main([*args, "--max-rows", "100", "--quiet"]) == 0
    assert quiet.getvalue() == ""
