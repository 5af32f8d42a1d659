"""The trace: acknowledgements of clients, as JSON lines.

::

    {"topic": "orders", "partition": 0, "offset": 42}
    {"topic": "orders", "partition": 0, "offset": 43, "producer_id": 7, "producer_epoch": 0,
     "sequence": 9, "committed": true}
    {"transactional_id": "billing-1", "producer_id": 7, "producer_epoch": 0, "outcome": "commit"}

(each on one line). A line with ``topic`` says that a record was acknowledged with that offset;
``committed`` that its transaction's commit was acknowledged, too. A line with ``transactional_id``
says that the end of a transaction was acknowledged; ``outcome`` is ``commit`` or ``abort``. Unknown
names are ignored, so a program may write more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from fencepost_pipeline.audit.checks.acknowledged_records import ToldRecord, ToldTransaction, Trace

_OUTCOMES: Final = {"commit": True, "abort": False}


class TraceError(Exception):
    """A trace cannot be read; the text names the file and the line."""


def read_trace(path: Path) -> Trace:
    """Read a trace; empty lines are ignored."""
    trace = Trace()
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    _take(trace, path, number, line)
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TraceError(f"{path} is no text: {error.reason} at byte {error.start}") from error
    return trace


def _take(trace: Trace, path: Path, number: int, line: str) -> None:
    def wrong(why: str) -> TraceError:
        return TraceError(f"{path}, line {number}: {why}")

    try:
        said = json.loads(line)
    except ValueError as error:
        raise wrong(f"this is no JSON: {error}") from error
    if not isinstance(said, dict):
        raise wrong("an object is expected")

    def integer(name: str, default: int | None = None) -> int:
        value: Any = said.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong(f"{name!r} must be a whole number")
        return value

    if isinstance(said.get("topic"), str):
        record = ToldRecord(
            number,
            integer("offset"),
            integer("producer_id", -1),
            integer("producer_epoch", -1),
            integer("sequence", -1),
            said.get("committed") is True,
        )
        trace.records.setdefault((said["topic"], integer("partition")), []).append(record)
    elif isinstance(said.get("transactional_id"), str):
        if said.get("outcome") not in _OUTCOMES:
            raise wrong('\'outcome\' must be "commit" or "abort"')
        trace.transactions.append(
            ToldTransaction(
                number,
                said["transactional_id"],
                integer("producer_id"),
                integer("producer_epoch"),
                _OUTCOMES[said["outcome"]],
            )
        )
    else:
        raise wrong("a line needs a 'topic' or a 'transactional_id'")
