"""``correct --test`` and ``correct --simulate``: does SubSVMs help on this data?"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from marginlab.commands.console import Console, rows_text, wrap
from marginlab.commands.evaluate import (
    GIVEN,
    METHODS,
    VOTE,
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
_RULE = (
    "Answer (gain in balanced accuracy +- standard error; it counts beyond two of them and .01):"
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
    answers = {}
    for given in GIVEN:
        error = paired_error(y_test, scores.hits[VOTE], scores.hits[given])
        answers[given] = _answer(scores.bac[VOTE] - scores.bac[given], error)
    values = {
        "rows": len(rows),
        "test_rows": len(y_test),
        "bac": scores.bac,
        "accuracy": scores.accuracy,
        "answers": answers,
    }
    table = [[method, scores.bac[method], scores.accuracy[method]] for method in METHODS]
    text = [
        f"Does SubSVMs help? Scores on the {len(y_test)} trusted rows of {args.test}:",
        rows_text(("method", "BAC", "accuracy"), table),
        "",
        _RULE,
        rows_text(("SubSVMs' vote against", "gain", ""), _answer_rows(answers)),
        "",
        _in_short([answers]),
    ]
    return values, "\n".join(text)


def _answer(gain: float, error: float) -> dict[str, Any]:
    return {"gain": gain, "error": error, "verdict": verdict(gain, error)}


def _answer_rows(answers: dict[str, dict[str, Any]]) -> list[list[str]]:
    return [[_SHORT[given], _gain(answer), answer["verdict"]] for given, answer in answers.items()]


def _gain(answer: dict[str, Any]) -> str:
    return f"{answer['gain']:+.3f} +- {answer['error']:.3f}"


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
    # What is left out must hold both classes, as train_test_split wants it.
    if len(train) > args.max_rows + 1:
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
    vote = METHODS.index(VOTE)
    answers = {}
    for column, given in enumerate(GIVEN):
        gains = table[:, vote] - table[:, column]
        error = float(gains.std(ddof=1) / np.sqrt(len(gains)))
        answers[given] = _answer(float(gains.mean()), error)
    labels = {
        key: float(np.mean([one["labels"][key] for one in found])) for key in found[0]["labels"]
    }
    return {
        "alpha": alpha,
        "bac": dict(zip(METHODS, means.tolist(), strict=True)),
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
        for given, answer in one["answers"].items():
            answers.append([name, _SHORT[given], _gain(answer), answer["verdict"]])
    lines = [
        f"Does SubSVMs help? Your labels taken for the truth, then flipped on purpose "
        f"({values['rho']:g} x the size of the rarer class).",
        f"Balanced accuracy on held-out rows, mean of {values['repeats']} repeats:",
        rows_text(("rows flipped", *_SHORT.values()), scores),
        "",
        "Training labels that agree with yours, before and after correction:",
        rows_text(("rows flipped", "share before", "after", "BAC before", "after"), labels),
        "",
        _RULE,
        rows_text(("rows flipped", "vote against", "gain", ""), answers),
        "",
        _in_short([one["answers"] for one in scenarios]),
    ]
    return "\n".join(lines)


def _in_short(found: list[dict[str, dict[str, Any]]]) -> str:
    parts = []
    for given in GIVEN:
        verdicts = [answers[given]["verdict"] for answers in found]
        helps, hurts = verdicts.count("helps"), verdicts.count("hurts")
        if len(verdicts) == 1:
            parts.append(f"against the {_SHORT[given]} {verdicts[0]}")
        else:
            counts = f"helps in {helps} of {len(verdicts)} cases, hurts in {hurts}"
            parts.append(f"against the {_SHORT[given]} {counts}")
    return wrap(f"In short: SubSVMs {'; '.join(parts)}. {_advice(found)}")


def _advice(found: list[dict[str, dict[str, Any]]]) -> str:
    plain = [answers[GIVEN[0]]["verdict"] for answers in found]
    balanced = [answers[GIVEN[1]]["verdict"] for answers in found]
    if "helps" in balanced and "hurts" not in balanced:
        return "Worth using here if such mistakes are likely."
    if "helps" in balanced:
        return "It depends on the kind of mistakes; trusted labels (--test) would tell."
    if "helps" in plain:
        does = "more" if "hurts" in balanced else "as much"
        return f"An SVM with weighted classes does {does} here."
    if "hurts" in plain or "hurts" in balanced:
        return "Leave the labels as they are."
    return "It makes no clear difference on data like yours."


def _name(alpha: float | None) -> str:
    if alpha is None:
        return "none (as given)"
    what = {0.0: "rarer class", 1.0: "larger class"}
    return f"alpha {alpha:g}: {what.get(alpha, 'both classes')}"
