"""The requests that clients sent last: a bounded list, kept only after a client has asked for it.

A watcher costs each request something, so the server has this one only while it is asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import perf_counter_ns
from typing import Annotated, Any, Final, cast

from fencepost_protocol.generated.index import APIS
from msgspec import Meta, Struct

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.watchers import Watched, unwatch, watch
from fencepost_broker.observability.metrics import errors_in
from fencepost_broker.server.clock import wall_ms
from fencepost_broker.server.control.events import SAMPLED, BrokerId, EventHub, cut
from fencepost_broker.server.control.frames import KeptFrames, read_answer

KEPT_MAX: Final = 1_000
_SIZE_BYTES: Final = 4
KIND: Final = SAMPLED[0]


class RequestSeen(Struct, tag=KIND):
    """A request that a client sent."""

    number: Annotated[int, Meta(description="counts the requests since the watch began")]
    at_ms: Annotated[int, Meta(description="the machine's time, in milliseconds since 1970")]
    listener: str
    address: Annotated[str, Meta(description="the client's host and port")]
    client_id: str | None
    software: Annotated[str, Meta(description="name and version of the client's library")]
    user: str
    api: str
    version: int
    correlation_id: int
    request_bytes: int
    has_waited: Annotated[bool, Meta(description="whether it was not answered at once")] = False
    took_us: Annotated[
        int | None, Meta(description="microseconds until the answer; null: there is none yet")
    ] = None
    answer_bytes: int | None = None
    errors: Annotated[
        dict[str, int] | None,
        Meta(description="how often each error is in the answer; null: it is too large to look"),
    ] = None
    dropped: Annotated[
        str, Meta(description="why the broker closed the connection in place of an answer")
    ] = ""
    broker: BrokerId = -1


class _Asked:
    """The request that a connection waits for."""

    __slots__ = ("seen", "started_ns")

    def __init__(self, seen: RequestSeen, started_ns: int) -> None:
        self.seen = seen
        self.started_ns = started_ns


class RequestsSeen:
    """Watches the requests of a server for those who ask."""

    def __init__(
        self,
        server: Watched[Any],
        events: EventHub,
        log: Any,
        node_of: Callable[[Any], int],
        now_ms: Callable[[], int] = wall_ms,
        now_ns: Callable[[], int] = perf_counter_ns,
    ) -> None:
        """``node_of`` returns the id of the broker that a connection is to."""
        self._now_ms, self._now_ns = now_ms, now_ns
        self._server = server
        self._events = events
        self._log = log
        self._node_of = node_of
        self._kept: deque[RequestSeen] = deque(maxlen=KEPT_MAX)
        self._open: dict[tuple[Connection, int], _Asked] = {}
        """The requests without an answer, by connection and correlation id."""
        self._streams = 0
        self.is_kept = False
        """Whether requests are kept; streams watch without that."""
        self.count = 0
        """The number of requests seen."""
        self.frames = KeptFrames()
        """The bytes of the requests that are kept."""

    def last(self, count: int) -> list[RequestSeen]:
        """Return the last requests, the oldest first; the first call begins to keep them."""
        if not self.is_kept:
            self.is_kept = True
            watch(self._server, self)
        return list(self._kept)[-count:] if count else []

    def forget(self) -> None:
        """Forget all requests, and keep none until a client asks again."""
        self.is_kept = False
        self._kept.clear()
        self.frames.clear()
        self._unwatch()

    def stream(self) -> Callable[[], None]:
        """Watch for a stream; returns the function that ends this."""
        self._streams += 1
        watch(self._server, self)

        def end() -> None:
            self._streams -= 1
            self._unwatch()

        return end

    def close(self) -> None:
        """Watch no more."""
        self._streams = 0
        self.forget()

    def _unwatch(self) -> None:
        if not self.is_kept and not self._streams:
            unwatch(self._server, self)
            self._open.clear()
            self.count = 0

    # -- what the server tells ------------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        """Do nothing: connections are not listed."""

    def requested(self, request: Request) -> None:
        """Keep a request."""
        connection = cast("Connection", request.peer)
        self.count += 1
        software = f"{connection.client_software_name} {connection.client_software_version}"
        seen = RequestSeen(
            number=self.count,
            at_ms=self._now_ms(),
            listener=connection.listener,
            address=address_of(connection),
            client_id=None if request.client_id is None else cut(request.client_id),
            software=cut(software.strip()),
            user=cut(connection.user),
            api=APIS[request.api_key][0],
            version=request.version,
            correlation_id=request.correlation_id,
            request_bytes=len(request.frame),
            broker=self._node_of(connection),
        )
        self._open[connection, request.correlation_id] = _Asked(seen, self._now_ns())
        if self.is_kept:
            self._kept.append(seen)
            self.frames.put(seen.number, request)

    def parked(self, request: Request) -> None:
        """Note that a request waits."""
        asked = self._open.get(_key(request))
        if asked is not None:
            asked.seen.has_waited = True

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Note an answer, and tell the streams."""
        asked = self._open.pop(_key(request), None)
        if asked is None:
            return  # it came before the watch
        seen = asked.seen
        seen.took_us = (self._now_ns() - asked.started_ns) // 1000
        seen.answer_bytes = max(0, sum(map(len, pieces)) - _SIZE_BYTES)
        seen.errors = self._errors(request, pieces, seen.answer_bytes)
        if self.is_kept:
            self.frames.put_answer(seen.number, pieces)
        self._events.publish(seen)

    def dropped(self, connection: Connection, reason: str) -> None:
        """Note that the broker closes a connection, and tell the streams."""
        for asked in self._pop_all(connection):
            asked.seen.dropped = cut(reason)
            self._events.publish(asked.seen)

    def closed(self, connection: Connection, reason: str) -> None:
        """Forget a connection."""
        del reason
        self._pop_all(connection)

    def _pop_all(self, connection: Connection) -> list[_Asked]:
        keys = [each for each in self._open if each[0] is connection]
        return [self._open.pop(each) for each in keys]

    def _errors(self, request: Request, pieces: Pieces, size: int) -> dict[str, int] | None:
        if not size:
            return {}
        try:
            answer = read_answer(request, pieces)
        except Exception:  # noqa: BLE001 (told; a watcher's bug must not fail a request)
            self._log.exception("an answer cannot be read again: please report this")
            return None
        return None if answer is None else errors_in(answer)


def _key(request: Request) -> tuple[Connection, int]:
    return cast("Connection", request.peer), request.correlation_id


def address_of(connection: Connection) -> str:
    """Return the client's end of a connection, HOST:PORT."""
    transport = connection.transport
    peer = transport.get_extra_info("peername") if transport is not None else None
    host, port = peer[:2] if peer else (connection.client_host.lstrip("/"), 0)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
