"""Figures that Apache Kafka does not have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, Literal

from fencepost_protocol import __version__

from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.transaction.model import Transaction
from fencepost_broker.coordinator.transaction.states import NAMES, State
from fencepost_broker.server.metrics.figure import Figure, Sample, one, states_of

if TYPE_CHECKING:
    from fencepost_broker.observability.client_telemetry import ClientTelemetry
    from fencepost_broker.server.process import BrokerProcess


def _info(process: BrokerProcess) -> Iterator[Sample]:
    yield {"version": __version__, "node_id": str(process.server.identity.node_id)}, 1


def _transactions(process: BrokerProcess) -> Iterator[Transaction]:
    for state in states_of(process.broker, RecordFamily.TRANSACTIONS):
        yield from state.transactions.values()


def _by_state(process: BrokerProcess) -> Iterator[Sample]:
    states = Counter(each.state for each in _transactions(process))
    for state, name in NAMES.items():
        yield {"state": name}, states[state]


def _oldest(process: BrokerProcess) -> float:
    now_ms = process.clock.now_ms()
    ages = (
        now_ms - each.logged.transaction_start_timestamp_ms
        for each in _transactions(process)
        if each.state is State.ONGOING
    )
    return max(ages, default=0) / 1000


def _markers(process: BrokerProcess) -> float:
    return sum(
        len(each.sending.pending) for each in _transactions(process) if each.sending is not None
    )


def _holds(process: BrokerProcess) -> float:
    runtime = process.broker.coordinators.made
    return 0 if runtime is None else len(runtime.sender.holds)


def _stable_lag(process: BrokerProcess) -> Iterator[Sample]:
    for topic in process.server.table.by_name.values():
        lags = [
            each.log.high_watermark - each.log.last_stable_offset
            for each in topic.partitions
            if each.leads and each.is_here
        ]
        if lags:
            yield {"topic": topic.name}, max(lags)


def _fired(process: BrokerProcess) -> Iterator[Sample]:
    rules = process.used_fault_rules
    for each in () if rules is None else rules.loaded:
        yield {"rule": each.name}, each.fired


def _errors(process: BrokerProcess) -> Iterator[Sample]:
    for error, count in process.server.metrics.snapshot()["errors"].items():
        yield {"error": error}, count


def _of_connections(name: str, about: str, field: str) -> Figure:
    def read(process: BrokerProcess) -> float:
        return process.socket_server.stats()[field]

    kind: Literal["counter", "gauge"] = "counter" if name.endswith("_total") else "gauge"
    return Figure(f"fencepost_{name}", kind, about, one(read), role="any")


def _of_telemetry(read: Callable[[ClientTelemetry], float]) -> Callable[[BrokerProcess], float]:
    def read_it(process: BrokerProcess) -> float:
        telemetry = process.broker.context.telemetry
        return 0 if telemetry is None else read(telemetry)

    return read_it


OWN: Final = (
    Figure(
        "fencepost_info",
        "gauge",
        "always 1",
        _info,
        "version, node_id",
        "any",
    ),
    Figure(
        "fencepost_last_stable_offset_lag",
        "gauge",
        "the most offsets from the last stable offset to the high watermark of a led partition",
        _stable_lag,
        "topic",
    ),
    Figure(
        "fencepost_transactional_ids",
        "gauge",
        "transactional ids that this broker coordinates",
        _by_state,
        "state",
    ),
    Figure(
        "fencepost_open_transactions",
        "gauge",
        "transactions in the state Ongoing",
        one(lambda process: sum(each.state is State.ONGOING for each in _transactions(process))),
    ),
    Figure(
        "fencepost_oldest_open_transaction_seconds",
        "gauge",
        "age of the oldest open transaction, in state time; 0: there is none",
        one(_oldest),
    ),
    Figure(
        "fencepost_markers_outstanding",
        "gauge",
        "partitions that still need a marker of a transaction that has ended",
        one(_markers),
    ),
    Figure("fencepost_marker_holds", "gauge", "holds on markers", one(_holds)),
    Figure(
        "fencepost_fault_rule_fired_total",
        "counter",
        "how often each loaded fault rule has fired",
        _fired,
        "rule",
        "any",
    ),
    Figure(
        "fencepost_errors_total",
        "counter",
        "errors in answers",
        _errors,
        "error",
        "any",
    ),
    Figure(
        "fencepost_client_telemetry_clients",
        "gauge",
        "clients that have asked which metrics to send (KIP-714)",
        one(_of_telemetry(lambda telemetry: sum(1 for _ in telemetry.instances))),
    ),
    Figure(
        "fencepost_client_telemetry_pushes_total",
        "counter",
        "how often clients have sent metrics",
        one(_of_telemetry(lambda telemetry: telemetry.pushes)),
    ),
    Figure(
        "fencepost_client_telemetry_bytes_total",
        "counter",
        "bytes of metrics that clients have sent, compressed",
        one(_of_telemetry(lambda telemetry: telemetry.bytes)),
    ),
    _of_connections("parked_requests", "requests that wait for something", "parked_requests"),
    _of_connections("connections_opened_total", "connections", "opened"),
    _of_connections("connections_dropped_total", "connections that the broker closed", "dropped"),
    _of_connections("received_bytes_total", "bytes that clients have sent", "bytes_in"),
    _of_connections("sent_bytes_total", "bytes that clients were sent", "bytes_out"),
)
