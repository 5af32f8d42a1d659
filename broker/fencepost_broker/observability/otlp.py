"""Reads metrics in OpenTelemetry's format, as clients send them. It needs ``fencepost[otlp]``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

SERIES_MAX: Final = 10_000
"""What is read of one ``MetricsData``, at most."""


class UnreadableMetricsError(Exception):
    """The bytes are not ``MetricsData``, or the library that reads them is not installed."""


@dataclass(frozen=True, slots=True)
class Series:
    """One metric with its labels, and its last value."""

    name: str
    kind: str
    """``gauge``, ``sum``, ``histogram``, ``exponential_histogram`` or ``summary``."""
    labels: dict[str, str]
    value: float | int
    """The number; of a histogram or a summary, the sum of what was observed."""
    count: int | None
    """How much was observed, of a histogram or a summary."""


def read_metrics(data: bytes | bytearray) -> list[Series]:
    """Return the metrics in ``data``; raises UnreadableMetricsError."""
    try:
        from google.protobuf.message import DecodeError
        from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
    except ImportError as error:
        raise UnreadableMetricsError(
            "the library for OpenTelemetry's format is missing: pip install 'fencepost[otlp]'"
        ) from error
    try:
        decoded = MetricsData.FromString(bytes(data))
    except DecodeError as error:
        raise UnreadableMetricsError(
            f"this is not MetricsData of OpenTelemetry: {error}"
        ) from error
    found: list[Series] = []
    for series in _series(decoded):
        found.append(series)
        if len(found) >= SERIES_MAX:
            break
    return found


def _series(decoded: Any) -> Iterator[Series]:
    for resource in decoded.resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                kind = metric.WhichOneof("data")
                points = [] if kind is None else getattr(metric, kind).data_points
                for point in points:
                    labels = {each.key: _text(each.value) for each in point.attributes}
                    yield Series(metric.name, kind, labels, *_value(point))


def _value(point: Any) -> tuple[float | int, int | None]:
    if hasattr(point, "as_int"):
        which = point.WhichOneof("value")
        return (0 if which is None else getattr(point, which)), None
    return point.sum, point.count


def _text(value: Any) -> str:
    which = value.WhichOneof("value")
    return "" if which is None else str(getattr(value, which))
