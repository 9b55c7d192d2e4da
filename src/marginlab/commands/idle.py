"""Options that do nothing beside others: told in a sentence instead of passed over."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

from marginlab.errors import UserError

__all__ = ["Store", "check_idle", "is_given"]


class Store(argparse.Action):
    """Stores a value and that the option was given, which its default would not tell."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Called by argparse."""
        setattr(namespace, self.dest, values)
        namespace.given = {*namespace.given, *self.option_strings[:1]}


class _Idle(NamedTuple):
    options: tuple[str, ...]
    when: Callable[[argparse.Namespace], bool]
    says: str


_LACKS = "without {}; add that or leave {{option}} out"
_WITH = "with {}; leave {{option}} out"

#: By command: options, the case in which they do nothing, and what to do then.
_IDLE: dict[str, tuple[_Idle, ...]] = {
    "correct": (
        _Idle(
            ("--rho", "--alpha", "--repeats"), lambda a: not a.simulate, _LACKS.format("--simulate")
        ),
        _Idle(
            ("--max-rows",),
            lambda a: not (a.simulate or a.test),
            _LACKS.format("--simulate or --test"),
        ),
        _Idle(
            ("--out", "--votes", "--share", "--show"),
            lambda a: a.simulate,
            _WITH.format("--simulate, which corrects nothing for you"),
        ),
        _Idle(("--share",), lambda a: not a.out, _LACKS.format("--out")),
    ),
    "tune": (
        _Idle(("--cv",), lambda a: a.criterion != "cv", _LACKS.format("--criterion cv")),
        _Idle(("--map", "--slope", "--middle"), lambda a: not a.weight, _LACKS.format("--weight")),
        _Idle(("--slope", "--middle"), lambda a: a.map == "none", _WITH.format("--map none")),
    ),
    "bound": (
        _Idle(
            ("--n-components",), lambda a: a.mapping == "linear", _WITH.format("--mapping linear")
        ),
        _Idle(
            ("--solver", "--eps-1"),
            lambda a: a.method == "subgradient",
            _WITH.format("--method subgradient"),
        ),
        _Idle(("--eps-1",), lambda a: a.method == "lp", _WITH.format("--method lp")),
        _Idle(
            ("--eps-1",),
            lambda a: a.method == "compact" and a.solver != "auto",
            _WITH.format("--method compact --solver {solver}"),
        ),
    ),
    "compare": (_Idle(("--brief",), lambda a: a.json, _WITH.format("--json")),),
}


def is_given(args: argparse.Namespace, option: str) -> bool:
    """Whether an option stands on the command line, be it with its default value."""
    switch = getattr(args, option.lstrip("-").replace("-", "_"), None) is True
    return switch or option in args.given


def check_idle(args: argparse.Namespace) -> None:
    """Refuse options that would do nothing on this command line.

    Raises
    ------
    UserError
        With the option, the one it needs or clashes with, and what to do.
    """
    for rule in _IDLE.get(args.module, ()):
        for option in rule.options:
            if is_given(args, option) and rule.when(args):
                says = rule.says.format(option=option, **vars(args))
                raise UserError(f"{option} has no effect {says}")
