"""Datagrams of the tap: their contents, as bytes and back.

Every datagram begins with a magic, the format's version and its kind. Numbers are big-endian, and a
string follows its size. A malformed datagram raises ``DatagramError`` on either side, and nothing
else: anybody can send to a UDP port.

A subscriber begins with a HELLO, which is larger than the COOKIE that answers it. Every other
datagram must contain the cookie, which proves that the sender receives at its address.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, TypeAlias

MAGIC: Final = b"fptap\x01"
COOKIE_BYTES: Final = 16
HELLO_BYTES: Final = 64
"""Least size of a HELLO: it must be larger than the answer."""
TOPICS_MAX: Final = 20
"""Topic ids in one question; with the longest names, the answer has 5 KB."""
FILTERS_MAX: Final = 64

_TEXT_BYTES_MAX: Final = 128
_REASON_BYTES_MAX: Final = 300
_TOPIC_ID_BYTES: Final = 16


class DatagramError(ValueError):
    """The bytes are not a datagram of the tap."""


class Kind(IntEnum):
    """Kinds of datagrams; the broker's begin at 65."""

    HELLO = 1
    SUBSCRIBE = 2
    LEAVE = 3
    ASK_TOPICS = 4
    ASK_STATS = 5
    COOKIE = 65
    LEASED = 66
    REFUSED = 67
    LEFT = 68
    TOPICS = 69
    STATS = 70
    EVENTS = 71


# -- what subscribers send ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hello:
    """Asks for a cookie."""


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Asks for events for the time of a lease; another one renews the lease."""

    cookie: bytes
    snap_bytes: int = 0
    """Number of bytes of each frame; 0: as many as fit."""
    api_keys: tuple[int, ...] = ()
    """Only these APIs; empty: all."""
    client_ids: tuple[str, ...] = ()
    """Only these clients; ``name*`` is a prefix."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Ends a subscription."""

    cookie: bytes


@dataclass(frozen=True, slots=True)
class AskTopics:
    """Asks for the names of topics by their ids."""

    cookie: bytes
    topic_ids: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class AskStats:
    """Asks for a part of the counters; part 0 of snapshot 0 makes a new snapshot."""

    cookie: bytes
    snapshot: int
    part: int


# -- what the broker sends ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cookie:
    """The answer to a HELLO."""

    cookie: bytes


