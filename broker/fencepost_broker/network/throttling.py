"""Clients above their quota: the answer tells for how long (ThrottleTimeMs), then nothing is heard.

While no quota is set the server's routes lead past all of this. A Produce is carried out and
answered, a Fetch gets an answer without records; then the connection is muted (KIP-219): what it
sends waits unread until the time is over. Time is state time: where that is moved by hand, so are
muted connections.

Followers and what brokers ask each other have no quotas here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from fencepost_protocol.framing import SIZE_BYTES, encode_response, read_response_head
from fencepost_protocol.generated.fetch import FetchRequest, FetchResponse
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.produce import ProduceResponse

from fencepost_broker.apis.request import AnyMessage, Pieces, Request
from fencepost_broker.controller.client_quotas import CONSUMER_BYTE_RATE, PRODUCER_BYTE_RATE
from fencepost_broker.network.client_quotas import ClientQuotas, Quota

if TYPE_CHECKING:
    from fencepost_broker.network.connection import Connection

Handler = Callable[[Any, Request], Pieces | None]
Settle = Callable[[Pieces], tuple[Pieces, int]]
"""Charges for an answer: gives the one to send instead, and for how long to mute, in ms."""

_THROTTLED: Final = {ApiKey.PRODUCE: PRODUCER_BYTE_RATE, ApiKey.FETCH: CONSUMER_BYTE_RATE}
_WITHOUT_REPLICA_ID_FROM: Final = 15
_WITH_SESSIONS_FROM: Final = 7
_INT: Final = struct.Struct(">i")
_AHEAD_OF_MAX_BYTES: Final = 8
"""The bytes of MaxWaitMs and MinBytes, behind ReplicaId where a request begins with it."""
_AHEAD_OF_EPOCH: Final = _AHEAD_OF_MAX_BYTES + 9
"""MaxBytes, IsolationLevel and SessionId as well."""
_STATE_AT: Final = -15
_STATE: Final = b"\x01\x0d"
"""The tag and size of ReplicaState, which is the last thing of a follower's request."""
_unpack_session: Final = struct.Struct(">ihi").unpack_from
"""What an answer begins with: for how long it is throttled, its error, its session."""
_INT_MAX: Final = (1 << 31) - 1


def throttled(api_key: int, handler: Handler, quotas: ClientQuotas) -> Handler:
    """The handler, with quotas kept; itself, where none is set that could be."""
    key = _THROTTLED.get(ApiKey(api_key))
    if key is None or key not in quotas.keys:
        return handler
    prepare = _prepare_produce if api_key == ApiKey.PRODUCE else _prepare_fetch

    def within_quota(broker: Any, request: Request) -> Pieces | None:
        quota = quotas.of(key, request.peer.user, request.client_id or "", broker.now_ms())
        settle = None if quota is None else prepare(broker, request, quota)
        if settle is None:
            return handler(broker, request)
        connection = cast("Connection", request.peer)
        request.peer = cast("Connection", _Muting(broker, connection, settle))
        pieces = handler(broker, request)
        if pieces is None:
            return None
        request.peer = connection
        pieces, wait_ms = settle(pieces)
        if wait_ms:
            broker.mutes.mute(connection, wait_ms)
        return pieces

    return within_quota


class _Muting:
    """A connection to a request that parks: its answer is charged for when it comes."""

    def __init__(self, broker: Any, connection: Connection, settle: Settle) -> None:
        self._broker = broker
        self._connection = connection
        self._settle = settle

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def release(self, request: Request, pieces: Pieces) -> None:
        """Send the answer, and mute if need be."""
        pieces, wait_ms = self._settle(pieces)
        if not wait_ms:
            self._connection.release(request, pieces)
            return
        self._connection.release(
            request, pieces, lambda: self._broker.mutes.mute(self._connection, wait_ms)
        )


def _prepare_produce(broker: Any, request: Request, quota: Quota) -> Settle:
    size = len(request.frame)

    def settle(pieces: Pieces) -> tuple[Pieces, int]:
        wait_ms = quota.charge(size, broker.now_ms())
        if not wait_ms or not pieces:
            return pieces, wait_ms
        response = _decoded(ProduceResponse, request, pieces)
        response.throttle_time_ms = wait_ms
        return [encode_response(response, request.version, request.correlation_id)], wait_ms

    return settle


def _prepare_fetch(broker: Any, request: Request, quota: Quota) -> Settle | None:
    try:
        asked = _asked_of_fetch(request)
    except struct.error:
        return None  # too short to be one, as its handler will say
    if asked.is_follower:
        return None
    at_once_max = min(int(quota.at_once_max), _INT_MAX)
    if asked.max_bytes > at_once_max:
        frame = bytearray(request.frame)  # it lies where others receive
        _INT.pack_into(frame, asked.max_bytes_at, at_once_max)
        request.frame = memoryview(frame)
    begins_session = asked.session_epoch == 0

    def settle(pieces: Pieces) -> tuple[Pieces, int]:
        size = sum(map(len, pieces))
        now_ms = broker.now_ms()
        wait_ms = quota.charge(size, now_ms)
        if not wait_ms:
            return pieces, 0
        quota.take_back(size, now_ms)
        code, session_id = _session_of(request, pieces)
        if begins_session:
            broker.fetch_sessions.end(session_id)
            session_id = 0
        elif session_id:
            broker.fetch_sessions.untell(session_id, _decoded(FetchResponse, request, pieces))
        empty = FetchResponse(throttle_time_ms=wait_ms, error_code=code, session_id=session_id)
        return [encode_response(empty, request.version, request.correlation_id)], wait_ms

    return settle


class _Asked(NamedTuple):
    """What counts of a Fetch here."""

    is_follower: bool
    max_bytes: int
    max_bytes_at: int
    session_epoch: int


def _asked_of_fetch(request: Request) -> _Asked:
    """All of it would be read twice: there may be many partitions."""
    frame, pos, version = request.frame, request.body, request.version
    if version < _WITHOUT_REPLICA_ID_FROM:
        is_follower = _INT.unpack_from(frame, pos)[0] >= 0
        pos += _INT.size
    else:
        # What looks like one may be a consumer's rack.
        is_follower = bytes(frame[_STATE_AT:][: len(_STATE)]) == _STATE and (
            FetchRequest.decode(frame, version, pos)[0].replica_state is not None
        )
    session_epoch = -1
    if version >= _WITH_SESSIONS_FROM:
        session_epoch = _INT.unpack_from(frame, pos + _AHEAD_OF_EPOCH)[0]
    at = pos + _AHEAD_OF_MAX_BYTES
    return _Asked(is_follower, _INT.unpack_from(frame, at)[0], at, session_epoch)


def _decoded(kind: type[AnyMessage], request: Request, pieces: Pieces) -> AnyMessage:
    frame = memoryview(b"".join(pieces))[SIZE_BYTES:]
    _, pos = read_response_head(frame, request.api_key, request.version)
    response: AnyMessage = kind.decode(frame, request.version, pos)[0]
    return response


def _session_of(request: Request, pieces: Pieces) -> tuple[int, int]:
    """An answer's error and session, which are told even where nothing else is."""
    if request.version < _WITH_SESSIONS_FROM:
        return 0, 0
    frame = memoryview(pieces[0])[SIZE_BYTES:]
    _, pos = read_response_head(frame, request.api_key, request.version)
    _, code, session_id = _unpack_session(frame, pos)
    return code, session_id
