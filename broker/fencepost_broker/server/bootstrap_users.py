"""Users that a broker has from its start: PLAIN settings and SCRAM credentials."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from fencepost_protocol.generated.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)

from fencepost_broker.config.tables.security import JAAS, MODULES, PLAIN, USER_PREFIX
from fencepost_broker.security.authentication.policy import PASSWORD_MECHANISMS, SCRAM_MECHANISMS
from fencepost_broker.security.scram import scram_stored_key

if TYPE_CHECKING:
    from fencepost_broker.config import Value
    from fencepost_broker.metadata.image.metadata_image import MetadataImage

MECHANISMS: Final = "sasl.enabled.mechanisms"
ITERATIONS: Final = 4096
_SALT_BYTES: Final = 16
_NAME: Final = re.compile(r"[\w.$-]+", re.ASCII)
"""Allowed names of a login module's options."""


def check_users(users: Mapping[str, str]) -> None:
    """Raise ValueError for a user who could not log in with every mechanism."""
    for name, password in users.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"user {name!r:.100}: a name consists of letters, digits, and . _ - $")
        if not password or "\0" in password:
            raise ValueError(f"user {name}: a password must not be empty or contain NUL")


def settings_for(users: Mapping[str, str]) -> dict[str, Value]:
    """Return settings that allow these users to log in with PLAIN and SCRAM."""
    escaped = {name: re.sub(r'(["\\])', r"\\\1", password) for name, password in users.items()}
    options = " ".join(f'{USER_PREFIX}{name}="{word}"' for name, word in escaped.items())
    return {
        MECHANISMS: PASSWORD_MECHANISMS,
        f"{PLAIN.lower()}.{JAAS}": f"{MODULES[PLAIN]} required {options};",
    }


def missing_credentials(
    users: Mapping[str, str], image: MetadataImage
) -> list[AlterUserScramCredentialsRequest]:
    """Return requests that create the SCRAM credentials that are missing."""
    requests = []
    for number, hash_name in SCRAM_MECHANISMS.values():
        wanted = []
        for name, password in users.items():
            known = image.scram.credentials.get((name, number))
            if known is not None:
                salted = _salted(hash_name, password, known.salt, known.iterations)
                if scram_stored_key(hash_name, salted) == known.stored_key:
                    continue
            salt = secrets.token_bytes(_SALT_BYTES)
            salted = _salted(hash_name, password, salt, ITERATIONS)
            wanted.append(ScramCredentialUpsertion(name, number, ITERATIONS, salt, salted))
        if wanted:
            requests.append(AlterUserScramCredentialsRequest(upsertions=wanted))
    return requests


def _salted(hash_name: str, password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(hash_name, password.encode(), salt, iterations)
