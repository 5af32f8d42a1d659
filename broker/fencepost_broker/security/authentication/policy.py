"""What a listener asks of those who come by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord

PLAIN: Final = "PLAIN"
SCRAM_MECHANISMS: Final = {
    "SCRAM-SHA-256": (1, "sha256"),
    "SCRAM-SHA-512": (2, "sha512"),
}
"""Their numbers in records of credentials, and their hashes."""
MECHANISMS: Final = (PLAIN, *SCRAM_MECHANISMS)
"""Those that there are here."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The mechanisms of a listener, and what belongs to them."""

    mechanisms: tuple[str, ...]
    plain_users: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Their passwords."""
    session_ms: Mapping[str, int] = field(default_factory=dict)
    """For how long a login holds, by mechanism; for ever where there is none (KIP-368)."""


class Credentials(Protocol):
    """What is known of users who have SCRAM credentials."""

    def scram(self, user: str, mechanism: int) -> UserScramCredentialRecord | None:
        """What is kept of a password; ``None`` when the user has none by that mechanism."""
