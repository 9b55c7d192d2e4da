"""The modules under everything: seeds, files, results, progress, tables, figures, hash."""

import ast
import hashlib
import io
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginlab.config import check_config, read_yaml
from marginlab.errors import ConfigError, DataError, MarginlabError, UserError
from marginlab.figures import new_figure, save_figure, style_of
from marginlab.files import atomic_path, write_csv, write_npz, write_text
from marginlab.job import job
from marginlab.progress import progress
from marginlab.provenance import environment, imported_modules, library_hash
from marginlab.results import Results, is_time_measure, read_results
from marginlab.seeds import int_seed, rng
from marginlab.tables import write_table

ROOT = Path(__file__).resolve().parents[2]
PINNED = 1244826643
AXES = st.lists(st.one_of(st.text(max_size=5), st.integers(0, 99)), min_size=1, max_size=4)


@given(AXES, AXES)
def test_streams_differ_exactly_when_their_names_do(one, other):
    same = [(type(a), a) for a in one] == [(type(a), a) for a in other]
    assert (int_seed(1, *one) == int_seed(1, *other)) == same


def test_streams_are_pinned_and_take_numpy_scalars():
    # The value in version 0.1: a change would silently change every result.
    assert int_seed(20260101, "subsvms", "a1a", 0) == int_seed(
        20260101, "subsvms", "a1a", np.int64(0)
    )
    assert rng(1, "a").integers(1 << 30) == rng(1, "a").integers(1 << 30)
    assert rng(1, "a").integers(1 << 30) != rng(2, "a").integers(1 << 30)


def test_a_failed_write_leaves_the_old_file_and_no_rest(tmp_path):
    target = tmp_path / "table.csv"
    write_text(target, "old")
    with pytest.raises(RuntimeError), atomic_path(target) as temporary:
        temporary.write_text("half")
        raise RuntimeError("stop")
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_what_a_killed_writer_left_goes_with_the_next_write(tmp_path):
    final = tmp_path / "table.csv"
    code = (
        "import os, sys; from marginlab.files import atomic_path\n"
        "with atomic_path(sys.argv[1]) as part: part.write_text('half'); os.kill(os.getpid(), 9)"
    )
    for name in ("table.csv", "other.csv"):
        subprocess.run([sys.executable, "-c", code, str(tmp_path / name)], check=False)
    assert len(list(tmp_path.glob(".part-*"))) == 2
    with atomic_path(final) as mine:
        write_text(final, "whole")  # a second writer leaves the first one's file alone
        assert mine.exists()
    left = [path.name for path in tmp_path.glob(".part-*")]
    assert len(left) == 1
    assert left[0].endswith("other.csv")


def test_npz_has_the_same_bytes_and_refuses_objects(tmp_path):
    for name in ("a.npz", "b.npz"):
        write_npz(tmp_path / name, x=np.arange(3), name=np.array("a1a"))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    with pytest.raises(TypeError, match="objects"):
        write_npz(tmp_path / "c.npz", x=np.array([{}]))
    assert not (tmp_path / "c.npz").exists()


def test_results_round_trip_and_strange_tables_are_refused(tmp_path):
    results = Results("quick", "span")
    results.add("heart", "span-rule", "C=1", 0, "error", 0.2, 1.5)
    results.write(tmp_path / "r.csv")
    back = read_results([tmp_path / "r.csv"])
    pd.testing.assert_frame_equal(back, results.frame())
    write_csv(pd.DataFrame({"a": [1]}), tmp_path / "other.csv")
    with pytest.raises(DataError, match=r"other\.csv is not a results table"):
        read_results([tmp_path / "other.csv"])
    assert is_time_measure("seconds_train")
    assert not is_time_measure("bac")


def test_progress_writes_lines_to_a_log_and_yields_all():
    out = io.StringIO()
    assert list(progress(range(3), "models", stream=out, every=0.0)) == [0, 1, 2]
    assert "models: 2/3 (67%)" in out.getvalue()


