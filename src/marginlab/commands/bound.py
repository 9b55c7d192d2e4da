"""``marginlab bound``: a minimax risk classifier and its worst-case error probability."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from marginlab.commands.console import Console, rows_text, wrap
from marginlab.commands.idle import is_given
from marginlab.commands.loading import (
    check_classes,
    check_inputs,
    check_outputs,
    load,
    load_second,
    row_counts,
    scale_features,
)
from marginlab.errors import UserError
from marginlab.modelfile import mrc_model, save_model
from marginlab.mrc.estimator import MinimaxRiskClassifier

__all__ = ["run"]

_MANY_FEATURES = 100
_METHODS = {
    "ccg": "constraint generation",
    "lp": "the whole linear program",
    "compact": "the compact linear program",
    "subgradient": "subgradient descent",
}


def run(args: argparse.Namespace) -> int:
    """Run the command; see ``marginlab bound --help``."""
    check_inputs(args.file, args.test)
    check_outputs((args.file, args.test), {"--save": args.save}, endings={"--save": "model"})
    console = Console(args)
    table = load(args)
    classes = check_classes(table, most=None)
    X, scaler = scale_features(table, args.scale, console)
    model = _estimator(args, X.shape[1])
    start = time.perf_counter()
    with console.busy(f"fitting on {X.shape[0]} rows"):
        model.fit(X, table.labels)
    seconds = time.perf_counter() - start
    values: dict[str, Any] = {
        "file": table.source,
        "rows": X.shape[0],
        "features": X.shape[1],
        "classes": classes,
        "mapping": model.features,
        "method": model.method_,
        "solver": model.solver_,
        "lambda_0": model.lambda_0,
        "minimax_risk": model.minimax_risk_,
        "lower_bound": model.lower_bound_,
        "worst_case_error": model.upper_bound_,
        "training_error": float(np.mean(model.predict(X) != table.labels)),
        "rounds": len(model.history_),
        "seconds": seconds,
    }
    if args.test is not None:
        second = load_second(args.test, args, table, classes)
        wrong = model.predict(scaler.apply(second.X)) != second.labels
        values |= {"test_rows": len(wrong), "test_error": float(np.mean(wrong))}
    if args.save:
        save_model(mrc_model(model, table.layout, scaler, _facts(values)), args.save)
    counts = row_counts(table.labels, classes.tolist())
    console.result(values, _text(values, args, f"({scaler.describe()}), labels {counts}"))
    return 0


def _estimator(args: argparse.Namespace, n_features: int) -> MinimaxRiskClassifier:
    mapping = args.mapping
    if mapping == "auto":
        mapping = "fourier" if n_features < _MANY_FEATURES else "linear"
        if mapping == "linear" and is_given(args, "--n-components"):
            raise UserError(
                f"--n-components has no effect with linear features, which --mapping auto takes "
                f"for {n_features} features; add --mapping fourier or leave it out"
            )
    return MinimaxRiskClassifier(
        features=mapping,
        n_components=args.n_components,
        lambda_0=args.lambda_0,
        method=args.method,
        solver=args.solver,
        eps_1=args.eps_1,
        time_limit=args.time_limit,
        random_state=args.seed,
    )


def _facts(values: dict[str, Any]) -> dict[str, Any]:
    keep = ("mapping", "lambda_0", "minimax_risk", "lower_bound", "worst_case_error")
    return {key: values[key] for key in (*keep, "training_error", "rows")}


def _text(values: dict[str, Any], args: argparse.Namespace, data: str) -> str:
    mapping = {"linear": "linear features", "fourier": "random Fourier features"}
    rows = [
        ("worst-case error of this classifier (upper bound)", values["worst_case_error"]),
        ("least worst-case error of any rule (lower bound)", values["lower_bound"]),
        ("error on the training rows", values["training_error"]),
    ]
    if "test_error" in values:
        rows.append(
            (f"error on the {values['test_rows']} rows of {args.test}", values["test_error"])
        )
    solver = "" if values["method"] == "subgradient" else f" by {values['solver']}"
    lines = [
        f"{values['file']}: {values['rows']} rows, {values['features']} features {data}",
        "",
        f"Minimax risk classifier on {mapping[values['mapping']]} "
        f"({_METHODS[values['method']]}{solver}, {values['seconds']:.1f} s):",
        rows_text(("probability of error", ""), rows),
        "",
        wrap(
            f"The upper bound holds for every distribution of these rows whose feature means lie "
            f"within {values['lambda_0']:g} standard deviations of the sample's. Whether the true "
            f"one does depends on --lambda-0 and on the number of rows; it is no promise for "
            f"other data."
        ),
    ]
    if args.save:
        lines += ["", f"classifier written to {args.save}"]
    return "\n".join(lines)
