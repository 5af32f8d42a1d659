"""What a proxy has to know of requests that it passes on."""

from __future__ import annotations

import struct
from typing import Final

from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest
from fencepost_protocol.primitives import read_unknown_tags
from fencepost_protocol.varint import read_uvarint

_TOKENS: Final = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}
_FLEXIBLE_FROM: Final = APIS[ApiKey.PRODUCE][3] or 0
_CLIENT_ID: Final = 14
"""The place of the client id in a frame, after its length."""
_int16: Final = struct.Struct(">h").unpack_from


def tokens_after(frame: memoryview, body: int) -> int | None:
    """Return how many raw tokens a client sends after SaslHandshake version 0.

    These are frames without a header. ``None`` means that their number depends on the login.
    """
    message, _ = SaslHandshakeRequest.decode(frame, 0, body)
    return _TOKENS.get(message.mechanism)


def acks_of(frame: memoryview, version: int) -> int | None:
    """Return the acks of a Produce request; ``None`` if the bytes end before them."""
    try:
        pos = _CLIENT_ID + max(_int16(frame, _CLIENT_ID - 2)[0], 0)
        if version < _FLEXIBLE_FROM:
            pos += 2 + max(_int16(frame, pos)[0], 0)
        else:
            tags = frame[pos]
            pos += 1
            if tags:
                _, pos = read_unknown_tags(frame, pos, tags)
            length, pos = read_uvarint(frame, pos)
            pos += max(length - 1, 0)
        acks: int = _int16(frame, pos)[0]
    except (struct.error, IndexError, ValueError):
        return None
    return acks
