"""``Connection``: a connection to a broker without its socket. Bytes in, answers out.

::

    NEW --open--> NEGOTIATING --ApiVersions answered--> READY
                      |                                   ^
                      +--a login--> AUTHENTICATING --let in
      any state --lost | garbage | a request timed out--> CLOSED

The first request is ApiVersions in its newest version. An older broker answers with
UNSUPPORTED_VERSION in version 0 and names its versions, so it is asked again. After that each
request has the newest version that both sides support. A broker answers the requests of a
connection in order, so an answer that does not belong to the oldest request is an error. A request
that gets no answer in time closes the connection, because all later requests wait for it too. All
requests under way fail then, and the caller decides which to repeat.

A login may expire. It is then repeated before the next request (KIP-368), after those under way;
requests wait until it is done.

Nothing here waits, and ``now_ms`` is an argument; ``network.link`` has the socket.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from fencepost_protocol import __version__
from fencepost_protocol.apis import FLEXIBLE_FROM, Message, request_class, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import (
    api_key_of,
    encode_request,
    encode_request_pieces,
    read_response_head,
)
from fencepost_protocol.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse
from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.primitives import Buffer

from fencepost_client.errors import (
    KafkaError,
    NetworkError,
    RequestTimedOutError,
    TlsError,
    UnsupportedVersionError,
    error_of,
)
from fencepost_client.requests.frames import FrameReceiver
from fencepost_client.requests.sasl import Login, Requests, authenticate

SOFTWARE_NAME: Final = "fencepost"
RESPONSE_BYTES_MAX: Final = 256 << 20
"""The largest answer; a larger one is treated as garbage."""
NEGOTIATION_TIMEOUT_MS: Final = 10_000
SILENCE_MS: Final = 1_000
"""A broker that owes an answer and sends nothing for this time may be dead or paused."""
_SASL_KEYS: Final = frozenset({int(ApiKey.SASL_HANDSHAKE), int(ApiKey.SASL_AUTHENTICATE)})
_SESSION_SHARE: Final = 0.85
"""The part of a login's lifetime after which it is renewed (KIP-368)."""
_CODE: Final = struct.Struct(">h")

Build: TypeAlias = Callable[[int], Message]
"""Makes a request in the version that is used."""


class State(Enum):
    """The states in the diagram above."""

    NEW = "new"
    NEGOTIATING = "negotiating"
    AUTHENTICATING = "authenticating"
    READY = "ready"
    CLOSED = "closed"


class Answered(NamedTuple):
    """A request has an answer."""

    token: Any
    response: Any
    version: int


class Failed(NamedTuple):
    """A request will get no answer."""

    token: Any
    error: KafkaError


class Ready(NamedTuple):
    """The versions are known and the login is done: requests can be submitted."""


Event: TypeAlias = Answered | Failed | Ready


@dataclass(slots=True)
class _UnderWay:
    correlation_id: int
    api_key: int
    version: int
    deadline_ms: int
    token: Any
    silent_at_ms: int


