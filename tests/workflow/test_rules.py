"""What every rule must carry, and what Snakemake says of the workflow as a whole."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SNAKEMAKE = [sys.executable, "-m", "snakemake"]
PARTS = ("log:", "benchmark:", "conda:", "threads:", "resources:", "message:", "script:")
QUICK = ["--configfile", "config/quick.yaml"]


def rule_blocks():
    for path in [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]:
        pieces = re.split(r"^(?:rule|checkpoint) (\w+):\n", path.read_text(), flags=re.MULTILINE)
        for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
            # A rule ends where a line starts at the margin again.
            lines = re.split(r"^\S", body, maxsplit=1, flags=re.MULTILINE)[0]
            yield pytest.param(name, lines, id=name)


@pytest.mark.parametrize(("name", "body"), list(rule_blocks()))
def test_every_rule_says_what_it_does_and_what_it_needs(name, body):
    assert '"""' in body.split("input:")[0].split("output:")[0], "a docstring comes first"
    assert not re.search(r"^    run:", body, re.MULTILINE), "run: has no cap on threads"
    if "script:" not in body:
        assert "output:" not in body, "a rule that makes files runs a script"
        return
    missing = [part for part in PARTS if part not in body]
    assert not missing, f"rule {name} lacks {missing}"
    script = re.search(r'script:\n\s+"\.\./src/(\w+)\.py"', body)
    assert script, "scripts live in src/"
    assert script[1] == name, "a script has its rule's name"
    assert f'code=script_hash("{name}")' in body, "an edit of the library must rerun the rule"
    assert (ROOT / "src" / f"{name}.py").exists()


def snakemake(*arguments, cwd=ROOT, timeout=300):
    done = subprocess.run(
        [*SNAKEMAKE, *arguments], cwd=cwd, capture_output=True, text=True, timeout=timeout
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the project in a folder whose name has blanks and an umlaut."""
    target = tmp_path_factory.mktemp("work") / "a b ü"
    for name in ("Snakefile", "rules", "config", "src", "environment.yml"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            target.mkdir(exist_ok=True)
            shutil.copy2(source, target / name)
    return target


@pytest.mark.workflow
@pytest.mark.parametrize("overlay", [[], QUICK], ids=["paper", "quick"])
def test_a_dry_run_works_offline_without_any_data(copy, overlay, monkeypatch, tmp_path):
    monkeypatch.setenv("MARGINLAB_CACHE", str(tmp_path / "empty"))
    monkeypatch.delenv("MARGINLAB_MIRROR", raising=False)
    code, output = snakemake("-n", "--quiet", "rules", *overlay, cwd=copy)
    assert code == 0, output
    assert "total" in output


@pytest.mark.workflow
def test_list_rules_reads_as_a_table_of_contents(copy):
    code, output = snakemake("--list-rules", cwd=copy)
    assert code == 0, output
    for target in ("all", "data", "subsvms", "span", "mrc", "chain"):
        assert re.search(rf"^{target}\b", output, re.MULTILINE)


@pytest.mark.workflow
@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("sead=1", "unknown setting 'sead' in the configuration; did you mean 'seed'?"),
        ("seed=abc", "setting 'seed' is 'abc'"),
        ("unavailable=never", "setting 'unavailable' is 'never'"),
    ],
)
def test_a_wrong_setting_stops_before_any_work(copy, setting, sentence):
    code, output = snakemake("-n", "--config", setting, cwd=copy)
    assert code != 0
    assert sentence in output
    assert "Traceback" not in output
