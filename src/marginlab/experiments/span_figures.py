"""Figures of the span paper: prediction curves, growth, leave-one-out, time against size."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from marginlab.experiments.span_settings import parse_setting
from marginlab.experiments.span_tables import cv_name, error_grid
from marginlab.experiments.span_time import TIMES
from marginlab.experiments.span_time_tables import growth_frame, times_by_model
from marginlab.figures import label_panels, new_figure, save_figure, style_of

__all__ = [
    "draw_counts",
    "draw_curves",
    "draw_growth",
    "draw_leave_one_out",
    "draw_span_figures",
    "draw_time_by_size",
]

_AXIS = {
    "log2C+": "$\\log_2 C^+$",
    "log2C-": "$\\log_2 C^-$",
    "log2C": "$\\log_2 C$",
    "A": "$A$",
    "B": "$B$",
}


def draw_curves(tidy: pd.DataFrame, dataset: str, stem: str | Path) -> None:
    """Figs. 2 to 4: estimates and test error along each parameter.

    The other parameters stay at the model of the smallest test error.

    Parameters
    ----------
    tidy : DataFrame
        Tidy rows of the data set's grid.
    dataset : str
    stem : str or Path
        Path of the figure without ending.
    """
    grid = error_grid(tidy, dataset)
    points = pd.DataFrame([parse_setting(str(s)) for s in grid.index], index=grid.index)
    best = points.loc[grid["test error"].idxmin()]
    fig, axes = new_figure(1, len(points.columns), size=(3.2 * len(points.columns), 3.0))
    for axis, name in zip(axes[0], points.columns, strict=True):
        others = [column for column in points.columns if column != name]
        line = points.index[(points[others] == best[others]).all(axis=1)]
        _draw_slice(axis, points.loc[line, name], grid.loc[line], cv_name(tidy))
        fixed = ", ".join(f"{_AXIS[other]} = {best[other]:g}" for other in others)
        axis.set_xlabel(_AXIS[name])
        axis.set_title(fixed)
    axes[0][0].set_ylabel("error rate")
    for axis in axes[0]:
        axis.set_ylim(bottom=0)
    label_panels(axes)
    handles, labels = axes[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=4)
    save_figure(fig, stem)


def _draw_slice(axis: Axes, x: pd.Series, grid: pd.DataFrame, cv: str) -> None:
    order = np.argsort(x.to_numpy())
    for i, method in enumerate(("span-rule", cv, "xi-alpha", "test error")):
        style = style_of(method, i) | {"markersize": 3}
        axis.plot(x.to_numpy()[order], grid[method].to_numpy()[order], label=method, **style)


def draw_growth(tidy: pd.DataFrame, stem: str | Path) -> None:
    """Fig. 5: seconds a model against the number of training rows, one panel a dimension."""
    table = growth_frame(tidy)
    dims = sorted(table["d"].unique())
    fig, axes = new_figure(1, len(dims), size=(3.1 * len(dims), 3.3), sharey=True)
    for axis, d in zip(axes[0], dims, strict=True):
        rows = table[table["d"] == d]
        for i, way in enumerate(TIMES.values()):
            axis.plot(rows["l"], rows[way], label=way, **style_of(way, i))
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xlabel("training rows $l$")
        axis.set_title(f"$d$ = {d}")
    axes[0][0].set_ylabel("seconds a model")
    label_panels(axes)
    handles, labels = axes[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=3)
    save_figure(fig, stem)


def draw_counts(tidy: pd.DataFrame, stem: str | Path) -> None:
    """Fig. 6: in-bound and all support vectors against the number of training rows."""
    table = growth_frame(tidy)
    dims = sorted(table["d"].unique())
    fig, axes = new_figure(1, len(dims), size=(3.1 * len(dims), 2.9), sharey=True)
    for axis, d in zip(axes[0], dims, strict=True):
        rows = table[table["d"] == d]
        for i, (column, label) in enumerate(
            (("n_in_bound", "in-bound SVs"), ("n_support", "all SVs"))
        ):
            axis.plot(rows["l"], rows[column], label=label, **style_of(label, i))
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
        axis.set_xlabel("training rows $l$")
        axis.set_title(f"$d$ = {d}")
    axes[0][0].set_ylabel("support vectors a model")
    axes[0][0].legend()
    label_panels(axes)
    save_figure(fig, stem)


def draw_leave_one_out(tidy: pd.DataFrame, stem: str | Path) -> None:
    """Span-rule against the true leave-one-out error, one point a model."""
    rows = tidy[tidy["measure"].isin(["leave_one_out", "span_rule"])]
    points = rows.pivot(index=["dataset", "setting"], columns="measure", values="value")
    points = points.reindex(columns=["leave_one_out", "span_rule"]).dropna()
    fig, axes = new_figure(1, 1, size=(4.0, 3.6))
    axis = axes[0][0]
    for i, (name, group) in enumerate(points.groupby(level="dataset")):
        style = style_of(str(name), i) | {"linestyle": "none", "alpha": 0.7}
        axis.plot(group["leave_one_out"], group["span_rule"], label=str(name), **style)
    top = float(points.to_numpy().max()) * 1.05 if len(points) else 1.0
    axis.plot([0, top], [0, top], color="0.6", linewidth=0.8, zorder=0)
    axis.set_xlabel("true leave-one-out error")
    axis.set_ylabel("span-rule")
    if len(points):
        axis.legend()
    save_figure(fig, stem)


def draw_time_by_size(tidy: pd.DataFrame, stem: str | Path) -> None:
    """Seconds of all spans in closed form against n* and against n, one point a timed model."""
    models = times_by_model(tidy)
    fig, axes = new_figure(1, 2, size=(6.8, 3.0), sharey=True)
    pairs = (("n_in_bound", "in-bound SVs $n^*$"), ("n_support", "all SVs $n$"))
    for axis, (column, label) in zip(axes[0], pairs, strict=True):
        for i, key in enumerate(("closed", "boxed_qp")):
            style = style_of(TIMES[key], 2 * i) | {"linestyle": "none", "markersize": 3}
            axis.plot(models[column], models[TIMES[key]], label=TIMES[key], alpha=0.6, **style)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel(label)
    axes[0][0].set_ylabel("seconds a model")
    label_panels(axes)
    handles, labels = axes[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=2)
    save_figure(fig, stem)


def draw_span_figures(tidy: pd.DataFrame, curves: Mapping[str, str], folder: str | Path) -> None:
    """Draw every figure that the tidy rows have data for.

    Parameters
    ----------
    tidy : DataFrame
        Rows of the jobs behind the figures: grids and leave-one-out, or times and growth.
    curves : mapping
        Name of a figure of prediction curves to its data set; {} with times and growth.
    folder : str or Path
    """
    folder = Path(folder)
    for name, dataset in curves.items():
        draw_curves(tidy, dataset, folder / name)
    if curves:
        draw_leave_one_out(tidy, folder / "leave_one_out")
        return
    grown = tidy[tidy["dataset"].str.contains("d=")]
    draw_growth(grown, folder / "time_fig5")
    draw_counts(grown, folder / "fig6")
    draw_time_by_size(tidy, folder / "time_by_size")
