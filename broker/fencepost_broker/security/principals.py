"""Who asks: the name of a user, as Kafka's principals of type User have it."""

from __future__ import annotations

from typing import Final

ANONYMOUS: Final = "ANONYMOUS"
"""Whoever comes by a listener that asks nobody who it is."""
USER_TYPE: Final = "User"
"""The one type of principal that there is, in Kafka too."""
