"""How every figure looks, and how it is saved: the same bytes for the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from marginlab.files import atomic_path

__all__ = ["COLORS", "LINES", "MARKERS", "label_panels", "new_figure", "save_figure", "style_of"]

#: Okabe and Ito's palette, ordered so that neighbours also differ in lightness:
#: the curves stay apart for colour-blind readers and in grey print.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#56B4E9", "#E69F00", "#7F7F7F")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), "-")

_RC: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.5,
    "lines.markersize": 4,
    "legend.frameon": False,
    "figure.dpi": 100,
    "savefig.dpi": 200,
    "svg.hashsalt": "marginlab",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
}

# One method keeps one look through all figures; others take the next free one.
_ORDER = (
    "SubSVMs",
    "Oracle-SVM",
    "Blind-SVM",
    "Bag-SVM",
    "CV-SVM",
    "span-rule",
    "5-fold CV",
    "span bound",
    "xi-alpha",
    "test error",
    "MRC-CCG",
    "MRC-LP",
    "MRC-SUB",
    "SVM-CCG",
    "SVM-LP",
    "SVM-MULTI",
)
_FAMILIES = (_ORDER[:5], _ORDER[5:10], _ORDER[10:])


def style_of(method: str, index: int = 0) -> dict[str, Any]:
    """Colour, marker and line of a method, the same in every figure.

    Parameters
    ----------
    method : str
        A method's name; an unknown one takes the look at ``index``.
    index : int
    """
    for family in _FAMILIES:
        if method in family:
            index = family.index(method)
    slot = index % len(COLORS)
    return {"color": COLORS[slot], "marker": MARKERS[slot], "linestyle": LINES[slot]}


def new_figure(
    nrows: int = 1, ncols: int = 1, size: tuple[float, float] | None = None, **kwargs: Any
) -> tuple[Figure, np.ndarray]:
    """A figure with the project's look.

    Parameters
    ----------
    nrows, ncols : int
        Panels.
    size : (float, float), optional
        Inches; 3.2 x 2.6 a panel by default.
    **kwargs
        Passed on to `matplotlib.pyplot.subplots`.

    Returns
    -------
    (Figure, ndarray of Axes)
        The axes as an array of shape (nrows, ncols), whatever their number.
    """
    plt.rcParams.update(cast(Any, _RC))
    size = size or (3.4 * ncols, 2.8 * nrows)
    fig, axes = plt.subplots(
        nrows, ncols, figsize=size, squeeze=False, layout="constrained", **kwargs
    )
    return fig, axes


def label_panels(axes: Sequence[Axes] | np.ndarray) -> None:
    """Put (a), (b), ... before the titles of panels, in reading order."""
    for letter, axis in zip("abcdefghijklmnopqrstuvwxyz", np.ravel(np.asarray(axes)), strict=False):
        title = axis.get_title()
        axis.set_title("")  # a centred title would stay under the one on the left
        axis.set_title(f"({letter}) {title}", loc="left")


def _label_short_log_axes(fig: Figure) -> None:
    """Give log axes of less than two decades labels between the powers of ten.

    Matplotlib labels the powers only: an axis from 0.02 to 0.09 would have no number at all.
    """
    for axes in fig.axes:
        for axis in (axes.xaxis, axes.yaxis):
            # a linear axis has another locator, one with ticks of its own a fixed one
            if not isinstance(axis.get_major_locator(), LogLocator):
                continue
            for locator in (None, LogLocator(subs=(1, 2, 5)), MaxNLocator(4)):
                if locator is not None:
                    axis.set_major_locator(locator)
                    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
                    axis.set_minor_locator(NullLocator())
                low, high = sorted(axis.get_view_interval())
                if sum(low <= tick <= high for tick in axis.get_majorticklocs()) >= 2:
                    break


def save_figure(fig: Figure, stem: str | Path) -> None:
    """Save as .pdf, .png and .svg without dates, whole or not at all, and close it.

    Parameters
    ----------
    fig : Figure
    stem : str or Path
        Path without ending.
    """
    stem = Path(stem)
    _label_short_log_axes(fig)
    undated: dict[str, dict[str, Any]] = {
        ".pdf": {"CreationDate": None, "ModDate": None, "Producer": None},
        ".png": {"Software": None},
        ".svg": {"Date": None},
    }
    for suffix, facts in undated.items():
        with atomic_path(stem.with_name(stem.name + suffix)) as temporary:
            fig.savefig(temporary, metadata=facts)
    plt.close(fig)
