"""All figures of a broker in Prometheus's text format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from prometheus_client import ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry

from fencepost_broker.server.metrics.kafka import KAFKA
from fencepost_broker.server.metrics.own import OWN

if TYPE_CHECKING:
    from fencepost_broker.server.process import BrokerProcess

_TOTAL: Final = "_total"


class _Figures(Collector):
    """Reads the figures of one broker when it is asked."""

    def __init__(self, process: BrokerProcess) -> None:
        self._process = process

    def collect(self) -> Iterator[Metric]:
        for figure in (*KAFKA, *OWN):
            # The library has a counter's name without _total; other names stay as they are.
            is_total = figure.kind == "counter" and figure.name.endswith(_TOTAL)
            metric = Metric(
                figure.name.removesuffix(_TOTAL) if is_total else figure.name,
                figure.about,
                figure.kind if is_total or figure.kind == "gauge" else "unknown",
            )
            for labels, value in figure.samples(self._process):
                metric.add_sample(figure.name, labels, value)
            if metric.samples:
                yield metric


def metrics_text(process: BrokerProcess) -> str:
    """Return the figures of a broker and of its operating system's process."""
    registry = CollectorRegistry()
    registry.register(_Figures(process))
    ProcessCollector(registry=registry)
    return generate_latest(registry).decode()
