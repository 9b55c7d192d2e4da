"""What all rules share: names, paths, the code hash, checks. It holds no rules."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

SRC = Path(workflow.basedir) / "src"
if str(SRC) not in sys.path:
    sys.path.insert(0, str(SRC))

from marginlab.config import check_config
from marginlab.errors import MarginlabError
from marginlab.provenance import library_hash

try:
    check_config(config, Path(workflow.basedir) / "config" / "schemas")
except MarginlabError as error:
    raise WorkflowError(str(error)) from None

RUN = config["run"]
SEED = config["seed"]
R = f"results/{RUN}"
F = f"figures/{RUN}"
TABLE = ("csv", "md", "tex", "html")
FIGURE = ("pdf", "png", "svg")


wildcard_constraints:
    dataset=r"[A-Za-z0-9_.+-]+",
    alpha=r"clean|[0-9.]+",
    rho=r"[0-9.]+",


def script_hash(name):
    """Hash of a script in src/ and of every library module behind it."""
    return library_hash(SRC / f"{name}.py")


def table_files(paper, name):
    """The four files of a table."""
    return expand(f"{R}/tables/{paper}/{name}.{{ending}}", ending=TABLE)


def figure_files(paper, name):
    """The three files of a figure."""
    return expand(f"{F}/{paper}/{name}.{{ending}}", ending=FIGURE)
