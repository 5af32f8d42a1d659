"""Rules in a TOML file.

[[fault]]
name = "lost"
match = {api = "Produce", topic = "orders"}
act = {type = "drop-answer"}
times = 1
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from fencepost_broker.config.sources.structs import StructError, convert
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.rule import Rule

BYTES_MAX: Final = 1 << 20


class Plan(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A file of rules."""

    fault: list[Rule]


def read_plan(path: str) -> list[Rule]:
    """Return the rules of a file; raises ``RuleError`` if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(BYTES_MAX + 1)
    except OSError as error:
        raise RuleError(f"{path}: {error.strerror}") from None
    if len(content) > BYTES_MAX:
        raise RuleError(f"{path}: a file of rules has at most {BYTES_MAX} bytes")
    try:
        plan: Plan = convert(msgspec.toml.decode(content), Plan)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise RuleError(f"{path}:{line}: this is not UTF-8") from None
    except RecursionError:
        raise RuleError(f"{path}: this is nested too deeply") from None
    except (msgspec.DecodeError, StructError) as error:
        raise RuleError(f"{path}: {error}") from None
    return plan.fault
