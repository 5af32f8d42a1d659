"""Many requests, and the time of a frame while a page shows them."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from fencepost_broker.blocking import Broker
from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest

from tests.console.harness import Console

_BURST: Final = 20
_FRAMES: Final = """() => new Promise((done) => {
    const times = [];
    const frame = (at) => {
        times.push(at);
        if (times.length < 90) return requestAnimationFrame(frame);
        const took = times.slice(1).map((each, number) => each - times[number]);
        done(took.sort((a, b) => a - b)[took.length >> 1]);
    };
    requestAnimationFrame(frame);
})"""


def median_frame(console: Console) -> float:
    return float(console.page.evaluate(_FRAMES))


@contextmanager
def flooded(broker: Broker) -> Iterator[list[int]]:
    """Send requests one after the other, in bursts, as fast as they are answered; counts them."""
    host, _, port = broker.bootstrap.rpartition(":")
    frame = encode_request(FindCoordinatorRequest("nobody", 0), 3, 1, "many")
    stop = Event()
    sent = [0]

    def send() -> None:
        with socket.create_connection((host, int(port))) as end, end.makefile("rb") as answers:
            while not stop.is_set():
                end.sendall(frame * _BURST)
                sent[0] += _BURST
                for _ in range(_BURST):
                    answers.read(struct.unpack(">i", answers.read(4))[0])

    thread = Thread(target=send)
    thread.start()
    try:
        yield sent
    finally:
        stop.set()
        thread.join()
