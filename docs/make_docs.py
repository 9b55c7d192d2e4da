"""Fills the generated parts of the documentation.

    python docs/make_docs.py                 from results/paper and figures/paper
    python docs/make_docs.py --run quick     from another run (to look at, not to commit)

Pages hold blocks ``<!-- begin: KIND ARGUMENT -->`` ... ``<!-- end -->``; what stands between is
replaced. No number in the documentation is typed by hand. Kinds:

run          machine, date and versions of the run     summary       verdicts counted
claims P     claims of part P with our evidence        tables P      all tables of part P
figures P    all figures of part P                     settings P    its section of config.yaml
rules FILE   the rules of rules/FILE.smk               deviations P  its register of deviations
compare N    results/<run>/compare/N.md         help C        what marginlab C --help prints
scale        jobs, times, memory by rule; time on more cores
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path[:0] = [str(ROOT / "src"), str(HERE)]

import jinja2  # noqa: E402
import pandas as pd  # noqa: E402
from api_reference import render  # noqa: E402

from marginlab.commands.parser import build_parser  # noqa: E402
from marginlab.config import read_yaml  # noqa: E402
from marginlab.experiments.run_scale import render_scale  # noqa: E402
from marginlab.files import atomic_path, write_text  # noqa: E402

_BLOCK = re.compile(r"(<!-- begin: (\w+) ?([\w/-]*) -->\n).*?(<!-- end -->)", re.DOTALL)
_RULE = re.compile(r'^rule (\w+):\n    """(.*?)"""', re.MULTILINE | re.DOTALL)
_FACTS = ("commit", "processor", "cores", "system", "python", "numpy", "scipy", "scikit-learn")


class Pages:
    """Renders blocks from one run's results.

    Parameters
    ----------
    root : Path
        The project; holds results/, figures/, config/ and rules/.
    run : str
        Name of the run.
    docs : Path
        Folder of the pages; figures are copied into it.
    """

    def __init__(self, root: Path, run: str, docs: Path) -> None:
        self.root, self.run, self.docs = root, run, docs
        self.results = root / "results" / run
        self.figures = root / "figures" / run

    def fill(self, page: Path) -> None:
        """Replace every block of a page."""
        text = page.read_text(encoding="utf-8")
        filled = _BLOCK.sub(lambda m: m[1] + self.block(m[2], m[3]).strip() + "\n" + m[4], text)
        if filled != text:
            write_text(page, filled)

    def block(self, kind: str, argument: str) -> str:
        """The text of one block."""
        makers = {
            "run": lambda _: self._facts(),
            "summary": lambda _: self._stored("summary"),
            "compare": self._stored,
            "claims": self._claims,
            "tables": self._tables,
            "figures": self._figures,
            "settings": self._settings,
            "rules": self._rules,
            "deviations": self._deviations,
            "help": _help,
            "scale": lambda _: self._scale(),
        }
        if kind not in makers:
            raise SystemExit(f"unknown block {kind!r}; known are {', '.join(makers)}")
        return makers[kind](argument)

    def _missing(self) -> str:
        return f"*Run {self.run!r} is not here yet: `make {self.run}`, then `make docs`.*"

    def _stored(self, name: str) -> str:
        path = self.results / "compare" / f"{name}.md"
        return path.read_text(encoding="utf-8") if path.exists() else self._missing()

    def _facts(self) -> str:
        path = self.results / "compare" / "provenance.csv"
        if not path.exists():
            return self._missing()
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        facts = dict(zip(frame["what"], frame["value"], strict=True))
        made = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
        named = [f"{key} {facts[key]}" for key in _FACTS if key in facts]
        blas = [value for key, value in facts.items() if key.startswith("blas ")]
        return (
            f"Run `{self.run}`, {made}: {'; '.join(named)}; BLAS {', '.join(blas[:1])}. "
            f"Times are this machine's."
        )

    def _scale(self) -> str:
        here = (self.results / "benchmarks").is_dir()
        return render_scale(self.root, self.run) if here else self._missing()

    def _claims(self, paper: str) -> str:
        path = self.results / "compare" / f"{paper}_claims.csv"
        if not path.exists():
            return self._missing()
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        lines = ["| Where | The text says | What we found | Evidence | Verdict |"]
        lines += ["| :--- | :--- | :--- | :--- | :--- |"]
        for row in frame.itertuples():
            cells = (row.place, row.published, row.ours, row.evidence, f"**{row.verdict}**")
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        return "\n".join(lines)

    def _tables(self, paper: str) -> str:
        paths = sorted((self.results / "tables" / paper).glob("*.md"))
        texts = [path.read_text(encoding="utf-8").strip() for path in paths]
        return "\n\n".join(texts) if texts else self._missing()

    def _figures(self, paper: str) -> str:
        paths = sorted((self.figures / paper).glob("*.png"))
        shared = self.root / "rules" / "report" / f"{paper}_figure.rst"
        blocks = [_plain(shared, "")] if paths and shared.exists() else []
        for path in paths:
            target = self.docs / "figures" / paper / path.name
            with atomic_path(target) as temporary:
                shutil.copyfile(path, temporary)
            blocks.append(f"![{paper}: {path.stem}](figures/{paper}/{path.name})")
            blocks += [self._caption(paper, path.stem)]
        return "\n\n".join(blocks) if blocks else self._missing()

    def _caption(self, paper: str, name: str) -> str:
        # The report's caption of one figure; some are one file for all of a part.
        folder = self.root / "rules" / "report"
        short = name.removeprefix("time_")
        names = (f"{paper}_{name}", f"{paper}_{short}", f"{paper}_figures", name)
        found = [folder / f"{stem}.rst" for stem in names if (folder / f"{stem}.rst").exists()]
        return _plain(found[0], name) if found else f"*{name}*"

    def _settings(self, section: str) -> str:
        text = (self.root / "config" / "config.yaml").read_text(encoding="utf-8")
        found = re.search(rf"^{section}:\n(?:(?: .*)?\n)*", text, re.MULTILINE)
        return f"```yaml\n{found[0].rstrip()}\n```" if found else f"*No settings {section!r}.*"

    def _rules(self, name: str) -> str:
        text = (self.root / "rules" / f"{name}.smk").read_text(encoding="utf-8")
        rows = [f"| `{rule}` | {_cell(doc)} |" for rule, doc in _RULE.findall(text)]
        return "\n".join(["| Rule | What it does |", "| :--- | :--- |", *rows])

    def _deviations(self, paper: str) -> str:
        entries = read_yaml(self.root / "config" / "deviations.yaml") or []
        rows = [
            f"| {_cell(e['place'])} | {_cell(e['paper_says'])} | {_cell(e['we_do'])} | "
            f"{_cell(e['why'])} |"
            for e in entries
            if e["paper"] == paper
        ]
        if not rows:
            return "*None.*"
        head = ["| Where | The paper | Here | Why |", "| :--- | :--- | :--- | :--- |"]
        return "\n".join([*head, *rows])


class _Wildcards:
    """Every wildcard of a caption's template is the figure's name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, _: str) -> str:
        return self._name


