"""Finds Kafka frames in a capture file, and matches responses with requests.

A response does not say what it is; its correlation id leads to the request that does. So both
directions are put together (``tcp``), the client's is told from the broker's, and requests are kept
until their response comes. After bytes that the capture lacks, reading goes on at the next place
that looks like the beginning of a frame.
"""

from __future__ import annotations

import re
import struct
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from fencepost_protocol import limits
from fencepost_protocol.dissect.capture import Endpoint, Segment, is_capture, segments
from fencepost_protocol.dissect.locate import locate
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.tcp import Gap, Piece, Stream
from fencepost_protocol.dissect.tree import (
    REQUEST_HEAD,
    SIZE_BYTES,
    Exchange,
    request_of,
    request_tree,
    response_tree,
)
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import read_request_head, read_response_head
from fencepost_protocol.generated.index import APIS, ApiKey

KAFKA_PORTS: Final = frozenset({9092, 9093, 9094, 19092, 29092, 39092})
"""Ports that brokers usually listen at, for connections whose beginning was not captured."""

_SIZE: Final = struct.Struct(">i")
_HEAD: Final = struct.Struct(">ihhih")
_LIKE_REQUEST: Final = re.compile(
    # size, key, version, correlation id, length of the client id
    rb"(?=[\x00-\x0f].{3}\x00[\x00-\x7f]\x00[\x00-\x3f].{4}(?:\xff\xff|[\x00-\x03].))",
    re.DOTALL,
)
_MIN_REQUEST: Final = 8
_MIN_RESPONSE: Final = 4
_CANDIDATE_MAX: Final = 64 * 1024
_CANDIDATES_MAX: Final = 50
_RESPONSES_SOUGHT: Final = 100
_MIN_SEEN: Final = 8
_VERSION_MAX: Final = 50
"""The number of versions by which a client may be newer."""
_TLS_HANDSHAKE: Final = b"\x16\x03"


@dataclass(slots=True)
class CapturedFrame:
    """A frame of a connection, or a remark about bytes that are none."""

    kind: str
    """``request``, ``response``, ``token`` (of SASL without Kafka's frames) or ``remark``."""
    packet: int
    time_ns: int
    source: Endpoint
    target: Endpoint
    exchange: Exchange | None = None
    correlation_id: int | None = None
    client_id: str | None = None
    """The request's, also of a response."""
    latency_ns: int | None = None
    tree: Node | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    exchange: Exchange
    time_ns: int
    client_id: str | None


def captured_frames(content: memoryview) -> Iterator[CapturedFrame]:
    """The frames of all connections, in the order in which they were complete.

    Raises ``RemoteProtocolError`` where the file itself cannot be read on; what came before that
    has been given then.
    """
    connections: OrderedDict[frozenset[Endpoint], _Connection] = OrderedDict()
    try:
        for segment in segments(content):
            if segment.source == segment.target:
                continue  # A socket connected with itself has nobody to talk to.
            key = frozenset((segment.source, segment.target))
            connection = connections.get(key)
            if connection is not None and connection.is_over(segment):
                yield from connections.pop(key).finish()
                connection = None
            if connection is None:
                connection = connections[key] = _Connection(segment)
                if len(connections) > limits.MAX_CAPTURED_CONNECTIONS:
                    yield from connections.popitem(last=False)[1].finish()
            connections.move_to_end(key)
            yield from connection.add(segment)
    finally:
        left = list(connections.values())
        connections.clear()
    for connection in left:
        yield from connection.finish()


@dataclass(slots=True)
class _Direction:
    """What one side has sent: the frame that is being collected, and whether we are in step."""

    stream: Stream = field(default_factory=Stream)
    buffer: bytearray = field(default_factory=bytearray)
    in_step: bool = False
    frames: int = 0
    passed_over: int = 0
    """Bytes since the last frame that belong to none."""


