"""Paper 3's figures: convergence, growth of time and memory, where generation pays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, NullFormatter

from marginlab.experiments.mrc_summary import CERTIFIED, POINT
from marginlab.figures import COLORS, LINES, MARKERS, label_panels, new_figure, save_figure

__all__ = ["draw_convergence", "draw_frontier", "draw_growth", "winners"]

#: Methods of the figures: name in the results -> (text, slot of colour and marker).
SHOWN = {
    "ccg-highs": ("MRC-CCG (HiGHS)", 0),
    "ccg-ipm": ("MRC-CCG (own interior point)", 7),
    "ccg-cbc": ("MRC-CCG (CBC)", 5),
    "lp-highs": ("MRC-LP, all constraints (HiGHS)", 1),
    "lp-highs-ipm": ("MRC-LP by interior point (HiGHS)", 6),
    "compact-highs": ("compact LP (HiGHS)", 4),
    "interior": ("own interior point", 3),
    "sub": ("MRC-SUB", 2),
}
NAMES = {
    "fourier_raw": "raw data, Fourier features",
    "fourier_scaled": "scaled data, Fourier features",
    "linear_raw": "raw data, linear",
    "linear_scaled": "scaled data, linear",
    "text": "sparse text",
}
FLOOR = 1e-7  # differences below are drawn here
Job = Mapping[str, Any]


def _look(method: str) -> dict[str, Any]:
    text, slot = SHOWN[method]
    return {
        "label": text,
        "color": COLORS[slot],
        "marker": MARKERS[slot],
        "linestyle": LINES[slot],
    }


def draw_convergence(
    runs: pd.DataFrame, curves: Mapping[str, pd.DataFrame], jobs: Sequence[Job], stem: str | Path
) -> None:
    """Fig. 1: |R^k - R*| against CPU seconds, mean over repetitions.

    Parameters
    ----------
    runs : DataFrame
        As `with_risk` returns; R* of each repetition comes from it.
    curves : mapping
        Job -> rounds of its runs (`CURVE_COLUMNS`).
    jobs : sequence of mapping
        One panel each.
    stem : path
        Path without ending.
    """
    fig, axes = new_figure(1, len(jobs), size=(3.5 * len(jobs), 3.4))
    for axis, job in zip(axes[0], jobs, strict=True):
        mine = runs[runs["job"] == job["name"]]
        if len(mine):
            _converge(axis, mine, curves[job["name"]])
        _head(axis, job, mine)
        axis.set_xlabel("CPU seconds (one thread)")
        axis.set(xscale="log", yscale="log", ylim=(FLOOR * 0.5, 2.0))
        axis.xaxis.set_minor_formatter(NullFormatter())
    axes[0, 0].set_ylabel("|R$^k$ - R*|, mean over repetitions")
    label_panels(axes)
    _legend(fig, axes)
    save_figure(fig, stem)


def _converge(axis: Axes, mine: pd.DataFrame, curves: pd.DataFrame) -> None:
    best = mine.groupby("repeat")["best"].first().dropna()
    for method in SHOWN:
        each = curves[(curves["method"] == method) & curves["repeat"].isin(best.index)]
        if not len(each):
            continue
        look = _look(method)
        if method.startswith(("lp", "compact")):
            # One value only, when the solver ends: a point, and a line up to it.
            end = each["seconds_cpu"].median()
            off = (each["risk"] - each["repeat"].map(best)).abs().median()
            point = {**look, "linestyle": "none"}
            axis.plot([end], [max(off, FLOOR)], markersize=8, **point)
            axis.axvline(end, color=look["color"], linewidth=0.8, linestyle=":")
            continue
        seconds, off = _mean_curve(each, best)
        few = max(1, len(seconds) // 8)
        axis.plot(seconds, np.maximum(off, FLOOR), markevery=few, **look)


def _mean_curve(each: pd.DataFrame, best: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Mean over repetitions of the step curves |R^k - R*|, from the last first round on."""
    groups = [group.sort_values("seconds_cpu") for _, group in each.groupby("repeat")]
    # A clock of hundredths of a second gives several rounds one time: the last one counts.
    low = max(max(group["seconds_cpu"].iloc[0] for group in groups), 0.005)
    high = max(max(group["seconds_cpu"].iloc[-1] for group in groups), 1.2 * low)
    grid = np.geomspace(low, high, 60)
    stack = []
    for group in groups:
        place = np.searchsorted(group["seconds_cpu"].to_numpy(), grid, side="right") - 1
        risk = group["risk"].to_numpy()[np.maximum(place, 0)]
        stack.append(np.abs(risk - best[group["repeat"].iloc[0]]))
    return grid, np.mean(stack, axis=0)


