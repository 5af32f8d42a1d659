"""SASL authentication of connections: a gate in front of the server.

A gate is the dispatcher of one connection until it is authenticated. Then the connection goes to
the server with its user's name, and bypasses the gate. If logins expire
(``connections.max.reauth.ms``), the gate stays in front of the server and checks each request.

An unauthenticated connection gets few resources: frames up to ``sasl.server.max.receive.size``, no
parked requests (except by fault rules), and a limited time. The log never has tokens, and the tap
hides them.
"""

from __future__ import annotations

import asyncio
import secrets
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import read_request_head
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

from fencepost_broker.apis.request import NO_ANSWER, NO_FRAME, Answer, Pieces, Request
from fencepost_broker.network.connection import Connection, Ending
from fencepost_broker.security.authentication.machine import Act, Login, Session, Step
from fencepost_broker.security.authentication.policy import (
    OAUTHBEARER,
    SCRAM_MECHANISMS,
    Policy,
    TokenLogin,
)
from fencepost_broker.security.principals import user_of

if TYPE_CHECKING:
    from fencepost_broker.config import Settings
    from fencepost_broker.metadata.image.metadata_image import MetadataImage
    from fencepost_broker.network.key_fetcher import KeyFetcher
    from fencepost_broker.network.socket_server import SocketServer
    from fencepost_broker.observability.logging import Logger

NONCE_BYTES: Final = 18
_error_of: Final = struct.Struct(">8xh").unpack_from
"""Reads the error code of an ApiVersions answer, after its size and correlation id."""
_api_key_of: Final = struct.Struct(">h").unpack_from
_LOGIN_APIS: Final = (ApiKey.SASL_HANDSHAKE, ApiKey.SASL_AUTHENTICATE)


@dataclass(frozen=True, slots=True)
class Entrance:
    """A SASL listener's settings for authentication."""

    policy: Policy
    token_bytes_max: int
    failure_delay_ms: int
    patience_ms: int
    """The time limit of a login."""
    token_key: str | None = field(repr=False)
    """The key of delegation tokens' secrets, if there are such tokens."""
    now_ms: Callable[[], int]
    """The time by which tokens expire."""

    @classmethod
    def from_settings(
        cls, settings: Settings, listener: str, now_ms: Callable[[], int]
    ) -> Entrance:
        """Return the settings of a listener."""
        token_bytes_max = settings.of_listener("sasl.server.max.receive.size", listener)
        assert isinstance(token_bytes_max, int)
        return cls(
            _policy(settings, listener),
            token_bytes_max,
            settings.connection_failed_authentication_delay_ms,
            settings.connections_login_timeout_ms,
            settings.delegation_token_secret_key,
            now_ms,
        )

    async def start_fetching(self, log: Logger) -> list[KeyFetcher]:
        """Fetch the keys of tokens, if they are at an endpoint; raises SettingsError."""
        if self.policy.tokens is None or self.policy.tokens.endpoint is None:
            return []
        from fencepost_broker.network.key_fetcher import KeyFetcher

        fetcher = KeyFetcher(self.policy.tokens.endpoint, log)
        await fetcher.start()
        return [fetcher]


def _policy(settings: Settings, listener: str) -> Policy:
    mechanisms = settings.mechanisms(listener)
    session_ms: dict[str, int] = {}
    for mechanism in mechanisms:
        held_ms = settings.of_listener("connections.max.reauth.ms", listener, mechanism)
        if isinstance(held_ms, int) and held_ms > 0:
            session_ms[mechanism] = held_ms
    tokens = settings.bearer_tokens(listener) if OAUTHBEARER in mechanisms else None
    return Policy(mechanisms, settings.plain_users(listener), session_ms, tokens)


