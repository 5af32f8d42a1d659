"""``python -m fencepost_broker.server.metrics.page [--check]``: docs/reference/metrics.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from fencepost_protocol.codegen.page import write_or_check

from fencepost_broker.server.metrics.figure import Figure
from fencepost_broker.server.metrics.kafka import KAFKA
from fencepost_broker.server.metrics.own import OWN

PAGE: Final = Path(__file__).resolve().parents[4] / "docs/reference/metrics.md"
_BEGINNING: Final = """\
<!-- Generated from fencepost_broker.server.metrics by `make docs`. Do not edit. -->

# Metrics

`GET /metrics` of [the control port](control.md) gives them in Prometheus's text format. [Read
metrics with Prometheus](../how-to/read-metrics-with-prometheus.md) shows how they are collected.

Counters count since the start of the process. A broker has the metrics of brokers, a process with
the role `controller` those of controllers. A metric that has no time series yet is left out: the
rules that fired, for instance, before there is a rule.
"""
_KAFKA: Final = """\
## Names of Apache Kafka

The names and labels are those that the example configuration of the JMX exporter for Apache Kafka
gives them. Where the meaning is not quite Kafka's, the table says what is counted.
"""
_OWN: Final = """\
## Names of Fencepost

State time is the time that `fencepost clock` moves.
"""
_PROCESS: Final = """\
## The process

`process_cpu_seconds_total`, `process_resident_memory_bytes`, `process_virtual_memory_bytes`,
`process_open_fds`, `process_max_fds` and `process_start_time_seconds` are about the process of the
operating system, on Linux. For an embedded broker that is the program that started it.
"""


def page() -> str:
    """Return the text of the page."""
    lines = [_BEGINNING, _KAFKA, *_table(KAFKA), "", _OWN, *_table(OWN), "", _PROCESS]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(figures: Iterable[Figure]) -> Iterator[str]:
    yield from ("| metric | type | labels | meaning | process |", "|---|---|---|---|---|")
    for each in figures:
        yield f"| `{each.name}` | {each.kind} | {each.labels} | {each.about} | {each.role} |"


def main() -> int:
    """Write the page, or check that it is up to date."""
    return write_or_check(PAGE, page(), "docs/reference/metrics.md is out of date")


if __name__ == "__main__":
    raise SystemExit(main())
