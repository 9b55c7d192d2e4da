"""Claims of paper 1's theory, checked by its exact formulas."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from marginlab.theory import eta_hoeffding, eta_worst, size_balanced

__all__ = ["THEORY_RULES", "Finding", "grade"]


class Finding(NamedTuple):
    """What we saw: in a phrase, in figures, and what follows for the claim."""

    ours: str
    evidence: str
    verdict: str


def grade(full: bool, part: bool) -> str:
    """The verdict "holds", "partly" or "fails"."""
    return "holds" if full else "partly" if part else "fails"


_P = np.arange(1, 100) / 100
_RHO = np.arange(1, 10) / 10
_R = np.arange(4, 61)


def _minimax() -> Finding:
    checks = [
        bool((values := eta_worst(s, r, _P, rho)).min() >= values[49] * (1 - 1e-12))
        for rho in _RHO
        for r in _R
        for s in (np.ceil(size_balanced(r)), 2 * np.ceil(size_balanced(r)))
    ]
    return Finding(
        "the exact worst case too is least at p = 1/2",
        f"{sum(checks)} of {len(checks)} pairs of rho in .1 to .9 and r in 4 to 60, two sizes each",
        grade(all(checks), sum(checks) > 0.9 * len(checks)),
    )


def _small() -> Finding:
    largest = [int(eta_worst(r, r, _P, rho).argmax()) == 49 for rho in _RHO for r in _R]
    return Finding(
        "with s = r the exact worst case is largest at p = 1/2",
        f"in {sum(largest)} of {len(largest)} pairs of rho and r",
        grade(any(largest), False),
    )


def _hoeffding() -> Finding:
    broken, broken_doubled, total, example = 0, 0, 0, ""
    for rho in _RHO:
        for r in range(4, 31, 2):
            for s in range(r, 4 * r):
                form, exact = eta_hoeffding(s, r, 0.5, rho), eta_worst(s, r, 0.5, rho)
                total += int(np.isfinite(form))
                broken_doubled += int(exact > 2 * form * (1 + 1e-12))
                if exact > form * (1 + 1e-12):
                    broken += 1
                    example = (
                        example or f"s = {s}, r = {r}, rho = {rho:.1f}: {exact:.4f} > {form:.4f}"
                    )
    return Finding(
        "not with the printed factor 1/2"
        + ("; without it, as Hoeffding's inequality has it, it is one" * (not broken_doubled)),
        f"exceeded in {broken} of {total} cases at p = 1/2"
        + (f", such as {example}" if broken else ""),
        grade(broken == 0, False),
    )


#: Claim to the function that judges it; these need no measured rows.
THEORY_RULES: dict[str, Callable[[], Finding]] = {
    "balanced_sampling_is_minimax": _minimax,
    "small_samples_may_maximise": _small,
    "hoeffding_form_is_a_bound": _hoeffding,
}
