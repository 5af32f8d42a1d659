"""What a listener requires for a login."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

    from fencepost_broker.security.authentication.signing_keys import KeysAtEndpoint

PLAIN: Final = "PLAIN"
SCRAM_MECHANISMS: Final = {
    "SCRAM-SHA-256": (1, "sha256"),
    "SCRAM-SHA-512": (2, "sha512"),
}
"""Number in metadata records, and hash, of each SCRAM mechanism."""
PASSWORD_MECHANISMS: Final = (PLAIN, *SCRAM_MECHANISMS)
OAUTHBEARER: Final = "OAUTHBEARER"
MECHANISMS: Final = (*PASSWORD_MECHANISMS, OAUTHBEARER)
"""Supported mechanisms."""


class Bearer(NamedTuple):
    """What a valid token of OAUTHBEARER says."""

    user: str
    expires_ms: int


class TokenValidator(Protocol):
    """Decides whether a token of OAUTHBEARER is valid."""

    def validate(self, token: str, now_ms: int) -> Bearer:
        """Return what a token says; raises InvalidTokenError."""

    @property
    def endpoint(self) -> KeysAtEndpoint | None:
        """The keys that have to be fetched for it."""


class Policy:
    """A listener's mechanisms and their settings."""

    __slots__ = ("mechanisms", "plain_users", "session_ms", "tokens")

    def __init__(
        self,
        mechanisms: tuple[str, ...],
        plain_users: Mapping[str, str],
        session_ms: Mapping[str, int],
        tokens: TokenValidator | None,
    ) -> None:
        self.mechanisms = mechanisms
        self.plain_users = plain_users
        """Passwords of the PLAIN users."""
        self.session_ms = session_ms
        """How long a login is valid, by mechanism; without a limit if it is missing (KIP-368)."""
        self.tokens = tokens
        """Decides about the tokens of OAUTHBEARER."""


class TokenLogin(NamedTuple):
    """What a login with a delegation token is checked with, and leads to."""

    credential: UserScramCredentialRecord
    owner: str
    """The name of the user that the client acts as."""
    valid_for_ms: int


class Credentials(Protocol):
    """Gives the SCRAM credentials of users and of delegation tokens."""

    def scram(self, user: str, mechanism: int) -> UserScramCredentialRecord | None:
        """Return a user's credential for a mechanism, or ``None``."""

    def now_ms(self) -> int:
        """Return the time by which tokens expire."""

    def token(self, token_id: str, mechanism: str) -> TokenLogin | None:
        """Return a delegation token's credential for a mechanism, or ``None``."""
