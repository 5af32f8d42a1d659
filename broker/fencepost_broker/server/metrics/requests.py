"""Figures about requests and the traffic of topics, under Kafka's names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from fencepost_protocol.generated.index import APIS

from fencepost_broker.observability.metrics import TIMED_EVERY, ApiMetrics
from fencepost_broker.server.metrics.figure import Figure, Sample

if TYPE_CHECKING:
    from fencepost_broker.server.process import BrokerProcess

_QUANTILES: Final = ("0.50", "0.75", "0.95", "0.98", "0.99", "0.999")
"""The percentiles of Kafka's histograms, as the JMX exporter writes them."""
_NS: Final = 1_000_000
"""Nanoseconds of a millisecond, in which Kafka's times are."""

Times = list[tuple[int, int]]
"""Upper limits in nanoseconds, ascending, and how many times are up to them."""


def _apis(process: BrokerProcess) -> Iterator[tuple[str, ApiMetrics]]:
    """Yield the APIs that were called."""
    for key, api in sorted(process.server.metrics.apis.items()):
        if any(api.requests.values()):
            yield APIS[key][0], api


def _requests(process: BrokerProcess) -> Iterator[Sample]:
    for name, api in _apis(process):
        for version, count in api.requests.items():
            if count:
                yield {"request": name, "version": str(version)}, count


def _local(api: ApiMetrics) -> Times:
    return list(api.took.buckets())


def _remote(api: ApiMetrics) -> Times:
    """Return the waits; requests that were answered at once did not wait."""
    at_once = sum(api.requests.values()) - api.waited.count
    return [*([(0, at_once)] if at_once > 0 else []), *api.waited.buckets()]


def _total(api: ApiMetrics) -> Times:
    """Return waits, and the times of handlers, each of which stands for all that were not timed."""
    times = Counter({end: count * TIMED_EVERY for end, count in api.took.buckets()})
    times.update(dict(api.waited.buckets()))
    return sorted(times.items())


def _quantiles(of: Callable[[ApiMetrics], Times]) -> Callable[[BrokerProcess], Iterable[Sample]]:
    def read(process: BrokerProcess) -> Iterator[Sample]:
        for name, api in _apis(process):
            times = of(api)
            for quantile in _QUANTILES:
                yield (
                    {"request": name, "quantile": quantile},
                    _at(times, float(quantile)) / _NS,
                )

    return read


def _at(times: Times, part: float) -> int:
    wanted = part * sum(count for _, count in times)
    seen = end = 0
    for end, count in times:  # noqa: B007 (the last one's end is the answer)
        seen += count
        if seen >= wanted:
            break
    return end


def _counts(process: BrokerProcess) -> Iterator[Sample]:
    for name, api in _apis(process):
        yield {"request": name}, sum(api.requests.values())


def _times(name: str, about: str, of: Callable[[ApiMetrics], Times]) -> tuple[Figure, Figure]:
    """Return a histogram of Kafka, which becomes two metrics."""
    name = f"kafka_network_requestmetrics_{name}"
    return (
        Figure(name, "gauge", about, _quantiles(of), "request, quantile", "any"),
        Figure(f"{name}_count", "counter", "requests in all", _counts, "request", "any"),
    )


def _traffic(name: str, field: str, about: str) -> Figure:
    """Return a counter of each topic, and of all topics together with those that were deleted."""

    def read(process: BrokerProcess) -> Iterator[Sample]:
        table = process.server.table
        yield {}, table.sum_of(field)
        for topic in table.by_name.values():
            yield {"topic": topic.name}, topic.sum_of(field)

    name = f"kafka_server_brokertopicmetrics_{name}_total"
    return Figure(name, "counter", about, read, "topic, or none for all topics")


REQUESTS: Final = (
    _traffic("messagesin", "records_in", "records appended by leaders, with markers"),
    _traffic("bytesin", "bytes_in", "bytes of batches that producers have sent"),
    _traffic("bytesout", "bytes_out", "bytes of batches that were fetched, also by followers"),
    _traffic("totalproducerequests", "batches_in", "batches that producers have appended"),
    _traffic("failedproducerequests", "batches_refused", "batches that the log refused"),
    _traffic("totalfetchrequests", "reads", "reads of a partition that gave records"),
    _traffic("failedfetchrequests", "reads_refused", "reads of a partition that gave an error"),
    Figure(
        "kafka_network_requestmetrics_requests_total",
        "counter",
        "requests",
        _requests,
        "request, version",
        "any",
    ),
    *_times("totaltimems", "milliseconds until the answer", _total),
    *_times("localtimems", "milliseconds in the handler (one of 16 requests is timed)", _local),
    *_times("remotetimems", "milliseconds for which a request was parked", _remote),
)
