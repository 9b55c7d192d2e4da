"""Reads a command's files and says what was read."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginlab.commands.console import Console
from marginlab.errors import DataError, UserError
from marginlab.files import check_target
from marginlab.tabular import Layout, Scaler, Table, read_table
from marginlab.tabular.labels import like_classes
from marginlab.tabular.writing import check_ending

__all__ = [
    "check_classes",
    "check_inputs",
    "check_outputs",
    "load",
    "load_second",
    "note_index",
    "row_counts",
    "scale_features",
]

# Fewer rows are in order by chance, or are a test.
_FEW = 20


def check_inputs(*paths: str | None) -> None:
    """Standard input can be read once only."""
    if sum(path == "-" for path in paths) > 1:
        raise UserError("standard input can be read once; give one of the files by its path")


def check_outputs(
    inputs: Sequence[str | None],
    outputs: dict[str, str | None],
    stdout: str = "",
    endings: Mapping[str, str] | None = None,
) -> None:
    """Every output can be written, and none takes the place of another file.

    Parameters
    ----------
    inputs : sequence of str or None
    outputs : dict
        Option to path.
    stdout : str
        The option that may be ``-``, standard output.
    endings : mapping, optional
        Option to what it writes: "model", or "any" if that is told by the input's
        format; CSV by default.
    """
    taken = {Path(path).resolve() for path in inputs if path and path != "-"}
    for option, path in outputs.items():
        if path == "-" and option != stdout:
            raise UserError(f"{option} cannot be standard output; name a file")
        if not path or path == "-":
            continue
        where = Path(path).resolve()
        if where in taken:
            raise UserError(f"{option} {path} would replace another file of this command; rename")
        taken.add(where)
        try:
            _check_output(path, (endings or {}).get(option, "csv"))
        except UserError as error:
            raise UserError(f"{option} {error}") from None


def _check_output(path: str, kind: str) -> None:
    check_target(path)
    if kind == "csv":
        check_ending(path, kind)
    if kind == "model" and Path(path).suffix != ".npz":
        raise UserError(f"{path}: name the model file with the ending .npz")


def load(args: argparse.Namespace, weight: str | None = None) -> Table:
    """The command's main file, with the options of its command line."""
    return read_table(
        args.file,
        label=args.label,
        weight=weight,
        drop=args.drop,
        categorical=args.categorical,
        n_features=args.n_features,
        format=args.format,
        header=False if args.no_header else None,
    )


def load_second(path: str, args: argparse.Namespace, first: Table, classes: Any) -> Table:
    """A second file with the columns of the first and no labels that the first lacks."""
    table = read_table(
        path,
        label=args.label,
        layout=first.layout,
        header=False if args.no_header else None,
    )
    table = replace(table, y=like_classes(table.labels, np.asarray(classes)))
    unknown = sorted(set(table.labels.tolist()) - set(np.asarray(classes).tolist()), key=str)
    if unknown:
        raise DataError(
            f"{table.source} has the label {unknown[0]!r}, which {first.source} does not have; "
            f"drop those rows or mend the spelling"
        )
    return table


def check_classes(table: Table, most: int | None) -> NDArray[Any]:
    """The distinct labels, at least two and at most ``most``, each with two rows or more."""
    classes, counts = np.unique(table.labels, return_counts=True)
    if len(classes) < 2:
        raise DataError(
            f"{table.source}: every row has the label {classes.tolist()[0]!r}; rows of two "
            f"classes are needed"
        )
    if most and len(classes) > most:
        shown = ", ".join(map(str, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        raise DataError(
            f"{table.source} has {len(classes)} different labels ({shown}), but this command "
            f"takes exactly {most}; keep the rows of two classes, or name another --label"
        )
    if counts.min() < 2:
        rare = classes[int(counts.argmin())]
        raise DataError(
            f"{table.source}: only one row has the label {rare.item()!r}; each class needs two"
        )
    if len(classes) > max(20, len(table.labels) // 2):
        raise DataError(
            f"{table.source} has {len(classes)} different labels in {len(table.labels)} rows; "
            f"that is a quantity and no class: name another --label"
        )
    return classes


def scale_features(table: Table, kind: str, console: Console) -> tuple[Any, Scaler]:
    """Scaled features of the main file; constant features are remarked on."""
    for name in _id_columns(table):
        console.note(f"{name!r} has a different value in every row; --drop it if it is an ID")
    note_index(table, console)
    if "" in table.raw.frame.columns and table.layout.label:
        console.note("the column without a name is left out as an index; name it to use it")
    scaler = Scaler.fit(table.X, kind)
    names = _names(table.layout, np.flatnonzero(scaler.constant))
    if len(names) == len(scaler.constant):
        raise DataError(f"{table.source}: every feature is constant; there is nothing to learn")
    if names and table.layout.kind == "columns":
        shown = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
        words = "constant feature carries" if len(names) == 1 else "constant features carry"
        console.note(f"{len(names)} {words} nothing ({shown})")
    return scaler.apply(table.X), scaler


def note_index(table: Table, console: Console) -> None:
    """Remark on an index of a Parquet file that may carry meaning."""
    if words := table.raw.index_words:
        console.note(
            f"{words} of {table.source} is not used; write the file after reset_index() to make "
            f"it a column"
        )


def _id_columns(table: Table) -> list[str]:
    """Features that look like names of rows: whole numbers in order, or text, all distinct."""
    n = table.X.shape[0]
    if n < _FEW or not isinstance(table.X, np.ndarray):
        return []
    found, start = [], 0
    for column in table.layout.columns:
        values = table.X[:, start]
        steps = np.diff(values)
        ordered = bool((steps > 0).all() or (steps < 0).all())
        counts_up = not column.categories and ordered and bool((values == np.rint(values)).all())
        if counts_up or len(column.categories) == n:
            found.append(column.name)
        start += column.width
    return found


def _names(layout: Layout, positions: NDArray[np.intp]) -> list[str]:
    names = layout.feature_names()
    return [names[i] for i in positions.tolist()]


def row_counts(y: NDArray[Any], classes: Sequence[Any]) -> str:
    """How many rows each label has, in words."""
    counts = [int((y == label).sum()) for label in classes]
    parts = [f"{label} ({count} rows)" for label, count in zip(classes, counts, strict=True)]
    return " and ".join(parts) if len(parts) == 2 else ", ".join(parts)
