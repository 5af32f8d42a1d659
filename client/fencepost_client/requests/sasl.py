"""Logins by SASL: PLAIN, SCRAM and OAUTHBEARER (RFC 4616, 5802, 7677, 7628).

An exchange is a generator: it yields the client's next message, and is sent the broker's answer. It
ends when the login is done. It raises ``AuthenticationError`` when the broker refuses the login, or
cannot prove that it knows the password. :func:`authenticate` runs an exchange over SaslHandshake
and SaslAuthenticate. No error and no ``repr`` contains a password.

A SCRAM message is a list of ``letter=value``. Names and passwords are used as they are, in UTF-8,
without SASLprep, as in Kafka.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateRequest
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest

from fencepost_client.errors import (
    AuthenticationError,
    ConfigError,
    UnsupportedSaslMechanismError,
    UnsupportedVersionError,
)

PLAIN: Final = "PLAIN"
SCRAM_HASHES: Final = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
OAUTHBEARER: Final = "OAUTHBEARER"
MECHANISMS: Final = (PLAIN, *SCRAM_HASHES, OAUTHBEARER)
ITERATIONS_MIN: Final = 4096
"""With fewer, a false broker could try passwords cheaply (RFC 7677)."""
ITERATIONS_MAX: Final = 200_000
"""More would block the program; Apache Kafka's limit is 16384."""
MESSAGE_BYTES_MAX: Final = 16 << 10
_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_FRAMED_FROM: Final = 1
"""After SaslHandshake v0 the exchange would not use Kafka requests."""

Exchange: TypeAlias = Generator[bytes, bytes, None]
Requests: TypeAlias = Generator[tuple[Message, int], Any, int]
"""Yields requests and their versions; returns the lifetime of the login in ms, 0 for ever."""


@dataclass(frozen=True, slots=True)
class Login:
    """A mechanism with user name and password, or with a function that returns a token.

    ``nonce`` returns a random text.
    """

    mechanism: str
    username: str
    password: str = field(repr=False)
    nonce: Callable[[], str] = field(repr=False)
    is_token: bool = False
    """Whether it is a delegation token: its id and its secret (KIP-48)."""
    provider: Callable[[], str] | None = field(default=None, repr=False)
    """Returns a token for OAUTHBEARER."""

    def __post_init__(self) -> None:
        if self.mechanism not in MECHANISMS:
            raise ConfigError(
                f"sasl_mechanism is {self.mechanism!r:.100}; it can be {', '.join(MECHANISMS)}"
            )

    def exchange(self) -> Exchange:
        """Begin an exchange."""
        if self.provider is not None:
            return bearer(self.provider())
        if self.mechanism == PLAIN:
            return plain(self.username, self.password)
        hash_name = SCRAM_HASHES[self.mechanism]
        more = ",tokenauth=true" if self.is_token else ""
        return scram(hash_name, self.username, self.password, self.nonce(), more)


def plain(username: str, password: str) -> Exchange:
    """RFC 4616: the password in plain text, so use it with TLS."""
    if "\0" in username or "\0" in password:
        raise ConfigError("PLAIN cannot carry a NUL in a user name or a password")
    yield f"\0{username}\0{password}".encode()


def bearer(token: str) -> Exchange:
    """RFC 7628: a token instead of a password, so use it with TLS."""
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise ConfigError(
            "sasl_oauth_token_provider did not return a token: letters, digits, and - . _ ~ + / ="
        )
    refusal = yield f"n,,\1auth=Bearer {token}\1\1".encode()
    if refusal:
        yield b"\1"  # upon this the broker refuses the login
        raise AuthenticationError(f"The broker refuses the token: {refusal[:200]!r}.")


