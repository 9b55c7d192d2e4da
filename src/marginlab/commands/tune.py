"""``marginlab tune``: weights, C and gamma of an SVM chosen by the span-rule."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from marginlab.commands.console import Console, rows_text
from marginlab.commands.loading import (
    check_classes,
    check_inputs,
    check_outputs,
    load,
    load_second,
    row_counts,
    scale_features,
)
from marginlab.errors import DataError, UserError
from marginlab.files import write_csv
from marginlab.modelfile import save_model, svm_model
from marginlab.noise import minority_label
from marginlab.seeds import int_seed
from marginlab.selection import SpanSearch
from marginlab.svm.folds import check_folds
from marginlab.svm.weighted import WeightedSVC
from marginlab.tabular import Table

__all__ = ["logistic_weights", "plain_weights", "run"]

_WRITES = {"--out": "model"}
_FLOOR = 0.01
_ESTIMATES = {
    "span_rule": "span-rule estimate of the error",
    "span_bound": "span bound",
    "xi_alpha": "xi-alpha estimate of the error",
    "cv": "cross-validated error",
}


def logistic_weights(
    scores: NDArray[np.float64], slope: float, middle: float
) -> NDArray[np.float64]:
    """Weights .01 + .99 / (1 + exp(-slope (q - middle))) of scores q in [0, 1]."""
    return _FLOOR + (1 - _FLOOR) / (1 + np.exp(-slope * (scores - middle)))


def plain_weights(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scores as they are."""
    return scores


def run(args: argparse.Namespace) -> int:
    """Run the command; see ``marginlab tune --help``."""
    check_inputs(args.file, args.test)
    check_outputs(
        (args.file, args.test), {"--out": args.out, "--table": args.table}, endings=_WRITES
    )
    console = Console(args)
    table = load(args, weight=args.weight)
    classes = check_classes(table, most=2)
    X, scaler = scale_features(table, args.scale, console)
    scores = _scores(table, args)
    grid = _grid(args, table, X.shape[1])
    start = time.perf_counter()
    model, search, rows = _choose(args, X, table.labels, scores, grid, console)
    values = _values(args, table, X, classes, search, model, time.perf_counter() - start)
    values["rows_for_choosing"] = rows
    if args.test is not None:
        second = load_second(args.test, args, table, classes)
        wrong = model.predict(scaler.apply(second.X)) != second.labels
        values |= {"test_rows": len(wrong), "test_error": float(np.mean(wrong))}
    if args.table:
        write_csv(_all_settings(search, X.shape[1], args), args.table)
    if args.out:
        facts = {key: values[key] for key in ("chosen", "estimate", "criterion", "rows")}
        save_model(svm_model(model, X, table.labels, table.layout, scaler, facts), args.out)
    data = f"({scaler.describe()}), labels {row_counts(table.labels, classes.tolist())}"
    console.result(values, _text(values, args, data))
    return 0


def _scores(table: Table, args: argparse.Namespace) -> NDArray[np.float64] | None:
    if table.scores is None:
        return None
    q = table.scores
    if args.map == "none":
        if (q < 0).any() or not (q > 0).any():
            raise DataError(
                f"{table.source}: column {args.weight!r} has weights below 0 or none above; use "
                f"--map logistic for scores of any range"
            )
        return q
    if q.min() == q.max():
        raise DataError(f"{table.source}: column {args.weight!r} has one value only; leave it out")
    return (q - q.min()) / (q.max() - q.min())


def _grid(args: argparse.Namespace, table: Table, n_features: int) -> dict[str, list[Any]]:
    factors = args.class_weights or ([1.0] if args.weight else [1.0, 2.0, 4.0])
    if min(factors) <= 0 or min(args.gamma) <= 0:
        raise UserError("--class-weights and --gamma take numbers above 0")
    if max(map(abs, args.log2_c)) > 40:
        raise UserError("--log2-C takes powers of two between -40 and 40")
    minority = minority_label(table.labels)
    other = next(label for label in np.unique(table.labels).tolist() if label != minority)
    grid: dict[str, list[Any]] = {
        "C": [2.0**power for power in args.log2_c],
        "gamma": [factor / n_features for factor in args.gamma],
        "class_weight": [{minority: factor, other: 1.0} for factor in factors],
    }
    if args.weight and args.map == "logistic":
        grid |= {
            "weight_map": [logistic_weights],
            "slope": list(args.slope),
            "middle": list(args.middle),
        }
    return grid


def _choose(
    args: argparse.Namespace,
    X: Any,
    y: NDArray[Any],
    scores: NDArray[np.float64] | None,
    grid: dict[str, list[Any]],
    console: Console,
) -> tuple[WeightedSVC, SpanSearch, int]:
    """The chosen model on all rows; settings are compared on a sample of large files."""
    rows = np.arange(len(y))
    # What is left out must hold both classes, as train_test_split wants it.
    if len(y) > args.max_rows + 1:
        console.note(f"settings are compared on {args.max_rows} of {len(y)} rows (--max-rows)")
        seed = int_seed(args.seed, "tune", "rows")
        rows = np.sort(
            train_test_split(rows, train_size=args.max_rows, stratify=y, random_state=seed)[0]
        )
    if len(np.unique(y[rows])) < 2:
        raise UserError(
            f"the {len(rows)} rows drawn for choosing are of one class; give a larger --max-rows"
        )
    if args.criterion == "cv":
        # Weights of 0 take their rows out; the logistic map gives none.
        used = slice(None) if scores is None or args.map == "logistic" else scores[rows] > 0
        check_folds(args.cv, y[rows][used], "--cv ")
    search = SpanSearch(
        WeightedSVC(),
        grid,
        criterion=args.criterion,
        cv=args.cv,
        verbose=int(console.shows_progress),
    )
    search.fit(X[rows], y[rows], None if scores is None else scores[rows])
    if len(rows) == len(y):
        return search.best_estimator_, search, len(rows)
    return _refit(search.best_params_, X, y, scores), search, len(rows)