def test_tables_escape_what_each_format_reserves(tmp_path):
    frame = pd.DataFrame({"a_b": ["x|y & <z>", "50%"], "v": [0.12345, np.nan], "n": [1, 2]})
    bold = pd.DataFrame([[False, True, False], [False, False, False]])
    write_table(frame, tmp_path / "t", "A & B", "note", bold=bold)
    assert r"x\|y & <z>" in (tmp_path / "t.md").read_text()
    assert "**0.123**" in (tmp_path / "t.md").read_text()
    tex = (tmp_path / "t.tex").read_text()
    assert r"a\_b" in tex
    assert r"50\%" in tex
    assert r"\textbf{0.123}" in tex
    assert "x|y &amp; &lt;z&gt;" in (tmp_path / "t.html").read_text()
    assert pd.read_csv(tmp_path / "t.csv")["v"].iloc[0] == 0.12345


def test_figures_have_the_same_bytes_twice(tmp_path):
    digests = []
    for _ in range(2):
        fig, axes = new_figure(1, 2)
        axes[0, 0].plot([1, 2], [3, 4], label="a", **style_of("SubSVMs"))
        axes[0, 0].legend()
        save_figure(fig, tmp_path / "f")
        files = [tmp_path / f"f.{ending}" for ending in ("pdf", "png", "svg")]
        digests.append([hashlib.sha256(path.read_bytes()).hexdigest() for path in files])
    assert digests[0] == digests[1]


@pytest.mark.parametrize("values", [[0.021, 0.09], [21.5, 26.7], [0.003, 80.0]])
def test_a_log_axis_has_numbers_however_short_it_is(tmp_path, values):
    fig, axes = new_figure()
    axes[0, 0].plot([1, 2], values)
    axes[0, 0].set_yscale("log")
    save_figure(fig, tmp_path / "f")
    low, high = axes[0, 0].get_ylim()
    labels = zip(axes[0, 0].get_yticks(), axes[0, 0].get_yticklabels(), strict=True)
    assert sum(low <= tick <= high and bool(label.get_text()) for tick, label in labels) >= 2


def test_html_tables_give_sentences_room_and_keep_short_values_on_a_line(tmp_path):
    frame = pd.DataFrame({"n": [1.5], "short": ["1.2e-05"], "said": ["a claim of the paper " * 4]})
    write_table(frame, tmp_path / "t", "caption")
    text = (tmp_path / "t.html").read_text()
    assert '<td class="text">1.2e-05</td>' in text
    assert '<td class="text wraps long">a claim' in text
    assert "<td>1.500</td>" in text


def test_library_hash_follows_imports(tmp_path):
    script = tmp_path / "run.py"
    script.write_text("from marginlab.results import Results\n")
    names = [path.name for path in imported_modules(script)]
    assert "results.py" in names
    assert "files.py" in names
    assert "figures.py" not in names
    before = library_hash(script)
    script.write_text("from marginlab.results import Results  # edited\n")
    imported_modules.__globals__["_content"].cache_clear()
    imported_modules.__globals__["_imports"].cache_clear()
    assert library_hash(script) != before


def test_environment_names_versions_and_blas():
    facts = environment()
    assert facts["numpy"] == np.__version__
    assert any(key.startswith("blas") for key in facts)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (DataError("a1a is missing; fetch it"), "marginlab: rule_x: a1a is missing; fetch it"),
        (
            OSError(28, "No space left on device", "results/x"),
            "No space left on device (results/x)",
        ),
    ],
)
def test_a_job_ends_a_foreseen_error_in_one_sentence(tmp_path, capsys, error, sentence):
    fake = SimpleNamespace(log=[str(tmp_path / "log.txt")], rule="rule_x")
    with pytest.raises(SystemExit) as stop, job(fake):
        print("working")
        raise error
    assert stop.value.code == 1
    assert sentence in capsys.readouterr().err
    assert "working" in (tmp_path / "log.txt").read_text()


def test_a_job_logs_the_traceback_of_a_defect(tmp_path):
    fake = SimpleNamespace(log=[str(tmp_path / "log.txt")], rule="rule_x")
    with pytest.raises(ZeroDivisionError), job(fake):
        _ = 1 / 0
    assert "ZeroDivisionError" in (tmp_path / "log.txt").read_text()


