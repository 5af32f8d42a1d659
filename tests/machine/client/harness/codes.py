"""Every error code that a broker can answer."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode

NEWER: Final = 12_345
"""What a later version of the protocol may have."""
CODES: Final = [*ErrorCode, NEWER]
