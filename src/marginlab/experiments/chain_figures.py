"""Figures of the chain."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from marginlab.experiments.chain_data import CLEAN, LABELS, setting_name
from marginlab.experiments.chain_frames import (
    CHAIN,
    PLAIN,
    certificates,
    dataset_order,
    learner_methods,
    means,
    median_seconds,
    noise_settings,
    with_oracle,
)
from marginlab.figures import COLORS, LINES, MARKERS, label_panels, new_figure, save_figure

__all__ = ["draw_figures"]

#: Criteria and labels whose choices are compared, with their names in the legend.
_CHOICES = {
    ("given", "span"): "span-rule, labels as given",
    ("given", "checked"): "span-rule checked by votes, as given",
    ("given", "cv"): "5-fold CV, labels as given",
    ("corrected", "span"): "span-rule, corrected labels",
    ("corrected", "cv"): "5-fold CV, corrected labels",
}


def draw_figures(rows: pd.DataFrame, folder: str | Path, settings: Mapping[str, Any]) -> None:
    """Draw every figure of the chain.

    Parameters
    ----------
    rows : DataFrame
        Tidy rows of all three steps.
    folder : str or Path
    settings : mapping
        Section ``chain`` of the configuration.
    """
    out = Path(folder)
    _label_recovery(rows, settings, out)
    _bac_by_noise(rows, settings, out)
    _gain_by_dataset(rows, settings, out)
    _selection(rows, settings, out)
    _certificate(rows, settings, out)
    _time_steps(rows, settings, out)


def _alphas(settings: Mapping[str, Any]) -> list[float]:
    return list(dict.fromkeys(alpha for alpha, _, _ in noise_settings(settings)))


def _alpha_name(alpha: float) -> str:
    kinds = {1.0: " (into minority)", 0.0: " (out of minority)"}
    return f"alpha = {alpha:g}{kinds.get(alpha, '')}"


def _hardest(frame: pd.DataFrame, alpha: float, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Rows of one direction of attack at the largest share of errors, by data set."""
    name = setting_name(alpha, max(settings["rhos"]))
    kept = frame[frame.index.get_level_values("setting") == name]
    return kept.droplevel("setting").reindex(dataset_order(frame.reset_index(), settings))


def _rows_of_names(axis: Axes, names: list[str]) -> None:
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(axis="y", visible=False)
    for place in range(1, len(names), 2):
        axis.axhspan(place - 0.5, place + 0.5, color="#f2f2f2", zorder=0)


