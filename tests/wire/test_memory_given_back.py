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
TLS_BYTES = 400 * 1024
"""The same, over TLS: the loop has a buffer of a quarter of a megabyte for each."""


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
    bound = ("-c", f"queued.max.request.bytes={MB}", "-c", f"socket.request.max.bytes={MB}")
    with Up(*pem, *bound) as broker, ExitStack() as stack:
        before = broker.resident_bytes()
        for plain in opened(broker, 100):
            secured = stack.enter_context(context.wrap_socket(plain))
            secured.setblocking(False)
            left = memoryview(struct.pack(">i", 950_000) + bytes(900_000))
            with suppress(ssl.SSLWantWriteError):
                while left:
                    left = left[secured.send(left) :]
        with context.wrap_socket(opened(broker, 1)[0]) as last:
            last.sendall(encode_request(MetadataRequest(topics=[]), 12, 1, "test"))
            assert last.recv(4)
        most = before + 100 * TLS_BYTES + BEGINNINGS_BYTES
        until(lambda: broker.resident_bytes() < most, f"less than {most} bytes are held")


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
