"""``correct --test`` and ``correct --simulate``: does SubSVMs help on this data?"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from marginlab.commands.console import Console, rows_text
from marginlab.commands.evaluate import (
    GIVEN,
    METHODS,
    Scores,
    compare_methods,
    paired_error,
    verdict,
)
from marginlab.errors import DataError
from marginlab.measures import accuracy, bac
from marginlab.noise import flip_labels
from marginlab.seeds import int_seed, rng
from marginlab.subsvms import SubSVMs

__all__ = ["on_trusted_labels", "simulate"]

_TEST_SHARE = 0.3
_MOST_TEST_ROWS = 5000
_LABEL_MEASURES = ("right_before", "right_after", "bac_before", "bac_after")
_SHORT = dict(
    zip(METHODS, ("SVM", "balanced SVM", "SubSVMs' vote", "SVM, corrected labels"), strict=True)
)


def on_trusted_labels(
    X: Any,
    y: NDArray[Any],
    X_test: Any,
    y_test: NDArray[Any],
    args: argparse.Namespace,
    subsvms: SubSVMs,
    console: Console,
) -> tuple[dict[str, Any], str]:
    """Compare the methods on rows with trusted labels.

    Parameters
    ----------
    X, y, X_test, y_test
        Labels -1 and +1 (the rarer class).
    args : Namespace
        ``max_rows`` and ``seed``.
    subsvms : SubSVMs
        Unfitted, with the user's parameters.
    console : Console

    Returns
    -------
    dict, str
        The result for JSON, and as text.
    """
    if len(np.unique(y_test)) < 2:
        raise DataError(f"{args.test}: all rows have the same label; give trusted rows of both")
    rows = _some_rows(y, args.max_rows, args.seed, console)
    scores = compare_methods(X[rows], y[rows], X_test, y_test, subsvms, args.seed)
    given = max(GIVEN, key=lambda method: scores.bac[method])
    answers = {}
    for method in METHODS[2:]:
        error = paired_error(y_test, scores.hits[method], scores.hits[given])
        gain = scores.bac[method] - scores.bac[given]
        answers[method] = {"gain": gain, "error": error, "verdict": verdict(gain, error)}
    values = {
        "rows": len(rows),
        "test_rows": len(y_test),
        "bac": scores.bac,
        "accuracy": scores.accuracy,
        "against": given,
        "answers": answers,
    }
    table = [[method, scores.bac[method], scores.accuracy[method]] for method in METHODS]
    text = [
        f"Does SubSVMs help? Scores on the {len(y_test)} trusted rows of {args.test}:",
        rows_text(("method", "BAC", "accuracy"), table),
        *(_answer(method, answer, given) for method, answer in answers.items()),
    ]
    return values, "\n".join(text)


def _answer(method: str, answer: dict[str, Any], given: str) -> str:
    return (
        f"{method}: {answer['verdict']} ({answer['gain']:+.3f} BAC, standard error "
        f"{answer['error']:.3f}, against: {given})"
    )


def _some_rows(y: NDArray[Any], most: int, seed: int, console: Console) -> NDArray[np.intp]:
    # A stratified sample, so that the rare class stays.
    if len(y) <= most:
        return np.arange(len(y))
    console.note(f"the check uses {most} of {len(y)} rows, drawn at random (--max-rows)")
    kept, _ = train_test_split(
        np.arange(len(y)), train_size=most, stratify=y, random_state=int_seed(seed, "check", "rows")
    )
    return np.sort(kept)


def simulate(
    X: Any, y: NDArray[Any], args: argparse.Namespace, subsvms: SubSVMs, console: Console
) -> tuple[dict[str, Any], str]:
    """Take the labels for the truth, corrupt a training part, test on the rest.

    Parameters
    ----------
    X, y
        Labels -1 and +1 (the rarer class).
    args : Namespace
        ``rho``, ``alpha``, ``repeats``, ``max_rows`` and ``seed``.
    subsvms : SubSVMs
        Unfitted, with the user's parameters.
    console : Console

    Returns
    -------
    dict, str
        The result for JSON, and as text.
    """
    if min((y == 1).sum(), (y == -1).sum()) < 10:
        raise DataError(
            f"{args.file}: the rarer class has {int((y == 1).sum())} rows; a simulation needs "
            f"at least 10 of each class"
        )
    settings: list[float | None] = [None, *args.alpha]
    jobs = [(alpha, repeat) for alpha in settings for repeat in range(args.repeats)]
    found: dict[float | None, list[dict[str, Any]]] = {alpha: [] for alpha in settings}
    if len(y) * (1 - _TEST_SHARE) > args.max_rows + 1:
        console.note(f"training parts are cut to {args.max_rows} rows (--max-rows)")
    for alpha, repeat in console.progress(jobs, "simulations"):
        found[alpha].append(_one(X, y, alpha, repeat, args, subsvms))
    scenarios = [_scenario(alpha, found[alpha]) for alpha in settings]
    values = {"rho": args.rho, "repeats": args.repeats, "scenarios": scenarios}
    return values, _simulation_text(values)


def _one(
    X: Any,
    y: NDArray[Any],
    alpha: float | None,
    repeat: int,
    args: argparse.Namespace,
    subsvms: SubSVMs,
) -> dict[str, Any]:
    # The same split for every alpha: scenarios are compared on the same rows.
    split = int_seed(args.seed, "simulate", "split", repeat)
    train, test = train_test_split(
        np.arange(len(y)), test_size=_TEST_SHARE, stratify=y, random_state=split
    )
    if len(train) > args.max_rows:
        train = train_test_split(
            train, train_size=args.max_rows, stratify=y[train], random_state=split
        )[0]
    test = test[:_MOST_TEST_ROWS]
    noisy = y[train]
    if alpha is not None:
        noise = rng(args.seed, "simulate", "corrupt", alpha, repeat)
        noisy = flip_labels(noisy, args.rho, alpha, noise)
    scores = compare_methods(X[train], noisy, X[test], y[test], subsvms, args.seed)
    return {"scores": scores, "labels": _recovery(y[train], noisy, scores)}


def _recovery(clean: NDArray[Any], noisy: NDArray[Any], scores: Scores) -> dict[str, float]:
    return {
        "right_before": accuracy(clean, noisy),
        "right_after": accuracy(clean, scores.corrected),
        "bac_before": bac(clean, noisy),
        "bac_after": bac(clean, scores.corrected),
    }


def _scenario(alpha: float | None, found: list[dict[str, Any]]) -> dict[str, Any]:
    table = np.array([[one["scores"].bac[method] for method in METHODS] for one in found])
    means = table.mean(axis=0)
    given = int(np.argmax(means[: len(GIVEN)]))
    answers, gains = {}, {}
    for column, method in enumerate(METHODS[2:], start=len(GIVEN)):
        each = table[:, column] - table[:, given]
        error = float(each.std(ddof=1) / np.sqrt(len(each)))
        gains[method] = float(each.mean())
        answers[method] = {
            "gain": gains[method],
            "error": error,
            "verdict": verdict(gains[method], error),
        }
    labels = {
        key: float(np.mean([one["labels"][key] for one in found])) for key in found[0]["labels"]
    }
    return {
        "alpha": alpha,
        "best": max(METHODS[2:], key=lambda method: gains[method]),
        "bac": dict(zip(METHODS, means.tolist(), strict=True)),
        "against": METHODS[given],
        "labels": labels,
        "answers": answers,
    }


def _simulation_text(values: dict[str, Any]) -> str:
    scenarios = values["scenarios"]
    scores, labels, answers = [], [], []
    for one in scenarios:
        name = _name(one["alpha"])
        scores.append([name, *(one["bac"][method] for method in METHODS)])
        labels.append([name, *(one["labels"][key] for key in _LABEL_MEASURES)])
        method = one["best"]
        answer = one["answers"][method]
        gain = f"{answer['gain']:+.3f} +- {answer['error']:.3f}"
        answers.append([name, answer["verdict"], gain, _SHORT[method], _SHORT[one["against"]]])
    lines = [
        f"Does SubSVMs help? Your labels taken for the truth, then flipped on purpose "
        f"({values['rho']:g} x the size of the rarer class).",
        f"Balanced accuracy on held-out rows, mean of {values['repeats']} repeats:",
        rows_text(("rows flipped", *_SHORT.values()), scores),
        "",
        "Training labels that agree with yours, before and after correction:",
        rows_text(("rows flipped", "share before", "after", "BAC before", "after"), labels),
        "",
        "Answer (gain in balanced accuracy +- standard error; clear beyond two of them and .01):",
        rows_text(("rows flipped", "SubSVMs", "gain", "best with", "against"), answers),
        "",
        _in_short(scenarios),
    ]
    return "\n".join(lines)


def _in_short(scenarios: list[dict[str, Any]]) -> str:
    found = [one["answers"][one["best"]]["verdict"] for one in scenarios]
    helps, hurts = found.count("helps"), found.count("hurts")
    advice = {
        (True, False): "worth using here if such mistakes are likely",
        (False, True): "leave the labels as they are and fit a class-balanced SVM",
        (True, True): "it depends on the kind of mistakes; trusted labels (--test) would tell",
        (False, False): "it makes no clear difference on data like yours",
    }[helps > 0, hurts > 0]
    return (
        f"In short: SubSVMs helps in {helps} of {len(found)} cases and hurts in {hurts}: {advice}."
    )


def _name(alpha: float | None) -> str:
    if alpha is None:
        return "none (as given)"
    what = {0.0: "rarer class", 1.0: "larger class"}
    return f"alpha {alpha:g}: {what.get(alpha, 'both classes')}"
