"""The errors that the codecs share."""

from __future__ import annotations

from fencepost_protocol import limits
from fencepost_protocol.exceptions import RemoteProtocolError


class TooLargeError(RemoteProtocolError):
    """The records may be right, but they unpack to more than whoever asked wants to see."""


def too_large(limit: int, doubt: str = "") -> TooLargeError:
    """The records would unpack to more than they may.

    ``doubt`` is for where the library does not tell whether the size was the reason.
    """
    return TooLargeError(
        f"{doubt}the records unpack to more than the limit of {limit} bytes "
        f"(limits.MAX_DECOMPRESSED_BYTES = {limits.MAX_DECOMPRESSED_BYTES}, "
        "unless a caller gives another)",
        path="records",
    )


def corrupt(codec: str, reason: str, offset: int | None = None) -> RemoteProtocolError:
    """The compressed bytes are not what the codec says they should be.

    ``offset`` counts from the first compressed byte.
    """
    return RemoteProtocolError(f"bad {codec} data: {reason}", path="records", offset=offset)