class _Known:
    """The SCRAM credentials in the current metadata."""

    def __init__(self, server: SocketServer, entrance: Entrance) -> None:
        self._server = server
        self._entrance = entrance

    def scram(self, user: str, mechanism: int) -> UserScramCredentialRecord | None:
        """Return a user's credentials, if there are any."""
        image: MetadataImage = self._server.image
        return image.scram.credentials.get((user, mechanism))

    def now_ms(self) -> int:
        """Return the time by which tokens expire."""
        return self._entrance.now_ms()

    def token(self, token_id: str, mechanism: str) -> TokenLogin | None:
        """Return a delegation token's credentials, if there is one."""
        key = self._entrance.token_key
        found = self._server.image.delegation_tokens.by_id.get(token_id)
        if key is None or found is None:
            return None
        from fencepost_broker.security.delegation_tokens import token_credential

        credential = token_credential(key, token_id, *SCRAM_MECHANISMS[mechanism])
        valid_for_ms = found.expiration_timestamp - self.now_ms()
        return TokenLogin(credential, user_of(found.owner), valid_for_ms)


class Gate:
    """The dispatcher of one connection until it is authenticated."""

    def __init__(self, server: SocketServer, entrance: Entrance) -> None:
        self._server = server
        self._entrance = entrance
        self._known = _Known(server, entrance)
        self._login: Login | None = self._new_login()
        self._session: Session | None = None
        self._step: Step | None = None
        """The step that fault rules fired on, until its answer is released."""
        self._timer: asyncio.TimerHandle | None = None
        self.metrics = server.metrics
        self.frame_bytes_max = entrance.token_bytes_max
        self.waiting_max = 1
        self.parked_max = server.parked_max
        self.ready = server.ready
        self.answers_bytes_max = server.answers_bytes_max

    def _new_login(self, previous: Login | None = None) -> Login:
        policy = self._entrance.policy
        return Login(policy, self._known, lambda: secrets.token_urlsafe(NONCE_BYTES), previous)

    # -- the connection's dispatcher -----------------------------------------------------------

    @property
    def parked_count(self) -> int:
        """The server's count for all connections."""
        return self._server.parked_count

    @parked_count.setter
    def parked_count(self, count: int) -> None:
        self._server.parked_count = count

    def opened(self, connection: Connection) -> bool:
        """Register the connection, and start the time limit of its login."""
        if not self._server.opened(connection):
            return False
        self._start_timer(connection)
        return True

    def closed(self, connection: Connection, error: Exception | None) -> None:
        """Forget the connection."""
        self._stop_timer()
        self._server.closed(connection, error)

    def dropped(self, connection: Connection, error: Exception, frame: memoryview) -> None:
        """Report why a connection is closed, without a frame that may have a password in it."""
        self._server.dropped(connection, error, frame if self._login is None else NO_FRAME)

    def released(self, connection: Connection, request: Request, answer: Answer) -> Pieces:
        """Encode the answer to a parked request; a step of the login takes effect now."""
        pieces = self._server.released(connection, request, answer)
        login = self._login
        if login is None:
            return pieces
        if request.api_key == ApiKey.API_VERSIONS:
            self._asked(login, pieces)
            return pieces
        step, self._step = self._step, None
        if step is None:
            step = Step(Act.REFUSE, reason="a fault rule refuses the login")
        if step.act is Act.REFUSE:
            self._refuse(connection, step.reason, pieces)
            return NO_ANSWER
        if step.act is Act.LET_IN:
            self._let_in(connection, login)
        return pieces

    def dispatch(self, connection: Connection, frame: memoryview) -> Pieces | None:
        """Carry out a step of the login, or check a request and pass it to the server."""
        login = self._login
        if login is None:
            session = self._session
            if session is None:  # it was received together with the login's last step
                return self._server.dispatch(connection, frame)
            now_ms = _now_ms()
            if _begins_login(frame) and session.may_renew(now_ms):
                login = self._login = self._new_login(session.login)
                self._start_timer(connection)
            elif session.is_over(now_ms):
                connection.drop(
                    f"the login of {session.login.user!r:.100} has expired and was not renewed "
                    "(connections.max.reauth.ms, or the time of its delegation token)"
                )
                return NO_ANSWER
            else:
                return self._server.dispatch(connection, frame)
        request = None if login.takes_raw_tokens else _request(connection, frame)
        if request is not None and self._fires(connection, request):
            return None
        step = login.receive(frame)
        if step.act is Act.ASK_SERVER:
            pieces = self._server.dispatch(connection, frame)
            if pieces is not None:
                self._asked(login, pieces)
            return pieces
        if request is not None and step.response is not None:
            self._count(request)
            self.metrics.note_errors(step.response)
            if self._server.watcher is not None:
                self._server.watcher.answered(request, [step.frame])
        if step.act is Act.REFUSE:
            self._refuse(connection, step.reason, [step.frame] if step.frame else [])
            return NO_ANSWER
        if step.act is Act.LET_IN:
            self._let_in(connection, login)
        return [step.frame]

    # -- what comes of it ----------------------------------------------------------------------

    def _fires(self, connection: Connection, request: Request) -> bool:
        """Let fault rules carry out a step of the login; return whether any fires on it."""
        faults, api_key = self._server.faults, request.api_key
        if faults is None or api_key not in _LOGIN_APIS:
            return False
        if request.version not in self.metrics.apis[api_key].requests:
            return False  # it is refused
        api, *_ = self._server.apis[api_key]
        if not faults.fire(api, request, self._carry_out, self._server.encode):
            return False
        self._count(request)
        self._server.park(connection, request)
        return True

    def _carry_out(self, request: Request) -> Answer:
        """Carry out a step of the login that rules have fired on, up to its answer."""
        assert self._login is not None
        self._step = self._login.receive(request.frame)
        return self._step.response or NO_ANSWER

    def _asked(self, login: Login, pieces: Pieces) -> None:
        """Tell the login whether ApiVersions is answered; an answer may also be sent later."""
        login.asked(is_answered=not pieces or _error_of(pieces[0])[0] == ErrorCode.NONE)

    def _let_in(self, connection: Connection, login: Login) -> None:
        self._login = None
        self._stop_timer()
        connection.user = login.user
        connection.client.has_token = login.has_delegation_token
        self.frame_bytes_max = self._server.frame_bytes_max
        self.waiting_max = self._server.waiting_max
        if not login.session_ms:
            connection.belongs_to(self._server)
        elif self._session is None:
            self._session = Session(login, _now_ms())
        else:
            self._session.renewed(login, _now_ms())

    def _refuse(self, connection: Connection, reason: str, answer: Pieces) -> None:
        """Answer and close after a delay, which slows down password guessing."""
        self._stop_timer()
        self.waiting_max = 1
        delay_ms = self._entrance.failure_delay_ms
        self._server.dropped(connection, RemoteProtocolError(reason, api="SASL"), NO_FRAME)
        if not delay_ms or not connection.mute(self._stop_timer):
            connection.end(answer=answer)
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(delay_ms / 1000, connection.end, Ending.AFTER_SENDING, answer)

    def _start_timer(self, connection: Connection) -> None:
        """Start the time limit, which is the same for the first login and for renewals."""
        patience_s = self._entrance.patience_ms / 1000
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(patience_s, self._give_up, connection)

    def _give_up(self, connection: Connection) -> None:
        reason = (
            f"the client did not log in within {self._entrance.patience_ms} ms "
            "(connections.login.timeout.ms)"
        )
        self._server.dropped(connection, RemoteProtocolError(reason, api="SASL"), NO_FRAME)
        connection.end(Ending.AT_ONCE)  # do not wait for a peer that does not read its answers

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _count(self, request: Request) -> None:
        """Count a step of the login, and show it to the watcher; the tap hides its content."""
        counts = self.metrics.apis[request.api_key].requests
        if request.version in counts:
            counts[request.version] += 1
        if self._server.watcher is not None:
            self._server.watcher.requested(request)


def _request(connection: Connection, frame: memoryview) -> Request:
    api_key, version, correlation_id, client_id, body = read_request_head(frame)
    return Request(connection, api_key, version, correlation_id, client_id, frame, body)


def _begins_login(frame: memoryview) -> bool:
    return len(frame) > 1 and _api_key_of(frame)[0] == ApiKey.SASL_HANDSHAKE


def _now_ms() -> int:
    return int(asyncio.get_running_loop().time() * 1000)


__all__ = ["Entrance", "Gate"]