def test_errors_are_value_errors_where_scikit_learn_expects_them():
    assert issubclass(UserError, ValueError)
    assert issubclass(UserError, MarginlabError)


def test_the_shipped_configuration_passes_its_schemas():
    config = read_yaml(ROOT / "config" / "config.yaml")
    check_config(config, ROOT / "config" / "schemas")
    quick = read_yaml(ROOT / "config" / "quick.yaml")
    check_config(_merge(config, quick), ROOT / "config" / "schemas")


def _merge(base, overlay):
    merged = dict(base)
    for key, value in overlay.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sede": 1}, "unknown setting 'sede' in the configuration; did you mean 'seed'?"),
        ({"seed": "many"}, "setting 'seed' is 'many', but 'many' is not of type 'integer'"),
        ({"unavailable": "maybe"}, "setting 'unavailable' is 'maybe'"),
    ],
)
def test_a_config_mistake_names_key_value_and_place(change, sentence):
    config = read_yaml(ROOT / "config" / "config.yaml") | change
    with pytest.raises(ConfigError) as caught:
        check_config(config, ROOT / "config" / "schemas")
    assert sentence in str(caught.value)


@given(
    st.dictionaries(st.text(max_size=8), st.one_of(st.none(), st.integers(), st.text()), max_size=4)
)
def test_any_configuration_passes_or_is_one_config_error(config):
    try:
        check_config(config, ROOT / "config" / "schemas")
    except ConfigError as error:
        assert "\n" not in str(error) or "\n" in str(config)


LAYERS = (
    ("errors", "numba_cache", "seeds", "files", "progress", "results", "provenance", "config"),
    ("job", "tables", "figures"),
    ("datasets", "noise", "measures"),
    ("svm",),
    ("subsvms", "span", "span_qp", "mrc", "theory"),
    ("selection",),
    ("tabular", "modelfile"),
    ("experiments",),
    ("compare",),
    ("commands", "cli", "__main__"),
)


NAMES = {name for names in LAYERS for name in names}


def test_nothing_imports_upward():
    rank = {name: level for level, names in enumerate(LAYERS) for name in names}
    package = ROOT / "src" / "marginlab"
    for path in sorted(package.rglob("*.py")):
        part = path.relative_to(package).parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        assert part in rank, f"{part} has no layer; add it to LAYERS"
        for module in _imported(path):
            assert rank[module] <= rank[part], f"{path.name} ({part}) imports upward: {module}"


def _imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("marginlab"):
            names = node.module.split(".")
            parts = [names[1]] if len(names) > 1 else [alias.name for alias in node.names]
            yield from (part for part in parts if part in NAMES)


def compiled_functions(tree):
    """Functions of a module that Numba compiles."""
    return [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any("njit" in ast.unparse(decorator) for decorator in node.decorator_list)
    ]


def test_compiled_functions_call_none_of_another_file():
    """Numba's cache would go on with the other file's old code after a change there."""
    modules = {p: ast.parse(p.read_text(encoding="utf-8")) for p in (ROOT / "src").rglob("*.py")}
    compiled = {f.name for tree in modules.values() for f in compiled_functions(tree)}
    assert {"newton", "add_rows"} <= compiled
    for path, tree in modules.items():
        taken = {
            name.asname or name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and "marginlab" in str(node.module)
            for name in node.names
            if name.name in compiled
        }
        for function in compiled_functions(tree):
            used = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
            assert not used & taken, f"{path.name}: {function.name} calls {used & taken}"


def test_no_python_file_is_longer_than_400_lines():
    paths = [path for part in ("src", "tests", "docs") for path in (ROOT / part).rglob("*.py")]
    assert Path(__file__) in paths
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert {path.name: count for path, count in lines.items() if count > 400} == {}


def test_scripts_are_thin_and_import_from_submodules():
    for path in sorted((ROOT / "src").glob("*.py")):
        text = path.read_text()
        assert len(text.splitlines()) <= 40, f"{path.name} is no thin script any more"
        assert "from marginlab import" not in text, f"{path.name}: import from the submodule"