def _label_recovery(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    names, alphas = dataset_order(rows, settings), _alphas(settings)
    fig, axes = new_figure(1, 2, size=(7.2, 0.42 * len(names) + 1.5), sharey=True)
    for axis, (measure, title) in zip(
        axes[0], (("accuracy", "share of right labels"), ("bac", "BAC of the labels")), strict=True
    ):
        frame = means(rows[rows["method"].str.startswith("labels:")], measure)
        for k, alpha in enumerate(alphas):
            here = _hardest(frame, alpha, settings)
            place = np.arange(len(names)) + 0.25 * (k - (len(alphas) - 1) / 2)
            given, corrected = (here.get(f"labels:{kind}") for kind in LABELS)
            axis.hlines(place, given, corrected, color=COLORS[k], linewidth=1.2)
            axis.plot(given, place, "o", mfc="white", mec=COLORS[k], markersize=4.5)
            axis.plot(corrected, place, MARKERS[k], color=COLORS[k], markersize=5)
        axis.set_xlabel(title)
        _rows_of_names(axis, names)
    handles = [Line2D([], [], marker="o", mfc="white", mec="#333333", ls="", label="as given")]
    handles += [
        Line2D([], [], color=COLORS[k], marker=MARKERS[k], label=f"corrected, {_alpha_name(a)}")
        for k, a in enumerate(alphas)
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=2)
    save_figure(fig, out / "label_recovery")


def _bac_by_noise(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    alphas, methods = _alphas(settings), learner_methods(settings)
    frame = with_oracle(means(rows, "bac"))
    fig, axes = new_figure(1, len(alphas), size=(2.5 * len(alphas) + 0.4, 3.7), sharey=True)
    for axis, alpha in zip(axes[0], alphas, strict=True):
        shares = {0.0: CLEAN} | {r: n for a, r, n in noise_settings(settings) if a == alpha}
        for k, (label, method) in enumerate(methods.items()):
            values = [_mean_at(frame, name, method) for name in shares.values()]
            look = {"color": COLORS[k], "marker": MARKERS[k], "linestyle": LINES[k]}
            axis.plot(list(shares), values, label=label, **look)
        axis.set(xlabel="rho (0: clean labels)", title=_alpha_name(alpha), xticks=list(shares))
    axes[0, 0].set_ylabel("test BAC, mean over data sets")
    label_panels(axes)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    save_figure(fig, out / "bac_by_noise")


def _mean_at(frame: pd.DataFrame, setting: str, method: str) -> float:
    kept = frame[frame.index.get_level_values("setting") == setting]
    return float(kept[method].mean()) if method in kept and len(kept) else float("nan")


def _gain_by_dataset(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    names, alphas = dataset_order(rows, settings), _alphas(settings)
    fig, axes = new_figure(1, 2, size=(7.2, 0.38 * len(names) + 1.5), sharey=True)
    titles = (("bac", 1, "gain in test BAC"), ("error", -1, "fall of the test error"))
    for axis, (measure, sign, title) in zip(axes[0], titles, strict=True):
        frame = sign * means(rows, measure)
        axis.axvline(0.0, color="#555555", linewidth=0.9)
        for k, alpha in enumerate(alphas):
            here = _hardest(frame, alpha, settings)
            gain = here.get(CHAIN, np.nan) - here.get(PLAIN, np.nan)
            place = np.arange(len(names)) + 0.22 * (k - (len(alphas) - 1) / 2)
            axis.plot(gain, place, MARKERS[k], color=COLORS[k], label=_alpha_name(alpha))
        axis.set_xlabel(f"{title}, chain against plain SVM")
        _rows_of_names(axis, names)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    save_figure(fig, out / "gain_by_dataset")


def _selection(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    alphas, error = _alphas(settings), means(rows, "error")
    size = (2.5 * len(alphas) + 0.4, 5.6)
    fig, axes = new_figure(2, len(alphas), size=size, sharey="row", sharex=True)
    for column, alpha in enumerate(alphas):
        shares = {0.0: CLEAN} | {r: n for a, r, n in noise_settings(settings) if a == alpha}
        for k, ((labels, criterion), name) in enumerate(_CHOICES.items()):
            chosen, best = (f"svm:{labels}:either:{c}" for c in (criterion, "best"))
            excess = error.assign(excess=error.get(chosen, np.nan) - error.get(best, np.nan))
            rank = means(rows, f"rank_{criterion}")
            curves = (
                [_mean_at(excess, setting, "excess") for setting in shares.values()],
                [_mean_at(rank, setting, f"grid:{labels}") for setting in shares.values()],
            )
            look = {"color": COLORS[k], "marker": MARKERS[k], "linestyle": LINES[k]}
            for axis, curve in zip(axes[:, column], curves, strict=True):
                axis.plot(list(shares), curve, label=name, **look)
        axes[0, column].set_title(_alpha_name(alpha))
        axes[1, column].set(xlabel="rho (0: clean labels)", xticks=list(shares))
        axes[1, column].axhline(0.0, color="#555555", linewidth=0.9)
    axes[0, 0].set_ylabel("test error above the best in grid")
    axes[1, 0].set_ylabel("rank correlation with test error")
    label_panels(axes)
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    save_figure(fig, out / "selection")


def _certificate(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    widths, fits = settings["mrc"]["lambda_0"], certificates(rows)
    keys = ["dataset", "setting", "labels", "lambda_0"]
    points = fits.groupby(keys)[["risk", "error"]].mean().reset_index()
    clean = points["setting"] == CLEAN
    panels = (
        ("clean labels", clean & (points["labels"] == "given")),
        ("corrupted labels", ~clean & (points["labels"] == "given")),
        ("corrupted, then corrected", ~clean & (points["labels"] == "corrected")),
    )
    size = (7.6, 2.5 * len(widths) + 0.7)
    fig, axes = new_figure(len(widths), 3, size=size, sharex=True, sharey=True)
    for line, width in zip(axes, widths, strict=True):
        for axis, (title, mask) in zip(line, panels, strict=True):
            _scatter_risks(axis, points[mask & (points["lambda_0"] == width)], settings)
            axis.set_title(title)
        line[0].set_ylabel(f"lambda_0 = {width:g}\ntest error")
    for axis in axes[-1]:
        axis.set_xlabel("minimax risk")
    label_panels(axes)
    fig.legend(handles=_risk_legend(settings), loc="outside lower center", ncols=4)
    save_figure(fig, out / "certificate")


def _scatter_risks(axis: Axes, points: pd.DataFrame, settings: Mapping[str, Any]) -> None:
    axis.fill_between([0, 0.55], [0, 0.55], 0.65, color="#eeeeee", zorder=0)
    axis.plot([0, 0.55], [0, 0.55], color="#555555", linewidth=0.9)
    axis.text(0.02, 0.63, "certificate fails", va="top", fontsize=7, color="#444444")
    axis.set(xlim=(0, 0.55), ylim=(0, 0.65))
    clean = points[points["setting"] == CLEAN]
    axis.plot(clean["risk"], clean["error"], "D", color="#000000", markersize=4)
    sizes = dict(zip(sorted(settings["rhos"]), (3.0, 4.2, 5.4), strict=False))
    for alpha, rho, name in noise_settings(settings):
        k = _alphas(settings).index(alpha)
        here = points[points["setting"] == name]
        look = {"marker": MARKERS[k], "markersize": sizes.get(rho, 4.0), "linestyle": ""}
        axis.plot(here["risk"], here["error"], color=COLORS[k], alpha=0.75, **look)


def _risk_legend(settings: Mapping[str, Any]) -> list[Line2D]:
    handles = [Line2D([], [], marker="D", color="#000000", ls="", label="clean")]
    for k, alpha in enumerate(_alphas(settings)):
        look: dict[str, Any] = {"marker": MARKERS[k], "color": COLORS[k], "linestyle": ""}
        handles.append(Line2D([], [], label=_alpha_name(alpha), **look))
    return handles


def _time_steps(rows: pd.DataFrame, settings: Mapping[str, Any], out: Path) -> None:
    table = median_seconds(rows, settings)
    fig, axes = new_figure(1, 1, size=(6.4, 2.9))
    axis = axes[0, 0]
    for k, name in enumerate(table.columns):
        seconds = table[name].dropna()
        if seconds.empty:
            continue
        axis.hlines(k, seconds.min(), seconds.max(), color=COLORS[5], linewidth=5, alpha=0.6)
        axis.plot(seconds, np.full(len(seconds), k), "o", color="#333333", markersize=3)
        axis.plot(seconds.median(), k, "D", color=COLORS[1], markersize=7)
        axis.annotate(
            f"{seconds.median():.2g} s",
            (seconds.median(), k),
            xytext=(0, 7),
            textcoords="offset points",
            ha="center",
            fontsize=7,
        )
    axis.set_yticks(range(table.shape[1]), list(table.columns))
    axis.set_ylim(table.shape[1] - 0.5, -0.7)
    axis.set_xscale("log")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.set_xlabel("seconds for one corruption (diamond: median of the data sets, dots: each)")
    axis.grid(axis="y", visible=False)
    save_figure(fig, out / "time_steps")
