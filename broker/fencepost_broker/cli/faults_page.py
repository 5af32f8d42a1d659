"""``python -m fencepost_broker.cli.faults_page [--check]``: docs/reference/faults.*."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from fencepost_protocol.codegen.page import write_or_check

from fencepost_broker.faults.plan import BYTES_MAX, Plan
from fencepost_broker.faults.rule import ACTS, NAME_MAX
from fencepost_broker.faults.rules import RULES_MAX, TOUCHED_MAX

FOLDER: Final = Path(__file__).resolve().parents[3] / "docs/reference"
_BEGINNING: Final = """\
<!-- Generated from the types of fault rules by `make docs`. Do not edit. -->

# Fault rules

A rule says which requests it is for (`match`), which of those it fires on, and what happens to
them (`act`). [Break requests on purpose](../how-to/break-requests.md) shows how rules are added
in Python, by `fencepost fault`, by HTTP and in a TOML file. All rules that fire on a request
apply, in the order in which they were added.

The JSON schema of a TOML file is [faults.schema.json](faults.schema.json).
"""


def page() -> str:
    """Return the text of the page."""
    schemas = schema()["$defs"]
    lines = [_BEGINNING, "## Rule", ""]
    lines += _table(schemas["Rule"])
    lines += ["", "## Match", "", schemas["Match"]["description"].replace("``", "`"), ""]
    lines += _table(schemas["Match"])
    lines += ["", "## Acts", "", "| act | what it does |", "|---|---|"]
    for act in ACTS:
        told = " ".join(schemas[act.__name__]["description"].split())
        lines.append(f"| `{_tag(act)}` | {_cell(told)} |")
    lines += ["", "### Fields of acts", "", "| act | field | type | meaning | default |"]
    lines.append("|---|---|---|---|---|")
    for act in ACTS:
        one = schemas[act.__name__]
        lines += (f"| `{_tag(act)}` {row}" for row in _rows(one) if not row.startswith("| `type`"))
    lines += ["", "## Limits", "", "| limit | |", "|---|---:|"]
    lines.append(f"| rules of a broker | {RULES_MAX:,} |")
    lines.append(f"| requests that a rule remembers | {TOUCHED_MAX} |")
    lines.append(f"| characters of a name | {NAME_MAX} |")
    lines.append(f"| bytes of a TOML file | {BYTES_MAX:,} |")
    return "\n".join(lines) + "\n"


def schema() -> dict[str, Any]:
    """Return the JSON schema of a file of rules."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **msgspec.json.schema(Plan),
    }


def _tag(act: type) -> str:
    return str(act.__struct_config__.tag)  # type: ignore[attr-defined]


def _table(one: dict[str, Any]) -> Iterator[str]:
    yield from ("| field | type | meaning | default |", "|---|---|---|---|")
    yield from _rows(one)


def _rows(one: dict[str, Any]) -> Iterator[str]:
    for name, field in one["properties"].items():
        if name in one.get("required", ()):
            default = "required"
        else:
            default = f"`{json.dumps(field['default'])}`" if "default" in field else ""
        kind = _type(name, field)
        yield f"| `{name}` | {kind} | {_cell(field.get('description', ''))} | {default} |"


def _type(name: str, field: dict[str, Any]) -> str:
    if name in ("act", "match"):
        return f"[{name}](#{'acts' if name == 'act' else 'match'})"
    if name == "operation":
        return "[operation](../how-to/perform-operations.md)"
    if "enum" in field:
        return " or ".join(f"`{each}`" for each in field["enum"])
    kinds = [each for each in field.get("anyOf", [field]) if each.get("type") != "null"]
    [kind] = kinds
    text = str(kind.get("type", "any"))
    low, high = kind.get("minimum"), kind.get("maximum")
    if high is not None and high < 1 << 53:
        return f"{text}, {low:,} to {high:,}"
    return text if low is None else f"{text}, {low} or more"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def main() -> int:
    """Write the page and the schema, or check that they are up to date."""
    written = json.dumps(schema(), indent=2) + "\n"
    return write_or_check(
        FOLDER / "faults.md", page(), "docs/reference/faults.md is out of date"
    ) | write_or_check(
        FOLDER / "faults.schema.json", written, "docs/reference/faults.schema.json is out of date"
    )


if __name__ == "__main__":
    raise SystemExit(main())
