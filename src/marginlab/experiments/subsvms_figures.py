"""Paper 1's figures: the corruption, the Gaussians, the theory, the times."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, Rectangle

from marginlab.experiments.subsvms_synthetic import curves, method_name
from marginlab.figures import COLORS, LINES, MARKERS, label_panels, new_figure, save_figure
from marginlab.results import read_results
from marginlab.theory import (
    eta,
    eta_hoeffding,
    eta_worst,
    size_balanced,
    size_global_minimum,
    size_local_minimum,
)

__all__ = ["draw_corruption", "draw_growth", "draw_synthetic", "draw_theory"]


def draw_corruption(stem: str | Path, beta: float = 0.3, rho: float = 0.75) -> None:
    """Fig. 1: which labels an adversary moves, as bars of the true proportions.

    Parameters
    ----------
    stem : path
    beta, rho : float
        Share of the minority class and error parameter of the picture (alpha = 1/2).
    """
    fig, axes = new_figure(1, 1, size=(6.4, 3.6))
    axis = axes[0, 0]
    moved = 0.5 * rho * beta
    split = beta
    bad, good_a, good_b = COLORS[1], COLORS[5], "#dddddd"
    left, right, width = 0.0, 2.2, 0.7
    for low, high, colour in ((0, split, good_a), (split, 1, good_b)):
        axis.add_patch(Rectangle((left, low), width, high - low, fc=colour, ec="black"))
    # right: corrupted classes with their foreign points, in the order they come from
    pieces = (
        (0, split - moved, good_a, r"$A_g$  true members"),
        (split - moved, split, bad, r"$A_b$  $\alpha\rho\beta$, truly $B$"),
        (split, split + moved, bad, r"$B_b$  $(1-\alpha)\rho\beta$, truly $A$"),
        (split + moved, 1, good_b, r"$B_g$  true members"),
    )
    for low, high, colour, text in pieces:
        axis.add_patch(Rectangle((right, low), width, high - low, fc=colour, ec="black"))
        axis.text(right + width + 0.25, (low + high) / 2, text, va="center")
    axis.text(left + width / 2, split / 2, r"$A$" + "\n" + r"$\beta$", ha="center", va="center")
    axis.text(
        left + width / 2, (1 + split) / 2, r"$B$" + "\n" + r"$1-\beta$", ha="center", va="center"
    )
    for start, end, curve in (
        (split + 1.5 * moved, split - moved / 2, 0.15),
        (split - 1.5 * moved, split + moved / 2, -0.15),
    ):
        axis.add_patch(
            FancyArrowPatch(
                (left + width, start),
                (right, end),
                connectionstyle=f"arc3,rad={curve}",
                arrowstyle="-|>",
                mutation_scale=12,
                color=bad,
            )
        )
    for height, text in (
        (split + 1.5 * moved + 0.04, r"share $\alpha$ of the errors"),
        (split - 1.5 * moved - 0.07, r"share $1-\alpha$ of the errors"),
    ):
        axis.text(left + width + 0.05, height, text, color=bad)
    for low, high, text in ((0, split, r"$\hat{A}$"), (split, 1, r"$\hat{B}$")):
        axis.plot([right + width + 0.08] * 2, [low + 0.01, high - 0.01], color="black", lw=1)
        axis.text(right + width + 0.13, (low + high) / 2, text, va="center")
    axis.text(left + width / 2, 1.03, r"clean data $D$", ha="center")
    axis.text(right + width / 2, 1.03, r"corrupted data $\hat{D}$", ha="center")
    axis.set(xlim=(-0.1, 4.9), ylim=(-0.02, 1.1))
    axis.axis("off")
    save_figure(fig, stem)


def draw_synthetic(paths: Iterable[str | Path], stem: str | Path) -> None:
    """Fig. 2: worst and mean accuracy by number of machines, both samplings, every C.

    Parameters
    ----------
    paths : iterable of path
        Tidy results of the Gaussians.
    stem : path
    """
    frame = curves(read_results(paths))
    costs = sorted({float(name.rpartition("C=")[2]) for name in frame["method"]})
    fig, axes = new_figure(len(costs), 4, size=(11.0, 2.5 * len(costs) + 0.4), sharey=True)
    titles = {
        ("balanced", "worst"): "p = 1/2, worst case",
        ("balanced", "average"): "p = 1/2, mean",
        ("uniform", "worst"): "uniform, worst case",
        ("uniform", "average"): "uniform, mean",
    }
    for row, C in enumerate(costs):
        for column, (sampling, kind) in enumerate(titles):
            axis = axes[row, column]
            _accuracy_panel(axis, frame[frame["method"] == method_name(sampling, C)], kind)
            axis.set_title(f"{titles[sampling, kind]}, C = {C:g}")
        axes[row, 0].set_ylabel("accuracy of the corrected labels")
    for axis in axes[-1]:
        axis.set_xlabel("machines J")
    label_panels(axes)
    axes[0, 0].legend(loc="lower right")
    save_figure(fig, stem)


def _accuracy_panel(axis: Axes, frame: pd.DataFrame, kind: str) -> None:
    for index, (d, rows) in enumerate(frame.groupby("d")):
        axis.plot(rows["machines"], rows[kind], label=f"d = {d}", **_look(index))
    axis.axvline(2**7, color="#999999", linewidth=0.8)
    axis.set_xscale("log", base=2)
    axis.set_ylim(0, 1.02)


def _look(index: int) -> dict[str, Any]:
    return {"color": COLORS[index], "marker": MARKERS[index], "linestyle": LINES[index]}


def draw_theory(stem: str | Path, r: int = 20, rho: float = 0.75) -> None:
    """Worst-case eta by sampling bias, eta under single attacks, and sizes of s.

    Parameters
    ----------
    stem : path
    r : int
        Clean points wanted, of both classes together.
    rho : float
    """
    fig, axes = new_figure(1, 3, size=(11.0, 3.3))
    p = np.linspace(0.02, 0.98, 193)
    needed = int(np.ceil(size_balanced(r)))
    _worst_panel(axes[0, 0], p, (r, int(1.5 * r), needed, 2 * needed), r, rho)
    _attack_panel(axes[0, 1], p, needed, r, rho)
    _size_panel(axes[0, 2])
    label_panels(axes)
    save_figure(fig, stem)


def _worst_panel(axis: Axes, p: np.ndarray, sizes: Sequence[int], r: int, rho: float) -> None:
    for index, s in enumerate(sizes):
        # marks, as the dotted line is taken by (30) and grey print keeps no colours
        look: dict[str, Any] = {"color": COLORS[index], "marker": MARKERS[index], "markevery": 24}
        axis.plot(p, eta_worst(s, r, p, rho), label=f"s = {s}", **look)
        axis.plot(p, eta_hoeffding(s, r, p, rho), linestyle=":", **look)
    axis.axvline(0.5, color="#999999", linewidth=0.8)
    axis.set(xlabel="sampling bias p", ylabel=r"worst-case $\eta$", ylim=(0, 2.05))
    axis.set_title(rf"(29) solid, (30) dotted; r = {r}, $\rho$ = {rho}")
    _legend_below(axis, 4)


def _attack_panel(axis: Axes, p: np.ndarray, s: int, r: int, rho: float) -> None:
    for index, alpha in enumerate((1.0, 0.5, 0.0)):
        values = eta(s, r, p, rho, alpha, 0.5)
        axis.plot(
            p, values, color=COLORS[index], linestyle=LINES[index], label=rf"$\alpha$ = {alpha:g}"
        )
    worst = eta_worst(s, r, p, rho)
    axis.plot(p, worst, color="black", linewidth=2.2, alpha=0.45, label="worst case (29)")
    axis.axvline(0.5, color="#999999", linewidth=0.8)
    axis.set(xlabel="sampling bias p", ylabel=r"$\eta$ (21)", yscale="log", ylim=(1e-3, 2))
    axis.set_title(rf"one attack at a time; s = {s}, $\beta$ = 1/2")
    _legend_below(axis, 4)


def _size_panel(axis: Axes) -> None:
    r = np.arange(4, 61)
    for index, rho in enumerate((0.25, 0.75)):
        look: dict[str, Any] = {"color": COLORS[index], "marker": MARKERS[index], "markevery": 8}
        local, lowest = size_local_minimum(r, rho), size_global_minimum(r, rho)
        axis.plot(r, local, linestyle="--", label=rf"(35), $\rho$ = {rho}", **look)
        axis.plot(r, lowest, label=rf"(36), $\rho$ = {rho}", **look)
    axis.plot(r, size_balanced(r), color="black", label=r"(5) = (36) at $\rho$ = 1")
    axis.plot(r, r, color="#999999", linestyle=":", label="s = r")
    axis.set(xlabel="clean points wanted r", ylabel="smallest sample size s")
    axis.set_title("p = 1/2 is best from these s on")
    _legend_below(axis, 2, length=3.0)  # long enough to tell dashes between marks


def _legend_below(axis: Axes, columns: int, drop: float = -0.2, length: float = 1.6) -> None:
    # outside the axes: the curves leave no free corner
    axis.legend(
        loc="upper center",
        bbox_to_anchor=(0.5, drop),
        ncols=columns,
        columnspacing=1.0,
        handlelength=length,
    )


def draw_growth(paths: Iterable[str | Path], stem: str | Path) -> None:
    """Training and correction times by training points and by machines.

    Parameters
    ----------
    paths : iterable of path
        Tidy results of the growth runs.
    stem : path
    """
    rows = read_results(paths)
    sizes = rows[rows["measure"] == "n_train"].groupby("dataset")["value"].first().sort_values()
    timed = rows[rows["measure"].str.startswith("seconds_")].copy()
    timed["machines"] = timed["setting"].str.removeprefix("J=").astype(int)
    median = timed.groupby(["measure", "dataset", "machines"])["value"].median()
    fig, axes = new_figure(1, 2, size=(8.4, 3.8))
    numbers = sorted(timed["machines"].unique())
    most = 1000 if 1000 in numbers else numbers[-1]
    for index, part in enumerate(("train", "correct")):
        label = "training" if part == "train" else "votes on the training rows"
        by_size = [median[f"seconds_{part}", name, most] for name in sizes.index]
        axes[0, 0].plot(sizes.to_numpy(), by_size, label=label, **_look(index))
        first, last = sizes.index[0], sizes.index[-1]
        for name, fill in {first: {}, last: {"markerfacecolor": "white", "alpha": 0.7}}.items():
            by_number = [median[f"seconds_{part}", name, number] for number in numbers]
            axes[0, 1].plot(numbers, by_number, label=f"{label}, {name}", **_look(index) | fill)
    _guide(axes[0, 0], sizes.to_numpy(), "linear in l")
    axes[0, 0].set(xlabel="training points l", ylabel="seconds (median)", title=f"J = {most}")
    axes[0, 1].set(xlabel="machines J", ylabel="seconds (median)", title="by machines")
    for axis, ticks in zip(axes[0], (sizes.astype(int).tolist(), numbers), strict=True):
        axis.set(xscale="log", yscale="log")
        axis.set_xticks(ticks, [str(tick) for tick in ticks], rotation=45)
        axis.xaxis.minorticks_off()
        _legend_below(axis, 2, -0.35)
    label_panels(axes)
    save_figure(fig, stem)


def _guide(axis: Axes, x: np.ndarray, label: str) -> None:
    # a line of slope 1 through the lowest start, to compare with
    low = min(float(np.asarray(line.get_ydata())[0]) for line in axis.get_lines())
    axis.plot(x, low * x / x[0], color="#999999", linewidth=0.8, label=label)
