"""Exceptions of the protocol, by the side that is at fault.

An error code in a response is not an exception. These exceptions are for bytes that cannot be
decoded, and for values that cannot be encoded.
"""

from __future__ import annotations


class ProtocolError(Exception):
    """The base class of both kinds."""


class LocalProtocolError(ProtocolError):
    """The local side tried to send what the protocol does not allow, which is a bug."""


class RemoteProtocolError(ProtocolError):
    """The peer (or a file) has bytes that violate the protocol.

    ``api``, ``version``, ``path`` and ``offset`` identify the message, the field and the byte,
    counted from the start of the message; ``None`` if one of them does not apply.
    """

    def __init__(
        self,
        reason: str,
        *,
        api: str | None = None,
        version: int | None = None,
        path: str | None = None,
        offset: int | None = None,
    ) -> None:
        self.reason = reason
        self.api = api
        self.version = version
        self.path = path
        self.offset = offset
        super().__init__(reason)

    def __str__(self) -> str:
        where = []
        if self.api is not None:
            where.append(self.api if self.version is None else f"{self.api} v{self.version}")
        if self.path is not None:
            where.append(self.path)
        if self.offset is not None:
            where.append(f"byte {self.offset}")
        return f"{', '.join(where)}: {self.reason}" if where else self.reason


class UnencodableError(ValueError):
    """A value that a version cannot carry; ``path`` names the field in the schema."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")
