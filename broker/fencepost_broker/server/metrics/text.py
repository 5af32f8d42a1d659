"""Figures in Prometheus's text format. Imports the library: see ``families/metrics.py``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from prometheus_client import ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector, CollectorRegistry

from fencepost_broker.server.metrics.reading import Reading

_TOTAL: Final = "_total"


class _Readings(Collector):
    """Gives the library what was read."""

    def __init__(self, readings: Sequence[Reading]) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        for figure, samples in self._readings:
            # The library has a counter's name without _total; other names stay as they are.
            is_total = figure.kind == "counter" and figure.name.endswith(_TOTAL)
            metric = Metric(
                figure.name.removesuffix(_TOTAL) if is_total else figure.name,
                figure.about,
                figure.kind if is_total or figure.kind == "gauge" else "unknown",
            )
            for labels, value in samples:
                metric.add_sample(figure.name, labels, value)
            yield metric


def _registry(readings: Sequence[Reading]) -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(_Readings(readings))
    ProcessCollector(registry=registry)
    return registry


def text_of(readings: Sequence[Reading]) -> str:
    """Return figures, and those of this process of the operating system, as text."""
    return generate_latest(_registry(readings)).decode()


def families_of(readings: Sequence[Reading]) -> Iterable[Metric]:
    """Return what the text has, as the library's objects."""
    return _registry(readings).collect()
