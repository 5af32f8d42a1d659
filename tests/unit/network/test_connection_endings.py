"""The ways in which a connection ends, and the requests that wait meanwhile."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

import pytest
from fencepost_broker.apis.request import NO_FRAME, Answer, Pieces, Request
from fencepost_broker.network.connection import Connection, Ending
from fencepost_broker.network.receive_buffer import SharedBuffer
from fencepost_broker.observability.metrics import Metrics
from fencepost_broker.ports import ReadyList
from fencepost_protocol.exceptions import RemoteProtocolError

PARKED, ANSWERED, MISTAKEN = b"parked", b"answered", b"mistaken"


class Transport:
    """Keeps what is written, and how it was closed."""

    def __init__(self) -> None:
        self.sent = b""
        self.closed = ""

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1) if name == "peername" else None

    def set_write_buffer_limits(self, high: int) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def write(self, data: bytes) -> None:
        if not self.closed:  # as the loop's transports do
            self.sent += data

    def writelines(self, pieces: list[bytes]) -> None:
        self.write(b"".join(pieces))

    def close(self) -> None:
        self.closed = self.closed or "closed"

    def abort(self) -> None:
        self.closed = "aborted"


class Server:
    """Parks a request, answers it, or fails."""

    frame_bytes_max = 100
    waiting_max = 10
    parked_max = 10
    answers_bytes_max = 1000

    def __init__(self) -> None:
        self.metrics = Metrics()
        self.turns: list[Callable[[], object]] = []
        self.ready = ReadyList(self.turns.append)
        self.parked_count = 0
        self.is_full = False
        self.requests: list[Request] = []
        self.dropped_for: list[tuple[str, bytes]] = []
        self.closed_ones = 0

    def dispatch(self, connection: Connection, frame: memoryview) -> Pieces | None:
        if frame == PARKED:
            request = Request(connection, 0, 0, 0, None, NO_FRAME, 0)
            self.requests.append(request)
            connection.parked(request)
            return None
        if frame == MISTAKEN:
            raise ZeroDivisionError
        return [b"<" + bytes(frame) + b">"]

    def released(self, connection: Connection, request: Request, answer: Answer) -> Pieces:
        del connection, request
        return cast("Pieces", answer)

    def opened(self, connection: Connection) -> bool:
        del connection
        return not self.is_full

    def closed(self, connection: Connection, error: Exception | None) -> None:
        del connection, error
        self.closed_ones += 1

    def dropped(self, connection: Connection, error: Exception, frame: memoryview) -> None:
        del connection
        told = str(error) if isinstance(error, RemoteProtocolError) else repr(error)
        self.dropped_for.append((told, bytes(frame)))


class Opened:
    """A connection between the two."""

    def __init__(self, *, is_full: bool = False) -> None:
        self.server, self.transport = Server(), Transport()
        self.server.is_full = is_full
        self.connection = Connection(self.server, SharedBuffer(), "PLAINTEXT")
        self.connection.connection_made(cast("Any", self.transport))

    def receive(self, *frames: bytes) -> None:
        data = b"".join(len(frame).to_bytes(4, "big") + frame for frame in frames)
        self.connection.get_buffer(-1)[: len(data)] = data
        self.connection.buffer_updated(len(data))

    def take_turn(self) -> None:
        turns, self.server.turns[:] = self.server.turns[:], []
        for turn in turns:
            turn()

    @property
    def seen(self) -> tuple[bytes, str]:
        return self.transport.sent, self.transport.closed


def test_a_connection_without_a_place_is_aborted() -> None:
    assert Opened(is_full=True).seen == (b"", "aborted")


def test_what_is_answered_is_sent_first_and_what_waits_is_discarded() -> None:
    it = Opened()
    it.receive(PARKED, ANSWERED)
    it.connection.end(answer=[b"the ", b"last"])
    it.connection.release(it.server.requests[0], [b"late"])
    it.take_turn()
    assert it.seen == (b"the last", "closed")
    assert it.connection.queued.count == 0


def test_nothing_is_sent_any_more_if_it_ends_at_once() -> None:
    it = Opened()
    it.receive(PARKED, ANSWERED)
    it.connection.end(Ending.AT_ONCE)
    assert it.seen == (b"", "aborted")


def test_it_ends_after_all_answers() -> None:
    it = Opened()
    it.receive(PARKED, ANSWERED, PARKED)
    it.connection.end(Ending.AFTER_ANSWERING)
    it.connection.release(it.server.requests[0], [b"first"])
    assert it.seen == (b"first", "")
    it.take_turn()
    assert it.seen == (b"first<answered>", "")
    it.connection.release(it.server.requests[1], [b"third"])
    assert it.seen == (b"first<answered>third", "closed")


def test_it_ends_after_the_rest_of_a_request() -> None:
    it = Opened()
    frame = len(ANSWERED).to_bytes(4, "big") + ANSWERED
    for part, closed in ((frame[:7], ""), (frame[7:], "closed")):
        it.connection.get_buffer(-1)[: len(part)] = part
        it.connection.buffer_updated(len(part))
        it.connection.end(Ending.AFTER_ANSWERING)
        assert it.transport.closed == closed
    assert it.transport.sent == b"<answered>"


def test_it_ends_after_what_waits_for_the_end_of_muting() -> None:
    it, ended = Opened(), []
    assert it.connection.mute(lambda: ended.append(True))
    it.receive(ANSWERED)
    it.connection.end(Ending.AFTER_ANSWERING)
    assert it.seen == (b"<answered>", "closed")
    assert (ended, it.server.parked_count) == ([True], 0)


def test_an_idle_one_ends_at_once() -> None:
    it = Opened()
    it.connection.end(Ending.AFTER_ANSWERING)
    assert it.seen == (b"", "closed")


@pytest.mark.parametrize(
    ("frame", "reason", "logged"),
    [
        (MISTAKEN, "ZeroDivisionError()", MISTAKEN),
        (b"x" * 101, "frame size, byte 0: a frame of 101 bytes was announced", b""),
    ],
)
def test_it_is_dropped_with_the_reason_after_what_is_answered(
    frame: bytes, reason: str, logged: bytes
) -> None:
    it = Opened()
    it.receive(ANSWERED, frame, ANSWERED)
    assert it.seen == (b"<answered>", "closed")
    [(told, shown)] = it.server.dropped_for
    assert told.startswith(reason)
    assert shown == logged


def released(it: Opened) -> None:
    it.connection.release(it.server.requests[0], [b"answer"])


def refused(it: Opened) -> None:
    it.connection.refuse_parked(it.server.requests[0], ZeroDivisionError())


def lost(it: Opened) -> None:
    it.connection.connection_lost(None)


@pytest.mark.parametrize(("end", "is_told"), [(released, False), (refused, False), (lost, True)])
def test_a_parked_request_is_counted_until_it_is_answered_fails_or_is_lost(
    end: Callable[[Opened], None], is_told: bool
) -> None:
    it, losses = Opened(), []
    it.receive(PARKED)
    it.connection.on_loss(lambda: losses.append(True))
    assert (it.connection.is_parked, it.server.parked_count) == (True, 1)
    end(it)
    assert (it.connection.is_parked, it.server.parked_count) == (False, 0)
    it.connection.connection_lost(None)
    assert bool(losses) is is_told
    assert it.server.parked_count == 0


@pytest.mark.asyncio
async def test_an_answer_right_after_the_client_has_gone_is_discarded() -> None:
    """The loop closes a transport at once, and tells the connection in its next turn."""
    server = Server()
    loop = asyncio.get_running_loop()
    theirs, ours = socket.socketpair()
    with theirs:
        transport, connection = await loop.connect_accepted_socket(
            lambda: Connection(server, SharedBuffer(), "PLAINTEXT"), ours
        )
        request = Request(connection, 0, 0, 0, None, NO_FRAME, 0)
        connection.parked(request)
        transport.close()
        connection.release(request, [b"two ", b"pieces"])
        theirs.settimeout(5)
        assert await asyncio.to_thread(theirs.recv, 10) == b""


@pytest.mark.parametrize("end", [lambda it: it.connection.unmute(), lost])
def test_muting_is_counted_until_it_ends(end: Callable[[Opened], None]) -> None:
    it, ended = Opened(), []
    assert it.connection.mute(lambda: ended.append(True))
    assert it.server.parked_count == 1
    end(it)
    it.connection.unmute()
    it.connection.connection_lost(None)
    assert (ended, it.server.parked_count) == ([True], 0)


def test_one_that_ends_is_not_muted() -> None:
    it = Opened()
    it.connection.end()
    assert not it.connection.mute(lambda: None)
    assert it.server.parked_count == 0


def test_an_idle_period_closes_and_another_one_aborts() -> None:
    it = Opened()
    assert [it.connection.reap() for _ in range(2)] == [False, True]
    assert it.transport.closed == "closed"
    assert not it.connection.reap()
    assert it.transport.closed == "aborted"
