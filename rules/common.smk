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


def script_hash(name):
    """Hash of a script in src/ and of every library module behind it."""
    return library_hash(SRC / f"{name}.py")


def table_files(paper, name):
    """The four files of a table."""
    return expand(f"{R}/tables/{paper}/{name}.{{ending}}", ending=TABLE)


def figure_files(paper, name):
    """The three files of a figure."""
    return expand(f"{F}/{paper}/{name}.{{ending}}", ending=FIGURE)


REPORT_PARTS = {
    "subsvms": "Paper 1: SubSVMs",
    "span": "Paper 2: the span-rule",
    "mrc": "Paper 3: minimax risk classifiers",
    "chain": "The chain of the three",
    "compare": "Verdicts, provenance, run times",
    "data": "Data sets",
    "bench": "Speed against peers",
}


def shown(files, part, title, caption):
    """Files of a table or figure; the one that every browser shows alike is in the report.

    The report lists results by their labels and shows one file a label: a title must be
    unique in its part. It is a text, or a function of the wildcards.
    """
    labels = (
        (lambda wildcards: {"result": title(wildcards)}) if callable(title) else {"result": title}
    )
    entry = dict(caption=f"report/{caption}.rst", category=REPORT_PARTS[part], labels=labels)
    return [report(f, **entry) if f.endswith((".html", ".png")) else f for f in files]


# Inputs of the papers' rules; the names they use are set in the papers' own files.


def noise_names(alpha, rho):
    """How file names write a direction of attack and a share of errors."""
    return alpha if alpha == "clean" else str(float(alpha)), str(float(rho))


def noise_file(alpha, rho):
    """Corrupted labels of any data set: the path with its wildcard."""
    return "{}/noise/{{dataset}}/alpha{}_rho{}.npz".format(R, *noise_names(alpha, rho))


def subsvms_rows(wildcards):
    """Everything measured on real data: SubSVMs with both losses, and the baselines."""
    return [*S1_RUNS, *(S1_L1 if S1["l1_loss"] else []), *S1_BASELINES]


def span_jobs(job, kinds=("class", "score")):
    """Tidy tables of a job over the data sets of the run."""
    return [f"{R}/span/{job}_{kind}_{name}.csv" for kind, name in S2_KINDS if kind in kinds]


def mrc_tables(*parts):
    """Result files of the jobs of some parts whose data can be had."""
    names = [job["name"] for part in parts for job in S3[part] if job["name"] in S3_JOBS]
    return expand(f"{R}/mrc/{{job}}.csv", job=names)


def mrc_memory(wildcards):
    """What a run may grow by, and the data."""
    return S3["defaults"]["memory_mb"] + 1000


def mrc_curves(*parts):
    """Files of the rounds of the same jobs."""
    return [path.replace(f"{R}/mrc/", f"{R}/mrc/curves/") for path in mrc_tables(*parts)]
