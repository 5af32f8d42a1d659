"""The broker's side of logins without a socket: who is let in, by whom, and what is said."""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Any, Final

import pytest
from fencepost_broker.security.authentication.machine import Act, Login, Session, Step
from fencepost_broker.security.authentication.policy import (
    PASSWORD_MECHANISMS,
    SCRAM_MECHANISMS,
    Policy,
    TokenLogin,
)
from fencepost_broker.security.delegation_tokens import token_credential, token_secret
from fencepost_client.requests.sasl import Login as ClientLogin
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import SIZE_BYTES, api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateRequest
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest
from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

from tests.support.logins import plain_token, scram_final, scram_first

USER, PASSWORD, SALT = "alice", "wonder,land=7", b"salt" * 4
SESSION_MS: Final = 5000
TOKEN_ID, TOKEN_MS = "a-token", 60_000


class Known:
    """SCRAM credentials of one user, and of one delegation token."""

    def __init__(self) -> None:
        self.passwords = {USER: PASSWORD}

    def now_ms(self) -> int:
        return 0

    def token(self, token_id: str, mechanism: str) -> TokenLogin | None:
        if token_id != TOKEN_ID:
            return None
        credential = token_credential("key", token_id, *SCRAM_MECHANISMS[mechanism])
        return TokenLogin(credential, USER, TOKEN_MS)

    def scram(self, user: str, mechanism: int) -> UserScramCredentialRecord | None:
        [digest] = [name for number, name in SCRAM_MECHANISMS.values() if number == mechanism]
        if user not in self.passwords:
            return None
        salted = hashlib.pbkdf2_hmac(digest, self.passwords[user].encode(), SALT, 4096)
        client_key = hmac.digest(salted, b"Client Key", digest)
        stored_key = hashlib.new(digest, client_key).digest()
        server_key = hmac.digest(salted, b"Server Key", digest)
        return UserScramCredentialRecord(user, mechanism, SALT, stored_key, server_key, 4096)


POLICY: Final = Policy(
    PASSWORD_MECHANISMS, {USER: PASSWORD, "bob": "b"}, {"SCRAM-SHA-512": SESSION_MS}, None
)


def new_login(previous: Login | None = None, policy: Policy = POLICY) -> Login:
    return Login(policy, Known(), lambda: "of-the-broker", previous)


def send(login: Login, message: Message, version: int) -> tuple[Step, Any]:
    """What is to be done, and the answer if there is one."""
    frame = memoryview(encode_request(message, version, 7, "test"))[SIZE_BYTES:]
    step = login.receive(frame)
    if not step.frame:
        return step, None
    answer = memoryview(step.frame)[SIZE_BYTES:]
    correlation_id, body = read_response_head(answer, api_key_of(message), version)
    assert correlation_id == 7
    return step, response_class(api_key_of(message)).decode(answer, version, body)[0]


def log_in(
    login: Login, mechanism: str, user: str = USER, password: str = PASSWORD,
    answered: list[Step] | None = None, *, is_token: bool = False,
) -> Step:  # fmt: skip
    """All of it, by the client's own exchange; ``answered`` gets what came before the end."""
    step, _ = send(login, SaslHandshakeRequest(mechanism), 1)
    own = ClientLogin(mechanism, user, password, lambda: "of-the-client", is_token)
    exchange = own.exchange()
    token = next(exchange)
    while step.act is Act.ANSWER:
        step, answer = send(login, SaslAuthenticateRequest(token), 2)
        if step.act is Act.ANSWER:
            if answered is not None:
                answered.append(step)
            token = exchange.send(bytes(answer.auth_bytes))
        elif step.act is Act.LET_IN:
            with pytest.raises(StopIteration):  # the broker has shown that it knows it, too
                exchange.send(bytes(answer.auth_bytes))
    return step


@pytest.mark.parametrize("mechanism", PASSWORD_MECHANISMS)
def test_who_knows_the_password_is_let_in(mechanism: str) -> None:
    login = new_login()
    assert log_in(login, mechanism).act is Act.LET_IN
    assert (login.user, login.mechanism) == (USER, mechanism)
    assert login.session_ms == (SESSION_MS if mechanism == "SCRAM-SHA-512" else 0)


