"""Histories in few words, for tests."""

from __future__ import annotations

import io
import json
from typing import Any

from fencepost_client.histories import Kind, Report, Transform, check, read_history

Line = dict[str, Any]


def opened(process: str, **settings: Any) -> Line:
    return {"op": "open", "process": process, **settings}


def reader(process: str = "r") -> Line:
    return opened(process, isolation="read_committed")


def send(process: str, place: str, offset: int, *values: str, **more: Any) -> Line:
    topic, _, partition = place.rpartition("-")
    return {
        "op": "send",
        "process": process,
        "topic": topic,
        "partition": int(partition),
        "offsets": list(range(offset, offset + len(values))) if offset >= 0 else [],
        "values": list(values),
        **more,
    }


def poll(process: str, place: str, *records: tuple[int, str], **more: Any) -> Line:
    topic, _, partition = place.rpartition("-")
    return {
        "op": "poll",
        "process": process,
        "topic": topic,
        "partition": int(partition),
        "offsets": [offset for offset, _ in records],
        "values": [value for _, value in records],
        **more,
    }


def end(op: str, process: str, transaction: str, **more: Any) -> Line:
    return {"op": op, "process": process, "transaction": transaction, **more}


def committed_offset(process: str, place: str, offset: int, **more: Any) -> Line:
    topic, _, partition = place.rpartition("-")
    where = {"topic": topic, "partition": int(partition), "offset": offset}
    return {"op": "commit_offsets", "process": process, "group": "g", **where, **more}


def begun(line: Line, number: int) -> Line:
    """The line that says that an operation begins."""
    return {**line, "type": "invoke", "id": number}


def circle(*, isolation: str) -> list[Line]:
    """Two transactions, each of which reads what the other one writes."""
    return [
        opened("w1", isolation=isolation),
        opened("w2", isolation=isolation),
        send("w1", "orders-0", 0, "a", transaction="1"),
        send("w2", "orders-1", 0, "b", transaction="2"),
        poll("w1", "orders-1", (0, "b"), transaction="1"),
        poll("w2", "orders-0", (0, "a"), transaction="2"),
        end("commit", "w1", "1"),
        end("commit", "w2", "2"),
    ]


def judged(
    *lines: Line,
    transform: Transform | None = None,
    allow: tuple[str, ...] = (),
    strict: bool = False,
) -> Report:
    """The report on these lines, which are read as a file would be."""
    text = "".join(json.dumps(line) + "\n" for line in ({"fencepost_history": 1}, *lines))
    history = read_history(io.BytesIO(text.encode()))
    return check(history, transform=transform, allow=allow, strict=strict)


def kinds(report: Report) -> set[str]:
    """The kinds that make it wrong."""
    return set(map(str, report.failed))


def expected(report: Report) -> set[str]:
    """The kinds that the settings of clients explain."""
    return {str(kind) for kind in Kind if kind in report.tallies and report.tallies[kind].expected}
