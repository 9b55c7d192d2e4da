"""``marginlab correct``: labels corrected by SubSVMs' votes, and whether that helps."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from marginlab.commands.console import Console, rows_text, wrap
from marginlab.commands.loading import (
    check_classes,
    check_inputs,
    check_outputs,
    load,
    load_second,
    row_counts,
    scale_features,
)
from marginlab.errors import UserError
from marginlab.files import write_csv
from marginlab.noise import minority_label
from marginlab.seeds import int_seed
from marginlab.subsvms import SubSVMs, subset_size
from marginlab.tabular import Table, replace_labels
from marginlab.tabular.writing import check_ending, check_extra

__all__ = ["run"]

# Share of the SVMs behind the chosen label, from sure to a toss of a coin.
_BANDS = ((0.95, "above .95"), (0.8, ".80 to .95"), (0.6, ".60 to .80"), (0.0, ".50 to .60"))
_MANY = 0.25


def run(args: argparse.Namespace) -> int:
    """Run the command; see ``marginlab correct --help``."""
    check_inputs(args.file, args.test)
    outputs = {"--out": args.out, "--votes": args.votes}
    check_outputs((args.file, args.test), outputs, stdout="--out", endings={"--out": "any"})
    if args.out == "-" and args.json:
        raise UserError("--out - and --json both write to standard output; choose one")
    console = Console(args, data_to_stdout=args.out == "-")
    table = load(args)
    _check_out(args, table)
    classes = check_classes(table, most=2)
    X, scaler = scale_features(table, args.scale, console)
    values: dict[str, Any] = {"file": table.source, "rows": X.shape[0], "features": X.shape[1]}
    text = [
        f"{table.source}: {X.shape[0]} rows, {X.shape[1]} features ({scaler.describe()}), "
        f"labels {row_counts(table.labels, classes.tolist())}"
    ]
    if args.simulate:
        _add_simulation(args, table, X, values, text, console)
    else:
        _add_correction(args, table, classes, X, values, text, console)
    if args.test is not None:
        _add_test(args, table, classes, X, scaler, values, text, console)
    console.result(values, "\n".join(text))
    return 0


def _check_out(args: argparse.Namespace, table: Table) -> None:
    # Told before the work: both depend on what the file turned out to be.
    if args.out and args.out != "-":
        check_ending(args.out, table.raw.format)
    if args.share:
        check_extra(table, args.share)


def _estimator(args: argparse.Namespace) -> SubSVMs:
    return SubSVMs(
        n_svms=args.n_svms,
        sample_size=args.sample_size,
        C=args.C,
        gamma=args.gamma,
        loss=args.loss,
        random_state=int_seed(args.seed, "correct"),
    )


def _signs(labels: NDArray[Any], minority: Any) -> NDArray[np.int64]:
    return np.where(labels == minority, 1, -1)


def _add_simulation(
    args: argparse.Namespace,
    table: Table,
    X: Any,
    values: dict[str, Any],
    text: list[str],
    console: Console,
) -> None:
    from marginlab.commands.check import simulate

    y = _signs(table.labels, minority_label(table.labels))
    values["simulation"], words = simulate(X, y, args, _estimator(args), console)
    text += ["", words]


def _add_test(
    args: argparse.Namespace,
    table: Table,
    classes: NDArray[Any],
    X: Any,
    scaler: Any,
    values: dict[str, Any],
    text: list[str],
    console: Console,
) -> None:
    from marginlab.commands.check import on_trusted_labels

    trusted = load_second(args.test, args, table, classes)
    minority = minority_label(table.labels)
    with console.busy("fitting and testing four classifiers"):
        values["check"], words = on_trusted_labels(
            X,
            _signs(table.labels, minority),
            scaler.apply(trusted.X),
            _signs(trusted.labels, minority),
            args,
            _estimator(args),
            console,
        )
    text += ["", words]


def _add_correction(
    args: argparse.Namespace,
    table: Table,
    classes: NDArray[Any],
    X: Any,
    values: dict[str, Any],
    text: list[str],
    console: Console,
) -> None:
    start = time.perf_counter()
    with console.busy(f"training {args.n_svms} SVMs and counting votes on {X.shape[0]} rows"):
        model = _estimator(args).fit(X, table.labels)
    seconds = time.perf_counter() - start
    corrected, votes = np.asarray(model.labels_corrected_), np.asarray(model.votes_)
    rows = _vote_table(table.labels, corrected, votes, classes)
    changed = int(rows["changed"].sum())
    values |= {
        "classes": classes,
        "subset_size": subset_size(args.sample_size, X.shape[0]),
        "n_svms": args.n_svms,
        "seconds": seconds,
        "changed": changed,
        "counts": _counts(table.labels, corrected, classes),
        "certainty": _bands(rows),
        "look_at": _look_at(rows, args.show).to_dict("records"),
    }
    text += ["", *_correction_text(values, rows, args)]
    if changed > _MANY * len(rows):
        console.note(
            f"{changed} of {len(rows)} labels would change: either the labels are very noisy or "
            f"the features do not tell the classes apart; find out by --simulate or --test"
        )
    _write(args, table, rows, text)
    if not args.test:
        text += [
            "",
            wrap(
                "Whether this helps cannot be told from these labels alone: --test FILE compares "
                "on labels you trust, --simulate on noise added on purpose."
            ),
        ]


def _vote_table(
    labels: NDArray[Any], corrected: NDArray[Any], votes: NDArray[np.float64], classes: Any
) -> pd.DataFrame:
    second = corrected == classes[1]
    return pd.DataFrame(
        {
            "row": np.arange(1, len(labels) + 1),
            "label": labels,
            "corrected": corrected,
            "share": np.where(second, votes, 1.0 - votes),
            "changed": labels != corrected,
        }
    )


def _counts(labels: NDArray[Any], corrected: NDArray[Any], classes: Any) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "as given": int((labels == label).sum()),
            "corrected": int((corrected == label).sum()),
            "changed": int(((labels == label) & (corrected != label)).sum()),
        }
        for label in classes.tolist()
    ]


def _bands(rows: pd.DataFrame) -> list[dict[str, Any]]:
    found = []
    upper = np.inf
    for lower, name in _BANDS:
        inside = rows[(rows["share"] >= lower) & (rows["share"] < upper)]
        found.append(
            {"share of votes": name, "rows": len(inside), "changed": int(inside["changed"].sum())}
        )
        upper = lower
    return found


def _look_at(rows: pd.DataFrame, count: int) -> pd.DataFrame:
    changed = rows[rows["changed"]].sort_values(["share", "row"], ascending=[False, True])
    return changed.head(count).drop(columns="changed")


def _correction_text(
    values: dict[str, Any], rows: pd.DataFrame, args: argparse.Namespace
) -> list[str]:
    lines = [
        f"{values['changed']} of {len(rows)} labels changed by {args.n_svms} SVMs on "
        f"{values['subset_size']} rows each ({values['seconds']:.1f} s):",
        _dicts_text(values["counts"]),
        "",
        "How sure (share of the SVMs behind the label that was chosen):",
        _dicts_text(values["certainty"]),
    ]
    if values["look_at"]:
        lines += [
            "",
            "Look at these first (changed, by the most votes; rows count from 1):",
            _dicts_text(values["look_at"]),
        ]
    return lines


def _dicts_text(items: list[dict[str, Any]]) -> str:
    return rows_text(list(items[0]), [list(item.values()) for item in items])


def _write(args: argparse.Namespace, table: Table, rows: pd.DataFrame, text: list[str]) -> None:
    if args.votes:
        write_csv(rows, args.votes)
        text += ["", f"votes written to {args.votes}"]
    if args.out:
        extra = (args.share, rows["share"].to_numpy()) if args.share else None
        replace_labels(table, rows["corrected"].to_numpy(), args.out, extra=extra)
        if args.out != "-":
            text += ["", f"corrected data written to {args.out}"]
