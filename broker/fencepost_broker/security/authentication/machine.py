"""Login of one connection: SaslHandshake and SaslAuthenticate, from the first byte to a user.

Behaviour: ApiVersions may come first, once (and before that a few times in unsupported versions,
which get an error); any other request before SaslHandshake closes the connection. A refused login
is answered after a pause, and then the connection is closed. After SaslHandshake version 0, tokens
are frames without Kafka's headers (KIP-43); after version 1 they are in SaslAuthenticate (KIP-152).
A login that expires (KIP-368) is renewed on the same connection, with the same mechanism and user.

The machine takes frames and returns a Step; it has no socket. Refusals have the same text for every
reason. With SCRAM an unknown user is refused at the first message and a wrong password at the
second, as in Apache Kafka, so that a client can find out which users exist. ``reason`` is for the
broker's log.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from enum import Enum, auto
from typing import Final, NamedTuple

from fencepost_protocol.apis import Api, Message
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import encode_response, read_request_head
from fencepost_protocol.generated.api_versions import ApiVersionsResponse
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.generated.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from fencepost_protocol.generated.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

from fencepost_broker.security.authentication.exchanges import (
    Exchange,
    PlainExchange,
    RefusedError,
    ScramExchange,
)
from fencepost_broker.security.authentication.policy import OAUTHBEARER, PLAIN, Credentials, Policy

_FRAMED_FROM: Final = 1
_SIZE: Final = struct.Struct(">i")
_VERSIONS_ASKED_MAX: Final = 5
"""Number of ApiVersions requests in unsupported versions that are answered before a supported one.