def scram(
    hash_name: str, username: str, password: str, nonce: str, extensions: str = ""
) -> Exchange:
    """RFC 5802, without channel binding, which Kafka does not support."""
    name = username.replace("=", "=3D").replace(",", "=2C")
    bare = f"n={name},r={nonce}{extensions}"
    server_first = yield f"n,,{bare}".encode()
    fields = _fields(server_first)
    whole_nonce = fields.get("r", "")
    if not whole_nonce.startswith(nonce) or whole_nonce == nonce:
        raise _broken("its nonce does not begin with the client's nonce")
    salted = hashlib.pbkdf2_hmac(
        hash_name, password.encode(), _base64(fields, "s"), _iterations(fields)
    )
    client_key = _mac(hash_name, salted, b"Client Key")
    without_proof = f"c=biws,r={whole_nonce}".encode()
    auth_message = b",".join((bare.encode(), server_first, without_proof))
    signature = _mac(hash_name, hashlib.new(hash_name, client_key).digest(), auth_message)
    proof = bytes(ours ^ mask for ours, mask in zip(client_key, signature, strict=True))
    server_final = yield without_proof + b",p=" + base64.b64encode(proof)
    fields = _fields(server_final)
    if "e" in fields:
        raise AuthenticationError(f"The broker refuses the login: {fields['e'][:100]!r}.")
    expected = _mac(hash_name, _mac(hash_name, salted, b"Server Key"), auth_message)
    if not hmac.compare_digest(_base64(fields, "v"), expected):
        raise _broken("its signature is wrong, so the broker does not know the password")


def authenticate(
    login: Login, peer: str, choose_version: Callable[[int], int], versions: Any
) -> Requests:
    """SaslHandshake, and then SaslAuthenticate as often as needed (KIP-43, KIP-152)."""
    if ApiKey.SASL_HANDSHAKE not in versions:
        raise AuthenticationError(
            f"{peer} does not accept SASL: set security_protocol to PLAINTEXT or SSL, or connect "
            f"to a SASL listener.",
            code=ErrorCode.ILLEGAL_SASL_STATE,
        )
    version = choose_version(ApiKey.SASL_HANDSHAKE)
    if version < _FRAMED_FROM:
        raise UnsupportedVersionError(
            f"{peer} supports only SaslHandshake v0; this client needs v1."
        )
    user = f" as {login.username!r:.200}" if login.username else ""
    doing = f"logging in to {peer}{user} by {login.mechanism}"
    answer = yield SaslHandshakeRequest(login.mechanism), version
    if answer.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
        offered = ", ".join(answer.mechanisms)
        raise UnsupportedSaslMechanismError(f"{peer} offers {offered:.300}.", state=doing)
    _check(answer.error_code, None, doing)
    exchange = login.exchange()
    message = next(exchange)
    version = choose_version(ApiKey.SASL_AUTHENTICATE)
    while True:
        answer = yield SaslAuthenticateRequest(message), version
        _check(answer.error_code, answer.error_message, doing)
        try:
            message = exchange.send(answer.auth_bytes)
        except StopIteration:
            return max(0, int(answer.session_lifetime_ms))
        except AuthenticationError as error:
            error.state = doing
            raise


def _check(code: int, message: str | None, doing: str) -> None:
    if code:
        told = f"The broker says: {message[:300]}." if message else None
        raise AuthenticationError(told, code=code, state=doing)


def _broken(why: str) -> AuthenticationError:
    return AuthenticationError(f"The broker's SCRAM message is invalid: {why}.")


def _fields(message: bytes) -> dict[str, str]:
    if len(message) > MESSAGE_BYTES_MAX:
        raise _broken(f"the message has {len(message)} bytes")
    fields: dict[str, str] = {}
    try:
        parts = message.decode().split(",")
    except UnicodeDecodeError:
        raise _broken("the message is not text") from None
    for part in parts:
        letter, equals, value = part.partition("=")
        if len(letter) != 1 or not equals or letter in fields:
            raise _broken(f"{part!r:.100} is not letter=value")
        fields[letter] = value
    if "m" in fields:
        raise _broken("it requires an unknown extension")
    return fields


def _base64(fields: dict[str, str], letter: str) -> bytes:
    try:
        found = base64.b64decode(fields.get(letter, ""), validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if not found:
        raise _broken(f"{letter}= is missing or is not base64")
    return found


def _iterations(fields: dict[str, str]) -> int:
    text = fields.get("i", "")
    # The length first, because parsing thousands of digits takes long.
    count = int(text) if len(text) < 10 and text.isascii() and text.isdigit() else 0
    if not ITERATIONS_MIN <= count <= ITERATIONS_MAX:
        raise _broken(f"i={text:.20} is not between {ITERATIONS_MIN} and {ITERATIONS_MAX}")
    return count


def _mac(hash_name: str, key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, hash_name)
