"""What helps a person to read a value: an error's name, a time, a state's name."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from typing import Final

_TIMES_FROM: Final = 0
_TIMES_TO: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, the last that ``datetime`` knows."""

_TRANSACTION_STATES: Final = (
    "Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit", "CompleteAbort",
    "Dead", "PrepareEpochFence",
)  # fmt: skip
_NUMBERED: Final[dict[str, dict[int, str]]] = {
    "transaction state": dict(enumerate(_TRANSACTION_STATES)),
    "isolation level": {0: "read uncommitted", 1: "read committed"},
    "coordinator": {0: "group", 1: "transaction", 2: "share"},
    "acks": {0: "none", 1: "leader", -1: "all in-sync replicas"},
    "transaction timeout": {(1 << 31) - 1: "none: two-phase commit"},
}


def hint_of(attribute: str, kind: str) -> str:
    """What is known about the values of a field with this name and type."""
    if kind == "int16" and attribute.endswith("error_code"):
        return "error"
    if kind == "int64" and ("timestamp" in attribute or attribute.endswith("time_ms")):
        return "time"
    if kind == "int16" and attribute.endswith("api_key"):
        return "api key"
    if kind == "int16" and attribute == "acks":
        return "acks"
    if kind == "int32" and attribute == "transaction_timeout_ms":
        return "transaction timeout"
    if kind == "int8":
        return {
            "transaction_status": "transaction state",
            "isolation_level": "isolation level",
            "key_type": "coordinator",
        }.get(attribute, "")
    return ""


def note_of(hint: str, value: object) -> str:
    """The value in words; nothing when there are none for it."""
    if not isinstance(value, int):
        return ""
    if hint == "error":
        return _error_names().get(value, "no such error code")
    if hint == "api key":
        return _api_names().get(value, "no such API")
    if hint == "time":
        return iso_time(value)
    return _NUMBERED[hint].get(value, "")


def iso_time(milliseconds: int) -> str:
    """A timestamp as a time in UTC; nothing for -1 and for what is no time at all."""
    if not _TIMES_FROM < milliseconds <= _TIMES_TO:
        return ""
    whole = datetime.fromtimestamp(milliseconds // 1000, UTC)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03}Z"


@functools.cache
def _error_names() -> dict[int, str]:
    from fencepost_protocol.generated.error_code import ErrorCode

    return {int(code): code.name for code in ErrorCode}


@functools.cache
def _api_names() -> dict[int, str]:
    from fencepost_protocol.generated.index import APIS

    return {key: entry[0] for key, entry in APIS.items()}
