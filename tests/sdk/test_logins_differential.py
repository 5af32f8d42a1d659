"""Logins, right and wrong: Apache Kafka and Fencepost are told the same, and say the same."""

from __future__ import annotations

import asyncio
import pprint
from typing import Any, Final

import pytest
from fencepost_broker import Broker
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateRequest
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest

from tests.support.logins import (
    Case,
    Peer,
    plain_token,
    scram_final,
    scram_first,
    told_of,
)
from tests.support.secure_kafka import LOGIN_MS, PASSWORD, USER, SecureKafka

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.kafka_alone("both brokers at once"),
    pytest.mark.slow,
    pytest.mark.conformance,
]

S256: Final = "SCRAM-SHA-256"
S512: Final = "SCRAM-SHA-512"
RIGHT: Final = plain_token(USER, PASSWORD)
METADATA: Final = MetadataRequest([])
VERSIONS: Final = ApiVersionsRequest("test", "1")
CASES: Final[dict[str, Case]] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def plain_case(name: str, token: bytes, version: int = 2) -> None:
    async def log_in(peer: Peer) -> None:
        await peer.handshake("PLAIN")
        await peer.token(token, version)
        await peer.ask(METADATA, 9)

    CASES[f"plain_{name}"] = log_in


for version in (0, 1, 2):
    plain_case(f"right_{version}", RIGHT, version)
    plain_case(f"wrong_{version}", plain_token(USER, "no"), version)
plain_case("nobody", plain_token("nobody", PASSWORD))
plain_case("as_oneself", plain_token(USER, PASSWORD, USER))
plain_case("as_another", plain_token(USER, PASSWORD, "root"))
plain_case("no_user", plain_token("", PASSWORD))
plain_case("no_password", plain_token(USER, ""))
plain_case("empty", b"")
plain_case("two_parts", b"a\0b")
plain_case("four_parts", RIGHT + b"\0more")
plain_case("no_utf8", b"\0\xff\0\xfe")


def scram_case(name: str, mechanism: str = S256, first: bytes = b"", **wrong: Any) -> None:
    user, password = wrong.pop("user", USER), wrong.pop("password", PASSWORD)

    async def log_in(peer: Peer) -> None:
        await peer.handshake(mechanism)
        answer = await peer.token(first or scram_first(user))
        if answer is not None and not answer.error_code:
            server_first = bytes(answer.auth_bytes)
            await peer.token(scram_final(mechanism, user, password, server_first, **wrong))
        await peer.ask(METADATA, 9)

    CASES[f"scram_{name}"] = log_in


scram_case("right_256")
scram_case("right_512", S512)
scram_case("wrong_256", password="no")
scram_case("wrong_512", S512, password="no")
scram_case("nobody", user="nobody")
scram_case("as_oneself", first=scram_first(USER, USER))
scram_case("as_another", first=scram_first(USER, "root"))
scram_case("no_user", first=scram_first(""))
scram_case("no_nonce", first=scram_first(USER, nonce=""))
scram_case("blank_in_nonce", first=scram_first(USER, nonce="a b"))
scram_case("no_ascii_name", first=scram_first("jürgen"))
scram_case("bad_escape", first=scram_first("a=b"))
scram_case("extension", first=scram_first(USER, more=",x=y"), first_more=",x=y")
scram_case("token_extension", first=scram_first(USER, more=",tokenauth=true"))
scram_case("mandatory_extension", first=f"n,,m=x,n={USER},r=abc".encode())
scram_case("with_binding", first=f"p=tls-unique,,n={USER},r=abc".encode())
scram_case("could_bind", first=f"y,,n={USER},r=abc".encode())
scram_case("empty", first=b",")
scram_case("no_utf8", first=b"n,,n=\xff,r=abc")
scram_case("other_binding", binding="eSws")
scram_case("other_nonce", nonce="another")
scram_case("longer_proof", proof=lambda proof: proof + b"x")
scram_case("shorter_proof", proof=lambda proof: proof[1:])
scram_case("no_proof", proof=lambda proof: b"")
scram_case("final_extension", more=",x=y")


@case
async def another_mechanism(peer: Peer) -> None:
    await peer.handshake("GSSAPI")
    await peer.handshake("PLAIN")


@case
async def a_small_mechanism(peer: Peer) -> None:
    await peer.handshake("plain")


