"""``marginlab predict``: labels of new rows by a saved model."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from marginlab.commands.console import Console, rows_text
from marginlab.commands.loading import check_outputs, note_index
from marginlab.errors import UserError
from marginlab.files import named_errors, write_csv
from marginlab.modelfile import SavedModel, load_model
from marginlab.tabular import Table, read_table
from marginlab.tabular.labels import like_classes

__all__ = ["run"]

_SHOWN = 10


def run(args: argparse.Namespace) -> int:
    """Run the command; see ``marginlab predict --help``."""
    if args.out == "-" and args.json:
        raise UserError("--out - and --json both write to standard output; choose one")
    check_outputs((args.file, args.model), {"--out": args.out}, stdout="--out")
    console = Console(args, data_to_stdout=args.out == "-")
    model = load_model(args.model)
    table = read_table(
        args.file,
        label=args.label,
        layout=model.layout,
        origin="the file that the model was trained on",
        need_labels=False,
        format=args.format,
        header=False if args.no_header else None,
    )
    note_index(table, console)
    rows = _predictions(model, table, args.probabilities)
    values: dict[str, Any] = {
        "file": table.source,
        "rows": len(rows),
        "model": model.kind,
        "counts": {str(label): int((rows["prediction"] == label).sum()) for label in model.classes},
    }
    wrong = _wrong(model, table, rows)
    if wrong is not None:
        values["error"] = wrong
    elif foreign := _foreign(model, table):
        console.note(foreign)
    if args.out == "-":
        with named_errors("standard output"):
            rows.to_csv(sys.stdout, index=False, float_format="%.10g", lineterminator="\n")
            sys.stdout.flush()
    elif args.out:
        write_csv(rows, args.out)
    else:
        values["predictions"] = rows["prediction"].tolist()
        if args.probabilities:
            values["probabilities"] = rows.iloc[:, -len(model.classes) :].to_numpy()
    console.result(values, _text(values, rows, args))
    return 0


def _predictions(model: SavedModel, table: Table, probabilities: bool) -> pd.DataFrame:
    scores = model.decision_function(table.X)
    found = {"row": np.arange(1, len(scores) + 1), "prediction": model.predict(table.X)}
    if scores.ndim == 1:
        found["score"] = scores
    else:
        found |= _by_label("score", model, scores)
    if probabilities:
        found |= _by_label("probability", model, model.predict_proba(table.X))
    return pd.DataFrame(found)


def _by_label(
    name: str, model: SavedModel, columns: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    return {f"{name} {label}": columns[:, i] for i, label in enumerate(model.classes.tolist())}


def _wrong(model: SavedModel, table: Table, rows: pd.DataFrame) -> float | None:
    # A LIBSVM file always has a first entry; of new rows it is often a mere 0.
    if table.y is None:
        return None
    y = like_classes(table.y, model.classes).astype(str)
    if not np.isin(y, model.classes.astype(str)).all():
        return None
    return float(np.mean(rows["prediction"].to_numpy().astype(str) != y))


def _foreign(model: SavedModel, table: Table) -> str | None:
    """A remark on labels that the model does not know; None if there are none."""
    if table.y is None:
        return None
    labels = np.unique(like_classes(table.y, model.classes).astype(str))
    known = model.classes.astype(str)
    foreign = labels[~np.isin(labels, known)].tolist()
    if not foreign or (table.layout.kind == "libsvm" and len(labels) == 1):
        return None
    return (
        f"no error is reported: the file has the label{'s' if len(foreign) > 1 else ''} "
        f"{_some(foreign)}, the model knows {_some(known.tolist())}"
    )


def _some(labels: list[str]) -> str:
    return ", ".join(map(repr, labels[:5])) + (", ..." if len(labels) > 5 else "")


def _text(values: dict[str, Any], rows: pd.DataFrame, args: argparse.Namespace) -> str:
    shares = ", ".join(f"{label}: {count}" for label, count in values["counts"].items())
    lines = [f"{values['file']}: {values['rows']} rows; predicted {shares}"]
    if "error" in values:
        lines.append(f"share that differs from the file's labels: {values['error']:.4f}")
    if args.out and args.out != "-":
        lines.append(f"predictions written to {args.out}")
    elif not args.out:
        lines.append(rows_text(list(rows.columns), list(rows.head(_SHOWN).itertuples(index=False))))
        if len(rows) > _SHOWN:
            lines.append(f"  ... and {len(rows) - _SHOWN} more; --out FILE writes all")
    return "\n".join(lines)
