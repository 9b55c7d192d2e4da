"""Tables of times of the span paper: by data set (Table 6), and by size (Figs. 5 and 6)."""

from __future__ import annotations

import pandas as pd

from marginlab.experiments.span_time import TIMES

__all__ = ["growth_frame", "speed_table", "time_table", "times_by_model"]

_CLOSED = TIMES["closed"]


def times_by_model(tidy: pd.DataFrame) -> pd.DataFrame:
    """One row a timed model: dataset, setting, seconds by way, n_in_bound, n_support."""
    rows = tidy[tidy["measure"].isin(["seconds", "n_in_bound", "n_support"])].copy()
    rows["column"] = rows["method"].where(rows["measure"] == "seconds", rows["measure"])
    table = rows.pivot_table(
        index=["dataset", "setting"], columns="column", values="value", dropna=False, observed=True
    )
    return table.dropna(how="all").reset_index()


def time_table(tidy: pd.DataFrame) -> pd.DataFrame:
    """Table 6: average seconds a model by way to the estimate, with the counts behind them."""
    models = times_by_model(tidy)
    ways = [way for way in TIMES.values() if way in models]
    groups = models.groupby("dataset", sort=True)
    table = groups[ways].mean()
    table.insert(0, "models", groups.size())
    table["QPs with box / CV"] = table[TIMES["boxed_qp"]] / table[TIMES["cv"]]
    return table.reset_index()


def speed_table(tidy: pd.DataFrame) -> pd.DataFrame:
    """How many times faster the closed form is: medians over the timed models of a set."""
    models = times_by_model(tidy)
    table = pd.DataFrame({"dataset": models["dataset"]})
    for key in ("qp", "boxed_qp", "cv", "cv_compiled"):
        table[TIMES[key]] = models[TIMES[key]] / models[_CLOSED]
    return table.groupby("dataset", sort=True).median().reset_index()


def growth_frame(tidy: pd.DataFrame) -> pd.DataFrame:
    """Averages over the grid by dimension and size: seconds by way, support vectors.

    Returns
    -------
    DataFrame
        Columns d, l, models, the ways of `TIMES`, n_in_bound, n_support and, as medians over the
        grid, "speedup over QPs", "speedup over QPs with box", "speedup over CV".
    """
    models = times_by_model(tidy)
    models["d"] = models["dataset"].str.extract(r"d=(\d+)")[0].astype(int)
    models["l"] = models["setting"].str.extract(r"l=(\d+)")[0].astype(int)
    named = {"qp": "speedup over QPs", "boxed_qp": "speedup over QPs with box"}
    named["cv"] = "speedup over CV"
    for key, name in named.items():
        models[name] = models[TIMES[key]] / models[_CLOSED]
    groups = models.groupby(["d", "l"], sort=True)
    ways = [way for way in TIMES.values() if way in models]
    table = groups[[*ways, "n_in_bound", "n_support"]].mean()
    table = table.join(groups[list(named.values())].median())
    table.insert(0, "models", groups.size())
    return table.reset_index()