def _plain(caption: Path, name: str) -> str:
    """A caption of the report (a template in reStructuredText) as Markdown."""
    template = jinja2.Template(caption.read_text(encoding="utf-8"))
    text = template.render(snakemake=SimpleNamespace(wildcards=_Wildcards(name)))
    text = re.sub(r"\\ ?:(sup|sub):`([^`]*)`", r"<\1>\2</\1>", text)
    return text.replace("``", "`").strip()


def _help(command: str) -> str:
    # argparse breaks lines at the terminal's width, and colours them from Python 3.14 on.
    os.environ.update(COLUMNS="96", NO_COLOR="1")
    parser = build_parser()
    if command != "start":
        parser = parser._subparsers._group_actions[0].choices[command]  # type: ignore
    title = f"## marginlab {command}\n\n" if command != "start" else ""
    return f"{title}```text\n{parser.format_help().rstrip()}\n```"


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def main(argv: list[str] | None = None) -> None:
    """Fill all pages and write the API reference."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--run", default="paper", help="default: %(default)s")
    args = parser.parse_args(argv)
    pages = Pages(ROOT, args.run, HERE)
    for page in [*sorted(HERE.glob("*.md")), ROOT / "README.md"]:
        pages.fill(page)
    write_text(HERE / "api.md", render())


if __name__ == "__main__":
    main()
