"""Metrics: counters of one broker.

Code that counts adds to plain numbers and knows no names; exporters read ``Metrics`` (or
``snapshot``, as plain data). Values that the broker has anyway, such as sizes of logs, are looked
up when they are asked for.

Two readings of the clock would cost a small request 2 %, so every sixteenth request of an API and
version is timed, beginning with the first one. Waits are always timed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from typing import Any, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import APIS

TIMED_EVERY: Final = 16
TIMED_MASK: Final = TIMED_EVERY - 1

_PARTS_BITS: Final = 3
_PARTS: Final = 1 << _PARTS_BITS
_BITS_MAX: Final = 42
"""Bits of the largest time, above an hour in nanoseconds; longer times count as this one."""
_LAST_BUCKET: Final = (_BITS_MAX - _PARTS_BITS + 1) * _PARTS - 1
_ERROR_CODES: Final = 256
_LOWEST_ERROR: Final = -1


class Histogram:
    """Times in buckets, each an eighth of its power of two wide."""

    __slots__ = ("_buckets", "count", "sum_ns")

    def __init__(self) -> None:
        self.count = 0
        self.sum_ns = 0
        self._buckets: dict[int, int] = {}
        """Those that are not empty: most APIs are never called."""

    def add(self, ns: int) -> None:
        """Count a time."""
        self.count += 1
        self.sum_ns += ns
        bucket = _bucket(ns)
        self._buckets[bucket] = self._buckets.get(bucket, 0) + 1

    def buckets(self) -> Iterator[tuple[int, int]]:
        """Yield upper limit and count of each bucket that is not empty."""
        for number, count in sorted(self._buckets.items()):
            yield _end(number), count

    def quantile_ns(self, part: float) -> int:
        """Return an upper limit of this quantile, or 0 if the histogram is empty."""
        wanted = part * self.count
        seen = 0
        end = 0
        for end, count in self.buckets():  # noqa: B007 (the last one's end is the answer)
            seen += count
            if seen >= wanted:
                break
        return end


def _bucket(ns: int) -> int:
    if ns < _PARTS:
        return max(ns, 0)
    bits = ns.bit_length()
    if bits > _BITS_MAX:
        return _LAST_BUCKET
    shift = bits - _PARTS_BITS - 1
    return (shift << _PARTS_BITS) + (ns >> shift)


def _end(bucket: int) -> int:
    """Return the largest number in a bucket."""
    if bucket < 2 * _PARTS:
        return bucket
    shift = (bucket >> _PARTS_BITS) - 1
    return ((bucket - (shift << _PARTS_BITS) + 1) << shift) - 1


class ApiMetrics:
    """Counters of one API."""

    __slots__ = ("requests", "took", "unknown", "waited")

    def __init__(self, versions: Iterable[int]) -> None:
        self.requests = dict.fromkeys(versions, 0)
        """By version."""
        self.unknown = 0
        """Requests in unsupported versions that were answered (ApiVersions)."""
        self.took = Histogram()
        """Times of handlers, for requests that were timed and not parked."""
        self.waited = Histogram()
        """Times for which requests were parked."""


class Metrics:
    """Counters of one broker since its start."""

    __slots__ = (
        "apis", "bytes_in", "bytes_out", "connections_dropped", "connections_opened", "errors",
        "log_events", "tap_events_lost",
    )  # fmt: skip

    def __init__(self) -> None:
        self.apis: dict[int, ApiMetrics] = {}
        self.errors = [0] * _ERROR_CODES
        """Errors in responses, by code; that of -1 is last."""
        self.bytes_in = 0
        """Of closed connections; open connections have their own counters."""
        self.bytes_out = 0
        self.connections_opened = 0
        self.connections_dropped = 0
        """Connections that the broker closed: broken protocol, too many, idle."""
        self.log_events: dict[str, int] = {}
        """Events of logs, by kind: recoveries, truncations, deletions …"""
        self.tap_events_lost = 0

    def api(self, api_key: int, versions: Iterable[int]) -> ApiMetrics:
        """Return the counters of an API; makes them at the first call."""
        if api_key not in self.apis:
            self.apis[api_key] = ApiMetrics(versions)
        return self.apis[api_key]

    def note_errors(self, response: Message) -> None:
        """Count the errors in a response."""
        kind = response.__class__
        note = _NOTES[kind] if kind in _NOTES else _remember(kind)
        if note is not None:
            note(response, self.errors)

    def log_event(self, kind: str) -> None:
        """Count an event of a log."""
        self.log_events[kind] = self.log_events.get(kind, 0) + 1

    def snapshot(self) -> dict[str, Any]:
        """Return all counters as plain data, without APIs that were never called."""
        return {
            "requests": {
                APIS[key][0]: _api_snapshot(api)
                for key, api in sorted(self.apis.items())
                if api.unknown or any(api.requests.values())
            },
            "errors": _by_name(self.errors),
            "log_events": dict(sorted(self.log_events.items())),
        }


def errors_in(response: Message) -> dict[str, int]:
    """Return how often each error is in a response, by name."""
    metrics = Metrics()
    metrics.note_errors(response)
    return _by_name(metrics.errors)


def _by_name(errors: list[int]) -> dict[str, int]:
    return {
        _error_name(code): count
        for code in range(_LOWEST_ERROR, _ERROR_CODES + _LOWEST_ERROR)
        if (count := errors[code])
    }


def _api_snapshot(api: ApiMetrics) -> dict[str, Any]:
    made: dict[str, Any] = {
        "versions": {str(version): count for version, count in api.requests.items() if count}
    }
    if api.unknown:
        made["unknown_versions"] = api.unknown
    for name, histogram in (("took", api.took), ("waited", api.waited)):
        if histogram.count:
            made[name] = {
                "count": histogram.count,
                "mean_us": round(histogram.sum_ns / histogram.count / 1000, 1),
                "p50_us": round(histogram.quantile_ns(0.5) / 1000, 1),
                "p99_us": round(histogram.quantile_ns(0.99) / 1000, 1),
            }
    return made


def _error_name(code: int) -> str:
    return ErrorCode(code).name if code in ErrorCode._value2member_map_ else str(code)


# -- errors in responses ------------------------------------------------------------------------

_Note = Callable[[Any, list[int]], None]
_NOTES: dict[type, _Note | None] = {}
"""Functions that count the errors of a response, by its class; shared by all brokers of a process.
"""
_LIST: Final = r"list\[(\w+)\]"


WITH_ONE_ERROR: Final[set[type]] = set()
"""Classes of responses whose only error is ``error_code``: nearly all small ones."""


def _remember(kind: type) -> _Note | None:
    note = _NOTES[kind] = _note_of(kind)
    if note is _note_one:
        WITH_ONE_ERROR.add(kind)
    return note


def _note_of(kind: type) -> _Note | None:
    """Return a function that counts the errors of a struct, or ``None`` if it has no error."""
    codes, inner = [], []
    module = __import__(kind.__module__, fromlist=["_"])
    for each in fields(kind):
        if each.name.endswith("error_code"):
            codes.append(each.name)
            continue
        found = re.search(_LIST, str(each.type))
        element = getattr(module, found[1], None) if found else None
        note = _note_of(element) if isinstance(element, type) and element is not int else None
        if note is not None:
            inner.append((each.name, note))
    if not codes and not inner:
        return None
    if codes == ["error_code"] and not inner:
        return _note_one
    return _note_all(codes, inner)


def _note_one(struct: Any, errors: list[int]) -> None:
    code = struct.error_code
    if code:
        errors[code] += 1


def _note_all(codes: Iterable[str], inner: Iterable[tuple[str, _Note]]) -> _Note:
    codes, inner = tuple(codes), tuple(inner)

    def note(struct: Any, errors: list[int]) -> None:
        for name in codes:
            code = getattr(struct, name)
            if code:
                errors[code] += 1
        for name, note_element in inner:
            for element in getattr(struct, name) or ():
                note_element(element, errors)

    return note