@pytest.mark.parametrize("mechanism", PASSWORD_MECHANISMS)
@pytest.mark.parametrize(("user", "password"), [(USER, "wonder"), ("mallory", PASSWORD)])
def test_no_text_tells_which_part_was_wrong(mechanism: str, user: str, password: str) -> None:
    login = new_login()
    answered: list[Step] = []
    step = log_in(login, mechanism, user, password, answered)
    assert step.act is Act.REFUSE
    is_proof = mechanism != "PLAIN" and user == USER
    assert len(answered) == is_proof, "SCRAM tells at once who is nobody, as Apache Kafka does"
    told: Any = step.response
    assert told.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    other: Any = log_in(new_login(), mechanism, USER, "neither").response
    assert told.error_message == other.error_message
    assert user in step.reason, "the log may say it"
    assert PASSWORD not in step.reason + repr(step) + repr(login) + repr(POLICY)
    assert not login.user
    assert send(login, SaslHandshakeRequest("PLAIN"), 1)[0].act is Act.REFUSE


@pytest.mark.parametrize("mechanism", PASSWORD_MECHANISMS)
@pytest.mark.parametrize(("other", "act"), [("bob", Act.REFUSE), (USER, Act.LET_IN)])
def test_nobody_acts_for_another_user(mechanism: str, other: str, act: Act) -> None:
    login = new_login()
    send(login, SaslHandshakeRequest(mechanism), 1)
    if mechanism == "PLAIN":
        step, _ = send(login, SaslAuthenticateRequest(plain_token(USER, PASSWORD, other)), 2)
    else:
        first = SaslAuthenticateRequest(scram_first(USER, other))
        step, answer = send(login, first, 2)
        if step.act is Act.ANSWER:
            binding = base64.b64encode(f"n,a={other},".encode()).decode()
            token = scram_final(
                mechanism, USER, PASSWORD, bytes(answer.auth_bytes), binding=binding
            )
            step, _ = send(login, SaslAuthenticateRequest(token), 2)
    assert step.act is act
    assert login.user == (USER if act is Act.LET_IN else "")
    if act is Act.REFUSE:
        assert "act for 'bob'" in step.reason


TOKEN_PASSWORD: Final = base64.b64encode(token_secret("key", TOKEN_ID)).decode()


@pytest.mark.parametrize(
    ("mechanism", "session_ms"),
    [("SCRAM-SHA-256", TOKEN_MS), ("SCRAM-SHA-512", min(TOKEN_MS, SESSION_MS))],
)
def test_a_delegation_token_stands_for_its_owner_while_it_is_valid(
    mechanism: str, session_ms: int
) -> None:
    login = new_login()
    assert log_in(login, mechanism, TOKEN_ID, TOKEN_PASSWORD, is_token=True).act is Act.LET_IN
    assert (login.user, login.has_delegation_token, login.session_ms) == (USER, True, session_ms)


@pytest.mark.parametrize(
    ("user", "password", "is_token"),
    [
        (TOKEN_ID, "another", True),
        ("another", TOKEN_PASSWORD, True),
        (USER, PASSWORD, True),
        (TOKEN_ID, TOKEN_PASSWORD, False),
    ],
)
def test_a_token_is_no_user_and_a_user_no_token(user: str, password: str, is_token: bool) -> None:
    login = new_login()
    step = log_in(login, "SCRAM-SHA-256", user, password, is_token=is_token)
    assert (step.act, login.user, login.has_delegation_token) == (Act.REFUSE, "", False)


def test_a_proof_is_good_for_one_login_alone() -> None:
    login = new_login()
    send(login, SaslHandshakeRequest("SCRAM-SHA-256"), 1)
    answer = send(login, SaslAuthenticateRequest(scram_first(USER)), 2)[1]
    final = scram_final("SCRAM-SHA-256", USER, PASSWORD, bytes(answer.auth_bytes))
    assert send(login, SaslAuthenticateRequest(final), 2)[0].act is Act.LET_IN
    again = Login(POLICY, Known(), lambda: "of-another-day")
    send(again, SaslHandshakeRequest("SCRAM-SHA-256"), 1)
    send(again, SaslAuthenticateRequest(scram_first(USER)), 2)
    assert send(again, SaslAuthenticateRequest(final), 2)[0].act is Act.REFUSE


