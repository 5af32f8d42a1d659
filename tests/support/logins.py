"""Logins by hand: what a client sends, right or wrong, and what it is told, as plain values."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost_broker import Broker
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateRequest
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest

ANSWER_SECONDS: Final = 30.0
NONCE: Final = "chosen-by-the-client"
_HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}

LISTENERS = {
    "listeners": "PLAINTEXT://127.0.0.1:0,LOGIN://127.0.0.1:0",
    "listener.security.protocol.map": (
        "PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT"
    ),
}
"""Of a broker with a listener without a login, and one with."""


def places(broker: Broker) -> dict[str, str]:
    """Where the listeners of a broker are."""
    return {each.listener: each.bootstrap for each in broker.addresses}


@dataclass
class Peer:
    """A connection, and what came of each thing that was sent."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    told: list[Any] = field(default_factory=list)

    async def ask(self, message: Message, version: int) -> Any:
        """Send a request, note what is answered; ``None`` when the connection is closed."""
        self.writer.write(encode_request(message, version, len(self.told), "by-hand"))
        frame = await self.frame()
        if frame is None:
            self.told.append("closed")
            return None
        key = api_key_of(message)
        answer = None
        for used in (version, 0):  # an unknown version of ApiVersions is answered by version 0
            with suppress(ProtocolError):
                body = read_response_head(frame, key, used)[1]
                answer = response_class(key).decode(frame, used, body)[0]
                break
        self.told.append(summary(answer))
        return answer

    async def raw(self, token: bytes) -> bytes | None:
        """Send a token by itself; gives the answer to it."""
        self.writer.write(struct.pack(">i", len(token)) + token)
        frame = await self.frame()
        told = "closed" if frame is None else "a token" if frame else "an empty token"
        self.told.append(told)
        return None if frame is None else bytes(frame)

    async def frame(self) -> memoryview | None:
        """The next one, if one comes."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                size = struct.unpack(">i", await self.reader.readexactly(4))[0]
                return memoryview(await self.reader.readexactly(size))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def handshake(self, mechanism: str, version: int = 1) -> Any:
        """SaslHandshake."""
        return await self.ask(SaslHandshakeRequest(mechanism), version)

    async def token(self, token: bytes, version: int = 2) -> Any:
        """SaslAuthenticate; gives its answer."""
        return await self.ask(SaslAuthenticateRequest(token), version)

    async def scram(self, mechanism: str, user: str, password: str, **wrong: Any) -> Any:
        """Both messages of SCRAM, the last one made wrong if need be."""
        answer = await self.token(scram_first(user))
        if answer is None or answer.error_code:
            return answer
        final = scram_final(mechanism, user, password, bytes(answer.auth_bytes), **wrong)
        return await self.token(final)


Case = Callable[[Peer], Awaitable[None]]


@asynccontextmanager
async def connected(bootstrap: str) -> AsyncIterator[Peer]:
    """Connect by hand."""
    host, _, port = bootstrap.rpartition(":")
    peer = Peer(*await asyncio.open_connection(host, int(port)))
    try:
        yield peer
    finally:
        peer.writer.close()
        with suppress(ConnectionError):
            await peer.writer.wait_closed()


async def told_of(case: Case, bootstrap: str) -> list[Any]:
    """What a case is told by a broker."""
    async with connected(bootstrap) as peer:
        await case(peer)
    return peer.told


def summary(answer: Any) -> tuple[Any, ...]:
    """What two brokers have to agree on: no words, and nothing of chance."""
    told: list[Any] = [type(answer).__name__]
    numbers = ("error_code", "session_lifetime_ms")
    told += [int(getattr(answer, name)) for name in numbers if hasattr(answer, name)]
    if hasattr(answer, "mechanisms"):
        told.append(sorted(answer.mechanisms))
    if hasattr(answer, "auth_bytes"):
        told.append("a token" if answer.auth_bytes else "no token")
        told.append("a message" if answer.error_message else answer.error_message)
    return tuple(told)


def plain_token(user: str, password: str, other: str = "") -> bytes:
    """PLAIN's one message."""
    return f"{other}\0{user}\0{password}".encode()


def scram_first(user: str, other: str = "", nonce: str = NONCE, more: str = "") -> bytes:
    """SCRAM's first message; ``user`` as it stands."""
    authorization = f"a={other}" if other else ""
    return f"n,{authorization},n={user},r={nonce}{more}".encode()


def scram_final(
    mechanism: str, user: str, password: str, server_first: bytes, *,
    binding: str = "biws", nonce: str | None = None, more: str = "",
    proof: Callable[[bytes], bytes] = lambda proof: proof, first_more: str = "",
) -> bytes:  # fmt: skip
    """SCRAM's second message."""
    digest = _HASHES[mechanism]
    fields = dict(part.split("=", 1) for part in server_first.decode().split(","))
    salted = hashlib.pbkdf2_hmac(
        digest, password.encode(), base64.b64decode(fields["s"]), int(fields["i"])
    )
    unproven = f"c={binding},r={fields['r'] if nonce is None else nonce}{more}"
    bare = f"n={user},r={NONCE}{first_more}"
    signed = f"{bare},{server_first.decode()},{unproven}".encode()
    client_key = hmac.digest(salted, b"Client Key", digest)
    signature = hmac.digest(hashlib.new(digest, client_key).digest(), signed, digest)
    made = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    return f"{unproven},p={base64.b64encode(proof(made)).decode()}".encode()
