"""Parser of TOML files: ``ms = 5`` in the table ``[log.retention]`` is log.retention.ms."""

from __future__ import annotations

import math
import re
from typing import Any

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.sources.properties import Entry
from fencepost_broker.config.values import value_text


def read_toml(content: bytes, path: str) -> list[Entry]:
    """Return all entries in their order; raises SettingsError with line numbers."""
    import tomllib

    try:
        written = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SettingsError([f"{path}:{line}: this is not UTF-8"]) from None
    try:
        values = _flatten(tomllib.loads(written))
        lines = _lines(written)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError([_explain(error, path, written)]) from None
    except RecursionError:
        raise SettingsError([f"{path}: this is nested too deeply"]) from None
    entries: list[Entry] = []
    problems: list[str] = []
    seen: set[str] = set()
    for name, value in values:
        line = lines.get(name, 0)
        if name in seen:
            problems.append(f"{path}:{line}: {name} is set twice")
            continue
        seen.add(name)
        try:
            entries.append(Entry(name, _as_text(value), line))
        except ValueError as error:
            problems.append(f"{path}:{line}: {name}: {error}")
    if problems:
        raise SettingsError(problems)
    return entries


def _explain(error: ValueError, path: str, written: str) -> str:
    """Return the parser's error with the line first, as in other errors."""
    words = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), re.DOTALL)
    if words is None:
        last = written.rstrip().count("\n") + 1
        return f"{path}:{last}: {error}"
    return f"{path}:{words[2]}: {words[1]}, column {words[3]}"


def _flatten(table: dict[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        if isinstance(value, dict):
            found += _flatten(value, f"{prefix}{key}.")
        else:
            found.append((f"{prefix}{key}", value))
    return found


def _as_text(value: Any) -> str:
    match value:
        case float() if not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        case bool() | int() | float() | str():
            return value_text.write(value) or ""
        case list():
            if all(isinstance(each, str) for each in value):
                return ",".join(value)
            raise ValueError("a list can only contain strings")
    raise ValueError(f"a setting cannot be of type {type(value).__name__}")


def _lines(written: str) -> dict[str, int]:
    """Return the line of each name.

    Python's parser does not tell it, so each statement is parsed once more by itself: a line that
    is not valid alone continues on the next one.
    """
    import tomllib

    lines: dict[str, int] = {}
    prefix = ""
    begun, statement = 1, ""
    for number, line in enumerate(written.splitlines(), 1):
        begun = begun if statement else number
        statement += line + "\n"
        try:
            found = tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        if statement.lstrip().startswith("["):
            prefix = _innermost(found)
        for name, _ in _flatten(found, prefix):
            lines.setdefault(name, begun)
        statement = ""
    return lines


def _innermost(found: dict[str, Any]) -> str:
    """Return the prefix that a table's header gives to the names below it."""
    prefix = ""
    while isinstance(found, dict) and found:
        key, found = next(iter(found.items()))
        prefix += f"{key}."
    return prefix
