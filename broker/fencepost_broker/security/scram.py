"""What a broker keeps of a SCRAM password (RFC 5802)."""

from __future__ import annotations

import hashlib
import hmac

from fencepost_protocol.generated.user_scram_credential_record import UserScramCredentialRecord


def scram_credential(
    name: str, mechanism: int, hash_name: str, salt: bytes, salted: bytes, iterations: int
) -> UserScramCredentialRecord:
    """Return the credential of a user whose password is salted and hashed already (RFC 5802)."""
    stored_key = scram_stored_key(hash_name, salted)
    server_key = hmac.digest(salted, b"Server Key", hash_name)
    return UserScramCredentialRecord(name, mechanism, salt, stored_key, server_key, iterations)


def scram_stored_key(hash_name: str, salted: bytes) -> bytes:
    """Return what a client's proof is compared with."""
    client_key = hmac.digest(salted, b"Client Key", hash_name)
    return hashlib.new(hash_name, client_key).digest()