@dataclass(frozen=True, slots=True)
class Leased:
    """Confirms a subscription."""

    lease_ms: int
    sequence: int
    """Number of events of the subscription so far."""
    node_id: int
    cluster_id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """Refuses a request, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Left:
    """The subscription has ended, after this number of events."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Topics:
    """Ids and names; the name of an unknown topic is empty."""

    names: tuple[tuple[bytes, str], ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """A part of the counters, which are JSON as a whole."""

    snapshot: int
    part: int
    parts: int
    data: bytes


class EventKind(IntEnum):
    """What has happened."""

    OPENED = 1
    REQUEST = 2
    PARKED = 3
    RESPONSE = 4
    DROPPED = 5
    CLOSED = 6


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a connection, with the frame."""

    kind: EventKind
    time_us: int
    """Since 1970."""
    connection: int
    """Number of the connection, from 1."""
    address: str
    software: str
    """Name and version of the client's software, once they are known."""
    client_id: str | None = None
    api_key: int = -1
    version: int = -1
    correlation_id: int = -1
    elapsed_us: int = -1
    """For responses: time since the request; -1 if the tap did not see the request."""
    size: int = 0
    """Size of the whole frame, without its four bytes of size."""
    reason: str = ""
    frame: bytes = b""
    """The frame, or its beginning."""

    @property
    def is_cut(self) -> bool:
        """Whether only the frame's beginning was sent."""
        return len(self.frame) < self.size


@dataclass(frozen=True, slots=True)
class Events:
    """Events with their sequence numbers; missing numbers were lost."""

    events: tuple[tuple[int, Event], ...]


Datagram: TypeAlias = (
    Hello | Subscribe | Leave | AskTopics | AskStats
    | Cookie | Leased | Refused | Left | Topics | Stats | Events
)  # fmt: skip

# -- writing ------------------------------------------------------------------------------------

_HEAD_BYTES: Final = len(MAGIC) + 1
_SUBSCRIBE: Final = struct.Struct(">IB")
_ASK_STATS: Final = struct.Struct(">IH")
_LEASED: Final = struct.Struct(">IQi")
_SEQUENCE: Final = struct.Struct(">Q")
_STATS: Final = struct.Struct(">IHH")
_RUN: Final = struct.Struct(">QI")
_EVENT: Final = struct.Struct(">BqIhhiqIB")
_NO_CLIENT_ID: Final = 0xFF
RUN_BYTES: Final = _RUN.size
"""Bytes of an event in a datagram, besides its own."""
EVENTS_START: Final = MAGIC + bytes([Kind.EVENTS])


def _text(text: str, bytes_max: int = _TEXT_BYTES_MAX) -> bytes:
    raw = text.encode(errors="replace")[:bytes_max]
    return len(raw).to_bytes(2) + raw


def event_head(event: Event) -> bytes:
    """Encode an event without its frame, which follows."""
    client_id = b"" if event.client_id is None else _text(event.client_id)
    return b"".join(
        (
            _EVENT.pack(
                event.kind, event.time_us, event.connection, event.api_key, event.version,
                event.correlation_id, event.elapsed_us, event.size,
                _NO_CLIENT_ID if event.client_id is None else 0,
            ),
            client_id,
            _text(event.address),
            _text(event.software),
            _text(event.reason, _REASON_BYTES_MAX),
        )
    )  # fmt: skip


def event_run(sequence: int, head: bytes, frame: bytes) -> bytes:
    """Encode an event as part of a datagram."""
    return b"".join((_RUN.pack(sequence, len(head) + len(frame)), head, frame))


def encode(datagram: Datagram) -> bytes:
    """Encode a datagram."""
    kind, writer = _WRITERS[type(datagram)]
    body: bytes = writer(datagram)
    return MAGIC + bytes([kind]) + body


def _write_subscribe(asked: Subscribe) -> bytes:
    return b"".join(
        (
            asked.cookie,
            _SUBSCRIBE.pack(asked.snap_bytes, len(asked.api_keys)),
            *(key.to_bytes(2, signed=True) for key in asked.api_keys),
            bytes([len(asked.client_ids)]),
            *map(_text, asked.client_ids),
        )
    )


def _write_topics(topics: Topics) -> bytes:
    pairs = (topic_id + _text(name, 249) for topic_id, name in topics.names)
    return bytes([len(topics.names)]) + b"".join(pairs)


def _write_events(events: Events) -> bytes:
    return b"".join(
        event_run(number, event_head(event), event.frame) for number, event in events.events
    )


_WRITERS: Final[dict[type, tuple[Kind, Callable[..., bytes]]]] = {
    Hello: (Kind.HELLO, lambda _: bytes(HELLO_BYTES - _HEAD_BYTES)),
    Subscribe: (Kind.SUBSCRIBE, _write_subscribe),
    Leave: (Kind.LEAVE, lambda leave: leave.cookie),
    AskTopics: (
        Kind.ASK_TOPICS,
        lambda ask: ask.cookie + bytes([len(ask.topic_ids)]) + b"".join(ask.topic_ids),
    ),
    AskStats: (Kind.ASK_STATS, lambda ask: ask.cookie + _ASK_STATS.pack(ask.snapshot, ask.part)),
    Cookie: (Kind.COOKIE, lambda cookie: cookie.cookie),
    Leased: (
        Kind.LEASED,
        lambda lease: (
            _LEASED.pack(lease.lease_ms, lease.sequence, lease.node_id) + _text(lease.cluster_id)
        ),
    ),
    Refused: (Kind.REFUSED, lambda refused: _text(refused.reason, _REASON_BYTES_MAX)),
    Left: (Kind.LEFT, lambda left: _SEQUENCE.pack(left.sequence)),
    Topics: (Kind.TOPICS, _write_topics),
    Stats: (
        Kind.STATS,
        lambda stats: _STATS.pack(stats.snapshot, stats.part, stats.parts) + stats.data,
    ),
    Events: (Kind.EVENTS, _write_events),
}

# -- reading ------------------------------------------------------------------------------------


class _Reader:
    """Reads values from a datagram, in order and within its bounds."""

    __slots__ = ("_data", "_pos")

    def __init__(self, data: bytes, pos: int = 0) -> None:
        self._data = data
        self._pos = pos

    def take(self, count: int) -> bytes:
        end = self._pos + count
        if end > len(self._data):
            raise DatagramError(f"{count} bytes wanted, {len(self._data) - self._pos} are left")
        made = self._data[self._pos : end]
        self._pos = end
        return made

    def numbers(self, layout: struct.Struct) -> tuple[int, ...]:
        return layout.unpack(self.take(layout.size))

    def byte(self) -> int:
        return self.take(1)[0]

    def text(self) -> str:
        # What was cut to its limit may end inside of a character.
        return self.take(int.from_bytes(self.take(2))).decode(errors="replace")

    def rest(self) -> bytes:
        return self.take(len(self._data) - self._pos)

    @property
    def is_at_end(self) -> bool:
        return self._pos == len(self._data)


def decode(data: bytes) -> Datagram:
    """Decode a datagram; raises ``DatagramError``."""
    if data[: len(MAGIC)] != MAGIC or len(data) < _HEAD_BYTES:
        raise DatagramError("not a datagram of this version of the tap")
    reader = _READERS.get(data[len(MAGIC)])
    if reader is None:
        raise DatagramError(f"no datagram is of kind {data[len(MAGIC)]}")
    source = _Reader(data, _HEAD_BYTES)
    made = reader(source)
    if not source.is_at_end:
        raise DatagramError(f"{len(source.rest())} bytes are left over")
    return made


def _read_hello(source: _Reader) -> Hello:
    if len(source.rest()) < HELLO_BYTES - _HEAD_BYTES:
        raise DatagramError("a HELLO must be larger than its answer")
    return Hello()


def _read_subscribe(source: _Reader) -> Subscribe:
    cookie = source.take(COOKIE_BYTES)
    snap_bytes, count = source.numbers(_SUBSCRIBE)
    keys = tuple(int.from_bytes(source.take(2), signed=True) for _ in range(_few(count)))
    client_ids = tuple(source.text() for _ in range(_few(source.byte())))
    return Subscribe(cookie, snap_bytes, keys, client_ids)


def _few(count: int) -> int:
    if count > FILTERS_MAX:
        raise DatagramError(f"{count} filters; {FILTERS_MAX} are allowed")
    return count


def _read_ask_topics(source: _Reader) -> AskTopics:
    cookie = source.take(COOKIE_BYTES)
    count = source.byte()
    if count > TOPICS_MAX:
        raise DatagramError(f"{count} topic ids; {TOPICS_MAX} are allowed")
    return AskTopics(cookie, tuple(source.take(_TOPIC_ID_BYTES) for _ in range(count)))


def _read_ask_stats(source: _Reader) -> AskStats:
    cookie = source.take(COOKIE_BYTES)
    snapshot, part = source.numbers(_ASK_STATS)
    return AskStats(cookie, snapshot, part)


def _read_leased(source: _Reader) -> Leased:
    lease_ms, sequence, node_id = source.numbers(_LEASED)
    return Leased(lease_ms, sequence, node_id, source.text())


def _read_topics(source: _Reader) -> Topics:
    count = source.byte()
    return Topics(tuple((source.take(_TOPIC_ID_BYTES), source.text()) for _ in range(count)))


def _read_stats(source: _Reader) -> Stats:
    snapshot, part, parts = source.numbers(_STATS)
    return Stats(snapshot, part, parts, source.rest())


def _read_events(source: _Reader) -> Events:
    events = []
    while not source.is_at_end:
        sequence, size = source.numbers(_RUN)
        events.append((sequence, _read_event(_Reader(source.take(size)))))
    return Events(tuple(events))


def _read_event(source: _Reader) -> Event:
    (
        kind, time_us, connection, api_key, version, correlation_id, elapsed_us, size, flag,
    ) = source.numbers(_EVENT)  # fmt: skip
    if kind not in _EVENT_KINDS:
        raise DatagramError(f"no event is of kind {kind}")
    client_id = None if flag else source.text()
    address, software, reason = source.text(), source.text(), source.text()
    return Event(
        EventKind(kind), time_us, connection, address, software, client_id, api_key, version,
        correlation_id, elapsed_us, size, reason, source.rest(),
    )  # fmt: skip


_EVENT_KINDS: Final = frozenset(map(int, EventKind))
_READERS: Final[dict[int, Callable[[_Reader], Datagram]]] = {
    Kind.HELLO: _read_hello,
    Kind.SUBSCRIBE: _read_subscribe,
    Kind.LEAVE: lambda source: Leave(source.take(COOKIE_BYTES)),
    Kind.ASK_TOPICS: _read_ask_topics,
    Kind.ASK_STATS: _read_ask_stats,
    Kind.COOKIE: lambda source: Cookie(source.take(COOKIE_BYTES)),
    Kind.LEASED: _read_leased,
    Kind.REFUSED: lambda source: Refused(source.text()),
    Kind.LEFT: lambda source: Left(source.numbers(_SEQUENCE)[0]),
    Kind.TOPICS: _read_topics,
    Kind.STATS: _read_stats,
    Kind.EVENTS: _read_events,
}
