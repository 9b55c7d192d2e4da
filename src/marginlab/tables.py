"""One table, four files: CSV to compute with, Markdown, LaTeX and HTML to read."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from marginlab.files import write_csv, write_text

__all__ = ["write_table"]

_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}

#: Texts longer than these (in characters) wrap, and get room for whole sentences.
_WRAPS, _LONG = 20, 48

_STYLE = """
body{font:14px/1.45 system-ui,sans-serif;color:#111;background:#fff;margin:1.2em}
table{border-collapse:collapse;margin:.6em 0}
caption{caption-side:top;text-align:left;font-weight:600;padding-bottom:.4em;max-width:70em}
th,td{padding:.2em .6em;border-bottom:1px solid #ccc;text-align:right;white-space:nowrap}
td{vertical-align:top}
th{border-bottom:2px solid #111;background:#fff;position:sticky;top:0;white-space:normal;
vertical-align:bottom}
td.text,th.text{text-align:left}
td.wraps{white-space:normal;min-width:8em;max-width:44em}
td.long{font-size:13px;min-width:10em;overflow-wrap:anywhere}
p.note{max-width:70em;color:#333}
"""


def write_table(
    frame: pd.DataFrame,
    stem: str | Path,
    caption: str,
    notes: str = "",
    float_format: str = "%.3f",
    bold: pd.DataFrame | None = None,
    formats: Mapping[str, str] | None = None,
) -> None:
    """Write a frame as CSV, Markdown, LaTeX (booktabs) and HTML.

    Parameters
    ----------
    frame : DataFrame
        One row a table row, its columns in reading order; the index is not written.
    stem : str or Path
        Path without ending; ``.csv``, ``.md``, ``.tex`` and ``.html`` are added.
    caption : str
        One sentence that says what the table shows.
    notes : str
        Text under the table: how to read it, what is missing and why.
    float_format : str
        Format of numbers in the three readable files; the CSV keeps ten digits.
    bold : DataFrame of bool, optional
        Cells to set in bold, of the frame's shape.
    formats : mapping, optional
        Other formats for single columns.
    """
    stem = Path(stem)
    write_csv(frame, _named(stem, ".csv"))
    cells = _cells(frame, float_format, dict(formats or {}))
    marks = np.zeros(frame.shape, dtype=bool) if bold is None else bold.to_numpy(dtype=bool)
    columns = [str(name) for name in frame.columns]
    numeric = [_is_numeric(frame[name]) for name in frame.columns]
    write_text(_named(stem, ".md"), _markdown(columns, cells, marks, numeric, caption, notes))
    write_text(_named(stem, ".tex"), _latex(columns, cells, marks, numeric, caption, notes))
    write_text(_named(stem, ".html"), _html(columns, cells, marks, numeric, caption, notes))


def _named(stem: Path, suffix: str) -> Path:
    return stem.with_name(stem.name + suffix)


def _is_numeric(column: pd.Series) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column)) and not bool(
        pd.api.types.is_bool_dtype(column)
    )


def _cells(frame: pd.DataFrame, default: str, formats: dict[str, str]) -> list[list[str]]:
    columns = [
        [_text(value, formats.get(str(name), default)) for value in frame[name]]
        for name in frame.columns
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def _text(value: object, float_format: str) -> str:
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return "inf" if math.isinf(value) else float_format % value
    return str(value)


def _markdown(
    columns: list[str],
    cells: list[list[str]],
    bold: np.ndarray,
    numeric: list[bool],
    caption: str,
    notes: str,
) -> str:
    def clean(text: str) -> str:
        return text.replace("|", "\\|").replace("\n", " ")

    rule = ["---:" if number else ":---" for number in numeric]
    lines = [f"**{clean(caption)}**", "", _md_row(map(clean, columns)), _md_row(rule)]
    for i, row in enumerate(cells):
        marked = [f"**{clean(c)}**" if bold[i, j] else clean(c) for j, c in enumerate(row)]
        lines.append(_md_row(marked))
    if notes:
        lines += ["", notes]
    return "\n".join(lines) + "\n"


def _md_row(cells: object) -> str:
    return "| " + " | ".join(cells) + " |"  # type: ignore[arg-type]


def _latex(
    columns: list[str],
    cells: list[list[str]],
    bold: np.ndarray,
    numeric: list[bool],
    caption: str,
    notes: str,
) -> str:
    body = []
    for i, row in enumerate(cells):
        marked = [rf"\textbf{{{_tex(c)}}}" if bold[i, j] else _tex(c) for j, c in enumerate(row)]
        body.append(" & ".join(marked) + r" \\")
    lines = [
        r"\begin{table}[htbp]",
        r"\centering\footnotesize",
        rf"\caption{{{_tex(caption)}}}",
        rf"\begin{{tabular}}{{{''.join('r' if number else 'l' for number in numeric)}}}",
        r"\toprule",
        " & ".join(map(_tex, columns)) + r" \\",
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        *([rf"\par\smallskip {_tex(notes)}"] if notes else []),
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _tex(text: str) -> str:
    return "".join(_TEX.get(char, char) for char in text)


def _kind(number: bool, longest: int) -> str:
    """Attribute of a column's cells in HTML: numbers, short texts, or texts of several lines."""
    if number:
        return ""
    names = ["text", *["wraps"] * (longest > _WRAPS), *["long"] * (longest > _LONG)]
    return f' class="{" ".join(names)}"'


def _html(
    columns: list[str],
    cells: list[list[str]],
    bold: np.ndarray,
    numeric: list[bool],
    caption: str,
    notes: str,
) -> str:
    longest = [max((len(row[j]) for row in cells), default=0) for j in range(len(columns))]
    kinds = [_kind(number, size) for number, size in zip(numeric, longest, strict=True)]
    head = "".join(
        f"<th{kind}>{html.escape(name)}</th>" for name, kind in zip(columns, kinds, strict=True)
    )
    rows = []
    for i, row in enumerate(cells):
        inner = [
            f"<b>{html.escape(c)}</b>" if bold[i, j] else html.escape(c) for j, c in enumerate(row)
        ]
        rows.append("".join(f"<td{kind}>{c}</td>" for c, kind in zip(inner, kinds, strict=True)))
    note = f'<p class="note">{html.escape(notes)}</p>' if notes else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{html.escape(caption)}</title><style>{_STYLE}</style></head><body>"
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>"
        + "".join(f"<tr>{row}</tr>\n" for row in rows)
        + f"</tbody></table>{note}</body></html>\n"
    )