@case
async def versions_come_first(peer: Peer) -> None:
    await peer.ask(VERSIONS, 3)
    await peer.handshake("PLAIN")
    await peer.token(RIGHT)
    await peer.ask(VERSIONS, 3)


@case
async def versions_come_twice(peer: Peer) -> None:
    await peer.ask(VERSIONS, 3)
    await peer.ask(VERSIONS, 3)


@case
async def versions_that_there_are_not(peer: Peer) -> None:
    await peer.ask(_Later("test", "1"), 4)
    await peer.ask(VERSIONS, 3)
    await peer.handshake("PLAIN")


class _Later(ApiVersionsRequest):
    """Of a version that nobody has yet."""

    def encode(self, version: int, out: bytearray) -> None:
        out[6:8] = (99).to_bytes(2, "big")
        super().encode(version, out)


@case
async def nameless_versions(peer: Peer) -> None:
    await peer.ask(ApiVersionsRequest("", "1"), 3)
    await peer.ask(VERSIONS, 3)
    await peer.ask(VERSIONS, 3)


@case
async def something_else_first(peer: Peer) -> None:
    await peer.ask(METADATA, 9)


@case
async def a_token_first(peer: Peer) -> None:
    await peer.ask(SaslAuthenticateRequest(RIGHT), 2)


@case
async def a_handshake_instead_of_a_token(peer: Peer) -> None:
    await peer.handshake("PLAIN")
    await peer.handshake("PLAIN")


@case
async def versions_instead_of_a_token(peer: Peer) -> None:
    await peer.handshake("PLAIN")
    await peer.ask(VERSIONS, 3)


@case
async def a_handshake_when_all_is_done(peer: Peer) -> None:
    await peer.handshake("PLAIN")
    await peer.token(RIGHT)
    await peer.handshake("PLAIN")
    await peer.token(RIGHT)
    await peer.ask(METADATA, 9)


@case
async def raw_plain(peer: Peer) -> None:
    await peer.handshake("PLAIN", 0)
    await peer.raw(RIGHT)
    await peer.ask(METADATA, 9)


@case
async def raw_plain_wrong(peer: Peer) -> None:
    await peer.handshake("PLAIN", 0)
    await peer.raw(plain_token(USER, "no"))


@case
async def raw_scram(peer: Peer) -> None:
    await peer.handshake(S256, 0)
    first = await peer.raw(scram_first(USER))
    assert first is not None
    await peer.raw(scram_final(S256, USER, PASSWORD, first))
    await peer.ask(METADATA, 9)


@case
async def raw_scram_wrong(peer: Peer) -> None:
    await peer.handshake(S256, 0)
    first = await peer.raw(scram_first(USER))
    assert first is not None
    await peer.raw(scram_final(S256, USER, "no", first))


@case
async def a_token_that_is_too_large(peer: Peer) -> None:
    await peer.handshake("PLAIN")
    await peer.token(bytes(600_000))


async def log_in_512(peer: Peer) -> None:
    await peer.handshake(S512)
    await peer.scram(S512, USER, PASSWORD)


