"""Error codes, with their meanings and advice.

Broker, client and documentation use the texts of ``schemas/errors.json``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from fencepost_protocol.generated.error_code import KINDS, RETRIABLE, ErrorCode


class ErrorInfo(NamedTuple):
    """The explanation of an error code."""

    code: int
    name: str
    retriable: bool
    kind: str
    """What a transactional producer does (KIP-1050): retriable, refresh, abortable,
    application-recoverable or fatal; ``none`` for no error."""
    about: str
    hint: str
    hints: Mapping[str, str] = MappingProxyType({})
    """Advice for a ``producer``, ``consumer`` or ``admin``, if it differs."""


def explain_error(code: int) -> ErrorInfo:
    """Explain a code; an unknown code has no kind."""
    from fencepost_protocol.generated.error_texts import TEXTS

    if code not in TEXTS:
        return ErrorInfo(
            code,
            f"UNKNOWN_CODE_{code}",
            retriable=False,
            kind="fatal",
            about=f"{code} is not an error code of this version of the protocol.",
            hint="The peer may be newer than this library, or the bytes are not what they seem.",
        )
    about, hint, hints = TEXTS[code]
    name = ErrorCode(code).name
    return ErrorInfo(code, name, code in RETRIABLE, KINDS[code], about, hint, hints)


__all__ = ["KINDS", "RETRIABLE", "ErrorCode", "ErrorInfo", "explain_error"]
