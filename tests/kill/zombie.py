"""Somebody who writes to a leader that stands still, and does not know that there is another.

The connections are there and the requests are in its buffers when it wakes, so they are the first
that it reads: before any answer of the controller's, and before it could fetch from the new leader.
What such a leader answers to acks=1 says nothing (Kafka's protocol loses such records); to acks=all
it must not say yes, and none of it may be found afterwards.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.writer import build_batch

from tests.support.up import PRODUCE_VERSION, ClosedError, Wire, produce_request

ACKS: Final = (1, -1)
NAME: Final = b"zombie"
REQUESTS_EACH: Final = 3


class ZombieWriter:
    """Connections to one broker, from before it was paused."""

    def __init__(self, port: int, topic: str, partitions: Iterable[int]) -> None:
        self.topic = topic
        self._wires = [
            (acks, partition, Wire(port)) for acks in ACKS for partition in partitions
        ]  # fmt: skip
        self._waiting: list[tuple[int, Wire, int]] = []

    def write(self) -> None:
        """While it stands still: leave requests for it."""
        for acks, partition, wire in self._wires:
            for number in range(REQUESTS_EACH):
                value = b"%s/%d/%d" % (NAME, acks, number)
                batch = bytes(build_batch(None, [value], int(time.time() * 1000)))
                request = produce_request(self.topic, batch, partition, acks=acks)
                sent = wire.send_request(request, PRODUCE_VERSION)
                self._waiting.append((acks, wire, sent))

    def answers(self) -> list[tuple[int, ErrorCode]]:
        """When it is awake: what it said to each, with the acks that were asked for."""
        told = []
        request = produce_request(self.topic, None)
        for acks, wire, sent in self._waiting:
            try:
                answer = wire.receive(request, PRODUCE_VERSION, sent)
            except (ClosedError, OSError):
                continue
            told.append((acks, ErrorCode(answer.responses[0].partition_responses[0].error_code)))
        return told

    def close(self) -> None:
        """Hang up."""
        for _, _, wire in self._wires:
            wire.socket.close()
