"""Histories: what clients did, as JSON lines, and a checker that judges them.

    with open("history.jsonl", "rb") as file:
        print(check(read_history(file)))

It is pure: it has no client and no clock. ``History`` writes what clients of this package do.
"""

from __future__ import annotations

from fencepost_client.histories.checker import check
from fencepost_client.histories.exactly_once import Transform
from fencepost_client.histories.findings import Finding, Kind, Report
from fencepost_client.histories.operations import HistoryError, Operation
from fencepost_client.histories.reading import read_files, read_history

__all__ = [
    "Finding",
    "HistoryError",
    "Kind",
    "Operation",
    "Report",
    "Transform",
    "check",
    "read_files",
    "read_history",
]