Each answer costs something for an unknown client, and one answer lists the supported versions.
"""
_OVER_MS: Final = -1
_RENEWABLE_FROM_MS: Final = 1000
"""Shortest time between two logins of a connection."""


class Act(Enum):
    """What the connection does with a frame."""

    ASK_SERVER = auto()
    """It is an ApiVersions request: the server answers it; then call ``asked``."""
    ANSWER = auto()
    """Send ``frame`` and wait for the next one."""
    LET_IN = auto()
    """Send ``frame``; the connection now belongs to ``user``."""
    REFUSE = auto()
    """Send ``frame``, if there is one, after a pause, and close the connection."""


class Step(NamedTuple):
    """What to do, the bytes of the answer, and the reason."""

    act: Act
    frame: bytes | bytearray = b""
    reason: str = ""
    response: Message | None = None
    """The response in the frame, for counting errors."""


class _Stage(Enum):
    FIRST = auto()
    HANDSHAKE = auto()
    """ApiVersions was answered."""
    TOKENS = auto()
    RAW_TOKENS = auto()
    OVER = auto()


class _Head(NamedTuple):
    api_key: int
    version: int
    correlation_id: int


class Login:
    """One login; ``previous`` is the session that it renews."""

    def __init__(
        self, policy: Policy, credentials: Credentials, nonce: Callable[[], str],
        previous: Login | None = None,
    ) -> None:  # fmt: skip
        self._policy = policy
        self._credentials = credentials
        self._nonce = nonce
        self._previous = previous
        self._stage = _Stage.FIRST if previous is None else _Stage.HANDSHAKE
        self._versions_asked = 0
        self._exchange: Exchange | None = None
        self._is_of_another_mechanism = False
        self.mechanism = ""
        self.user = ""
        self.has_delegation_token = False
        """Whether it is a login with a delegation token."""
        self.session_ms = 0
        """How long the login is valid; 0: without a limit. With a token that has just expired, it
        is over when it begins, as in Kafka."""

    def __repr__(self) -> str:
        return f"<Login of {self.user or 'no user yet'} by {self.mechanism or 'no mechanism yet'}>"

    @property
    def takes_raw_tokens(self) -> bool:
        """Whether the next frame is a token without a request's header."""
        return self._stage is _Stage.RAW_TOKENS

    def receive(self, frame: memoryview) -> Step:
        """Take the next frame; raises RemoteProtocolError for an invalid one."""
        if self._stage is _Stage.RAW_TOKENS:
            return self._receive_raw(bytes(frame))
        api_key, version, correlation_id, _, body = read_request_head(frame)
        head = _Head(api_key, version, correlation_id)
        if self._stage is _Stage.TOKENS:
            return self._receive_token(head, frame, body)
        if api_key == ApiKey.API_VERSIONS and self._stage is _Stage.FIRST:
            if self._versions_asked == _VERSIONS_ASKED_MAX:
                return self._out_of_turn(api_key)
            self._versions_asked += 1
            return Step(Act.ASK_SERVER)
        if api_key == ApiKey.SASL_HANDSHAKE and self._stage is not _Stage.OVER:
            return self._receive_handshake(head, frame, body)
        return self._out_of_turn(api_key)

    def asked(self, *, is_answered: bool) -> None:
        """Tell whether the server has answered ApiVersions, or refused its version."""
        if is_answered:
            self._stage = _Stage.HANDSHAKE

    # -- the handshake -------------------------------------------------------------------------

    def _out_of_turn(self, api_key: int) -> Step:
        self._stage = _Stage.OVER
        name = _name_of(api_key)
        if api_key == ApiKey.API_VERSIONS:
            return Step(Act.REFUSE, reason="too many ApiVersions requests before SaslHandshake")
        return Step(
            Act.REFUSE,
            reason=f"{name} before a login: this listener requires SASL with "
            f"{', '.join(self._policy.mechanisms)} (security.protocol, sasl.mechanism)",
        )

    def _receive_handshake(self, head: _Head, frame: memoryview, body: int) -> Step:
        _check_version(head)
        mechanism = SaslHandshakeRequest.decode(frame, head.version, body)[0].mechanism
        offered = list(self._policy.mechanisms)
        if mechanism not in offered:
            self._stage = _Stage.OVER
            reason = (
                f"the client asks for SASL mechanism {mechanism!r:.100}; this listener supports "
                f"{', '.join(offered)} (sasl.enabled.mechanisms)"
            )
            if self._previous is not None:
                return Step(Act.REFUSE, reason=reason)  # Kafka says nothing here
            code = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            return _refuse(head, SaslHandshakeResponse(code, offered), reason)
        previous = self._previous
        self._is_of_another_mechanism = previous is not None and previous.mechanism != mechanism
        self.mechanism = mechanism
        self._exchange = _begin_exchange(mechanism, self._policy, self._credentials, self._nonce())
        self._stage = _Stage.TOKENS if head.version >= _FRAMED_FROM else _Stage.RAW_TOKENS
        response = SaslHandshakeResponse(ErrorCode.NONE, offered)
        return Step(Act.ANSWER, _encoded(head, response), response=response)

    # -- tokens --------------------------------------------------------------------------------

    def _receive_token(self, head: _Head, frame: memoryview, body: int) -> Step:
        if self._is_of_another_mechanism:
            return self._other_mechanism()
        if head.api_key != ApiKey.SASL_AUTHENTICATE:
            self._stage = _Stage.OVER
            reason = f"{_name_of(head.api_key)} during a login"
            answer = _ILLEGAL_STATE.get(head.api_key)
            if answer is None or not _is_served(head):
                return Step(Act.REFUSE, reason=reason)
            return _refuse(head, answer(), reason)
        _check_version(head)
        token = SaslAuthenticateRequest.decode(frame, head.version, body)[0].auth_bytes
        try:
            answer_token = self._take(bytes(token))
        except RefusedError as error:
            self._stage = _Stage.OVER
            code = ErrorCode.SASL_AUTHENTICATION_FAILED
            return _refuse(
                head, SaslAuthenticateResponse(code, error.told or self._told()), self._why(error)
            )
        response = SaslAuthenticateResponse(auth_bytes=answer_token)
        if not self.user:
            return Step(Act.ANSWER, _encoded(head, response), response=response)
        response.session_lifetime_ms = max(0, self.session_ms)
        return Step(Act.LET_IN, _encoded(head, response), response=response)

    def _receive_raw(self, token: bytes) -> Step:
        if self._is_of_another_mechanism:
            return self._other_mechanism()
        try:
            answer = self._take(token)
        except RefusedError as error:
            self._stage = _Stage.OVER
            return Step(Act.REFUSE, reason=self._why(error))
        act = Act.LET_IN if self.user else Act.ANSWER
        return Step(act, _SIZE.pack(len(answer)) + answer)

    def _take(self, token: bytes) -> bytes:
        exchange = self._exchange
        assert exchange is not None
        answer = exchange.receive(token)
        if exchange.user is not None:
            if self._previous is not None and exchange.user != self._previous.user:
                raise RefusedError(
                    f"{exchange.user!r:.100} cannot log in on a connection of "
                    f"{self._previous.user!r:.100}: open a new connection"
                )
            self._stage = _Stage.OVER
            self.user = exchange.user
            self.session_ms = self._policy.session_ms.get(self.mechanism, 0)
            self.has_delegation_token = exchange.has_delegation_token
            if exchange.valid_for_ms is not None:
                valid_for_ms = exchange.valid_for_ms or _OVER_MS
                self.session_ms = min(self.session_ms or valid_for_ms, valid_for_ms)
            self._exchange = self._previous = None
        return answer

    def _other_mechanism(self) -> Step:
        self._stage = _Stage.OVER
        assert self._previous is not None
        return Step(
            Act.REFUSE,
            reason=f"a {self._previous.mechanism} login cannot be renewed with {self.mechanism}",
        )

    def _told(self) -> str:
        doing = "login" if self._previous is None else "renewed login"
        return f"this {doing} with {self.mechanism} is refused: check user and password"

    def _why(self, error: RefusedError) -> str:
        return f"a login with {self.mechanism} is refused: {error}"


