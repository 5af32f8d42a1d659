"""The lines of Apache Kafka's ProducerPerformance and ConsumerPerformance, and what is in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

from fencepost_client.metrics import Histogram, RequestMetrics

MEGABYTE: Final = 1024 * 1024
PERCENTILES: Final = ((0.5, "50th"), (0.95, "95th"), (0.99, "99th"), (0.999, "99.9th"))
_MS_US: Final = 1000
DATE_FORMAT: Final = "yyyy-MM-dd HH:mm:ss:SSS"
_MILLISECONDS: Final = "\ue000"
"""In the place of what strftime does not have."""
_DATE_LETTERS: Final = {
    "yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "HH": "%H", "mm": "%M", "ss": "%S",
    "SSS": _MILLISECONDS,
}  # fmt: skip
_CONSUMED: Final = (
    "data.consumed.in.MB", "MB.sec", "data.consumed.in.nMsg", "nMsg.sec", "rebalance.time.ms",
    "fetch.time.ms", "fetch.MB.sec", "fetch.nMsg.sec",
)  # fmt: skip
CONSUMER_HEADER: Final = ", ".join(("start.time", "end.time", *_CONSUMED))
CONSUMER_DETAILED_HEADER: Final = ", ".join(("time", "threadId", *_CONSUMED))


def _rate(amount: float, elapsed_ms: float) -> float:
    return amount * 1000 / elapsed_ms if elapsed_ms > 0 else 0.0


class ProducerStats:
    """Records that were acknowledged, of a time."""

    def __init__(self, started_ms: float) -> None:
        self.started_ms = started_ms
        self.size_bytes = 0
        self.latency_ms = Histogram()

    def acknowledged(self, latency_ms: int, size_bytes: int) -> None:
        """One more record."""
        self.latency_ms.record(latency_ms)
        self.size_bytes += size_bytes

    def progress_line(self, now_ms: float) -> str:
        """What is written while it goes on."""
        elapsed_ms, latency = now_ms - self.started_ms, self.latency_ms
        return (
            f"{latency.count} records sent, {_rate(latency.count, elapsed_ms):.1f} records/sec "
            f"({_rate(self.size_bytes, elapsed_ms) / MEGABYTE:.2f} MB/sec), "
            f"{latency.mean:.1f} ms avg latency, {latency.largest:.1f} ms max latency."
        )

    def total_line(self, now_ms: float, which: str = "") -> str:
        """What is written at the end; ``which`` is " steady state" after a warm-up."""
        elapsed_ms, latency = now_ms - self.started_ms, self.latency_ms
        shares = ", ".join(f"{latency.percentile(at)} ms {name}" for at, name in PERCENTILES)
        return (
            f"{latency.count}{which} records sent, {_rate(latency.count, elapsed_ms):.6f} "
            f"records/sec ({_rate(self.size_bytes, elapsed_ms) / MEGABYTE:.2f} MB/sec), "
            f"{latency.mean:.2f} ms avg latency, {latency.largest:.2f} ms max latency, {shares}."
        )

    def told(self, now_ms: float) -> dict[str, Any]:
        """The same for programs."""
        elapsed_ms = now_ms - self.started_ms
        return {
            "records": self.latency_ms.count,
            "records_per_second": round(_rate(self.latency_ms.count, elapsed_ms), 3),
            "megabytes_per_second": round(_rate(self.size_bytes, elapsed_ms) / MEGABYTE, 6),
            "latency_ms": _told(self.latency_ms, 1),
        }


def _told(histogram: Histogram, unit: int) -> dict[str, float]:
    return {
        "avg": round(histogram.mean / unit, 3),
        "max": histogram.largest / unit,
        **{name: histogram.percentile(at) / unit for at, name in PERCENTILES},
    }


def phase_line(name: str, times_us: Histogram) -> str:
    """One phase of a transaction; finer than Kafka's lines, for most take less than 1 ms."""
    shares = ", ".join(
        f"{times_us.percentile(at) / _MS_US:.2f} ms {name}" for at, name in PERCENTILES
    )
    return (
        f"{name}: {times_us.count} times, {times_us.mean / _MS_US:.2f} ms avg latency, "
        f"{times_us.largest / _MS_US:.2f} ms max latency, {shares}."
    )


def phase_told(times_us: Histogram) -> dict[str, Any]:
    """The same for programs."""
    return {"count": times_us.count, **_told(times_us, _MS_US)}


def metric_lines(metrics: RequestMetrics) -> Iterator[str]:
    """``--print-metrics``: the requests of a client, by their API."""
    for api_key, api in sorted(metrics.apis.items()):
        times_us = api.times_us
        for name, value in (
            ("request-total", f"{times_us.count}"),
            ("request-failed-total", f"{api.failed}"),
            ("request-latency-avg", f"{times_us.mean / _MS_US:.3f}"),
            ("request-latency-max", f"{times_us.largest / _MS_US:.3f}"),
        ):
            yield f"{f'client-metrics:{name}:{{api={api_key.name}}}':<72} : {value}"


# -- ConsumerPerformance --------------------------------------------------------------------------


def moment(at_s: float, date_format: str = DATE_FORMAT) -> str:
    """A local time, as Java's SimpleDateFormat has it; ValueError for letters it has beside."""

    def translated(found: re.Match[str]) -> str:
        letters = found.group()
        if letters not in _DATE_LETTERS:
            raise ValueError(f"{letters!r} is none of {', '.join(_DATE_LETTERS)}")
        return _DATE_LETTERS[letters]

    at = datetime.fromtimestamp(at_s)  # noqa: DTZ006 - local, as Kafka's tool writes it
    pattern = re.sub(r"[A-Za-z]+", translated, date_format.replace("%", "%%"))
    return at.strftime(pattern).replace(_MILLISECONDS, f"{at.microsecond // 1000:03}")


class ConsumerStats:
    """Records that were read, of a time; that of rebalances is told apart."""

    def __init__(self, started_ms: float) -> None:
        self.started_ms = started_ms
        self.records = 0
        self.size_bytes = 0
        self.rebalance_ms = 0.0

    def told(self, now_ms: float) -> dict[str, Any]:
        """For programs; the lines are made of it."""
        elapsed_ms = now_ms - self.started_ms
        fetch_ms = elapsed_ms - self.rebalance_ms
        return {
            "megabytes": self.size_bytes / MEGABYTE,
            "megabytes_per_second": _rate(self.size_bytes, elapsed_ms) / MEGABYTE,
            "records": self.records,
            "records_per_second": _rate(self.records, elapsed_ms),
            "rebalance_ms": int(self.rebalance_ms),
            "fetch_ms": int(fetch_ms),
            "fetch_megabytes_per_second": _rate(self.size_bytes, fetch_ms) / MEGABYTE,
            "fetch_records_per_second": _rate(self.records, fetch_ms),
        }

    def line(self, beginning: str, now_ms: float, before: ConsumerStats | None = None) -> str:
        """The part of a line after its time or times; with ``before``, totals are those of both."""
        told = self.told(now_ms)
        megabytes, records = told["megabytes"], told["records"]
        if before is not None:
            megabytes += before.size_bytes / MEGABYTE
            records += before.records
        return (
            f"{beginning}, {megabytes:.4f}, {told['megabytes_per_second']:.4f}, {records}, "
            f"{told['records_per_second']:.4f}, {told['rebalance_ms']}, {told['fetch_ms']}, "
            f"{told['fetch_megabytes_per_second']:.4f}, {told['fetch_records_per_second']:.4f}"
        )
