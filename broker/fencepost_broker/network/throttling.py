"""Throttling of clients that exceed their quotas.

A Produce is carried out and answered; a Fetch gets an answer without records. The answer has the
ThrottleTimeMs, for which the connection is then muted (KIP-219): its requests wait. Time is state
time, so muting ends early if a test advances the clock. Handlers have no such step while no quota
is set.

Requests of followers and other brokers have no quotas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from fencepost_protocol.generated.fetch import FetchRequest, FetchResponse
from fencepost_protocol.generated.produce import ProduceRequest, ProduceResponse

from fencepost_broker.apis.fetch.fetching import encode_fetch, replica_of
from fencepost_broker.apis.request import Answer, CompletedRequest
from fencepost_broker.apis.served import Served, Step
from fencepost_broker.controller.client_quotas import CONSUMER_BYTE_RATE, PRODUCER_BYTE_RATE
from fencepost_broker.network.quota_manager import QuotaManager

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.network.connection import Connection

_INT_MAX: Final = (1 << 31) - 1


def quota_step(api: Served, quotas: QuotaManager) -> Step | None:
    """Return the step that holds an API's clients to their quotas; ``None`` if there are none."""
    if api.quota not in quotas.quotas.keys:
        return None
    return (_ProduceQuota if api.quota == PRODUCER_BYTE_RATE else _FetchQuota)(quotas).step


class _ProduceQuota:
    """Charges a request's bytes to its client when the request is answered."""

    def __init__(self, quotas: QuotaManager) -> None:
        self._quotas = quotas.quotas
        self._muted = quotas.muted

    def step(
        self, context: BrokerContext, request: CompletedRequest, message: ProduceRequest
    ) -> None:
        """Charge a request, if its client has a quota."""
        del message
        quota = self._quotas.of(
            PRODUCER_BYTE_RATE, request.peer.user, request.client_id or "", context.clock.now_ms()
        )
        if quota is None:
            return
        size = len(request.frame)
        connection = _connection_of(request)

        def charge(answer: Answer) -> Answer:
            wait_ms = quota.charge(size, context.clock.now_ms())
            if wait_ms:
                self._muted.mute(connection, wait_ms)
                if isinstance(answer, ProduceResponse):
                    answer.throttle_time_ms = wait_ms
            return answer

        request.complete_with(charge)


class _FetchQuota:
    """Charges an answer's bytes to its client, or replaces it by one without records."""

    def __init__(self, quotas: QuotaManager) -> None:
        self._quotas = quotas.quotas
        self._muted = quotas.muted

    def step(
        self, context: BrokerContext, request: CompletedRequest, message: FetchRequest
    ) -> None:
        """Charge an answer, if the client is a consumer with a quota."""
        if replica_of(message) is not None:
            return
        quota = self._quotas.of(
            CONSUMER_BYTE_RATE, request.peer.user, request.client_id or "", context.clock.now_ms()
        )
        if quota is None:
            return
        message.max_bytes = min(message.max_bytes, int(quota.at_once_max), _INT_MAX)
        begins_session = message.session_epoch == 0
        connection = _connection_of(request)

        def charge(answer: Answer) -> Answer:
            assert isinstance(answer, FetchResponse)
            pieces = encode_fetch(request, answer)
            size, now_ms = sum(map(len, pieces)), context.clock.now_ms()
            wait_ms = quota.charge(size, now_ms)
            if not wait_ms:
                return pieces
            quota.take_back(size, now_ms)
            session_id = answer.session_id
            if begins_session:
                context.fetch_sessions.end(session_id)
                session_id = 0
            elif session_id:
                context.fetch_sessions.untell(session_id, answer)
            self._muted.mute(connection, wait_ms)
            return FetchResponse(
                throttle_time_ms=wait_ms, error_code=answer.error_code, session_id=session_id
            )

        request.complete_with(charge)


def _connection_of(request: CompletedRequest) -> Connection:
    return cast("Connection", request.peer).connection