class Session:
    """How long a connection is authenticated, on the loop's clock."""

    __slots__ = ("_ends_ms", "_renewed_ms", "login")

    def __init__(self, login: Login, now_ms: int) -> None:
        self.login = login
        self._ends_ms = now_ms + login.session_ms
        self._renewed_ms: int | None = None

    def is_over(self, now_ms: int) -> bool:
        """Whether only a new login is allowed."""
        return now_ms > self._ends_ms

    def may_renew(self, now_ms: int) -> bool:
        """Whether a handshake begins a new login, or comes too soon after the last one."""
        if self._renewed_ms is not None and now_ms - self._renewed_ms < _RENEWABLE_FROM_MS:
            return False
        self._renewed_ms = now_ms
        return True

    def renewed(self, login: Login, now_ms: int) -> None:
        """Continue with a new login."""
        self.login = login
        self._ends_ms = now_ms + login.session_ms


_ILLEGAL_STATE: Final[dict[int, Callable[[], Message]]] = {
    ApiKey.SASL_HANDSHAKE: lambda: SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE),
    ApiKey.API_VERSIONS: lambda: ApiVersionsResponse(ErrorCode.ILLEGAL_SASL_STATE),
}
"""Responses to requests other than the expected token."""


def _is_served(head: _Head) -> bool:
    api = Api.of(head.api_key)
    return api is not None and api.min_version <= head.version <= api.advertised[1]


def _check_version(head: _Head) -> None:
    if not _is_served(head):
        api = Api.of(head.api_key)
        assert api is not None
        low, high = api.advertised
        raise RemoteProtocolError(
            f"only versions {low} to {high} are supported", api=api.name, version=head.version
        )


def _refuse(head: _Head, response: Message, reason: str) -> Step:
    return Step(Act.REFUSE, _encoded(head, response), reason, response)


def _encoded(head: _Head, response: Message) -> bytearray:
    return encode_response(response, head.version, head.correlation_id)


def _name_of(api_key: int) -> str:
    return APIS[api_key][0] if api_key in APIS else f"an unknown request (API key {api_key})"


def _begin_exchange(
    mechanism: str, policy: Policy, credentials: Credentials, nonce: str
) -> Exchange:
    """Begin a login with one of the listener's mechanisms; ``nonce`` is random text."""
    if mechanism == PLAIN:
        return PlainExchange(policy.plain_users)
    if mechanism == OAUTHBEARER:
        from fencepost_broker.security.authentication.bearer import BearerExchange

        assert policy.tokens is not None
        return BearerExchange(policy.tokens, credentials.now_ms)
    return ScramExchange(mechanism, credentials, nonce)