class Connection:
    """The state of a connection. ``peer`` is for messages only."""

    def __init__(self, peer: str, client_id: str, login: Login | None = None) -> None:
        self.peer = peer
        self.client_id = client_id
        self.state = State.NEW
        self.versions: Mapping[int, tuple[int, int]] = {}
        """The broker's versions: API key -> lowest and highest version."""
        self.features: dict[str, int] = {}
        """Finalized features and their levels, such as ``transaction.version``."""
        self._frames = FrameReceiver(RESPONSE_BYTES_MAX)
        self._under_way: deque[_UnderWay] = deque()
        self._correlation_id = 0
        self._heard_ms = 0
        self._login = login
        self._steps: Requests | None = None
        """The login that is under way."""
        self._renew_at_ms: int | None = None
        self._held_back: list[tuple[_UnderWay | None, list[Buffer]]] = []

    @property
    def under_way(self) -> int:
        """The number of requests without an answer."""
        return len(self._under_way) + len(self._held_back)

    def is_silent(self, now_ms: int) -> bool:
        """Whether an answer is overdue and the broker has sent nothing."""
        if not self._under_way or now_ms < self._under_way[0].silent_at_ms:
            return False
        return now_ms >= self._heard_ms + SILENCE_MS

    @property
    def oldest_api(self) -> int | None:
        """The API of the oldest request."""
        return self._under_way[0].api_key if self._under_way else None

    # -- sending -------------------------------------------------------------------------------

    def open(self, now_ms: int) -> Buffer:
        """Return the first bytes to send, when the socket is open."""
        self.state = State.NEGOTIATING
        return self._ask_versions(now_ms, request_class(ApiKey.API_VERSIONS).MAX_VERSION)

    def _ask_versions(self, now_ms: int, version: int) -> Buffer:
        request = ApiVersionsRequest()
        if version >= FLEXIBLE_FROM[ApiKey.API_VERSIONS]:
            request = ApiVersionsRequest(SOFTWARE_NAME, __version__)
        return self._first_frame(now_ms, request, version)

    def _first_frame(self, now_ms: int, request: Message, version: int) -> Buffer:
        """Return the bytes of a request that comes before all others: versions, or a login."""
        deadline_ms, silent_at_ms = now_ms + NEGOTIATION_TIMEOUT_MS, now_ms + SILENCE_MS
        (frame,) = self._frame(request, version, deadline_ms, None, silent_at_ms)
        return frame

    def choose_version(self, api_key: int, version_max: int | None = None) -> int:
        """The newest version of a request that both sides support."""
        ours = request_class(api_key)
        name = APIS[api_key][0]
        if api_key not in self.versions:
            raise UnsupportedVersionError(f"The broker at {self.peer} does not support {name}.")
        low, high = self.versions[api_key]
        version = min(high, ours.MAX_VERSION if version_max is None else version_max)
        if version < max(low, ours.MIN_VERSION):
            raise UnsupportedVersionError(
                f"The broker at {self.peer} supports {name} v{low} to v{high}; this client needs "
                f"v{ours.MIN_VERSION} to v{version_max or ours.MAX_VERSION}."
            )
        return version

    def submit(
        self,
        request: Message,
        version: int,
        token: Any,
        deadline_ms: int,
        silent_at_ms: int | None = None,
    ) -> list[Buffer]:
        """Return the bytes of a request. Its answer comes with ``token``.

        A Produce request with ``acks=0`` has no answer.
        """
        assert self.state is State.READY, f"a request on a connection that is {self.state.value}"
        return self._frame(request, version, deadline_ms, token, silent_at_ms)

    def _frame(
        self,
        request: Message,
        version: int,
        deadline_ms: int,
        token: Any,
        silent_at_ms: int | None = None,
    ) -> list[Buffer]:
        self._correlation_id = self._correlation_id + 1 & 0x7FFF_FFFF
        number = self._correlation_id
        if isinstance(request, ProduceRequest):
            pieces = encode_request_pieces(request, version, number, self.client_id)
        else:
            pieces = [encode_request(request, version, number, self.client_id)]
        key = api_key_of(request)
        entry = None
        if not isinstance(request, ProduceRequest) or request.acks:
            silent_at_ms = deadline_ms if silent_at_ms is None else silent_at_ms
            entry = _UnderWay(number, key, version, deadline_ms, token, silent_at_ms)
        if self._steps is not None and key not in _SASL_KEYS:
            self._held_back.append((entry, pieces))
            return []
        if entry is not None:
            self._under_way.append(entry)
        return pieces

    # -- receiving -----------------------------------------------------------------------------

    def buffer(self) -> memoryview:
        """The buffer for the next bytes of the socket."""
        return self._frames.buffer()

    def receive(self, now_ms: int, data: Buffer) -> tuple[list[Event], Buffer]:
        """Take bytes that are not in the buffer; see ``received``."""
        events: list[Event] = []
        reply: Buffer = b""
        left = memoryview(data)
        while left:
            room = self.buffer()[: len(left)]
            room[:] = left[: len(room)]
            left = left[len(room) :]
            more, answer = self.received(now_ms, len(room))
            events += more
            reply = answer or reply
        return events, reply

    def received(self, now_ms: int, count: int) -> tuple[list[Event], Buffer]:
        """Take a number of bytes from the buffer. Return events, and bytes to send.

        Raises ``RemoteProtocolError`` for garbage and ``AuthenticationError`` for a refused login.
        The caller then closes the socket and calls ``lost``, which reports every request without
        an answer.
        """
        events: list[Event] = []
        reply: Buffer = b""
        self._heard_ms = now_ms
        under_way = self._under_way
        try:
            frames = self._frames.received(count)
            if not frames:  # a part of a large answer
                return events, reply
            under_way = under_way.copy()
            for frame in frames:
                request = self._request_of(frame)
                if self.state is State.NEGOTIATING:
                    reply = self._negotiated(now_ms, request, frame, events)
                elif self._steps is not None and request.api_key in _SASL_KEYS:
                    reply = self._log_in(now_ms, _decode(request, frame), events)
                else:
                    events.append(Answered(request.token, _decode(request, frame), request.version))
        except (RemoteProtocolError, KafkaError) as error:
            self._under_way = under_way
            if self.state is State.NEGOTIATING and self._frames.begins_as_tls():
                raise TlsError(
                    f"{self.peer} answers with TLS to a request in plain text."
                ) from error
            raise
        return events, reply

    def _request_of(self, frame: memoryview) -> _UnderWay:
        """Take the oldest request, to which this answer must belong."""
        if not self._under_way:
            raise RemoteProtocolError(
                f"{self.peer} has sent an answer without a request",
                path="response header",
                offset=0,
            )
        request = self._under_way[0]
        correlation_id, _ = read_response_head(frame, request.api_key, request.version)
        if correlation_id != request.correlation_id:
            raise RemoteProtocolError(
                f"{self.peer} answers request {correlation_id}, but "
                f"{request.correlation_id} is the oldest one",
                api=APIS[request.api_key][0],
                path="response header",
                offset=0,
            )
        return self._under_way.popleft()

    def _negotiated(
        self, now_ms: int, request: _UnderWay, frame: memoryview, events: list[Event]
    ) -> Buffer:
        if _CODE.unpack_from(frame, 4)[0] == ErrorCode.UNSUPPORTED_VERSION and request.version:
            asked, request.version = request.version, 0
            known = {entry.api_key: entry for entry in _decode(request, frame).api_keys}
            spoken = known.get(ApiKey.API_VERSIONS)
            high = spoken.max_version if spoken else 0
            return self._ask_versions(now_ms, max(0, min(high, asked - 1)))
        response: ApiVersionsResponse = _decode(request, frame)
        if response.error_code:
            raise error_of(response.error_code, state=f"asking {self.peer} for its versions")
        self.versions = _one_table(
            tuple((each.api_key, each.min_version, each.max_version) for each in response.api_keys)
        )
        self.features = {
            feature.name: feature.max_version_level for feature in response.finalized_features
        }
        if self._login is None:
            self.state = State.READY
            events.append(Ready())
            return b""
        self.state = State.AUTHENTICATING
        return self._begin_login(now_ms, self._login)

    # -- logging in ----------------------------------------------------------------------------

    def renew(self, now_ms: int) -> Buffer:
        """Return the first bytes of a new login, if the current one is about to expire."""
        if self._renew_at_ms is None or now_ms < self._renew_at_ms or self._login is None:
            return b""
        self._renew_at_ms = None
        return self._begin_login(now_ms, self._login)

    def _begin_login(self, now_ms: int, login: Login) -> Buffer:
        self._steps = authenticate(login, self.peer, self.choose_version, self.versions)
        return self._log_in(now_ms, None, [])

    def _log_in(self, now_ms: int, answer: Any, events: list[Event]) -> Buffer:
        assert self._steps is not None
        try:
            request, version = self._steps.send(answer)
        except StopIteration as done:
            return self._logged_in(now_ms, done.value, events)
        return self._first_frame(now_ms, request, version)

    def _logged_in(self, now_ms: int, lifetime_ms: int, events: list[Event]) -> Buffer:
        self._steps = None
        if lifetime_ms:
            self._renew_at_ms = now_ms + int(lifetime_ms * _SESSION_SHARE)
        if self.state is State.AUTHENTICATING:
            self.state = State.READY
            events.append(Ready())
        held_back, self._held_back = self._held_back, []
        self._under_way.extend(entry for entry, _ in held_back if entry is not None)
        return b"".join(piece for _, pieces in held_back for piece in pieces)

    # -- time, and the end ---------------------------------------------------------------------

    def deadline(self) -> int | None:
        """The time at which the first request times out."""
        return min((request.deadline_ms for request in self._waiting()), default=None)

    def _waiting(self) -> Iterable[_UnderWay]:
        """All requests that will get an answer."""
        if not self._held_back:
            return self._under_way
        return [*self._under_way, *(entry for entry, _ in self._held_back if entry is not None)]

    def expire(self, now_ms: int) -> list[Event]:
        """Check for requests that have timed out; if there is one, the connection ends."""
        late = self.deadline()
        if late is None or now_ms < late:
            return []
        behind = NetworkError(
            f"The connection to {self.peer} was closed because an answer was overdue."
        )
        events: list[Event] = []
        for request in self._waiting():
            error: KafkaError = behind
            if now_ms >= request.deadline_ms:
                name = APIS[request.api_key][0]
                error = RequestTimedOutError(f"{self.peer} did not answer {name} in time.")
            events.append(Failed(request.token, error))
        self._close()
        return events

    def lost(self, reason: str, kind: type[NetworkError] = NetworkError) -> list[Event]:
        """The socket is closed: fail all requests under way."""
        error = kind(f"The connection to {self.peer} was lost: {reason}.")
        events: list[Event] = [Failed(request.token, error) for request in self._waiting()]
        self._close()
        return events

    def _close(self) -> None:
        self.state = State.CLOSED
        self._under_way.clear()
        self._held_back.clear()


@lru_cache(8)
def _one_table(versions: tuple[tuple[int, int, int], ...]) -> Mapping[int, tuple[int, int]]:
    """The table of a broker's versions, which all connections to brokers of one release share."""
    return {api_key: (low, high) for api_key, low, high in versions}


def _decode(request: _UnderWay, frame: memoryview) -> Any:
    _, body = read_response_head(frame, request.api_key, request.version)
    response, end = response_class(request.api_key).decode(frame, request.version, body)
    if end != len(frame):
        raise RemoteProtocolError(
            f"{len(frame) - end} bytes are left after the message",
            api=APIS[request.api_key][0],
            version=request.version,
            offset=end - body,
        )
    return response