def test_a_user_that_is_gone_is_not_let_in() -> None:
    known = Known()
    login = Login(POLICY, known, lambda: "n")
    del known.passwords[USER]
    assert log_in(login, "SCRAM-SHA-256").act is Act.REFUSE


def test_what_may_come_first() -> None:
    login = new_login()
    versions = ApiVersionsRequest("test", "1")
    assert send(login, versions, 3)[0].act is Act.ASK_SERVER
    login.asked(is_answered=False)
    assert send(login, versions, 3)[0].act is Act.ASK_SERVER, "it was told which there are"
    login.asked(is_answered=True)
    step, answer = send(login, versions, 3)
    assert (step.act, answer) == (Act.REFUSE, None)
    step, answer = send(new_login(), MetadataRequest([]), 9)
    assert (step.act, answer) == (Act.REFUSE, None)
    for word in ("Metadata", "security.protocol", "SCRAM-SHA-256"):
        assert word in step.reason
    with pytest.raises(RemoteProtocolError):
        new_login().receive(memoryview(b"\x00"))


def test_unknown_versions_are_told_a_few_times_alone() -> None:
    login = new_login()
    versions = ApiVersionsRequest("test", "1")
    for _ in range(5):
        assert send(login, versions, 3)[0].act is Act.ASK_SERVER
        login.asked(is_answered=False)
    assert send(login, versions, 3)[0].act is Act.REFUSE
    assert send(login, SaslHandshakeRequest("PLAIN"), 1)[0].act is Act.REFUSE


def test_a_mechanism_that_the_listener_does_not_have() -> None:
    login = new_login(policy=Policy(("SCRAM-SHA-256",), {}, {}, None))
    step, answer = send(login, SaslHandshakeRequest("PLAIN"), 1)
    assert step.act is Act.REFUSE
    assert answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM
    assert answer.mechanisms == ["SCRAM-SHA-256"]
    assert "sasl.enabled.mechanisms" in step.reason


def test_tokens_without_headers() -> None:
    login = new_login()
    assert send(login, SaslHandshakeRequest("PLAIN"), 0)[0].act is Act.ANSWER
    step = login.receive(memoryview(plain_token(USER, PASSWORD)))
    assert (step.act, bytes(step.frame)) == (Act.LET_IN, bytes(4)), "an empty token"
    login = new_login()
    send(login, SaslHandshakeRequest("PLAIN"), 0)
    step = login.receive(memoryview(plain_token(USER, "no")))
    assert (step.act, bytes(step.frame)) == (Act.REFUSE, b"")


def test_a_login_is_renewed_by_the_same_user_and_mechanism() -> None:
    first = new_login()
    log_in(first, "SCRAM-SHA-512")
    again = new_login(first)
    assert log_in(again, "SCRAM-SHA-512").act is Act.LET_IN
    step, answer = send(new_login(again), SaslHandshakeRequest("PLAIN"), 1)
    assert (step.act, answer.error_code) == (Act.ANSWER, 0)
    other = new_login(again)
    assert log_in(other, "PLAIN").act is Act.REFUSE
    by_plain = new_login()
    log_in(by_plain, "PLAIN")
    step = log_in(new_login(by_plain), "PLAIN", "bob", "b")
    told: Any = step.response
    assert told.error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert "bob" in step.reason


def test_a_session_ends_and_is_not_renewed_all_the_time() -> None:
    login = new_login()
    log_in(login, "SCRAM-SHA-512")
    session = Session(login, 1000)
    assert not session.is_over(1000 + SESSION_MS)
    assert session.is_over(1001 + SESSION_MS)
    assert session.may_renew(2000)
    assert not session.may_renew(2999)
    assert session.may_renew(3000)
    session.renewed(login, 3000)
    assert not session.is_over(3000 + SESSION_MS)