def draw_growth(
    runs: pd.DataFrame, jobs: Sequence[Job], stem: str | Path, measure: str = "seconds_cpu"
) -> None:
    """Fig. 2: CPU seconds against samples, classes, and samples with features.

    Parameters
    ----------
    runs : DataFrame
        As `read_runs` returns.
    jobs : sequence of mapping
        One panel each; what the job varies is the horizontal axis.
    stem : path
        Path without ending.
    measure : str
        "seconds_cpu" or "peak_mb".
    """
    fig, axes = new_figure(1, len(jobs), size=(3.5 * len(jobs), 3.4))
    for axis, job in zip(axes[0], jobs, strict=True):
        mine = runs[runs["job"] == job["name"]]
        across = "classes" if isinstance(job["n_classes"], list) else "n"
        for method in SHOWN:
            each = mine[(mine["method"] == method) & (mine["status"] == 0)]
            if method == "sub" and measure == "peak_mb":
                continue
            if len(each):
                middle = each.groupby(across)[measure].median()
                floor = 0.01 if measure == "seconds_cpu" else 1.0
                axis.plot(middle.index, middle.clip(lower=floor), **_look(method))
        _stopped(axis, mine, across, measure, float(job["budget"]))
        _head(axis, job, mine)
        axis.set(yscale="log")
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
        if across == "n":
            axis.set(xscale="log")
            _plain_ticks(axis, sorted(mine["n"].unique()))
        text = "training samples n" + (" (features grow with them)" if _grows(mine) else "")
        axis.set_xlabel("classes" if across == "classes" else text)
    name = "CPU seconds (one thread)" if measure == "seconds_cpu" else "peak memory growth, MB"
    axes[0, 0].set_ylabel(name)
    label_panels(axes)
    _legend(fig, axes)
    save_figure(fig, stem)


def _stopped(axis: Axes, mine: pd.DataFrame, across: str, measure: str, budget: float) -> None:
    """Crosses where a method found nothing within its budget of time or memory."""
    if measure != "seconds_cpu":
        return
    for method in SHOWN:
        each = mine[(mine["method"] == method) & (mine["status"] > 0)]
        if len(each):
            places = sorted(each[across].unique())
            color = _look(method)["color"]
            axis.plot(places, [budget] * len(places), "x", color=color, markersize=7)


def _grows(mine: pd.DataFrame) -> bool:
    return len(mine) > 0 and mine["m"].nunique() > 1 and mine["classes"].nunique() == 1


def _plain_ticks(axis: Axes, places: Sequence[float]) -> None:
    axis.set_xticks(places, [f"{int(place):,}" for place in places], rotation=30)
    axis.minorticks_off()


def _head(axis: Axes, job: Job, mine: pd.DataFrame) -> None:
    name = str(job["dataset"]).replace("_", " ")
    axis.set_title(f"{name}: {NAMES[job['features']]}")
    if not len(mine):
        axis.text(0.5, 0.5, "no data", transform=axis.transAxes, ha="center")


def _legend(fig: Any, axes: np.ndarray) -> None:
    handles: dict[str, Any] = {}
    for axis in axes.ravel():
        for handle, text in zip(*axis.get_legend_handles_labels(), strict=True):
            handles.setdefault(text, handle)
    fig.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=min(4, len(handles))
    )


def draw_frontier(runs: pd.DataFrame, jobs: Sequence[Job], stem: str | Path) -> None:
    """Where generation pays: CPU seconds against lambda_0 sqrt(n), and against m.

    Parameters
    ----------
    runs : DataFrame
        As `read_runs` returns.
    jobs : sequence of mapping
        One panel each; a job varies lambda_0 or n_components.
    stem : path
        Path without ending.
    """
    fig, axes = new_figure(1, len(jobs), size=(4.4 * len(jobs), 3.6))
    for axis, job in zip(axes[0], jobs, strict=True):
        mine = runs[runs["job"] == job["name"]].copy()
        sweep = isinstance(job["lambda_0"], list)
        mine["across"] = mine["lambda_0"] * np.sqrt(mine["n"]) if sweep else mine["m"]
        for method in SHOWN:
            each = mine[(mine["method"] == method) & (mine["status"] == 0)]
            if len(each):
                middle = each.groupby("across")["seconds_cpu"].median().clip(lower=0.01)
                axis.plot(middle.index, middle, **_look(method))
        _stopped(axis, mine, "across", "seconds_cpu", float(job["budget"]))
        _head(axis, job, mine)
        axis.set(xscale="log", yscale="log")
        axis.yaxis.set_minor_formatter(NullFormatter())
        places = sorted(mine["across"].unique())
        axis.set_xticks(places, [f"{p:.3g}" if sweep else f"{int(p):,}" for p in places])
        axis.minorticks_off()
        text = r"$\lambda_0\sqrt{n}$ (small: little regularisation)"
        axis.set_xlabel(text if sweep else "features m")
    axes[0, 0].set_ylabel("CPU seconds (one thread)")
    label_panels(axes)
    _legend(fig, axes)
    save_figure(fig, stem)


def winners(runs: pd.DataFrame) -> pd.DataFrame:
    """Fastest method at each point of the frontier's jobs, generation's ratio to the next.

    Parameters
    ----------
    runs : DataFrame
        Runs of the frontier's jobs.

    Returns
    -------
    DataFrame
    """
    rows = []
    for point, mine in runs.groupby(POINT, sort=False):
        facts = dict(zip(POINT, point, strict=True))
        solved = mine[(mine["status"] == 0) & (mine["method"] != CERTIFIED)]
        times = solved.groupby("method")["seconds_cpu"].median().sort_values()
        row = {
            "data set": facts["dataset"],
            "n": int(facts["n"]),
            "m": int(mine["m"].iloc[0]),
            "lambda_0": float(facts["lambda_0"]),
            "lambda_0 sqrt(n)": float(facts["lambda_0"] * np.sqrt(facts["n"])),
        }
        for method, (text, _) in SHOWN.items():
            if method in set(mine["method"]):
                row[text] = f"{times[method]:.2f}" if method in times else "none in budget"
        row["fastest"] = SHOWN[str(times.index[0])][0] if len(times) else "none"
        rows.append(row)
    return pd.DataFrame(rows).fillna("-")