class _Connection:
    """Both directions of one connection."""

    def __init__(self, first: Segment) -> None:
        self.sides = {first.source: _Direction(), first.target: _Direction()}
        self.client: Endpoint | None = None
        self.waiting: OrderedDict[int, deque[_Asked]] = OrderedDict()
        self.is_foreign = False
        self.last = first
        self.raw_sasl = False

    def is_over(self, segment: Segment) -> bool:
        """Whether the segment opens another connection between the same ports."""
        initial = self.sides[segment.source].stream.initial
        return segment.syn and not segment.ack and initial not in {None, segment.sequence}

    def add(self, segment: Segment) -> Iterator[CapturedFrame]:
        """Take a segment; gives the frames that it completes."""
        self.last = segment
        if self.is_foreign:
            return
        side = self.sides[segment.source]
        if segment.syn:
            side.stream.begin(segment.sequence)
            side.in_step = True
            self.client = segment.target if segment.ack else segment.source
            return
        if segment.ack:
            other = self.sides[segment.target]
            pieces = other.stream.acknowledged(segment.acknowledged)
            yield from self._pieces(segment.target, segment.source, pieces)
        pieces = side.stream.add(segment.sequence, segment.payload, segment.missing)
        if segment.rst:
            pieces += side.stream.finish()
        if self.client is None and pieces:
            self.client = _client(segment)
        yield from self._pieces(segment.source, segment.target, pieces)

    def finish(self) -> Iterator[CapturedFrame]:
        """End the connection, at the end of the capture or of its limit."""
        if self.is_foreign:
            return
        for source, target in (tuple(self.sides), tuple(reversed(self.sides))):
            side = self.sides[source]
            if self.client is None:
                self.client = _client(self.last)
            yield from self._pieces(source, target, side.stream.finish())
            if side.in_step and side.buffer:
                remark = f"the capture ends inside a frame, after {len(side.buffer)} bytes"
                yield self._item("remark", source, target, remark)
            elif not side.in_step:
                side.passed_over += len(side.buffer)
            yield from self._passed_over(side, source, target)

    # -- frames ---------------------------------------------------------------------------------

    def _pieces(
        self, source: Endpoint, target: Endpoint, pieces: list[Piece]
    ) -> Iterator[CapturedFrame]:
        side = self.sides[source]
        for piece in pieces:
            if self.is_foreign:
                return
            if isinstance(piece, Gap):
                side.passed_over += len(side.buffer)
                side.buffer.clear()
                side.in_step = False
                remark = f"{piece.size} bytes are missing from the capture"
                yield self._item("remark", source, target, remark)
                continue
            if side.in_step:
                side.buffer += piece
            else:
                self._seek(side, piece, from_client=source == self.client)
            yield from self._frames(side, source, target)

    def _frames(
        self, side: _Direction, source: Endpoint, target: Endpoint
    ) -> Iterator[CapturedFrame]:
        """Cut whole frames off the front of the buffer."""
        buffer = side.buffer
        from_client = source == self.client
        while side.in_step and len(buffer) >= SIZE_BYTES:
            (size,) = _SIZE.unpack_from(buffer)
            end = SIZE_BYTES + size
            is_size = self._is_size(size, from_client)
            if is_size and end > len(buffer):
                return
            frame = memoryview(bytes(buffer[:end])) if is_size else memoryview(b"")
            if from_client and not side.frames and not _is_request(frame):
                yield self._dismiss(side, source, target)
                return
            if not is_size:
                rest = memoryview(bytes(buffer))
                buffer.clear()
                side.in_step = False
                self._seek(side, rest, from_client=from_client)
                continue
            del buffer[:end]
            yield from self._passed_over(side, source, target)
            side.frames += 1
            make = self._request if from_client else self._response
            yield make(frame, source, target)

    def _dismiss(self, side: _Direction, source: Endpoint, target: Endpoint) -> CapturedFrame:
        """The client's first bytes are no request, so this connection is not for us."""
        self.is_foreign = True
        what = "TLS" if side.buffer.startswith(_TLS_HANDSHAKE) else "not Kafka's protocol"
        side.buffer.clear()
        return self._item("remark", source, target, f"this connection is {what}; passed over")

    def _is_size(self, size: int, from_client: bool) -> bool:
        least = 0 if self.raw_sasl else (_MIN_REQUEST if from_client else _MIN_RESPONSE)
        return least <= size <= limits.MAX_CAPTURED_FRAME_BYTES

    def _request(self, frame: memoryview, source: Endpoint, target: Endpoint) -> CapturedFrame:
        made = self._item("request", source, target)
        if self.raw_sasl and not _is_request(frame):
            return self._token(made, frame)
        exchange = request_of(frame[SIZE_BYTES:])
        correlation_id = REQUEST_HEAD.unpack_from(frame, SIZE_BYTES)[2]
        made.exchange, made.correlation_id = exchange, correlation_id
        made.tree = request_tree(frame)
        client_id = made.tree.find("header.client_id")
        if client_id is not None and isinstance(client_id.value, str):
            made.client_id = client_id.value
        if exchange == Exchange(ApiKey.SASL_HANDSHAKE, 0):
            self.raw_sasl = True
        acks = made.tree.find("acks")
        if acks is None or acks.value != 0:  # A Produce request without acks has no response.
            asked = self.waiting.setdefault(correlation_id, deque())
            asked.append(_Asked(exchange, made.time_ns, made.client_id))
            if len(self.waiting) > limits.MAX_CAPTURED_REQUESTS_WAITING:
                self.waiting.popitem(last=False)
        return made

    def _response(self, frame: memoryview, source: Endpoint, target: Endpoint) -> CapturedFrame:
        made = self._item("response", source, target)
        asked = None
        if len(frame) >= SIZE_BYTES + _MIN_RESPONSE:
            (made.correlation_id,) = _SIZE.unpack_from(frame, SIZE_BYTES)
            asked = self.waiting.get(made.correlation_id or 0)
        if not asked:
            if self.raw_sasl:
                return self._token(made, frame)
            made.remark = "no request with this correlation id was captured"
            made.tree = Node(
                "", "rest", "response", 0, len(frame), frame, note=made.remark, state=State.UNREAD
            )
            return made
        first = asked.popleft()
        if not asked:
            del self.waiting[made.correlation_id or 0]
        made.exchange, made.client_id = first.exchange, first.client_id
        made.latency_ns = max(made.time_ns - first.time_ns, 0)
        made.tree = response_tree(frame, first.exchange)
        return made

    def _token(self, made: CapturedFrame, frame: memoryview) -> CapturedFrame:
        """A SASL mechanism's own bytes: after SaslHandshake v0 they have a size and no header."""
        made.kind, made.correlation_id = "token", None
        made.tree = Node("", "rest", "SASL token", 0, len(frame), frame, state=State.UNREAD)
        made.tree.note = "of the SASL mechanism, behind SaslHandshake v0"
        return made

    def _item(
        self, kind: str, source: Endpoint, target: Endpoint, remark: str = ""
    ) -> CapturedFrame:
        last = self.last
        return CapturedFrame(kind, last.packet, last.time_ns, source, target, remark=remark)

    def _passed_over(
        self, side: _Direction, source: Endpoint, target: Endpoint
    ) -> Iterator[CapturedFrame]:
        if side.passed_over:
            remark = f"{side.passed_over} bytes passed over, in which no frame was found to begin"
            side.passed_over = 0
            yield self._item("remark", source, target, remark)

    # -- getting into step ------------------------------------------------------------------------

    def _seek(self, side: _Direction, piece: memoryview, *, from_client: bool) -> None:
        """Look for the beginning of a frame in what has come; in step, the buffer begins with it.

        Most segments begin with a frame, so that is tried first, and believed even of a large frame
        of which this is only the beginning.
        """
        buffer = side.buffer
        if self._frame_size(piece, 0, from_client=from_client) is not None:
            side.passed_over += len(buffer)
            buffer[:] = piece
            side.in_step = True
            return
        buffer += piece
        keep_from = max(len(buffer) - _HEAD.size, 0)
        for at in self._candidates(buffer, from_client=from_client):
            size = self._frame_size(buffer, at, from_client=from_client)
            if size is None or size > _CANDIDATE_MAX:
                continue
            keep_from = at
            side.in_step = at + size <= len(buffer)
            break
        side.passed_over += keep_from
        del buffer[:keep_from]

    def _candidates(self, buffer: bytearray, *, from_client: bool) -> list[int]:
        """Where a frame might begin, in order."""
        if from_client:
            found = _LIKE_REQUEST.finditer(buffer)
            return [match.start() for match in islice(found, _CANDIDATES_MAX)]
        starts: list[int] = []
        for correlation_id in islice(self.waiting, _RESPONSES_SOUGHT):
            wanted = _SIZE.pack(correlation_id)
            at = buffer.find(wanted, SIZE_BYTES)
            while at >= 0 and len(starts) < _CANDIDATES_MAX:
                starts.append(at - SIZE_BYTES)
                at = buffer.find(wanted, at + 1)
        return sorted(starts)

    def _frame_size(
        self, buffer: bytearray | memoryview, at: int, *, from_client: bool
    ) -> int | None:
        """The size of the frame that begins there, size field included, if it looks like one.

        A frame that is there as a whole must also be readable.
        """
        if len(buffer) - at < _HEAD.size if from_client else len(buffer) - at < _MIN_SEEN:
            return None
        (size,) = _SIZE.unpack_from(buffer, at)
        if not self._is_size(size, from_client):
            return None
        end = at + SIZE_BYTES + size
        frame = memoryview(bytes(buffer[at + SIZE_BYTES : min(end, at + _CANDIDATE_MAX)]))
        whole = len(frame) == size
        if from_client:
            fits = _is_request_head(size, frame) and request_of(frame).is_known
            fits = fits and (not whole or _reads(request_of(frame), frame))
        else:
            asked = self.waiting.get(_SIZE.unpack_from(frame)[0])
            if not asked:
                return None
            fits = not whole or _reads(asked[0].exchange, frame, is_request=False)
        return SIZE_BYTES + size if fits else None


