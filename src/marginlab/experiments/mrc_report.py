"""From the jobs' files to paper 3's tables, figures and verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from marginlab.experiments import mrc_figures, mrc_tables
from marginlab.experiments.mrc_claims import Evidence, judge
from marginlab.experiments.mrc_runs import CURVE_COLUMNS, read_runs
from marginlab.experiments.mrc_summary import with_risk
from marginlab.files import write_csv
from marginlab.tables import write_table

__all__ = ["PARTS", "draw", "read_curves", "tabulate", "weigh_claims"]

PARTS = ("binary", "multiclass", "convergence", "growth", "checks", "frontier")
_BINARY = ("MRC-CCG", "MRC-LP", "MRC-SUB", "SVM-CCG", "SVM-LP")
_MULTI = ("MRC-CCG", "MRC-SUB", "SVM-MULTI", "MRC-compact", "MRC-LP")
_NOTE = (
    "Median CPU seconds of one thread (x repetitions), building the program included; methods "
    "run in turn in one job. AE = |objective - R*|, R* certified by bounds that meet within "
    "1e-6. The paper runs 150,000 (binary) or 15,000 iterations of MRC-SUB; here the number in "
    "brackets. LP / CCG: the fastest full LP of the same solver over generation. "
    "The AE of an SVM is the distance of two different objectives."
)
Settings = Mapping[str, Any]


def jobs_of(settings: Settings, part: str) -> list[dict[str, Any]]:
    """Jobs of a part with the defaults filled in."""
    return [{**settings["defaults"], **job} for job in settings[part]]


def tabulate(
    paths: Sequence[str],
    listed: str | Path,
    folder: str | Path,
    *,
    settings: Settings,
    missing: Mapping[str, str],
) -> None:
    """Write all tables of paper 3.

    Parameters
    ----------
    paths : sequence of path
        The jobs' tidy tables.
    listed : path
        CSV of the run's data sets.
    folder : path
        Where the tables go.
    settings : mapping
        The section ``mrc`` of the configuration.
    missing : mapping
        Data set -> why it cannot be had.
    """
    folder = Path(folder)
    runs = with_risk(read_runs(list(paths)))
    names = [*settings["datasets"], *settings["no_source"]]
    reason = "features of a pretrained network, of which no source is known here"
    gone = dict.fromkeys(settings["no_source"], reason) | dict(missing)
    table1 = mrc_tables.data_table(pd.read_csv(listed), names, gone)
    write_table(table1, folder / "table1_datasets", "Table I: data sets of paper 3")
    _write_times(runs, folder, settings)
    both = jobs_of(settings, "binary") + jobs_of(settings, "multiclass")
    errors = mrc_tables.error_table(runs, both, settings["methods"])
    note = "HiGHS unless said otherwise; R bounds the error of the rule for every distribution "
    note += "of the uncertainty set, so a test error above it shows that lambda_0 is small."
    write_table(errors, folder / "errors", "Classification errors (appendix of paper 3)", note)
    _write_checks(runs, folder, settings)


def _write_times(runs: pd.DataFrame, folder: Path, settings: Settings) -> None:
    methods = settings["methods"]
    binary = jobs_of(settings, "binary")
    absent = settings["no_source"]
    table2 = mrc_tables.time_table(runs, binary, methods, _BINARY, absent)
    write_table(table2.drop(columns="classes", errors="ignore"), folder / "time_table2",
                "Table II: time and accuracy, two classes", _NOTE)  # fmt: skip
    table3 = mrc_tables.time_table(runs, jobs_of(settings, "multiclass"), methods, _MULTI)
    keep = [name for name in table3 if not name.startswith("SVM") or name.endswith(" s")]
    write_table(table3[keep], folder / "time_table3", "Table III: time, many classes", _NOTE)
    names = [job["name"] for job in settings["frontier"]]
    frontier = mrc_figures.winners(runs[runs["job"].isin(names)])
    caption = "Where generation pays: CPU seconds by weight of the penalty and by width"
    write_table(frontier, folder / "time_frontier", caption)


def _write_checks(runs: pd.DataFrame, folder: Path, settings: Settings) -> None:
    checks = runs[runs["job"].isin([job["name"] for job in settings["checks"]])]
    swept = [job["name"] for job in settings["checks"] if isinstance(job.get("n_classes"), list)]
    single = mrc_tables.check_table(checks[~checks["job"].isin(swept)])
    note = "R of the first repetition, largest difference over all; CBC hands back eight digits."
    caption = "Generation against the exact linear programs"
    write_table(single, folder / "checks", caption, note)
    classes = mrc_tables.check_classes(checks[checks["job"].isin(swept)])
    caption = "The compact linear program against the exponential one"
    write_table(classes, folder / "checks_classes", caption)


def read_curves(paths: Sequence[str]) -> dict[str, pd.DataFrame]:
    """Rounds of the jobs, by the job's name; empty for jobs without curves."""
    found = {}
    for path in paths:
        frame = pd.read_csv(path)
        found[Path(path).stem] = frame if len(frame) else pd.DataFrame(columns=CURVE_COLUMNS)
    return found


def draw(
    figure: str, paths: Sequence[str], curves: Sequence[str], stem: str, *, settings: Settings
) -> None:
    """Draw one figure of paper 3.

    Parameters
    ----------
    figure : {"time_figure1", "time_figure2", "peak_memory", "time_frontier"}
    paths, curves : sequence of path
        Tidy tables and rounds of the figure's jobs.
    stem : path
        Path without ending.
    settings : mapping
        The section ``mrc`` of the configuration.
    """
    runs = with_risk(read_runs(list(paths)))
    if figure == "time_figure1":
        jobs = jobs_of(settings, "convergence")
        mrc_figures.draw_convergence(runs, read_curves(curves), jobs, stem)
    elif figure == "time_frontier":
        mrc_figures.draw_frontier(runs, jobs_of(settings, "frontier"), stem)
    else:
        measure = "peak_mb" if figure == "peak_memory" else "seconds_cpu"
        mrc_figures.draw_growth(runs, jobs_of(settings, "growth"), stem, measure)


def weigh_claims(
    claims: str | Path,
    paths: Sequence[str],
    curves: Sequence[str],
    out: str | Path,
    *,
    settings: Settings,
) -> None:
    """Write the verdicts on the paper's sentences.

    Parameters
    ----------
    claims : path
        CSV with columns claim, place, says.
    paths, curves : sequence of path
        Tidy tables and rounds of all jobs.
    out : path
        CSV with columns claim, place, published, ours, evidence, verdict.
    settings : mapping
        The section ``mrc`` of the configuration.
    """
    parts = {part: [job["name"] for job in settings[part]] for part in PARTS}
    rounds = [frame.assign(job=job) for job, frame in read_curves(curves).items() if len(frame)]
    joined = pd.concat(rounds) if rounds else pd.DataFrame(columns=[*CURVE_COLUMNS, "job"])
    evidence = Evidence(with_risk(read_runs(list(paths))), joined.reset_index(drop=True), parts)
    write_csv(judge(pd.read_csv(claims), evidence), out)
