"""The command line: its frame, what it looks up, and what it prints."""

import io
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from command_line import CUSTOMERS, QUICK, READ, ROOT, TRUSTED, is_one_sentence

from marginlab import __version__
from marginlab.cli import main
from marginlab.commands import doctor
from marginlab.commands.console import plain, rows_text
from marginlab.commands.parser import build_parser

COMMANDS = ("correct", "tune", "bound", "predict", "datasets", "compare", "doctor")


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
