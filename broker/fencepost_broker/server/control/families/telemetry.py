"""Metrics that clients have sent to this broker (KIP-714)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Final

from fencepost_protocol.exceptions import RemoteProtocolError
from msgspec import Meta, Struct

from fencepost_broker.observability.otlp import UnreadableMetricsError, read_metrics
from fencepost_broker.server.control.in_cluster import all_brokers
from fencepost_broker.server.control.routes import ControlContext, Route

if TYPE_CHECKING:
    from fencepost_broker.observability.client_telemetry import ClientInstance


class ClientMetric(Struct, frozen=True):
    """One metric of a client, with its labels."""

    name: str
    kind: Annotated[str, Meta(description="gauge, sum, histogram, ...")]
    labels: dict[str, str]
    value: Annotated[float | int, Meta(description="of a histogram: the sum")]
    count: Annotated[int | None, Meta(description="of a histogram; else null")]


class TelemetryOfClient(Struct, frozen=True):
    """A client that has asked this broker which metrics to send, and the last that it sent."""

    client_instance_id: str
    client_id: str
    software_name: str
    software_version: str
    address: str
    requested_metrics: Annotated[list[str], Meta(description="prefixes; * is all of them")]
    push_interval_ms: int
    pushes: int
    bytes: Annotated[int, Meta(description="of all pushes, compressed")]
    last_push_ms: Annotated[int | None, Meta(description="state time")]
    is_terminating: Annotated[bool, Meta(description="this was its last push: it has closed")]
    metrics: list[ClientMetric]
    problem: Annotated[str | None, Meta(description="why its metrics cannot be read")]


class Telemetry(Struct, frozen=True):
    """The clients that have asked which metrics to send."""

    clients: list[TelemetryOfClient]


async def get_telemetry(context: ControlContext) -> Telemetry:
    """Return the clients and the last metrics of each."""
    telemetry = context.server.context.telemetry
    return Telemetry([] if telemetry is None else [_told(each) for each in telemetry.instances])


def _told(instance: ClientInstance) -> TelemetryOfClient:
    client, last = instance.properties, instance.last
    metrics: list[ClientMetric] = []
    problem = None
    if last is not None:
        try:
            metrics = [
                ClientMetric(each.name, each.kind, each.labels, each.value, each.count)
                for each in read_metrics(last.decompressed())
            ]
        except (UnreadableMetricsError, RemoteProtocolError) as error:
            problem = str(error)
    return TelemetryOfClient(
        client.client_instance_id,
        client.client_id,
        client.client_software_name,
        client.client_software_version,
        f"{client.client_source_address}:{client.client_source_port}",
        instance.metrics,
        instance.interval_ms,
        instance.pushes,
        instance.bytes,
        None if last is None else last.time_ms,
        instance.is_terminating,
        metrics,
        problem,
    )


def _united(answers: Sequence[Telemetry]) -> Telemetry:
    return Telemetry([each for answer in answers for each in answer.clients])


ROUTES: Final = (
    Route(
        "GET",
        "/v1/telemetry",
        get_telemetry,
        "the metrics that clients have sent (KIP-714)",
        response=Telemetry,
        in_cluster=all_brokers(_united),
    ),
)
