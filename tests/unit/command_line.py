"""Files, options and habits that the tests of the command line share."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CUSTOMERS = "examples/customers.csv"
TRUSTED = "examples/trusted.csv"
READ = ["--label", "outcome", "--drop", "confidence", "--categorical"]
QUICK = ["--n-svms", "60"]
SMALL_GRID = ["--log2-C=0:6:3", "--gamma", "1", "--class-weights", "1,2"]


def is_one_sentence(err):
    lines = err.strip().splitlines()
    return len(lines) == 1 and lines[0].startswith("marginlab: ") and "Traceback" not in err
