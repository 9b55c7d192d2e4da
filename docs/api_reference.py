"""Renders docs/api.md: signatures and docstrings of every public name."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from typing import Any

__all__ = ["MODULES", "headings", "render"]

#: Modules in reading order, and which of their names are described (None: all public).
MODULES: dict[str, tuple[str, ...] | None] = {
    "marginlab": ("SubSVMs", "WeightedSVC", "SpanSearch", "MinimaxRiskClassifier"),
    "marginlab.noise": None,
    "marginlab.measures": None,
    "marginlab.theory": None,
    "marginlab.datasets": (
        "load_dataset",
        "dataset_names",
        "can_be_had",
        "fetch_dataset",
        "verify",
        "Dataset",
        "Sources",
        "read_libsvm",
        "write_libsvm",
    ),
    "marginlab.tabular": ("read_table", "replace_labels", "Table", "Scaler", "Layout"),
    "marginlab.modelfile": ("save_model", "load_model", "SavedModel", "svm_model", "mrc_model"),
    "marginlab.errors": None,
}
_SECTIONS = (
    *("Parameters", "Attributes", "Returns", "Yields", "Raises"),
    *("Notes", "References", "Examples", "See Also"),
)
_FIELDS = {"Parameters", "Attributes", "Returns", "Yields", "Raises"}


def render() -> str:
    """The whole page as Markdown."""
    lines = [
        "# API reference",
        "",
        "Made from the docstrings by `make docs`; mend the docstring, not this file.",
        "Estimators follow scikit-learn: they work in pipelines and searches.",
        "",
    ]
    for module, name, thing in _public():
        if name == "":
            lines += [f"## {module}", "", _first(thing.__doc__), ""]
        else:
            lines += _described(name, thing)
    return "\n".join(lines).rstrip() + "\n"


def headings() -> list[str]:
    """A heading with the signature of every public name, as the page has them."""
    return [f"### {_signature(name, thing)}" for _, name, thing in _public() if name]


def _public() -> list[tuple[str, str, Any]]:
    found: list[tuple[str, str, Any]] = []
    for module_name, names in MODULES.items():
        module = import_module(module_name)
        found.append((module_name, "", module))
        for name in names if names is not None else module.__all__:
            thing = getattr(module, name)
            if callable(thing):
                found.append((module_name, name, thing))
    return found


def _described(name: str, thing: Any) -> list[str]:
    lines = [f"### {_signature(name, thing)}", "", *_docstring(inspect.getdoc(thing) or "")]
    if inspect.isclass(thing):
        for member, function in vars(thing).items():
            if member.startswith("_") or not inspect.isfunction(_plain(function)):
                continue
            method = _plain(function)
            lines += [f"#### {_signature(f'{name}.{member}', method)}", ""]
            lines += _docstring(inspect.getdoc(method) or "")
    return lines


def _plain(function: Any) -> Any:
    if isinstance(function, property):
        return None
    return function.__func__ if isinstance(function, classmethod | staticmethod) else function


def _signature(name: str, thing: Any) -> str:
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return f"`{name}`"
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return f"`{name}`"
    parts = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name not in ("self", "cls")
    ]
    plain = signature.replace(parameters=parts, return_annotation=inspect.Signature.empty)
    # A default that is an object prints its address, which changes.
    return f"`{name}{re.sub(r'<[^<>]* at 0x[0-9a-f]+>', '...', str(plain))}`"


def _first(doc: str | None) -> str:
    return " ".join((doc or "").strip().split("\n\n")[0].split())


def _docstring(doc: str) -> list[str]:
    lines: list[str] = []
    for title, body in _sections(doc):
        if title:
            lines += [f"**{title}**", ""]
        if title in _FIELDS:
            lines += _fields(body)
        elif title == "Examples":
            lines += ["```python", *body, "```"]
        else:
            lines += [_code(line) for line in body]
        lines.append("")
    return lines


def _sections(doc: str) -> list[tuple[str, list[str]]]:
    lines = doc.splitlines()
    starts = [
        i
        for i in range(len(lines) - 1)
        if lines[i] in _SECTIONS and set(lines[i + 1].strip()) == {"-"}
    ]
    edges = [*starts, len(lines)]
    found = [("", _trimmed(lines[: edges[0]]))]
    for start, stop in zip(starts, edges[1:], strict=True):
        found.append((lines[start], _trimmed(lines[start + 2 : stop])))
    return found


def _trimmed(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").splitlines()


def _fields(body: list[str]) -> list[str]:
    """``name : type`` with an indented text becomes one list item."""
    items: list[list[str]] = []
    for line in body:
        if line and not line.startswith(" "):
            items.append([line])
        elif items:
            items[-1].append(line.strip())
    found = []
    for head, *text in items:
        name, _, kind = head.partition(" : ")
        described = _code(" ".join(part for part in text if part))
        label = f"`{name.strip()}`" + (f" ({_code(kind.strip())})" if kind else "")
        found.append(f"- {label}: {described}" if described else f"- {label}")
    return found


def _code(text: str) -> str:
    # reStructuredText's double backquotes are Markdown's single ones.
    return text.replace("``", "`")
