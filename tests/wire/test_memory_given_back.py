"""What a broker's process holds of frames: as much as was sent, within the bound, and not for long.

Glibc keeps blocks of up to 32 MB in its heap once a larger one was freed: so a few large requests
come first here.
"""

from __future__ import annotations

import socket
import ssl
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from fencepost_broker.network.connection import UNREAD_TLS_BYTES_MAX
from fencepost_broker.network.queued_bytes import BEGINNINGS_BYTES
from fencepost_broker.network.receive_buffer import KEPT_BYTES_MAX
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.metadata import MetadataRequest

from tests.support.secure_kafka import make_certificates
from tests.support.up import PATIENCE_SECONDS, PRODUCE_VERSION, Up, Wire, produce_request
from tests.support.waiting import polled

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")

MB = 1 << 20
CONNECTIONS = 500
OWN_BYTES = 16 * 1024
"""More than a connection costs by itself."""
RECEIVE_BYTES = 32 * 1024
"""Of a socket's buffer in the system, which uses up to twice as much: also the most that the loop
receives at once."""
TLS_BYTES = 3 * 2 * RECEIVE_BYTES + UNREAD_TLS_BYTES_MAX + OWN_BYTES
"""What a connection over TLS costs: one receive in the loop's buffer, one in OpenSSL's on top of
what may be unread (it stays as large as it once was), and one as the beginning of its frame."""


@contextmanager
def used_before() -> Iterator[tuple[Up, Wire]]:
    """A broker that has had large requests."""
    with Up("-c", f"queued.max.request.bytes={100 * MB}") as broker, broker.connect() as wire:
        wire.create("t")
        for size in (20, 30):
            wire.ask(produce_request("t", bytes(size * MB)), PRODUCE_VERSION)
        served(wire)
        yield broker, wire


def until(is_so: Callable[[], bool], otherwise: str) -> None:
    """What a burst took may be given back some turns later."""
    polled(is_so, otherwise, PATIENCE_SECONDS)


def served(wire: Wire) -> None:
    """What others have sent before was read by then."""
    for _ in range(3):
        wire.ask(MetadataRequest(topics=[]), 12)


def opened(broker: Up, count: int) -> list[socket.socket]:
    return [
        socket.create_connection(("127.0.0.1", broker.port), PATIENCE_SECONDS) for _ in range(count)
    ]


def bystanders(broker: Up, stack: ExitStack) -> None:
    """Who comes later, and has memory above that of the others."""
    for _ in range(20):
        served(stack.enter_context(broker.connect()))


@pytest.mark.parametrize("announced", [2_000, 200_000, 100 * MB])
def test_a_half_sent_frame_holds_what_was_sent(announced: int) -> None:
    sent = struct.pack(">i", announced) + bytes(1_000)
    with used_before() as (broker, wire), ExitStack() as stack:
        before = broker.resident_bytes()
        sockets = opened(broker, CONNECTIONS)
        for each in sockets:
            each.sendall(sent)
        served(wire)
        held = broker.resident_bytes() - before
        assert held < CONNECTIONS * OWN_BYTES
        bystanders(broker, stack)
        for each in sockets:
            each.close()
        served(wire)
        assert broker.resident_bytes() - before < CONNECTIONS * OWN_BYTES


def test_what_half_sent_frames_held_is_given_back() -> None:
    with used_before() as (broker, wire), ExitStack() as stack:
        before = broker.resident_bytes()
        sockets = opened(broker, CONNECTIONS)
        for each in sockets:
            each.sendall(struct.pack(">i", 200_000) + bytes(100_000))
        served(wire)
        sent = CONNECTIONS * 100_000
        assert broker.resident_bytes() - before < 2 * sent
        bystanders(broker, stack)
        for each in sockets:
            each.close()
        served(wire)
        assert broker.resident_bytes() - before < sent / 2


def test_large_frames_take_no_more_than_their_bound_and_leave_nothing() -> None:
    """Fifteen frames of 90 MB, all but the last byte."""
    size, bound = 90 * MB, 100 * MB
    with used_before() as (broker, wire), ExitStack() as stack:
        before = broker.resident_bytes()
        sockets = opened(broker, 15)
        for each in sockets:
            each.setblocking(False)
            each.send(struct.pack(">i", size))
        data = bytes(4 * MB)
        left = dict.fromkeys(sockets, size - 1)
        taken = True
        while taken:  # until the broker reads none of them any more
            taken = False
            for each in list(left):
                try:
                    left[each] -= each.send(data[: left[each]])
                    taken = True
                except BlockingIOError:
                    pass
                if not left[each]:
                    del left[each]
            served(wire)
        held = broker.resident_bytes() - before
        # The system may take back some pages that are not used.
        assert 0.9 * size < held < bound + BEGINNINGS_BYTES + KEPT_BYTES_MAX
        bystanders(broker, stack)
        for each in sockets:
            each.close()
        served(wire)
        assert broker.resident_bytes() - before < 2 * KEPT_BYTES_MAX


def test_what_waits_unread_over_tls_is_little(tmp_path: Path) -> None:
    make_certificates(tmp_path)
    context = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    context.check_hostname = False
    pem = ("--tls-cert", str(tmp_path / "broker.pem"), "--tls-key", str(tmp_path / "broker.key"))
    limits = {
        "queued.max.request.bytes": MB,
        "socket.request.max.bytes": MB,
        "socket.receive.buffer.bytes": RECEIVE_BYTES,
    }
    settings = [part for name, value in limits.items() for part in ("-c", f"{name}={value}")]
    with Up(*pem, *settings) as broker, ExitStack() as stack:
        before = broker.resident_bytes()
        request = struct.pack(">i", 950_000) + bytes(900_000)
        unsent = {
            stack.enter_context(secured(plain, context)): memoryview(request)
            for plain in opened(broker, 100)
        }
        with secured(opened(broker, 1)[0], context) as last:
            last.setblocking(True)
            while sum(sent_some(each, unsent) for each in unsent):
                last.sendall(encode_request(MetadataRequest(topics=[]), 12, 1, "test"))
                assert last.recv(1 << 16)
        held = (broker.resident_bytes() - before) // len(unsent)
        assert held < TLS_BYTES


def secured(plain: socket.socket, context: ssl.SSLContext) -> ssl.SSLSocket:
    connection = context.wrap_socket(plain)
    connection.setblocking(False)
    return connection


def sent_some(connection: ssl.SSLSocket, unsent: dict[ssl.SSLSocket, memoryview]) -> bool:
    """Send until the broker reads no more; return whether it read anything."""
    left = unsent[connection]
    with suppress(ssl.SSLWantWriteError):
        while unsent[connection]:
            unsent[connection] = unsent[connection][connection.send(unsent[connection]) :]
    return len(unsent[connection]) < len(left)


def test_a_burst_of_large_frames_leaves_nothing() -> None:
    frame = encode_request(produce_request("t", bytes(20 * MB)), PRODUCE_VERSION, 1, "test")
    with used_before() as (broker, wire), ExitStack() as stack:
        before = broker.resident_bytes()
        wires = [stack.enter_context(broker.connect()) for _ in range(4)]
        for _ in range(3):
            for each in wires:
                each.send(memoryview(frame)[: len(frame) // 2])
            bystanders(broker, stack)
            for each in wires:
                each.send(memoryview(frame)[len(frame) // 2 :])
                each.frame()
        served(wire)
        assert broker.resident_bytes() - before < 2 * KEPT_BYTES_MAX
