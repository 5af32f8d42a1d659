"""Throttling of clients that exceed their quotas.

A request is carried out and answered; a Fetch gets an answer without records. The answer has the
ThrottleTimeMs, for which the connection is then muted (KIP-219): its requests wait. Time is state
time, so muting ends early if a test advances the clock. Handlers have no such step while no quota
is set.

The quota ``request_percentage`` counts how long handlers run, which is measured with a real clock:
100 is all the time of the one thread there is. What a request waits for does not count.

Requests of followers and other brokers have no quotas.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, cast

from fencepost_protocol.apis import response_class
from fencepost_protocol.framing import SIZE_BYTES, read_response_head
from fencepost_protocol.generated.fetch import FetchRequest, FetchResponse
from fencepost_protocol.generated.produce import ProduceRequest

from fencepost_broker.apis.fetch.fetching import encode_fetch, replica_of
from fencepost_broker.apis.request import NO_ANSWER, Answer, CompletedRequest
from fencepost_broker.apis.served import Served, Step
from fencepost_broker.metadata.image.client_quotas import (
    CONSUMER_BYTE_RATE,
    CONTROLLER_MUTATION_RATE,
    PRODUCER_BYTE_RATE,
    REQUEST_PERCENTAGE,
)
from fencepost_broker.network.client_quotas import Quota
from fencepost_broker.network.quota_manager import QuotaManager

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.network.connection import Connection

_INT_MAX: Final = (1 << 31) - 1
_NS_OF_A_PERCENT: Final = 10_000_000


def quota_step(api: Served, quotas: QuotaManager) -> Step | None:
    """Return the step that holds an API's clients to their quotas; ``None`` if there are none."""
    keys = quotas.quotas.keys
    if api.quota is None or not (api.quota in keys or REQUEST_PERCENTAGE in keys):
        return None
    steps = {
        PRODUCER_BYTE_RATE: _ProduceQuota,
        CONSUMER_BYTE_RATE: _FetchQuota,
        CONTROLLER_MUTATION_RATE: _MutationQuota,
    }
    return steps.get(api.quota, _TimeQuota)(quotas).step


class _HandlerTime:
    """The time of one request's handler, and the quota of its client."""

    __slots__ = ("_connection", "_quota", "_started_ns", "_wait_ms_max")

    def __init__(self, quota: Quota | None, connection: Connection, wait_ms_max: int) -> None:
        self._quota = quota
        self._connection = connection
        self._started_ns = perf_counter_ns()
        self._wait_ms_max = wait_ms_max

    def charge(self, now_ms: int) -> int:
        """Count the time; return the throttle time, which as in Kafka is at most a window."""
        if self._quota is None:
            return 0
        ended_ns = self._connection.parked_at_ns  # of this request only if it was parked
        if ended_ns < self._started_ns:
            ended_ns = perf_counter_ns()
        percent = (ended_ns - self._started_ns) / _NS_OF_A_PERCENT
        return min(self._quota.charge(percent, now_ms), self._wait_ms_max)


class _TimeQuota:
    """Charges a handler's time to its client when the request is answered."""

    def __init__(self, quotas: QuotaManager) -> None:
        self._quotas = quotas.quotas
        self._muted = quotas.muted

    def step(self, context: BrokerContext, request: CompletedRequest, message: Any) -> None:
        """Charge a request, if its client has a quota."""
        del message
        now_ms = context.clock.now_ms
        time = self._time_of(request, now_ms())
        if time is not None:
            request.complete_with(lambda answer: self._told(request, answer, time.charge(now_ms())))

    def _quota(self, key: str, request: CompletedRequest, now_ms: int) -> Quota | None:
        return self._quotas.of(key, request.peer.user, request.client_id or "", now_ms)

    def _time_of(self, request: CompletedRequest, now_ms: int) -> _HandlerTime | None:
        quota = self._quota(REQUEST_PERCENTAGE, request, now_ms)
        if quota is None:
            return None
        return _HandlerTime(quota, _connection_of(request), self._quotas.windows.size_ms)

    def _told(self, request: CompletedRequest, answer: Answer, wait_ms: int) -> Answer:
        """Mute the connection, and return the answer with the throttle time."""
        if not wait_ms:
            return answer
        self._muted.mute(_connection_of(request), wait_ms)
        if answer is NO_ANSWER:
            return answer
        message: Any = _message_of(request, answer) if isinstance(answer, list) else answer
        if hasattr(message, "throttle_time_ms"):
            message.throttle_time_ms = wait_ms
        told: Answer = message
        return told


