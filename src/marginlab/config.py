"""Checks the workflow's settings before any work: unknown keys, wrong types, ranges."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from marginlab.errors import ConfigError

__all__ = ["check_config", "read_yaml"]


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file.

    Raises
    ------
    ConfigError
        If the file is missing or is not YAML.
    """
    try:
        return yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(f"{path} is missing; restore it from the project") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        detail = " ".join(str(error).split())
        raise ConfigError(f"{path} is not valid YAML ({detail}); mend that line") from None


def check_config(config: Mapping[str, Any], schemas: str | Path) -> None:
    """Check the whole configuration against ``schemas/<section>.schema.yaml``.

    Parameters
    ----------
    config : mapping
        The merged configuration: top-level settings and one section a paper.
    schemas : str or Path
        Folder of the schemas; ``config.schema.yaml`` is that of the top level.

    Raises
    ------
    ConfigError
        With the key, its value, what is allowed, and where to mend it.
    """
    folder = Path(schemas)
    _check(config, folder / "config.schema.yaml", "")
    for section, value in config.items():
        path = folder / f"{section}.schema.yaml"
        if isinstance(value, Mapping) and path.exists():
            _check(value, path, section)


def _check(value: Any, path: Path, section: str) -> None:
    validator = jsonschema.Draft202012Validator(read_yaml(path))
    errors = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.path)))
    if errors:
        raise ConfigError(_sentence(_deepest(errors[0]), section))


def _deepest(error: Any) -> Any:
    # anyOf and oneOf report the whole value; the branch that got furthest says more.
    while error.context:
        error = max(error.context, key=lambda inner: len(inner.absolute_path))
    return error


def _sentence(error: Any, section: str) -> str:
    key = _key([section] if section else [], error.absolute_path)
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        unknown = [name for name in error.instance if name not in known]
        return _unknown(key, unknown[0], known)
    where = f"setting {key!r}" if key else "the configuration"
    return (
        f"{where} is {error.instance!r}, but {error.message}; "
        f"mend it in config/config.yaml, in the overlay file or behind --config"
    )


def _key(prefix: list[str], path: Iterable[Any]) -> str:
    text = ".".join(prefix)
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def _unknown(parent: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(str(name), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(sorted(known))}"
    full = f"{parent}.{name}" if parent else str(name)
    return f"unknown setting {full!r} in the configuration; {hint}"
