"""The documentation is true: its commands run, its notebook runs, its pages are current."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from marginlab import __version__

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "examples")]

import api_reference  # noqa: E402
import make_data  # noqa: E402
import make_docs  # noqa: E402
import make_notebook  # noqa: E402

BLOCK = re.compile(r"<!-- run -->\n```(sh|python)\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]


@pytest.fixture
def project(tmp_path):
    """A scratch folder with the example files, and a marginlab command."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "marginlab"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m marginlab "$@"\n')
    command.chmod(0o755)
    for name in ("python", "python3"):
        (folder / name).symlink_to(sys.executable)
    return tmp_path


def run_blocks(page, folder):
    """Run every marked block of a page in order; gives what each printed."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    env = os.environ | {
        "PYTHONPATH": str(ROOT / "src"),
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "MARGINLAB_CACHE": str(folder / "cache"),
    }
    outputs = []
    for language, text in found:
        command = ["sh", "-e", "-c", text] if language == "sh" else [sys.executable, "-c", text]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"{page.name}:\n{text}\n{done.stdout}\n{done.stderr}"
        outputs.append(done.stdout)
    return outputs


@pytest.mark.slow
def test_every_command_of_the_tutorial_runs(project):
    outputs = run_blocks(ROOT / "docs" / "tutorial.md", project)
    assert len(outputs) == 9
    assert "everything works" in outputs[0]
    assert "helps" in outputs[1]
    assert "In short: SubSVMs" in outputs[2]
    for name in ("corrected.csv", "votes.csv", "svm.npz", "mrc.npz", "settings.csv"):
        assert (project / name).exists()
    assert len(pd.read_csv(project / "predictions.csv")) == 400
    assert json.loads((project / "predictions.json").read_text())["rows"] == 400
    assert "worst-case error" in outputs[-1]


@pytest.mark.slow
def test_every_marked_command_of_the_readme_runs(project):
    outputs = run_blocks(ROOT / "README.md", project)
    assert "In short: SubSVMs" in outputs[0]


def test_the_notebook_runs(monkeypatch, capsys):
    book = json.loads((ROOT / "examples" / "own_data.ipynb").read_text(encoding="utf-8"))
    assert book == make_notebook.notebook(), "run: python examples/make_notebook.py"
    space = {"__name__": "notebook"}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(compile("".join(cell["source"]), "own_data.ipynb", "exec"), space)
    printed = capsys.readouterr().out
    assert "worst-case error" in printed
    errors = space["errors"]
    # The example is made so that correction pays; the pages say so.
    assert errors["SubSVMs' vote"] < errors["SVM on the labels as given"]


def test_the_example_files_are_those_of_their_script(tmp_path, monkeypatch):
    monkeypatch.setattr(make_data, "HERE", tmp_path)
    make_data.main()
    for name in ("customers.csv", "trusted.csv"):
        ours = pd.read_csv(ROOT / "examples" / name)
        pd.testing.assert_frame_equal(pd.read_csv(tmp_path / name), ours)


def test_links_lead_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_api_reference_has_every_public_name():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    missing = [heading for heading in api_reference.headings() if heading not in text]
    assert not missing, f"run: make docs (python docs/make_docs.py); missing {missing}"


def test_every_public_name_is_documented():
    for module, name, thing in api_reference._public():
        assert (thing.__doc__ or "").strip(), f"{module}.{name} has no docstring"


def test_the_command_page_has_every_option():
    from marginlab.commands.parser import build_parser

    text = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    for name, parser in build_parser()._subparsers._group_actions[0].choices.items():
        section = text.split(f"## marginlab {name}\n")[1].split("<!-- end -->")[0]
        for action in parser._actions:
            for option in action.option_strings:
                assert option in section, f"{name} {option}: run make docs"


def test_pages_are_filled_from_a_run(tmp_path):
    for name in ("rules", "config"):
        shutil.copytree(ROOT / name, tmp_path / name)
    docs = tmp_path / "docs"
    docs.mkdir()
    compare = tmp_path / "results/paper/compare"
    tables = tmp_path / "results/paper/tables/subsvms"
    figures = tmp_path / "figures/paper/subsvms"
    for folder in (compare, tables, figures):
        folder.mkdir(parents=True)
    (compare / "provenance.csv").write_text(
        "kind,what,value\nrun,commit,abc123\nrun,processor,A CPU\nrun,blas 0,openblas 1\n"
    )
    (compare / "subsvms_claims.csv").write_text(
        "claim,place,published,ours,evidence,verdict\nc,Section 1,a | b,yes,0.5,holds\n"
    )
    (tables / "table2.md").write_text("**Table 2**\n\n| a |\n| ---: |\n| 1 |\n")
    (figures / "figure2.png").write_bytes(b"picture")
    kinds = ("run", "claims subsvms", "tables subsvms", "figures subsvms", "settings subsvms")
    kinds += ("rules subsvms", "deviations subsvms", "help correct", "summary", "compare none")
    page = docs / "page.md"
    page.write_text("".join(f"<!-- begin: {kind} -->\nold\n<!-- end -->\n" for kind in kinds))
    pages = make_docs.Pages(tmp_path, "paper", docs)
    pages.fill(page)
    first = page.read_text()
    pages.fill(page)
    assert page.read_text() == first
    assert "old" not in first.split()
    for words in ("abc123", "A CPU", "a \\| b", "**holds**", "**Table 2**", "figures/subsvms/"):
        assert words in first
    assert "`run_subsvms`" in first
    assert "usage: marginlab correct" in first
    assert first.count("is not here yet") == 2
    assert (docs / "figures/subsvms/figure2.png").read_bytes() == b"picture"


def test_every_block_of_the_pages_can_be_made():
    for page in PAGES:
        for match in make_docs._BLOCK.finditer(page.read_text(encoding="utf-8")):
            assert make_docs.Pages(ROOT, "paper", ROOT / "docs").block(match[2], match[3])


def test_the_citation_has_the_version_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == __version__
    assert [paper["year"] for paper in citation["references"]] == [2013, 2018, 2025]
