"""What can go wrong at the wire, by whose fault.

An error *code* that one peer answers another is not an exception; it travels in a reply. These
exceptions are for bytes that cannot be read and for values that cannot be written.
"""

from __future__ import annotations


class ProtocolError(Exception):
    """The base of both kinds, for those who do not care whose fault it is."""


class LocalProtocolError(ProtocolError):
    """We tried to send what the protocol does not allow: a bug on our side of the wire."""


class RemoteProtocolError(ProtocolError):
    """The peer (or a file) gave bytes that are not what the protocol says they should be.

    ``api``, ``version``, ``path`` and ``offset`` tell which message, which field and which byte,
    counted from the start of the message; ``None`` where one of them does not apply.
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
