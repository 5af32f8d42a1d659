"""The broker's side of the mechanisms with passwords: PLAIN (RFC 4616), SCRAM (RFC 5802, 7677).

Behaviour: as in Apache Kafka, a SCRAM user without credentials is refused at the first message;
names and passwords are used without SASLprep; extensions of the second message are not signed, and
its channel binding is ignored.

Secrets are compared in constant time. Errors contain no passwords; they are for the broker's log,
and clients get the same text for every reason.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Mapping
from typing import Final, Protocol

from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

from fencepost_broker.security.authentication.policy import (
    SCRAM_MECHANISMS,
    Credentials,
)

_NAME: Final = r"(?:[^=,\0]|=2C|=3D)+"
_NONCE: Final = r"[\x21-\x2b\x2d-\x7e]+"
_EXTENSIONS: Final = r"(?:,[A-Za-z]+=[^,\0]+)*"
_BASE64: Final = r"[A-Za-z0-9+/=]+"
_CLIENT_FIRST: Final = re.compile(
    rf"n,(?:a=(?P<other>{_NAME}))?,"
    rf"(?P<bare>(?:m=[^,\0]+,)?n=(?P<user>{_NAME}),r=(?P<nonce>{_NONCE})(?P<more>{_EXTENSIONS}))"
)
_CLIENT_FINAL: Final = re.compile(
    rf"(?P<signed>c={_BASE64},r=(?P<nonce>{_NONCE})){_EXTENSIONS}"
    rf",p=(?P<proof>{_BASE64})"
)
_ITERATIONS_MIN: Final = 4096
_DELEGATED: Final = re.compile(r",tokenauth=true(?:,|$)", re.IGNORECASE)


class RefusedError(Exception):
    """A login is refused; the text is for the log."""

    def __init__(self, reason: str, told: str = "") -> None:
        super().__init__(reason)
        self.told = told
        """The text for the client; empty: that user or password are wrong."""


class Exchange(Protocol):
    """One login by one mechanism: tokens in and out until ``user`` is known."""

    user: str | None
    has_delegation_token: bool
    """Whether the client has logged in with a delegation token."""
    valid_for_ms: int | None
    """How long the client's token is valid, if it has one."""

    def receive(self, token: bytes) -> bytes:
        """Return the answer to a token of the client; raises RefusedError."""


class PlainExchange:
    """One message with user and password."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = users
        self.user: str | None = None
        self.has_delegation_token = False
        self.valid_for_ms: int | None = None

    def receive(self, token: bytes) -> bytes:
        """Check the user and the password."""
        try:
            other, user, password = token.decode().split("\0")
        except ValueError:
            raise RefusedError("the token is not [other]NUL user NUL password") from None
        if not user or not password:
            raise RefusedError(f"no {'password' if user else 'user'} was sent")
        known = self._users.get(user)
        # An unknown user takes as long as a wrong password, whatever its length.
        is_right = hmac.compare_digest(_digest(password), _digest("\0" if known is None else known))
        if known is None:
            raise RefusedError(f"there is no PLAIN user {user!r:.100}")
        if not is_right:
            raise RefusedError(f"the password of {user!r:.100} is wrong")
        check_other(other, user)
        self.user = user
        return b""


def _digest(password: str) -> bytes:
    return hashlib.sha256(password.encode()).digest()


class ScramExchange:
    """Two messages: the user, and the proof of the password."""

    def __init__(self, mechanism: str, credentials: Credentials, nonce: str) -> None:
        self._mechanism = mechanism
        self._number, self._hash = SCRAM_MECHANISMS[mechanism]
        self._credentials = credentials
        self._own_nonce = nonce
        self._nonce = ""
        self._name = ""
        self._first = ""
        """Both first messages, which the proof signs."""
        self._credential: UserScramCredentialRecord | None = None
        self._acts_as = ""
        self.user: str | None = None
        self.has_delegation_token = False
        self.valid_for_ms: int | None = None

    def receive(self, token: bytes) -> bytes:
        """Answer the first or the second message."""
        try:
            text = token.decode()
        except UnicodeDecodeError:
            raise RefusedError("the SCRAM message is not UTF-8 text") from None
        if self._credential is None:
            return self._begin(text)
        return self._finish(text, self._credential)

    def _begin(self, text: str) -> bytes:
        message = _CLIENT_FIRST.fullmatch(text)
        if message is None:
            raise RefusedError("its first message is not n,,n=user,r=nonce")
        self._name = message["user"].replace("=2C", ",").replace("=3D", "=")
        if _DELEGATED.search(message["more"]):
            self._credential = self._credential_of_token()
        else:
            self._credential = self._credentials.scram(self._name, self._number)
            self._acts_as = self._name
        if self._credential is None:
            raise RefusedError(
                f"user {self._name!r:.100} has no {self._mechanism} credentials: "
                "add them with kafka-configs --alter --entity-type users --add-config"
            )
        check_other((message["other"] or "").replace("=2C", ",").replace("=3D", "="), self._name)
        if self._credential.iterations < _ITERATIONS_MIN:
            raise RefusedError(
                f"{self._name!r:.100} has too few iterations: set its password again"
            )
        self._nonce = message["nonce"] + self._own_nonce
        salt = base64.b64encode(self._credential.salt).decode()
        answer = f"r={self._nonce},s={salt},i={self._credential.iterations}"
        self._first = f"{message['bare']},{answer}"
        return answer.encode()

    def _credential_of_token(self) -> UserScramCredentialRecord:
        token = self._credentials.token(self._name, self._mechanism)
        if token is None:
            raise RefusedError(f"there is no delegation token {self._name!r:.100}")
        self._acts_as, self.valid_for_ms = token.owner, token.valid_for_ms
        self.has_delegation_token = True
        return token.credential

    def _finish(self, text: str, credential: UserScramCredentialRecord) -> bytes:
        message = _CLIENT_FINAL.fullmatch(text)
        if message is None:
            raise RefusedError("its second message is not c=...,r=nonce,p=proof")
        if message["nonce"] != self._nonce:
            raise RefusedError("its second message has another nonce")
        signed = f"{self._first},{message['signed']}".encode()
        signature = hmac.digest(credential.stored_key, signed, self._hash)
        try:
            proof = base64.b64decode(message["proof"], validate=True)
            client_key = bytes(one ^ other for one, other in zip(proof, signature, strict=True))
        except (binascii.Error, ValueError):
            raise RefusedError("its proof does not fit the mechanism") from None
        stored_key = hashlib.new(self._hash, client_key).digest()
        if not hmac.compare_digest(stored_key, credential.stored_key):
            raise RefusedError(f"the password of {self._name!r:.100} is wrong")
        self.user = self._acts_as
        verifier = hmac.digest(credential.server_key, signed, self._hash)
        return b"v=" + base64.b64encode(verifier)


def check_other(other: str, user: str) -> None:
    """Raise RefusedError if the client wants to be another user."""
    if other and other != user:
        raise RefusedError(
            f"{user!r:.100} may not act for {other!r:.100}: no user may act for another"
        )
