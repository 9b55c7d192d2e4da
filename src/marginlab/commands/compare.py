"""``marginlab compare``: the papers' numbers and claims against a run."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import pandas as pd

from marginlab.commands.console import Console
from marginlab.compare import print_summary
from marginlab.errors import UserError

__all__ = ["run"]


def run(args: argparse.Namespace) -> int:
    """Run the command; see ``marginlab compare --help``."""
    if Path(args.run).name != args.run or args.run in ("", ".", ".."):
        raise UserError(f"run {args.run!r} is no name of a run; give paper or quick")
    text = io.StringIO()
    print_summary(args.run, args.brief, text)
    summary = pd.read_csv(Path("results", args.run, "compare", "summary.csv"))
    values = {"run": args.run, "summary": summary.to_dict("records")}
    Console(args).result(values, text.getvalue())
    return 0
