"""Logging in: what is sent, what a broker may answer, and what no error tells."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any

import pytest
from fencepost_client.errors import (
    AuthenticationError,
    ConfigError,
    FatalError,
    NetworkError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)
from fencepost_client.requests.connection import Answered, Connection, Failed, Ready, State
from fencepost_client.requests.sasl import ITERATIONS_MAX, Exchange, Login, plain, scram
from fencepost_protocol.apis import request_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_response, read_request_head
from fencepost_protocol.generated.api_versions import ApiVersion, ApiVersionsResponse
from fencepost_protocol.generated.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateResponse
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeResponse

PASSWORD = "pencil"
NONCE = "rOprNGfwEbeRWgbNEkqO"
SERVER_FIRST = (
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
)
ALL = ((ApiKey.FIND_COORDINATOR, 0, 4), (ApiKey.PRODUCE, 3, 9))
SASL = ((ApiKey.SASL_HANDSHAKE, 0, 1), (ApiKey.SASL_AUTHENTICATE, 0, 2))


# -- the mechanisms ----------------------------------------------------------------------------


def test_plain_is_one_message() -> None:
    exchange = plain("alice", PASSWORD)
    assert next(exchange) == b"\0alice\0pencil"
    with pytest.raises(StopIteration):
        exchange.send(b"")
    with pytest.raises(ConfigError, match="NUL"):
        next(plain("alice\0root", PASSWORD))


@pytest.mark.parametrize(
    ("hash_name", "nonce", "server_first", "proof", "server_final"),
    [
        pytest.param(
            "sha1",
            "fyko+d2lbbFgONRv9qkxdawL",
            b"r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
            b"v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
            b"v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
            id="RFC 5802",
        ),
        pytest.param(
            "sha256",
            NONCE,
            SERVER_FIRST,
            b"dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
            b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
            id="RFC 7677",
        ),
    ],
)
def test_scram_says_what_the_rfcs_say(
    hash_name: str, nonce: str, server_first: bytes, proof: bytes, server_final: bytes
) -> None:
    exchange = scram(hash_name, "user", PASSWORD, nonce)
    assert next(exchange) == b"n,,n=user,r=" + nonce.encode()
    whole_nonce = server_first.split(b",")[0]
    assert exchange.send(server_first) == b"c=biws," + whole_nonce + b",p=" + proof
    with pytest.raises(StopIteration):
        exchange.send(server_final)


def test_a_name_cannot_end_its_field() -> None:
    assert next(scram("sha256", "a=b,r=x", PASSWORD, "n")) == b"n,,n=a=3Db=2Cr=3Dx,r=n"


@pytest.mark.parametrize(
    ("server_first", "says"),
    [
        (b"", "not letter=value"),
        (b"\xff\xfe", "not text"),
        (b"hello", "not letter=value"),
        (b"x" * 20_000, "20000 bytes"),
        (SERVER_FIRST + b",i=4096", "not letter=value"),
        (b"m=ext," + SERVER_FIRST, "extension"),
        (SERVER_FIRST.replace(b"r=rO", b"r=Or"), "nonce"),
        (b"r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096", "nonce"),
        (SERVER_FIRST.replace(b"s=W", b"s=*"), "s= is missing or is not base64"),
        (SERVER_FIRST.replace(b"W22Z", "é".encode()), "s= is missing or is not base64"),
        (SERVER_FIRST.replace(b"i=4096", b"i=1"), "i=1 is not between"),
        (SERVER_FIRST.replace(b"i=4096", b"i=%d" % (ITERATIONS_MAX + 1)), "is not between"),
        (SERVER_FIRST.replace(b"i=4096", b"i=" + b"9" * 9000), "is not between"),
        (SERVER_FIRST.replace(b"i=4096", "i=²".encode()), "is not between"),
        (SERVER_FIRST.replace(b",i=4096", b""), "is not between"),
    ],
)
def test_a_challenge_that_is_none_is_refused(server_first: bytes, says: str) -> None:
    exchange = scram("sha256", "user", PASSWORD, NONCE)
    next(exchange)
    with pytest.raises(AuthenticationError, match=says) as raised:
        exchange.send(server_first)
    assert PASSWORD not in str(raised.value)


@pytest.mark.parametrize(
    ("server_final", "says"),
    [
        (b"e=invalid-proof", "invalid-proof"),
        (b"v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", "signature is wrong"),
        (b"v=", "v= is missing"),
        (b"", "not letter=value"),
        (b"r=x", "v= is missing"),
    ],
)
def test_a_server_that_cannot_prove_itself_is_refused(server_final: bytes, says: str) -> None:
    exchange = scram("sha256", "user", PASSWORD, NONCE)
    next(exchange)
    exchange.send(SERVER_FIRST)
    with pytest.raises(AuthenticationError, match=says):
        exchange.send(server_final)


def test_no_repr_has_the_password() -> None:
    login = Login("PLAIN", "alice", PASSWORD, lambda: NONCE)
    assert PASSWORD not in repr(login)
    with pytest.raises(ConfigError, match="PLAIN, SCRAM-SHA-256, SCRAM-SHA-512"):
        Login("GSSAPI", "alice", PASSWORD, lambda: NONCE)


# -- over a connection -------------------------------------------------------------------------


class Peer:
    """A connection, and the broker's end of it."""

    def __init__(self, mechanism: str, apis: Any = (*ALL, *SASL)) -> None:
        login = Login(mechanism, "user", PASSWORD, lambda: NONCE)
        self.connection = Connection("broker:1", "me", login)
        self.sent: Any = self.connection.open(0)
        self._apis = apis

    def read(self) -> Any:
        """The oldest request that was not read yet; what follows it is kept."""
        size = int.from_bytes(bytes(self.sent)[:4], "big") + 4
        frame, self.sent = memoryview(bytes(self.sent))[4:size], bytes(self.sent)[size:]
        key, self.version, self.correlation_id, _, start = read_request_head(frame)
        return request_class(key).decode(frame, self.version, start)[0]

    def answer(self, response: Any, now_ms: int = 1) -> Any:
        frame = encode_response(response, self.version, self.correlation_id)
        events, reply = self.connection.receive(now_ms, frame)
        self.sent = bytes(self.sent) + bytes(reply)
        return events

    def negotiate(self) -> None:
        self.read()
        versions = ApiVersionsResponse(api_keys=[ApiVersion(*api) for api in self._apis])
        assert self.answer(versions) == []
        assert self.connection.state is State.AUTHENTICATING

    def shake_hands(self) -> None:
        request = self.read()
        assert self.version == 1
        assert self.answer(SaslHandshakeResponse(0, [request.mechanism])) == []

    def let_in(self, lifetime_ms: int = 0, now_ms: int = 1) -> Any:
        self.shake_hands()
        assert self.read().auth_bytes == b"\0user\0pencil"
        return self.answer(SaslAuthenticateResponse(session_lifetime_ms=lifetime_ms), now_ms)


