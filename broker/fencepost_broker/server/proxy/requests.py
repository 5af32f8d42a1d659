"""What a proxy has to know of requests that it passes on."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import SIZE_BYTES, read_request_head
from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest

_TOKENS: Final = {"PLAIN": 1, "OAUTHBEARER": 1, "SCRAM-SHA-256": 2, "SCRAM-SHA-512": 2}
_FLEXIBLE_FROM: Final = APIS[ApiKey.PRODUCE][3] or 0


def tokens_after(frame: memoryview, body: int) -> int | None:
    """Return how many raw tokens a client sends after SaslHandshake version 0.

    These are frames without a header. ``None`` means that their number depends on the login.
    """
    message, _ = SaslHandshakeRequest.decode(frame, 0, body)
    return _TOKENS.get(message.mechanism)


def acks_of(frame: memoryview, version: int) -> int | None:
    """Return the acks of a Produce request; ``None`` if the bytes end before them."""
    try:
        *_, pos = read_request_head(frame[SIZE_BYTES:])
        pos += SIZE_BYTES
        if version < _FLEXIBLE_FROM:
            length = int.from_bytes(frame[pos : pos + 2], signed=True)
            pos += 2 + max(length, 0)
        else:
            length = shift = 0
            while True:
                byte = frame[pos]
                length |= (byte & 127) << shift
                pos += 1
                if byte < 128:
                    break
                shift += 7
            pos += max(length - 1, 0)
    except (RemoteProtocolError, IndexError):
        return None
    acks = frame[pos : pos + 2]
    return int.from_bytes(acks, signed=True) if len(acks) == 2 else None
