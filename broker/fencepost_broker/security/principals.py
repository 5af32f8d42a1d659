"""User names, as in Kafka's principals of type User."""

from __future__ import annotations

from typing import Final

ANONYMOUS: Final = "ANONYMOUS"
"""User of a connection on a listener without authentication."""
USER_TYPE: Final = "User"
"""The only type of principal, as in Kafka."""


def principal_of(user: str) -> str:
    """Return a user's principal as records and ACLs contain it."""
    return f"{USER_TYPE}:{user}"


def user_of(principal: str) -> str:
    """Return the user's name of a principal."""
    return principal.removeprefix(f"{USER_TYPE}:")
