"""The names that users may rely on: `make public-names` writes public_names.txt.

These are names of the packages, settings of brokers, commands with their options, and routes of the
control port with the fields of their requests. A name that goes, or a parameter that changes,
breaks programs. The test fails until the file says it, and so a reviewer sees it.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from fencepost_broker.cli.main import GROUP, make_parser
from fencepost_broker.config.settings import Settings
from fencepost_broker.server.control.table import ROUTES

MODULES: Final = (
    "fencepost_broker",
    "fencepost_broker.blocking",
    "fencepost_broker.operations",
    "fencepost_broker.simulation",
    "fencepost_client",
    "fencepost_client.blocking",
    "fencepost_client.histories",
    "fencepost_protocol.apis",
    "fencepost_protocol.errors",
    "fencepost_protocol.exceptions",
    "fencepost_protocol.framing",
    "fencepost_protocol.records.batch",
    "fencepost_protocol.records.compression",
    "fencepost_protocol.records.reader",
    "fencepost_protocol.records.writer",
)
FILE: Final = Path(__file__).with_suffix(".txt")


def public_names() -> list[str]:
    """Return a line for each name."""
    return [
        *(line for module in MODULES for line in _names_of(module)),
        *sorted(f"setting {name}" for name in Settings.settings),
        *_options(make_parser(each.load() for each in entry_points(group=GROUP)), "fencepost"),
        *sorted(_routes()),
    ]


def _options(parser: argparse.ArgumentParser, command: str) -> Iterator[str]:
    yield command
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, each in sorted(action.choices.items()):
                yield from _options(each, f"{command} {name}")
        elif action.help != argparse.SUPPRESS:
            yield f"{command} {'|'.join(action.option_strings) or action.dest.upper()}"


def _routes() -> Iterator[str]:
    for route in ROUTES:
        name = f"{route.method} {route.path}"
        yield name
        yield from (f"{name} {each}" for each in getattr(route.request, "__struct_fields__", ()))


def _names_of(module: str) -> Iterator[str]:
    content = import_module(module)
    names = getattr(content, "__all__", None) or [
        name
        for name, value in vars(content).items()
        if not name.startswith("_") and getattr(value, "__module__", module) == module
        and not inspect.ismodule(value)
        and (inspect.isclass(value) or inspect.isfunction(value) or name.isupper())
    ]  # fmt: skip
    for name in sorted(names):
        yield from _described(f"{module}.{name}", getattr(content, name))


def _described(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield name
        yield from sorted(_members(name, value))
    elif inspect.isroutine(value):
        yield name + _parameters(value)
    else:
        yield name


def _members(name: str, kind: type) -> set[str]:
    found: dict[str, str] = {}
    for base in kind.__mro__:
        if base.__module__.startswith("fencepost_"):
            for field in inspect.get_annotations(base):
                found.setdefault(field, "")  # in classes with slots it has no value of its own
            for member, value in vars(base).items():
                routine = value.__func__ if isinstance(value, staticmethod | classmethod) else value
                shown = _parameters(routine) if inspect.isfunction(routine) else ""
                found.setdefault(member, shown)
    return {
        f"{name}.{member}{shown}"
        for member, shown in found.items()
        if not member.startswith("_") or (member == "__init__" and shown)
    }


def _parameters(routine: Any) -> str:
    """Return the parameters' names; an equals sign is after those with a default."""
    try:
        signature = inspect.signature(routine)
    except ValueError:
        return "(...)"
    bare = [
        each.replace(
            annotation=each.empty, default=each.default if each.default is each.empty else ...
        )
        for each in signature.parameters.values()
    ]
    shown = signature.replace(parameters=bare, return_annotation=signature.empty)
    return str(shown).replace("=Ellipsis", "=")


if __name__ == "__main__":
    FILE.write_text(
        "".join(f"{line}\n" for line in dict.fromkeys(public_names())), encoding="utf-8"
    )
