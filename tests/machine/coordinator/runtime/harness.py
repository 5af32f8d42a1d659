"""Brokers that markers go to, and which answer when they are told to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fencepost_broker.coordinator.runtime.shard import AppendRefusedError
from fencepost_broker.coordinator.transaction.commands import MarkersWritten, SendMarkers
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

NONE = ErrorCode.NONE

MOVED = ErrorCode.NOT_LEADER_OR_FOLLOWER


class Clock:
    def __init__(self) -> None:
        self.calls: list[tuple[int, Callable[[], None]]] = []

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> None:
        self.calls.append((delay_ms, call))

    def run(self) -> list[int]:
        """Make all calls that are due by now; gives their delays."""
        calls, self.calls = self.calls, []
        for _, call in calls:
            call()
        return [delay_ms for delay_ms, _ in calls]


class Here:
    """The broker itself, which writes markers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[SendMarkers, list[tuple[str, int]], Callable[[Any], None]]] = []

    def write(
        self,
        send: SendMarkers,
        partitions: Iterable[tuple[str, int]],
        then: Callable[[Any], None],
    ) -> None:
        self.asked.append((send, list(partitions), then))

    def wanted(self) -> list[tuple[int, str, int]]:
        """The markers that are asked for, with the producer id of each."""
        return [(send.producer_id, *where) for send, wheres, _ in self.asked for where in wheres]

    def answer(self, error: ErrorCode = NONE, but: tuple[str, int] | None = None) -> None:
        """Answer everything, with an error for one partition or for all."""
        asked, self.asked = self.asked, []
        for _, wheres, then in asked:
            then([(*where, error if but in (None, where) else NONE) for where in wheres])


class Brokers:
    """Take requests and answer when they are told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[WriteTxnMarkersRequest, Callable[[Any], None]]] = []

    def ask(self, message: Any, version: int, then: Callable[[Any], None]) -> None:
        assert version == 2
        self.asked.append((message, then))

    def wanted(self, at: int = -1) -> list[tuple[int, str, int]]:
        """What the last request is about, or another one."""
        return [
            (marker.producer_id, topic.name, number)
            for marker in self.asked[at][0].markers
            for topic in marker.topics
            for number in topic.partition_indexes
        ]

    def answer(self, error: ErrorCode = NONE, but: tuple[str, int] | None = None) -> None:
        """Answer the oldest request, with an error for one partition or for all."""
        request, then = self.asked.pop(0)
        then(
            WriteTxnMarkersResponse(
                [
                    WritableTxnMarkerResult(
                        marker.producer_id,
                        [
                            WritableTxnMarkerTopicResult(
                                topic.name,
                                [
                                    WritableTxnMarkerPartitionResult(
                                        number,
                                        error if but in (None, (topic.name, number)) else NONE,
                                    )
                                    for number in topic.partition_indexes
                                ],
                            )
                            for topic in marker.topics
                        ],
                    )
                    for marker in request.markers
                ]
            )
        )


class Owner:
    """A coordinator: what is acknowledged is not wanted any more."""

    is_loaded = True
    fails = False

    def __init__(self) -> None:
        self.machine = self
        self.told: list[tuple[str, int, ErrorCode]] = []

    def is_sending(self, send: SendMarkers) -> bool:
        return bool(send.pending)

    def submit(self, command: MarkersWritten) -> None:
        if self.fails:
            raise AppendRefusedError(ErrorCode.KAFKA_STORAGE_ERROR, None)
        for topic, number, error in command.outcomes:
            self.told.append((topic, number, error))
            if not error or error is ErrorCode.INVALID_PRODUCER_EPOCH:
                del command.send.pending[topic, number]


def end_of(producer_id: int, *partitions: int, name: str = "a") -> SendMarkers:
    pending = {("t", number): NONE for number in partitions}
    return SendMarkers(name, producer_id, 1, True, 7, 2, pending)
