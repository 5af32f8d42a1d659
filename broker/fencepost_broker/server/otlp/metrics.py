"""The metrics of ``/metrics``, under the same names, sent to a receiver of OTLP."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator, Sequence
from time import time_ns
from typing import TYPE_CHECKING, Final

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AGGREGATION_TEMPORALITY_CUMULATIVE,
    Gauge,
    Metric,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)

from fencepost_broker.server.metrics.reading import Reading, read_figures
from fencepost_broker.server.metrics.text import families_of
from fencepost_broker.server.otlp.resource import SCOPE, attribute, resource_of

if TYPE_CHECKING:
    from fencepost_broker.server.otlp.receiver import Receiver
    from fencepost_broker.server.process import BrokerProcess

INTERVAL_S: Final = 10
_PATH: Final = "v1/metrics"


class MetricsSender:
    """Sends the metrics of a broker again and again."""

    def __init__(self, process: BrokerProcess, receiver: Receiver) -> None:
        self._process = process
        self._receiver = receiver
        self._started_ns = time_ns()
        self._sending = asyncio.get_running_loop().create_task(self._send())

    def stop(self) -> None:
        """Send no more."""
        self._sending.cancel()

    async def _send(self) -> None:
        while True:
            readings = read_figures(self._process)
            content = await asyncio.to_thread(self._encoded, readings)
            await self._receiver.post(_PATH, content)
            await asyncio.sleep(INTERVAL_S)

    def _encoded(self, readings: Sequence[Reading]) -> bytes:
        """Make the message, in a thread: this takes longer than the reading."""
        scope = ScopeMetrics(scope=SCOPE, metrics=metrics_of(readings, self._started_ns, time_ns()))
        resource = resource_of(self._process.server.identity.node_id)
        message = ExportMetricsServiceRequest(
            resource_metrics=[ResourceMetrics(resource=resource, scope_metrics=[scope])]
        )
        return gzip.compress(message.SerializeToString(), 1)


def metrics_of(readings: Sequence[Reading], started_ns: int, now_ns: int) -> Iterator[Metric]:
    """Yield the metrics that Prometheus is given, as sums that only grow or as gauges."""
    for family in families_of(readings):
        points = [
            NumberDataPoint(
                start_time_unix_nano=started_ns,
                time_unix_nano=now_ns,
                as_double=each.value,
                attributes=[attribute(*label) for label in each.labels.items()],
            )
            for each in family.samples
        ]
        if not points:
            continue
        metric = Metric(name=family.samples[0].name, description=family.documentation)
        if family.type == "counter":
            temporality = AGGREGATION_TEMPORALITY_CUMULATIVE
            made = Sum(data_points=points, aggregation_temporality=temporality, is_monotonic=True)
            metric.sum.CopyFrom(made)
        else:
            metric.gauge.CopyFrom(Gauge(data_points=points))
        yield metric
