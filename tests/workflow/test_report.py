"""The report's table of contents: all of it reachable, with captions that are sound."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import docutils.core
import pytest

ROOT = Path(__file__).resolve().parents[2]
RST = sorted((ROOT / "rules/report").glob("*.rst"))
#: Loads the workflow as Snakemake does and prints what its rules put into the report.
LIST_ENTRIES = """
import json, re, sys
from pathlib import Path
from types import SimpleNamespace
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, ResourceSettings

def titles(labels, path):
    if not callable(labels):
        return [labels["result"]]
    name, values = re.search(r"\\{(\\w+),([\\w|]+)\\}", path).groups()
    return [labels(SimpleNamespace(**{name: value}))["result"] for value in values.split("|")]

with SnakemakeApi(OutputSettings()) as api:
    config = ConfigSettings(configfiles=[Path(path) for path in sys.argv[1:]])
    workflow = api.workflow(
        resource_settings=ResourceSettings(), config_settings=config, snakefile=Path("Snakefile")
    )._workflow
    outputs = [(path, path.flags) for rule in workflow.rules for path in rule.output]
entries = [
    (flags["report"].category, title, str(path), str(flags["report"].caption))
    for path, flags in outputs
    if "report" in flags
    for title in titles(flags["report"].labels, str(path))
]
shown = {str(path).rpartition(".")[0] for path, flags in outputs if "report" in flags}
hidden = {
    str(path)
    for path, _ in outputs
    if str(path).endswith((".html", ".png")) and str(path).rpartition(".")[0] not in shown
}
print(json.dumps([entries, sorted(hidden)]))
"""


@pytest.mark.workflow
@pytest.mark.parametrize("overlay", [[], ["config/quick.yaml"]], ids=["paper", "quick"])
def test_every_table_and_figure_has_a_title_of_its_own(overlay):
    done = subprocess.run(
        [sys.executable, "-c", LIST_ENTRIES, *overlay],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    entries, hidden = json.loads(done.stdout.splitlines()[-1])
    assert hidden == [], "a table or figure that the report leaves out"
    assert len(entries) > 50
    # Snakemake's report shows one file for each label of a category: the last one.
    counts = Counter((part, title) for part, title, *_ in entries)
    assert [entry for entry, count in counts.items() if count > 1] == []
    captions = {Path(caption).name for *_, caption in entries}
    assert captions == {path.name for path in RST} - {"workflow.rst"}


@pytest.mark.parametrize("path", RST, ids=lambda path: path.stem)
def test_captions_are_sound(path):
    strict = {"halt_level": 2, "report_level": 2, "file_insertion_enabled": False}
    text = docutils.core.publish_doctree(path.read_text(), settings_overrides=strict).astext()
    assert len(text.split()) > 15, "a caption is read without the paper at hand"