def _client(segment: Segment) -> Endpoint:
    """Which side is the client, when the beginning of the connection was not captured."""
    source, target = segment.source, segment.target
    known = [side.port in KAFKA_PORTS for side in (source, target)]
    if known[0] != known[1]:
        return target if known[0] else source
    if _is_request(segment.payload):
        return source
    return source if source.port > target.port else target


def _is_request(frame: memoryview) -> bool:
    """Whether a frame, its size included, begins as a request does."""
    if len(frame) < _HEAD.size:
        return False
    return _is_request_head(_SIZE.unpack_from(frame)[0], frame[SIZE_BYTES:])


def _is_request_head(size: int, frame: memoryview) -> bool:
    """Whether a frame without its size, or the beginning of it, can be a request's."""
    if len(frame) < _HEAD.size - SIZE_BYTES:
        return False
    asked = request_of(frame)
    if asked.api_key not in APIS or not 0 <= asked.version <= _VERSION_MAX:
        return False
    (length,) = struct.unpack_from(">h", frame, REQUEST_HEAD.size)
    begin = _HEAD.size - SIZE_BYTES
    if length < -1 or begin + length > size:
        return False
    client_id = bytes(frame[begin : begin + max(length, 0)])
    return all(0x20 <= byte < 0x7F or byte > 0x7F for byte in client_id)


def _reads(exchange: Exchange, frame: memoryview, *, is_request: bool = True) -> bool:
    """Whether a whole frame without its size is a message of this kind, one that we know."""
    if not exchange.is_known:
        return False
    try:
        if is_request:
            behind = read_request_head(frame)[4]
        else:
            behind = read_response_head(frame, exchange.api_key, exchange.version)[1]
    except RemoteProtocolError:
        return False
    name = f"{exchange.name}{'Request' if is_request else 'Response'}"
    return locate(name, exchange.version, frame[behind:]) == (None, None, None)


__all__ = ["CapturedFrame", "captured_frames", "is_capture"]
