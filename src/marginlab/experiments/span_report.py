"""Which tables the span paper has, and how each is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from marginlab.experiments.span_tables import (
    count_table,
    data_table,
    leave_one_out_table,
    premise_table,
    rmse_table,
    selection_table,
)
from marginlab.experiments.span_time_tables import growth_frame, speed_table, time_table
from marginlab.tables import write_table

__all__ = ["TABLES_OF", "write_span_tables"]

_SCALED = (
    "CPU seconds for one model, averaged over a seeded sample of the grid, all ways interleaved "
    "in one thread. The programmes of a sample of the support vectors are solved and the time "
    "scaled by their number. LIBSVM's cross-validation runs at its own tolerance (1e-3)."
)
_SELECTED = (
    "Ties of a rule: the worst test error among the tied models. Models without an in-bound "
    "support vector are left out. Bold: the smallest error of the rules."
)


@dataclass(frozen=True)
class _Table:
    make: Callable[[pd.DataFrame], pd.DataFrame]
    caption: str
    notes: str = ""
    best: tuple[str, ...] = ()
    float_format: str = "%.4f"
    formats: Mapping[str, str] = field(default_factory=dict)


_RULES = ("span-rule", "span bound", "xi-alpha")
_SHARES = {"share of +1": "%.3f"}
_KINDS = {"table2": "class", "table3": "score"}

_TABLES = {
    "table1": _Table(data_table, "Data sets of the weighted SVM experiments.", formats=_SHARES),
    "table2": _Table(
        selection_table,
        "Test error of the model each rule selects: class weights.",
        _SELECTED,
        _RULES,
    ),
    "table3": _Table(
        selection_table,
        "Test error of the model each rule selects: instance weights from importance scores.",
        _SELECTED,
        _RULES,
    ),
    "table4": _Table(
        rmse_table,
        "Root mean square error of the predicted against the actual test error.",
        "Over all models with an in-bound support vector. The span bound can exceed 1 and is left "
        "out, as in the paper. Bold: the smallest.",
        _RULES,
    ),
    "table5": _Table(
        count_table,
        "Empty sets Lambda_p and support vectors, averaged over all models of a data set.",
        "A model without in-bound support vector has no unique intercept; it counts here and "
        "is left out elsewhere.",
        float_format="%.3f",
    ),
    "time_table6": _Table(time_table, "Time of an error estimate, in seconds.", _SCALED),
    "time_speed": _Table(
        speed_table,
        "How many times faster the closed form is than the other ways: median over the models.",
        _SCALED,
        float_format="%.1f",
    ),
    "time_growth": _Table(
        growth_frame,
        "Time and support vectors as the training set grows (ringnorm variant).",
        "Averages over a thinned grid of class weights (the number of models is given); speedups "
        "of the closed form are medians over it. " + _SCALED,
        float_format="%.4g",
    ),
    "leave_one_out": _Table(
        leave_one_out_table,
        "The span-rule beside the true leave-one-out error of the same models.",
        "Averages over seeded models of the grid. Misses: errors that the span-rule does not see; "
        "false alarms: the reverse; both by training row. The last columns give the share of "
        "support vectors judged alike.",
    ),
    "premise": _Table(
        premise_table,
        "Share of support vectors for which Theorem 2's premise holds, and where the box binds.",
        "Premise: without the support vector, the others keep their roles. The paper takes it as "
        "true for most support vectors.",
        float_format="%.3f",
    ),
}


#: Tables by the rule that writes them.
TABLES_OF = {
    "grid": ("table1", "table2", "table3", "table4", "table5"),
    "loo": ("leave_one_out", "premise"),
    "times": ("time_table6", "time_speed"),
    "growth": ("time_growth",),
}


def write_span_tables(
    job: str, tidy: pd.DataFrame, folder: str | Path, missing: Mapping[str, str]
) -> None:
    """Write all tables that come from one kind of job.

    Parameters
    ----------
    job : {"grid", "loo", "times", "growth"}
    tidy : DataFrame
        Tidy rows of these jobs.
    folder : str or Path
    missing : mapping
        Data sets of the run that could not be had, with the reason.
    """
    for name in TABLES_OF[job]:
        rows = tidy
        if name in _KINDS and not tidy.empty:
            kinds = tidy[tidy["method"] == "data"]
            rows = tidy[tidy["dataset"].isin(kinds["dataset"][kinds["setting"] == _KINDS[name]])]
        _write(_TABLES[name], rows, Path(folder) / name, missing)


def _write(table: _Table, tidy: pd.DataFrame, stem: Path, missing: Mapping[str, str]) -> None:
    notes = table.notes
    if missing:
        notes += " No data: " + "; ".join(f"{k} ({why})" for k, why in missing.items()) + "."
    frame = pd.DataFrame() if tidy.empty else table.make(tidy)
    if frame.empty:
        frame = pd.DataFrame({"dataset": ["no data in this run"]})
    rivals = [name for name in frame if name in table.best or str(name).endswith("-fold CV")]
    bold = None
    if table.best and rivals:
        bold = pd.DataFrame(False, index=frame.index, columns=frame.columns)
        bold[rivals] = frame[rivals].le(frame[rivals].min(axis=1) + 1e-12, axis=0)
    write_table(frame, stem, table.caption, notes, table.float_format, bold, table.formats)
