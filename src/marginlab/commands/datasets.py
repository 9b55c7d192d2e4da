"""``marginlab datasets``: list, describe, fetch and verify the papers' data sets."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from marginlab.commands.console import Console, rows_text
from marginlab.datasets.fetch import Sources, can_be_had, fetch_dataset
from marginlab.datasets.registry import DatasetSpec, load_registry
from marginlab.errors import MarginlabError, UserError

__all__ = ["run"]

_LOCAL = {"mirror", "cache", "generated", "system package"}


def run(args: argparse.Namespace) -> int:
    """Run the command; see ``marginlab datasets --help``."""
    actions: dict[str, Callable[[argparse.Namespace, Console], int]] = {
        "list": _list,
        "info": _info,
        "fetch": _fetch,
        "verify": _verify,
    }
    return actions[args.action](args, Console(args))


def _list(args: argparse.Namespace, console: Console) -> int:
    registry = load_registry()
    names = args.names or list(registry.datasets)
    entries = []
    for name in names:
        spec = registry.dataset(name)
        reachable, how = can_be_had(name)
        entries.append(
            {
                "name": name,
                "papers": list(spec.papers),
                "features": spec.n_features,
                "classes": spec.n_classes,
                "available": reachable,
                "source": how if reachable else "no",
                "title": spec.title,
            }
        )
    head = ("name", "papers", "d", "classes", "source")
    rows = [
        [e["name"], ", ".join(e["papers"]), e["features"] or "-", e["classes"] or "-", e["source"]]
        for e in entries
    ]
    count = sum(entry["available"] for entry in entries)
    text = [
        rows_text(head, rows, indent=""),
        "",
        f"{count} of {len(entries)} can be had here; marginlab datasets info NAME says more",
    ]
    console.result({"datasets": entries}, "\n".join(text))
    return 0


def _info(args: argparse.Namespace, console: Console) -> int:
    if not args.names:
        raise UserError("name a data set, as in: marginlab datasets info a1a")
    registry = load_registry()
    found = [_facts(registry.dataset(name)) for name in args.names]
    blocks = []
    for facts in found:
        width = max(map(len, facts))
        blocks.append("\n".join(f"{key.ljust(width)}  {_words(v)}" for key, v in facts.items()))
    console.result({"datasets": found}, "\n\n".join(blocks))
    return 0


def _facts(spec: DatasetSpec) -> dict[str, Any]:
    reachable, how = can_be_had(spec.name)
    facts = {
        "name": spec.name,
        "title": spec.title,
        "papers": list(spec.papers),
        "features": spec.n_features,
        "classes": {name: list(values) for name, values in spec.classes.items()},
        "rows by class": {part: list(counts) for part, counts in spec.counts.items()},
        "preparation": dict(spec.preprocessing),
        "split": dict(spec.split or {}),
        "files": load_registry().inputs(spec.name),
        "licence": spec.licence,
        "citation": spec.citation,
        "address": spec.address,
        "note": spec.note,
        "source here": how if reachable else f"cannot be had: {how}",
    }
    return {key: value for key, value in facts.items() if value not in ("", None, {}, [])}


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_words(inner)}" for key, inner in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _fetch(args: argparse.Namespace, console: Console) -> int:
    if not args.names:
        raise UserError("name what to fetch, as in: marginlab datasets fetch a1a splice")
    registry = load_registry()
    for name in args.names:
        registry.dataset(name)  # a slip in the last name is told before the first fetch

    def fetch(name: str) -> dict[str, Any]:
        paths = fetch_dataset(name, Sources.find(), registry)
        return {"files": {file: str(path) for file, path in paths.items()}}

    return _each(args.names, fetch, "fetched", console)


def _verify(args: argparse.Namespace, console: Console) -> int:
    from marginlab.datasets.prepare import verify

    registry = load_registry()
    names = args.names or [name for name in registry.datasets if _is_local(name)]
    for name in names:
        registry.dataset(name)
        if not _is_local(name):
            raise UserError(f"data set {name!r} is not here yet: marginlab datasets fetch {name}")
    if not names:
        console.note("nothing is here to verify; marginlab datasets fetch NAME gets a data set")
    return _each(names, verify, "verified", console)


def _is_local(name: str) -> bool:
    reachable, how = can_be_had(name)
    return reachable and set(how.split(", ")) <= _LOCAL


def _each(
    names: list[str], action: Callable[[str], dict[str, Any]], done: str, console: Console
) -> int:
    # One data set that fails does not keep the others from being tried.
    found: list[dict[str, Any]] = []
    lines = []
    for name in console.progress(names, "data sets"):
        try:
            facts = action(name)
            found.append({"name": name, "ok": True} | facts)
            lines.append(f"ok       {name}: {_summary(facts)}")
        except MarginlabError as error:
            found.append({"name": name, "ok": False, "problem": str(error)})
            lines.append(f"problem  {name}: {error}")
    failed = sum(not entry["ok"] for entry in found)
    lines.append(f"{len(found) - failed} of {len(found)} data sets {done}")
    console.result({"datasets": found, "failed": failed}, "\n".join(lines))
    return 1 if failed else 0


def _summary(facts: dict[str, Any]) -> str:
    if "n_train" in facts:
        return (
            f"{facts['n_train']} training and {facts['n_test']} test rows, "
            f"{facts['n_features']} features, classes {', '.join(map(str, facts['classes']))}"
        )
    return ", ".join(facts["files"].values()) or "generated, no file is needed"
