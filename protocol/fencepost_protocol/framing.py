"""Frames: four bytes of size, a header, and a message.

Nothing here uses a socket. A received frame is a ``memoryview`` that begins after the size. A frame
to send is one buffer, or several; the size is written last.
"""

from __future__ import annotations

import struct
from typing import Final, Protocol, TypeAlias

from fencepost_protocol.apis import FLEXIBLE_FROM, Message
from fencepost_protocol.exceptions import LocalProtocolError, RemoteProtocolError
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.primitives import Buffer, read_unknown_tags

SIZE_BYTES: Final = 4
_SIZE: Final = struct.Struct(">i")
_REQUEST: Final = struct.Struct(">hhih")
_CORRELATION: Final = struct.Struct(">i")
_RESPONSE: Final = struct.Struct(">ii")
_NEVER_FLEXIBLE: Final = 1 << 16
_RESPONSE_FLEXIBLE_FROM: Final = {
    key: version for key, version in FLEXIBLE_FROM.items() if key != ApiKey.API_VERSIONS
}
"""ApiVersions is absent, because its reader does not know the broker's versions yet."""

RequestHead: TypeAlias = tuple[int, int, int, str | None, int]
"""API key, version, correlation id, client id, and the position of the body."""


def read_request_head(frame: memoryview) -> RequestHead:
    """Read the header of a request, in version 1 or 2 by the version of the API.

    For an unknown API key it reads version 1; the caller must check the key.
    """
    try:
        api_key, version, correlation_id, length = _REQUEST.unpack_from(frame, 0)
        pos = 10
        client_id = None
        if length >= 0:
            pos += length
            client_id = frame[10:pos].tobytes().decode()
        if version >= FLEXIBLE_FROM.get(api_key, _NEVER_FLEXIBLE):
            tags = frame[pos]
            pos += 1
            if tags:
                _, pos = read_unknown_tags(frame, pos, tags)
    except (struct.error, IndexError, ValueError) as cause:
        raise RemoteProtocolError(
            str(cause), api="RequestHeader", path="request header", offset=0
        ) from cause
    if pos > len(frame):
        raise RemoteProtocolError(
            "the frame ends before the client id does",
            api="RequestHeader",
            path="request header",
            offset=len(frame),
        )
    return api_key, version, correlation_id, client_id, pos


def response_is_flexible(api_key: int, version: int) -> bool:
    """Whether a response's header has tagged fields (header version 1)."""
    return version >= _RESPONSE_FLEXIBLE_FROM.get(api_key, _NEVER_FLEXIBLE)


def read_response_head(frame: memoryview, api_key: int, version: int) -> tuple[int, int]:
    """Read the correlation id of a response, and the position of its body."""
    try:
        correlation_id: int = _CORRELATION.unpack_from(frame, 0)[0]
        pos = 4
        if response_is_flexible(api_key, version):
            tags = frame[pos]
            pos += 1
            if tags:
                _, pos = read_unknown_tags(frame, pos, tags)
    except (struct.error, IndexError, ValueError) as cause:
        raise RemoteProtocolError(
            str(cause), api="ResponseHeader", path="response header", offset=0
        ) from cause
    return correlation_id, pos


def _request_start(
    api_key: int, version: int, correlation_id: int, client_id: str | None
) -> bytearray:
    raw = b"" if client_id is None else client_id.encode()
    length = -1 if client_id is None else len(raw)
    try:
        out = bytearray(_SIZE.pack(0))
        out += _REQUEST.pack(api_key, version, correlation_id, length)
    except struct.error as cause:
        raise LocalProtocolError(
            f"cannot encode RequestHeader: {cause} (key {api_key}, version {version}, "
            f"correlation id {correlation_id}, client id of {length} bytes)"
        ) from cause
    out += raw
    if version >= FLEXIBLE_FROM.get(api_key, _NEVER_FLEXIBLE):
        out.append(0)
    return out


def _response_start(api_key: int, version: int, correlation_id: int) -> bytearray:
    out = bytearray(_RESPONSE.pack(0, correlation_id))
    if version >= _RESPONSE_FLEXIBLE_FROM.get(api_key, _NEVER_FLEXIBLE):
        out.append(0)
    return out


def api_key_of(message: Message) -> int:
    """The API that a request or response belongs to."""
    try:
        key: int = message.API_KEY  # type: ignore[attr-defined]
    except AttributeError:
        text = f"{message.NAME} is neither a request nor a response"
        raise LocalProtocolError(text) from None
    return key


def encode_request(
    message: Message, version: int, correlation_id: int, client_id: str | None = None
) -> bytearray:
    """Encode a request frame."""
    out = _request_start(api_key_of(message), version, correlation_id, client_id)
    message.encode(version, out)
    _SIZE.pack_into(out, 0, len(out) - SIZE_BYTES)
    return out


def encode_response(message: Message, version: int, correlation_id: int) -> bytearray:
    """Encode a response frame."""
    out = _response_start(api_key_of(message), version, correlation_id)
    message.encode(version, out)
    _SIZE.pack_into(out, 0, len(out) - SIZE_BYTES)
    return out


class MessageWithRecords(Message, Protocol):
    """A message whose records need no copy (Produce requests, Fetch responses)."""

    def encode_pieces(self, version: int, head: bytearray) -> list[Buffer]:
        """Encode the message as several buffers."""


def encode_request_pieces(
    message: MessageWithRecords, version: int, correlation_id: int, client_id: str | None = None
) -> list[Buffer]:
    """Encode a request frame as several buffers, without a copy of large records."""
    head = _request_start(api_key_of(message), version, correlation_id, client_id)
    return _sized(message.encode_pieces(version, head), head)


def encode_response_pieces(
    message: MessageWithRecords, version: int, correlation_id: int
) -> list[Buffer]:
    """Encode a response frame as several buffers, without a copy of large records."""
    head = _response_start(api_key_of(message), version, correlation_id)
    return _sized(message.encode_pieces(version, head), head)


def _sized(pieces: list[Buffer], head: bytearray) -> list[Buffer]:
    _SIZE.pack_into(head, 0, sum(map(len, pieces)) - SIZE_BYTES)
    return pieces


class FrameSplitter:
    """Splits a stream of bytes into frames.

    It checks the size of a frame against the limit first, and never keeps more than one frame.
    """

    def __init__(self, size_max: int) -> None:
        self.size_max = size_max
        self._kept = bytearray()

    def receive(self, data: Buffer) -> list[memoryview]:
        """Return the complete frames, each without its size; they stay valid."""
        kept = self._kept
        kept += data
        ends = []
        pos = 0
        while len(kept) - pos >= SIZE_BYTES:
            size = _SIZE.unpack_from(kept, pos)[0]
            if not 0 <= size <= self.size_max:
                raise RemoteProtocolError(
                    f"a frame of {size} bytes was announced; the limit is {self.size_max}",
                    path="frame size",
                    offset=0,
                )
            if pos + SIZE_BYTES + size > len(kept):
                break
            pos += SIZE_BYTES + size
            ends.append(pos)
        if not ends:
            return []
        whole = memoryview(bytes(kept[:pos]))
        del kept[:pos]
        starts = [0, *ends]
        return [whole[at + SIZE_BYTES : end] for at, end in zip(starts, ends, strict=False)]

    @property
    def kept_bytes(self) -> int:
        """The number of bytes of an incomplete frame."""
        return len(self._kept)
