"""Tables of the span paper from the tidy rows of the grid runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

__all__ = [
    "count_table",
    "cv_name",
    "data_table",
    "error_grid",
    "leave_one_out_table",
    "premise_table",
    "rmse_table",
    "selection_table",
]

_RULES = ("span-rule", "span bound", "xi-alpha")


def cv_name(tidy: pd.DataFrame) -> str:
    """Name of the cross-validation among the methods, such as "5-fold CV"."""
    names = [str(name) for name in tidy["method"].unique() if str(name).endswith("-fold CV")]
    return names[0] if names else "5-fold CV"


def error_grid(tidy: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """One row a model with an in-bound support vector: its errors by method.

    Models without one have no unique intercept and are left out.
    """
    rows = tidy[(tidy["dataset"] == dataset)]
    errors = rows[rows["measure"] == "error"].pivot(
        index="setting", columns="method", values="value"
    )
    counts = rows[rows["measure"] == "n_in_bound"].set_index("setting")["value"]
    return errors[counts.reindex(errors.index) > 0]


def data_table(tidy: pd.DataFrame) -> pd.DataFrame:
    """Table 1: sizes, features, share of the positive class, kind of the weights."""
    rows = tidy[tidy["method"] == "data"]
    table = rows.pivot(index=["dataset", "setting"], columns="measure", values="value")
    table = table.reset_index().rename(columns={"setting": "weights by"})
    for column in ("n_train", "n_test", "n_features"):
        table[column] = table[column].astype(int)
    names = ["dataset", "weights by", "n_train", "n_test", "n_features", "positive_share"]
    table = table[names].rename(
        columns={
            "n_train": "train",
            "n_test": "test",
            "n_features": "features",
            "positive_share": "share of +1",
        }
    )
    return table.sort_values(["weights by", "dataset"]).reset_index(drop=True)


def selection_table(tidy: pd.DataFrame) -> pd.DataFrame:
    """Tables 2 and 3: test error of the model that each rule selects, the worst among ties."""
    methods = ["span-rule", cv_name(tidy), "span bound", "xi-alpha"]
    rows = []
    for dataset in _datasets(tidy):
        grid = error_grid(tidy, dataset)
        test = grid["test error"]
        row: dict[str, object] = {"dataset": dataset, "best possible": test.min()}
        for method in methods:
            tied = grid[method] <= grid[method].min() + 1e-12
            row[method] = test[tied].max()
        rows.append(row)
    return pd.DataFrame(rows, columns=["dataset", "best possible", *methods])


def rmse_table(tidy: pd.DataFrame) -> pd.DataFrame:
    """Table 4: root mean square of estimate minus test error over the models of a set."""
    methods = ["span-rule", cv_name(tidy), "xi-alpha"]
    rows = []
    for dataset in _datasets(tidy):
        grid = error_grid(tidy, dataset)
        off = grid[methods].sub(grid["test error"], axis=0)
        rows.append({"dataset": dataset, **np.sqrt((off**2).mean()).to_dict()})
    return pd.DataFrame(rows, columns=["dataset", *methods])


def count_table(tidy: pd.DataFrame) -> pd.DataFrame:
    """Table 5: averages a model of empty Lambda_p and support vectors; models set aside."""
    rows = []
    for dataset in _datasets(tidy):
        counts = _model_facts(tidy, dataset)
        rows.append(
            {
                "dataset": dataset,
                "models": len(counts),
                "empty Lambda_p": counts["n_empty"].mean(),
                "in-bound SVs": counts["n_in_bound"].mean(),
                "all SVs": counts["n_support"].mean(),
                "in-bound share": (counts["n_in_bound"] / counts["n_support"]).mean(),
                "models without in-bound SV": int((counts["n_in_bound"] == 0).sum()),
            }
        )
    return pd.DataFrame(rows)


def leave_one_out_table(tidy: pd.DataFrame) -> pd.DataFrame:
    """True leave-one-out error beside the span-rule, by data set and over all models."""
    facts = pd.concat([_model_facts(tidy, name).assign(dataset=name) for name in _datasets(tidy)])
    if "leave_one_out" not in facts:
        return pd.DataFrame(columns=["dataset"])
    facts = facts.dropna(subset=["leave_one_out"])
    groups = [(str(name), group) for name, group in facts.groupby("dataset")]
    return pd.DataFrame([_loo_row(name, group) for name, group in [*groups, ("all", facts)]])


def _loo_row(name: str, facts: pd.DataFrame) -> dict[str, object]:
    off = (facts["span_rule"] - facts["leave_one_out"]).abs()
    varies = facts["span_rule"].std() > 0 and facts["leave_one_out"].std() > 0
    related = facts["span_rule"].corr(facts["leave_one_out"]) if varies else np.nan
    return {
        "dataset": name,
        "models": len(facts),
        "leave-one-out": facts["leave_one_out"].mean(),
        "span-rule": facts["span_rule"].mean(),
        "mean |difference|": off.mean(),
        "largest": off.max(),
        "correlation": related,
        "misses": facts["misses"].mean(),
        "false alarms": facts["false_alarms"].mean(),
        "agree, premise holds": facts["agree_with_premise"].mean(),
        "agree, premise fails": facts["agree_without_premise"].mean(),
    }


def premise_table(tidy: pd.DataFrame) -> pd.DataFrame:
    """Share of support vectors for which Theorem 2's premise holds, and where the box binds."""
    rows = []
    for dataset in _datasets(tidy):
        facts = _model_facts(tidy, dataset)
        rows.append(
            {
                "dataset": dataset,
                "models": len(facts),
                "premise holds, mean": facts["premise_share"].mean(),
                "premise holds, lowest": facts["premise_share"].min(),
                "premise holds, highest": facts["premise_share"].max(),
                "box binds, mean": facts["box_binds_share"].mean(),
            }
        )
    return pd.DataFrame(rows)


def _datasets(tidy: pd.DataFrame) -> Sequence[str]:
    return sorted(str(name) for name in tidy["dataset"].unique())


def _model_facts(tidy: pd.DataFrame, dataset: str) -> pd.DataFrame:
    rows = tidy[(tidy["dataset"] == dataset) & (tidy["method"] == "model")]
    return rows.pivot(index="setting", columns="measure", values="value")
