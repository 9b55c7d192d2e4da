"""The chain's rows as the frames that its tables, figures and answers start from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from marginlab.experiments.chain_data import CLEAN, LABELS, setting_name

__all__ = [
    "CHAIN",
    "ORACLE",
    "PLAIN",
    "certificates",
    "dataset_order",
    "learner_methods",
    "means",
    "median_seconds",
    "noise_settings",
    "with_oracle",
]

#: What most people would do: equal weights, the labels as given, C by cross-validation.
PLAIN = "svm:given:uniform:cv"
#: The chain: corrected labels, weights from the votes, C and weights by the span-rule.
CHAIN = "svm:corrected:votes:span"
#: Name under which `with_oracle` gives the plain SVM trained on clean labels.
ORACLE = "oracle"


def noise_settings(settings: Mapping[str, Any]) -> list[tuple[float, float, str]]:
    """Every corruption of the run as (alpha, rho, name), in the order of the configuration.

    Parameters
    ----------
    settings : mapping
        Section ``chain`` of the configuration.
    """
    return [
        (float(alpha), float(rho), setting_name(alpha, rho))
        for alpha in settings["alphas"]
        for rho in sorted(settings["rhos"])
    ]


def dataset_order(rows: pd.DataFrame, settings: Mapping[str, Any]) -> list[str]:
    """Data sets with rows, in the order of the configuration."""
    present = set(rows["dataset"])
    return [name for name in settings["datasets"] if name in present]


def learner_methods(settings: Mapping[str, Any]) -> dict[str, str]:
    """Names of the learners in tables, and the methods of the tidy rows behind them."""
    width = settings["mrc"]["lambda_0"][0]
    return {
        "plain SVM": PLAIN,
        "vote-weighted SVM": "svm:given:votes:span",
        "SubSVMs": "subsvms",
        "SVM on corrected labels": "svm:corrected:uniform:span",
        "chain SVM": CHAIN,
        "MRC": f"mrc:given:ccg:{width}",
        "MRC on corrected labels": f"mrc:corrected:ccg:{width}",
        "SVM on clean labels": ORACLE,
    }


def means(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean over corruptions: one row a (data set, setting), one column a method.

    Parameters
    ----------
    rows : DataFrame
        Tidy rows of the chain.
    measure : str
    """
    kept = rows[rows["measure"] == measure]
    return kept.groupby(["dataset", "setting", "method"])["value"].mean().unstack("method")


def with_oracle(table: pd.DataFrame) -> pd.DataFrame:
    """`means` with a further column: the plain SVM trained on the data set's clean labels."""
    if PLAIN not in table or CLEAN not in table.index.get_level_values("setting"):
        return table.assign(**{ORACLE: np.nan})
    clean = table[PLAIN].xs(CLEAN, level="setting")
    return table.assign(**{ORACLE: clean.reindex(table.index.get_level_values("dataset")).array})


def certificates(rows: pd.DataFrame, method: str = "ccg") -> pd.DataFrame:
    """One row a minimax risk classifier: its certificate beside the real test error.

    Parameters
    ----------
    rows : DataFrame
        Tidy rows of the chain.
    method : {"ccg", "lp"}

    Returns
    -------
    DataFrame
        Columns dataset, setting, labels, lambda_0, repeat, risk, error, wrong_labels (share
        of training labels that differ from the clean ones), holds (error <= risk) and
        holds_with_label_errors (error <= risk + wrong_labels).
    """
    names = rows["method"].astype(str)  # an empty frame has no string columns
    fits = _pivot(rows, names.str.match(rf"mrc:\w+:{method}:"), ["risk", "error"])
    parts = fits["method"].str.split(":", expand=True).reindex(columns=range(4))
    fits["labels"], fits["lambda_0"] = parts[1].astype(str), parts[3].astype(float)
    recovery = _pivot(rows, names.str.startswith("labels:"), ["accuracy"])
    recovery["labels"] = recovery["method"].astype(str).str.removeprefix("labels:")
    keys = ["dataset", "setting", "repeat", "labels"]
    joined = fits.merge(recovery[[*keys, "accuracy"]], on=keys, how="left")
    joined["wrong_labels"] = 1.0 - joined["accuracy"]
    joined["holds"] = joined["error"] <= joined["risk"]
    joined["holds_with_label_errors"] = joined["error"] <= joined["risk"] + joined["wrong_labels"]
    return joined.drop(columns=["method", "accuracy"]).dropna(subset=["risk"])


def median_seconds(rows: pd.DataFrame, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Median seconds of each step for one corruption, one row a data set.

    Columns are in the order of the chain; times of the weighted SVMs are those of a whole
    grid on one label vector.
    """
    width = settings["mrc"]["lambda_0"][0]
    grids = [f"grid:{labels}" for labels in LABELS]
    steps: dict[str, tuple[Sequence[str], str]] = {
        "SubSVMs: correct": (["subsvms"], "seconds_correct"),
        "SVM grid: train": (grids, "seconds_train"),
        "SVM grid: span-rule": (grids, "seconds_span"),
        "SVM grid: cross-validate": (grids, "seconds_cv"),
        "MRC by generation": ([f"mrc:{labels}:ccg:{width}" for labels in LABELS], "seconds_fit"),
        "MRC in full": ([f"mrc:{labels}:lp:{width}" for labels in LABELS], "seconds_fit"),
    }
    columns = {}
    for name, (methods, measure) in steps.items():
        kept = rows[rows["method"].isin(methods) & (rows["measure"] == measure)]
        columns[name] = kept.groupby("dataset")["value"].median()
    return pd.DataFrame(columns).reindex(dataset_order(rows, settings))


def _pivot(rows: pd.DataFrame, mask: pd.Series, measures: list[str]) -> pd.DataFrame:
    kept = rows[mask.astype(bool) & rows["measure"].isin(measures)]
    keys = ["dataset", "setting", "method", "repeat"]
    wide = kept.pivot_table(index=keys, columns="measure", values="value", aggfunc="first")
    return wide.reindex(columns=measures).reset_index()