class _ProduceQuota(_TimeQuota):
    """Charges a request's bytes as well, when it is answered."""

    def step(
        self, context: BrokerContext, request: CompletedRequest, message: ProduceRequest
    ) -> None:
        """Charge a request, if its client has a quota."""
        now_ms = context.clock.now_ms
        quota = self._quota(PRODUCER_BYTE_RATE, request, now_ms())
        # As in Kafka, the time of a request without an answer does not count.
        time = self._time_of(request, now_ms()) if message.acks else None
        if quota is None and time is None:
            return
        size = len(request.frame)

        def charge(answer: Answer) -> Answer:
            at_ms = now_ms()
            for_bytes_ms = 0 if quota is None else quota.charge(size, at_ms)
            for_time_ms = 0 if time is None else time.charge(at_ms)
            return self._told(request, answer, max(for_bytes_ms, for_time_ms))

        request.complete_with(charge)


class _FetchQuota(_TimeQuota):
    """Charges an answer's bytes as well, or replaces it by one without records."""

    def step(
        self, context: BrokerContext, request: CompletedRequest, message: FetchRequest
    ) -> None:
        """Charge an answer, if the client is a consumer with a quota."""
        if replica_of(message) is not None:
            return
        now_ms = context.clock.now_ms
        quota = self._quota(CONSUMER_BYTE_RATE, request, now_ms())
        time = self._time_of(request, now_ms())
        if quota is None and time is None:
            return
        if quota is not None:
            most = quota.per_second * self._quotas.windows.span_ms_min / 1000
            message.max_bytes = int(min(message.max_bytes, most, _INT_MAX))
        begins_session = message.session_epoch == 0

        def charge(answer: Answer) -> Answer:
            assert isinstance(answer, FetchResponse)
            pieces = encode_fetch(request, answer)
            size, at_ms = sum(map(len, pieces)), now_ms()
            for_bytes_ms = 0 if quota is None else quota.charge(size, at_ms)
            for_time_ms = 0 if time is None else time.charge(at_ms)
            wait_ms = max(for_bytes_ms, for_time_ms)
            if not wait_ms:
                return pieces
            if quota is not None:
                quota.take_back(size, at_ms)
            session_id = answer.session_id
            if begins_session:
                context.fetch_sessions.end(session_id)
                session_id = 0
            elif session_id:
                context.fetch_sessions.untell(session_id, answer)
            return self._told(
                request,
                FetchResponse(error_code=answer.error_code, session_id=session_id),
                wait_ms,
            )

        request.complete_with(charge)


class _MutationQuota(_TimeQuota):
    """Mutes clients for as long as the controller's answer says, too."""

    def step(self, context: BrokerContext, request: CompletedRequest, message: Any) -> None:
        """Look at the answer's throttle time."""
        del message
        now_ms = context.clock.now_ms
        time = self._time_of(request, now_ms())

        def look(answer: Answer) -> Answer:
            answered: Any = _message_of(request, answer) if isinstance(answer, list) else answer
            for_time_ms = 0 if time is None else time.charge(now_ms())
            return self._told(request, answered, max(answered.throttle_time_ms, for_time_ms))

        request.complete_with(look)


def _message_of(request: CompletedRequest, answer: list[Any]) -> Any:
    """Decode the controller's answer to a request that was forwarded to it."""
    frame = memoryview(b"".join(answer))[SIZE_BYTES:]
    _, body = read_response_head(frame, request.api_key, request.version)
    message, _ = response_class(request.api_key).decode(frame, request.version, body)
    return message


def _connection_of(request: CompletedRequest) -> Connection:
    return cast("Connection", request.peer).connection