def ready(lifetime_ms: int = 0) -> Peer:
    peer = Peer("PLAIN")
    peer.negotiate()
    assert peer.let_in(lifetime_ms) == [Ready()]
    assert peer.connection.state is State.READY
    return peer


def submit(peer: Peer, token: str) -> None:
    sent = peer.connection.submit(FindCoordinatorRequest("g"), 3, token, 100_000)
    peer.sent = bytes(peer.sent) + b"".join(bytes(piece) for piece in sent)


def tokens(events: Any) -> list[Any]:
    return [event.token for event in events if isinstance(event, Answered)]


def test_plain_logs_in_before_anything_else() -> None:
    peer = ready()
    assert peer.sent == b""
    assert peer.connection.renew(1 << 40) == b""  # it holds for ever


@pytest.mark.parametrize("newest", [0, 1, 2])
def test_scram_logs_in_when_both_have_proved_themselves(newest: int) -> None:
    apis = (*ALL, SASL[0], (ApiKey.SASL_AUTHENTICATE, 0, newest))
    peer = Peer("SCRAM-SHA-512", apis)
    peer.negotiate()
    peer.shake_hands()
    first = peer.read().auth_bytes
    assert peer.version == newest
    server_first = b"r=%ssrv,s=c2FsdA==,i=4096" % NONCE.encode()
    assert peer.answer(SaslAuthenticateResponse(auth_bytes=server_first)) == []
    without_proof, _, _ = peer.read().auth_bytes.partition(b",p=")
    salted = hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), b"salt", 4096)
    told = b",".join((first[3:], server_first, without_proof))
    server_key = hmac.digest(salted, b"Server Key", "sha512")
    verifier = b"v=" + base64.b64encode(hmac.digest(server_key, told, "sha512"))
    assert peer.answer(SaslAuthenticateResponse(auth_bytes=verifier)) == [Ready()]


