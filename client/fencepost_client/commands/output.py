"""What commands print: lines, tables, JSON and errors."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from fencepost_protocol.primitives import uuid_text

from fencepost_client.commands.text import printable, table


def discard_output() -> None:
    """Write to nowhere from now on, so that Python's last flush does not fail either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def print_error(options: argparse.Namespace, reason: str) -> None:
    """Print an error to standard error, after the command's name."""
    name = " ".join(filter(None, ("fencepost", options.command_name, options.subcommand)))
    sys.stderr.write(f"{name}: {printable(reason)}\n")


def write(line: str) -> None:
    """Print a line."""
    sys.stdout.write(f"{printable(line)}\n")


def write_table(headings: Sequence[str], rows: Iterable[Sequence[object]], nothing: str) -> None:
    """Print rows under headings; without rows, print ``nothing`` to standard error."""
    rows = list(rows)
    if not rows:
        sys.stderr.write(f"{nothing}\n")
        return
    for line in table(headings, rows):
        write(line)


def write_json(told: Any) -> None:
    """Print a result as JSON."""
    sys.stdout.write(f"{json.dumps(plain(told), indent=2)}\n")


def plain(value: Any) -> Any:
    """A result in JSON's types: enumerations as their names, ids as Kafka prints them."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, bytes):
        return uuid_text(value)
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value
