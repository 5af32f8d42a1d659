"""Metrics of a client's requests: counts and times.

    metrics = RequestMetrics()
    async with Producer("localhost:9092", metrics=metrics) as producer:
        ...
    print(metrics.of(ApiKey.PRODUCE).times_us.percentile(0.99))

Each client needs its own object; without one, nothing is counted. ``prometheus_text`` exports it. A
:class:`RequestHook` is called for each request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from fencepost_protocol.generated.index import ApiKey

_EXACT_BITS: Final = 8
_EXACT: Final = 1 << _EXACT_BITS
"""Values below are counted exactly, larger ones by their first 8 bits: 0.8 % wrong at most."""
_HALF: Final = _EXACT >> 1
_VALUE_MAX: Final = (1 << 40) - 1
_BUCKETS: Final = _EXACT + (40 - _EXACT_BITS) * _HALF


class Histogram:
    """Counts of values, in 35 KB for any number of values."""

    __slots__ = ("_buckets", "count", "largest", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self.largest = 0
        self._buckets = [0] * _BUCKETS

    def record(self, value: int, times: int = 1) -> None:
        """Add a value, once or several times; a negative value counts as 0."""
        value = min(max(value, 0), _VALUE_MAX)
        self.count += times
        self.total += value * times
        self.largest = max(self.largest, value)
        self._buckets[_bucket_of(value)] += times

    @property
    def mean(self) -> float:
        """The average; 0 without values."""
        return self.total / self.count if self.count else 0.0

    def count_up_to(self, value: int) -> int:
        """The number of values up to this one; the limit may be 0.8 % too high."""
        return sum(self._buckets[: _bucket_of(min(max(value, 0), _VALUE_MAX)) + 1])

    def percentile(self, share: float) -> int:
        """The value at a quantile (0 to 1); 0 without values."""
        place = int(share * self.count)
        if place >= self.count - 1:
            return self.largest  # the maximum is exact
        seen = 0
        for bucket, times in enumerate(self._buckets):
            seen += times
            if times and seen > place:
                return min(_middle_of(bucket), self.largest)
        return 0


def _bucket_of(value: int) -> int:
    if value < _EXACT:
        return value
    shift = value.bit_length() - _EXACT_BITS
    return _EXACT + (shift - 1) * _HALF + (value >> shift) - _HALF


def _middle_of(bucket: int) -> int:
    if bucket < _EXACT:
        return bucket
    shift, rest = divmod(bucket - _EXACT, _HALF)
    return ((rest + _HALF) << (shift + 1)) + (1 << shift)


class ApiMetrics:
    """The requests of one API."""

    __slots__ = ("failed", "times_us")

    def __init__(self) -> None:
        self.times_us = Histogram()
        """The time from request to answer, in microseconds."""
        self.failed = 0
        """The number of requests without an answer."""


class SentRequest(NamedTuple):
    """A request that is sent."""

    api_key: ApiKey
    api_version: int
    peer: str
    """The broker's host and port."""


class RequestOutcome(NamedTuple):
    """The end of a request."""

    time_us: int
    """The time since the request was sent."""
    error: BaseException | None
    """The reason why there is no answer; errors inside of an answer do not count."""
    is_awaited: bool
    """False if no caller waits for the answer: with ``acks=0``, or after a cancellation."""


class RequestHook(Protocol):
    """Is called for each request of a client, in the loop's thread: it must not block.

        class Tracer:
            def on_request(self, request):
                log.debug("%s to %s", request.api_key.name, request.peer)

            def on_response(self, request, outcome):
                log.debug("%s took %d us", request.api_key.name, outcome.time_us)

        metrics.add_hook(Tracer())

    Both methods get the same object for the same request. Exceptions of a hook go to the exception
    handler of the loop, and do not affect the request.
    """

    def on_request(self, request: SentRequest) -> None:
        """The request is sent now."""

    def on_response(self, request: SentRequest, outcome: RequestOutcome) -> None:
        """The request has an answer or has failed, or no caller waits any longer."""


class RequestMetrics:
    """The requests of one client, by API."""

    def __init__(self) -> None:
        self._apis: dict[ApiKey, ApiMetrics] = {}
        self.hooks: tuple[RequestHook, ...] = ()
        """The hooks, in the order in which they are called."""

    def add_hook(self, hook: RequestHook) -> None:
        """Call the hook for every request from now on."""
        self.hooks = (*self.hooks, hook)

    def remove_hook(self, hook: RequestHook) -> None:
        """Call the hook for no new request; requests under way still report their end."""
        self.hooks = tuple(each for each in self.hooks if each is not hook)

    @property
    def apis(self) -> Mapping[ApiKey, ApiMetrics]:
        """The APIs that have metrics."""
        return self._apis

    def of(self, api_key: ApiKey) -> ApiMetrics:
        """The metrics of an API, which may have no request yet."""
        return self._apis.setdefault(api_key, ApiMetrics())

    def finished(self, api_key: ApiKey, time_us: int, *, is_answered: bool) -> None:
        """Count a request that has ended."""
        found = self.of(api_key)
        if is_answered:
            found.times_us.record(time_us)
        else:
            found.failed += 1