def test_a_refusal_says_who_where_and_what_to_check() -> None:
    peer = Peer("PLAIN")
    peer.negotiate()
    peer.shake_hands()
    peer.read()
    code = ErrorCode.SASL_AUTHENTICATION_FAILED
    with pytest.raises(AuthenticationError) as raised:
        peer.answer(SaslAuthenticateResponse(code, "Invalid username or password"))
    text = str(raised.value)
    assert isinstance(raised.value, FatalError)
    for part in ("broker:1", "'user'", "PLAIN", "Invalid username", "sasl_plain_password"):
        assert part in text
    assert PASSWORD not in text + repr(raised.value)


def test_another_mechanism_is_asked_for() -> None:
    peer = Peer("PLAIN")
    peer.negotiate()
    peer.read()
    refused = SaslHandshakeResponse(ErrorCode.UNSUPPORTED_SASL_MECHANISM, ["GSSAPI", "OAUTHBEARER"])
    with pytest.raises(UnsupportedSaslMechanismError, match=r"offers GSSAPI, OAUTHBEARER\."):
        peer.answer(refused)


@pytest.mark.parametrize(
    ("apis", "error", "says"),
    [
        (ALL, AuthenticationError, "does not accept SASL"),
        (
            ((ApiKey.SASL_HANDSHAKE, 0, 0), SASL[1]),
            UnsupportedVersionError,
            "only SaslHandshake v0",
        ),
    ],
)
def test_a_listener_without_sasl_is_told_apart(apis: Any, error: Any, says: str) -> None:
    with pytest.raises(error, match=says):
        Peer("PLAIN", apis).negotiate()


def test_a_plaintext_listener_of_apache_kafka_is_told_apart() -> None:
    peer = Peer("PLAIN")
    peer.negotiate()
    peer.read()
    with pytest.raises(AuthenticationError, match=r"ILLEGAL_SASL_STATE.*security_protocol"):
        peer.answer(SaslHandshakeResponse(ErrorCode.ILLEGAL_SASL_STATE))


def test_a_login_that_is_not_answered_is_out_of_time() -> None:
    peer = Peer("PLAIN")
    peer.negotiate()
    deadline_ms = peer.connection.deadline()
    assert deadline_ms is not None
    assert [type(event) for event in peer.connection.expire(deadline_ms)] == [Failed]
    assert peer.connection.state is State.CLOSED


# -- once more (KIP-368) -----------------------------------------------------------------------


def test_a_login_is_renewed_behind_what_is_under_way_and_before_what_comes() -> None:
    peer = ready(lifetime_ms=1000)
    submit(peer, "before")
    assert peer.connection.renew(850) == b""
    peer.sent += bytes(peer.connection.renew(851))
    submit(peer, "behind")
    unanswered = ProduceRequest(acks=0)
    assert peer.connection.submit(unanswered, 9, "no answer", 100_000) == []
    assert peer.connection.renew(860) == b""  # it goes on already
    assert peer.connection.under_way == 4
    peer.read()
    assert tokens(peer.answer(FindCoordinatorResponse(), 900)) == ["before"]
    assert peer.let_in(2000, 1000) == []
    peer.read()
    assert tokens(peer.answer(FindCoordinatorResponse(), 1000)) == ["behind"]
    assert isinstance(peer.read(), ProduceRequest)
    assert peer.connection.under_way == 0
    assert peer.connection.renew(2699) == b""
    assert peer.connection.renew(2700) != b""


def test_a_renewal_that_is_refused_fails_what_waits_for_it() -> None:
    peer = ready(lifetime_ms=1000)
    peer.sent = bytes(peer.connection.renew(900))
    submit(peer, "behind")
    peer.read()
    with pytest.raises(AuthenticationError):
        peer.answer(SaslHandshakeResponse(ErrorCode.SASL_AUTHENTICATION_FAILED))
    events = peer.connection.lost("it was closed here")
    assert [(event.token, type(event.error)) for event in events if isinstance(event, Failed)] == [
        (None, NetworkError),
        ("behind", NetworkError),
    ]


def test_exchanges_are_not_shared() -> None:
    nonces = iter(["one", "two"])
    login = Login("SCRAM-SHA-256", "user", PASSWORD, lambda: next(nonces))
    exchanges: list[Exchange] = [login.exchange(), login.exchange()]
    assert [next(exchange)[-3:] for exchange in exchanges] == [b"one", b"two"]