@case
async def a_renewed_login(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.ask(METADATA, 9)
    await log_in_512(peer)
    await peer.ask(METADATA, 9)


@case
async def a_renewed_login_that_is_wrong(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.handshake(S512)
    await peer.scram(S512, USER, "no")


@case
async def a_login_renewed_by_another_mechanism(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.handshake("PLAIN")
    await peer.token(RIGHT)


@case
async def a_login_renewed_by_no_mechanism(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.handshake("GSSAPI")


@case
async def a_login_renewed_too_often(peer: Peer) -> None:
    for _ in range(3):
        await log_in_512(peer)
    await peer.ask(METADATA, 9)


@case
async def something_else_while_renewing(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.handshake(S512)
    await peer.ask(METADATA, 9)


@case
async def a_handshake_while_renewing(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.handshake(S512)
    await peer.handshake(S512)
    await peer.ask(METADATA, 9)


@case
async def versions_while_renewing(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.handshake(S512)
    await peer.ask(VERSIONS, 3)


@case
async def a_token_without_a_handshake_to_renew(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.token(scram_first(USER))
    await peer.ask(METADATA, 9)


@case
async def a_token_when_all_is_done(peer: Peer) -> None:
    await peer.handshake("PLAIN")
    await peer.token(RIGHT)
    await peer.token(RIGHT)
    await peer.ask(METADATA, 9)


@case
async def another_handshake_when_all_is_done(peer: Peer) -> None:
    await peer.handshake("PLAIN")
    await peer.token(RIGHT)
    await peer.handshake("GSSAPI")
    await peer.handshake("PLAIN", 0)
    await peer.ask(METADATA, 9)


@case
async def a_login_renewed_with_raw_tokens(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.handshake(S512, 0)
    first = await peer.raw(scram_first(USER))
    if first is not None:
        await peer.raw(scram_final(S512, USER, PASSWORD, first))
        await peer.ask(METADATA, 9)


@case
async def a_raw_login_renewed(peer: Peer) -> None:
    await peer.handshake(S512, 0)
    first = await peer.raw(scram_first(USER))
    assert first is not None
    await peer.raw(scram_final(S512, USER, PASSWORD, first))
    await log_in_512(peer)
    await peer.ask(METADATA, 9)


@case
async def a_login_renewed_with_no_token(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.handshake(S512)
    await peer.token(b"")


@case
async def a_login_renewed_half_before_it_is_over(peer: Peer) -> None:
    await log_in_512(peer)
    await peer.handshake(S512)
    await asyncio.sleep(1.2 * LOGIN_MS / 1000)
    await peer.scram(S512, USER, PASSWORD)
    await peer.ask(METADATA, 9)


@case
async def something_else_instead_of_a_token(peer: Peer) -> None:
    await peer.handshake("PLAIN")
    await peer.ask(METADATA, 9)


@case
async def a_login_that_is_over(peer: Peer) -> None:
    await log_in_512(peer)
    await asyncio.sleep(1.2 * LOGIN_MS / 1000)
    await peer.ask(METADATA, 9)


@case
async def a_login_that_is_over_and_renewed(peer: Peer) -> None:
    await log_in_512(peer)
    await asyncio.sleep(1.2 * LOGIN_MS / 1000)
    await log_in_512(peer)
    await peer.ask(METADATA, 9)


@case
async def a_login_of_version_0_that_is_over(peer: Peer) -> None:
    await peer.handshake(S512)
    answer = await peer.token(scram_first(USER), 0)
    await peer.token(scram_final(S512, USER, PASSWORD, bytes(answer.auth_bytes)), 0)
    await asyncio.sleep(1.2 * LOGIN_MS / 1000)
    await peer.ask(METADATA, 9)


@case
async def a_handshake_of_a_later_version(peer: Peer) -> None:
    class Later(SaslHandshakeRequest):
        def encode(self, version: int, out: bytearray) -> None:
            out[6:8] = (9).to_bytes(2, "big")
            super().encode(version, out)

    await peer.ask(Later("PLAIN"), 1)


SETTINGS: Final[dict[str, Any]] = {
    f"listener.name.sasl_plaintext.{S512.lower()}.connections.max.reauth.ms": LOGIN_MS
}


NO_ANSWER: Final = "Kafka's server trips over it, and closes the connection without an answer"
OWN_SHAPE: Final = "Kafka answers with an error in the request's own shape first"
UNLIKE: Final = {
    "scram_longer_proof": NO_ANSWER,
    "scram_shorter_proof": NO_ANSWER,
    "scram_no_proof": NO_ANSWER,
    "something_else_while_renewing": OWN_SHAPE,
    "something_else_instead_of_a_token": OWN_SHAPE,
}
"""What is otherwise on purpose, and why."""


async def test_the_same_is_told(secure_kafka: SecureKafka) -> None:
    async def told_by(bootstrap: str) -> dict[str, list[Any]]:
        told = await asyncio.gather(*(told_of(each, bootstrap) for each in CASES.values()))
        return dict(zip(CASES, told, strict=True))

    async with Broker(users={USER: PASSWORD}, settings=SETTINGS) as broker:
        ours = await told_by(broker.bootstrap)
    theirs = await told_by(secure_kafka.at("SASL_PLAINTEXT"))
    different = {name: (ours[name], theirs[name]) for name in CASES if ours[name] != theirs[name]}
    for name in UNLIKE:
        assert different.pop(name, None), f"{name} is alike by now"
    assert not different, pprint.pformat(different)
    assert sum(told[-1] != "closed" for told in theirs.values()) > 10
