"""The live stream: what happens is told to each reader, and no reader is waited for.

Every event is encoded once, for all readers. A reader that does not keep up misses events and is
told how many, so that it costs a bounded amount of memory. Requests are told in samples.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection, Mapping
from http import HTTPStatus
from typing import Annotated, Any, Final, TypeAlias

import msgspec
from msgspec import Meta, Struct

from fencepost_broker.server.control.problems import ProblemError

WAITING_EVENTS_MAX: Final = 500
"""How many events wait for a reader; a larger number would only delay the loss."""
READERS_MAX: Final = 32
_TAKEN_BYTES: Final = 1 << 16
"""After so many bytes of events, a stream waits until they are sent."""
SAMPLED: Final = ("request", "step")
"""The kinds of events about single requests; when there are many, a stream gets a sample."""
TEXT_MAX: Final = 1_000
"""The longest text in an event: clients choose some of them."""


BrokerId: TypeAlias = Annotated[int, Meta(description="the broker's node id; -1: unknown")]


class LogLine(Struct, frozen=True, tag="log"):
    """A line of the broker's log, whatever the log's level is; lines of debugging are left out."""

    at_ms: Annotated[int, Meta(description="the machine's time, in milliseconds since 1970")]
    area: str
    level: str
    text: str
    values: dict[str, str]
    broker: BrokerId = -1


class Lost(Struct, frozen=True, tag="lost"):
    """Something is missing here: the reader was too slow, or there were too many requests."""

    lost: Annotated[int, Meta(description="how many events and requests are missing")]
    requests: Annotated[
        dict[str, int],
        Meta(description="by API, how many of these were requests that the sample left out"),
    ] = {}


class EventHub:
    """Tells readers what happens."""

    def __init__(self) -> None:
        self._readers: set[Reader] = set()
        self.listeners: list[Callable[[Struct], None]] = []
        """Called with all events, as they are; of requests that were left out, with a ``Lost``."""

    @property
    def readers(self) -> int:
        """The number of open streams."""
        return len(self._readers)

    def wants(self, kind: str) -> bool:
        """Whether any reader wants events of this kind; if not, they need not be made."""
        return any(reader.wants(kind) for reader in self._readers)

    def publish(self, event: Struct) -> None:
        """Tell an event to all listeners, and to the readers that want its kind, its tag."""
        for listener in self.listeners:
            listener(event)
        kind = str(event.__struct_config__.tag)
        if self.wants(kind):
            encoded = encode_event(event)
            for reader in self._readers:
                if reader.wants(kind):
                    reader.put(encoded)

    def leave_out(self, requests: Mapping[str, int]) -> None:
        """Tell how many requests of each API were left out, to readers of requests and steps."""
        for listener in self.listeners:
            listener(Lost(sum(requests.values()), dict(requests)))
        for reader in self._readers:
            if any(map(reader.wants, SAMPLED)):
                reader.leave_out(requests)

    def open(self, kinds: Collection[str]) -> Reader:
        """Return a new reader of these kinds of events; of all, if none are given."""
        if len(self._readers) >= READERS_MAX:
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{READERS_MAX} event streams are open, and there cannot be more",
                advice="Close one of them.",
            )
        reader = Reader(self, frozenset(kinds))
        self._readers.add(reader)
        return reader

    def forget(self, reader: Reader) -> None:
        """Tell a reader nothing any more."""
        self._readers.discard(reader)

    def close(self) -> None:
        """End all streams."""
        for reader in self._readers.copy():
            reader.close()


class Reader:
    """One reader's queue."""

    def __init__(self, hub: EventHub, kinds: frozenset[str]) -> None:
        self._hub = hub
        self._kinds = kinds
        self._waiting: deque[bytes] = deque()
        self._lost = 0
        self._left_out: Counter[str] = Counter()
        self._something = asyncio.Event()
        self._is_closed = False
        self.on_close: list[Callable[[], None]] = []
        """Called when it is closed."""

    def wants(self, kind: str) -> bool:
        """Whether it reads this kind of events."""
        return not self._kinds or kind in self._kinds

    def put(self, encoded: bytes) -> None:
        """Add an event, or count it as lost."""
        if self._lost or len(self._waiting) >= WAITING_EVENTS_MAX:
            self._lost += 1
        else:
            self._waiting.append(encoded)
        self._something.set()

    def leave_out(self, requests: Mapping[str, int]) -> None:
        """Note requests that are not told."""
        self._left_out.update(requests)
        self._something.set()

    async def take(self) -> bytes | None:
        """Wait for events and return some of them; ``None`` at the end of the stream."""
        while not self._waiting and not self._left_out and not self._is_closed:
            self._something.clear()
            await self._something.wait()
        taken: list[bytes] = []
        size = 0
        while self._waiting and size < _TAKEN_BYTES:
            taken.append(self._waiting.popleft())
            size += len(taken[-1])
        if (self._lost or self._left_out) and not self._waiting:
            lost = self._lost + self._left_out.total()
            taken.append(encode_event(Lost(lost, dict(self._left_out))))
            self._lost = 0
            self._left_out.clear()
        return b"".join(taken) or None

    def close(self) -> None:
        """End the stream after what waits."""
        self._is_closed = True
        self._something.set()
        self._hub.forget(self)
        while self.on_close:
            self.on_close.pop()()


def encode_event(event: Struct) -> bytes:
    """Encode an event for a stream; its kind is also the stream's ``event`` field."""
    kind = event.__struct_config__.tag
    return b"event: %b\ndata: %b\n\n" % (str(kind).encode(), msgspec.json.encode(event))


def cut(text: Any) -> str:
    """Return a text as events have it: not longer than ``TEXT_MAX``."""
    text = str(text)
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}..."
