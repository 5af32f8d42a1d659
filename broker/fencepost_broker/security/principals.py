"""User names, as in Kafka's principals of type User."""

from __future__ import annotations

from typing import Final

ANONYMOUS: Final = "ANONYMOUS"
"""User of a connection on a listener without authentication."""
USER_TYPE: Final = "User"
"""The only type of principal, as in Kafka."""