def _refit(
    params: dict[str, Any], X: Any, y: NDArray[Any], scores: NDArray[np.float64] | None
) -> WeightedSVC:
    plain = {name: params[name] for name in ("C", "gamma", "class_weight")}
    weights = scores
    if scores is not None and "weight_map" in params:
        weights = params["weight_map"](scores, params["slope"], params["middle"])
    return WeightedSVC(**plain).fit(X, y, weights)


def _all_settings(search: SpanSearch, n_features: int, args: argparse.Namespace) -> pd.DataFrame:
    """Every setting tried in the units of the command line, best first."""
    found = search.results_
    minority = [_factor(weights) for weights in found["param_class_weight"]]
    table = pd.DataFrame(
        {
            "log2 C": np.log2(found["param_C"].to_numpy(dtype=float)),
            "gamma (1/d)": found["param_gamma"].to_numpy(dtype=float) * n_features,
            "class weight": minority,
        }
    )
    if "param_slope" in found:
        table["slope A"] = found["param_slope"].to_numpy(dtype=float)
        table["middle B"] = found["param_middle"].to_numpy(dtype=float)
    table["estimate"] = found[args.criterion].to_numpy(dtype=float)
    table["support vectors"] = found["n_support"].to_numpy()
    table["chosen"] = np.arange(len(found)) == search.best_index_
    table["set aside"] = found["set_aside"].to_numpy(dtype=bool)
    order = np.lexsort((~table["chosen"], found["rank"].to_numpy()))
    return table.iloc[order].reset_index(drop=True)


def _factor(weights: dict[Any, float]) -> float:
    # The first label of the dictionary is the rarer class (see _grid).
    return float(next(iter(weights.values())))


def _values(
    args: argparse.Namespace,
    table: Table,
    X: Any,
    classes: NDArray[Any],
    search: SpanSearch,
    model: WeightedSVC,
    seconds: float,
) -> dict[str, Any]:
    best = _all_settings(search, X.shape[1], args)
    columns = [name for name in best.columns if name not in ("chosen", "set aside")]
    return {
        "file": table.source,
        "rows": X.shape[0],
        "features": X.shape[1],
        "classes": classes.tolist(),
        "criterion": args.criterion,
        "weighted_class": next(iter(search.best_params_["class_weight"])),
        "chosen": best[columns[:-2]].iloc[0].to_dict(),
        "estimate": search.best_score_,
        "ties": int((search.results_["rank"] == search.results_["rank"].min()).sum()),
        "settings": len(best),
        "set_aside": search.n_set_aside_ - search.n_unsolved_,
        "unsolved": search.n_unsolved_,
        "training_error": float(np.mean(model.predict(X) != table.labels)),
        "best": best[columns].head(args.top).to_dict("records"),
        "seconds": seconds,
    }


def _text(values: dict[str, Any], args: argparse.Namespace, data: str) -> str:
    best = values["best"]
    number = {name: [_short(row[name]) for row in best] for name in best[0]}
    rows = [list(row) for row in zip(*number.values(), strict=True)]
    lines = [
        f"{values['file']}: {values['rows']} rows, {values['features']} features {data}",
        "",
        f"Best of {values['settings']} settings by the {_ESTIMATES[values['criterion']]}, the "
        f"first is chosen ({values['seconds']:.1f} s):",
        rows_text(list(best[0]), rows),
        f"class weight: of label {values['weighted_class']}, the rarer; the other has 1",
        *_remarks(values),
        "",
        f"{_ESTIMATES[values['criterion']]}: {values['estimate']:.4f}",
        f"error on the training rows: {values['training_error']:.4f}",
    ]
    if "test_error" in values:
        where = f"error on the {values['test_rows']} rows of {args.test}"
        lines.append(f"{where}: {values['test_error']:.4f}")
    if args.table:
        lines.append(f"all settings written to {args.table}")
    if args.out:
        lines.append(f"model written to {args.out}")
    return "\n".join(lines)


def _remarks(values: dict[str, Any]) -> list[str]:
    remarks = []
    if values["ties"] > 1:
        remarks.append(
            f"{values['ties']} settings share the lowest estimate; the one with the largest "
            f"xi-alpha value is taken"
        )
    if values["set_aside"]:
        remarks.append(
            f"{values['set_aside']} settings have no support vector inside its bounds and are "
            f"left out"
        )
    if values["unsolved"]:
        remarks.append(
            f"{values['unsolved']} settings were not solved to the tolerance and are left out"
        )
    return remarks


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:g}" if value == round(value, 2) else f"{value:.4f}"
    return value
