"""What a client has asked its brokers: counts and times, for whoever looks.

    metrics = RequestMetrics()
    async with Producer("localhost:9092", metrics=metrics) as producer:
        ...
    print(metrics.of(ApiKey.PRODUCE).times_us.percentile(0.99))

One object for each client, read by whoever exports it (``prometheus.py``); without one, nothing is
counted. Who wants to hear of each request registers a :class:`RequestHook` with it.
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
    """How often which value came: 35 KB, however many there are."""

    __slots__ = ("_buckets", "count", "largest", "total")

    def __init__(self) -> None:
        self.count = 0
        self.total = 0
        self.largest = 0
        self._buckets = [0] * _BUCKETS

    def record(self, value: int, times: int = 1) -> None:
        """A value, perhaps several times; below 0 is 0."""
        value = min(max(value, 0), _VALUE_MAX)
        self.count += times
        self.total += value * times
        self.largest = max(self.largest, value)
        self._buckets[_bucket_of(value)] += times

    @property
    def mean(self) -> float:
        """The average, 0 of nothing."""
        return self.total / self.count if self.count else 0.0

    def count_up_to(self, value: int) -> int:
        """How many values were not larger; those of its bucket are, 0.8 % at most."""
        return sum(self._buckets[: _bucket_of(min(max(value, 0), _VALUE_MAX)) + 1])

    def percentile(self, share: float) -> int:
        """The value at this place (0 to 1) of all in their order; 0 of nothing."""
        place = int(share * self.count)
        if place >= self.count - 1:
            return self.largest  # the last of all is known exactly
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
    """Requests of one API."""

    __slots__ = ("failed", "times_us")

    def __init__(self) -> None:
        self.times_us = Histogram()
        """From the sending to the answer, whatever it says."""
        self.failed = 0
        """Requests that got no answer."""


class SentRequest(NamedTuple):
    """A request that leaves."""

    api_key: ApiKey
    api_version: int
    peer: str
    """The broker's host and port."""


class RequestOutcome(NamedTuple):
    """What became of a request."""

    time_us: int
    """Since it left."""
    error: BaseException | None
    """Why there is no answer; what an answer says is not looked at."""
    is_awaited: bool
    """Not if the answer is nobody's concern any more: ``acks=0``, or the call was cancelled."""


class RequestHook(Protocol):
    """Hears of each request of a client, in the loop's thread: be quick, and do not wait.

        class Tracer:
            def on_request(self, request):
                log.debug("%s to %s", request.api_key.name, request.peer)

            def on_response(self, request, outcome):
                log.debug("%s took %d us", request.api_key.name, outcome.time_us)

        metrics.add_hook(Tracer())

    Both get the same object for the same request. What a hook raises goes to the loop's exception
    handler, and disturbs nobody.
    """

    def on_request(self, request: SentRequest) -> None:
        """It leaves now."""

    def on_response(self, request: SentRequest, outcome: RequestOutcome) -> None:
        """It has its answer, or will get none that anybody waits for."""


class RequestMetrics:
    """Requests of one client, by their API."""

    def __init__(self) -> None:
        self._apis: dict[ApiKey, ApiMetrics] = {}
        self.hooks: tuple[RequestHook, ...] = ()
        """Who hears of each request."""

    def add_hook(self, hook: RequestHook) -> None:
        """Tell it of every request from the next one on."""
        self.hooks = (*self.hooks, hook)

    def remove_hook(self, hook: RequestHook) -> None:
        """Tell it of no further request; of those under way it still hears the end."""
        self.hooks = tuple(each for each in self.hooks if each is not hook)

    @property
    def apis(self) -> Mapping[ApiKey, ApiMetrics]:
        """The APIs that were asked."""
        return self._apis

    def of(self, api_key: ApiKey) -> ApiMetrics:
        """One API; it need not have been asked yet."""
        return self._apis.setdefault(api_key, ApiMetrics())

    def finished(self, api_key: ApiKey, time_us: int, *, is_answered: bool) -> None:
        """A request has its answer, or will get none."""
        found = self.of(api_key)
        if is_answered:
            found.times_us.record(time_us)
        else:
            found.failed += 1
