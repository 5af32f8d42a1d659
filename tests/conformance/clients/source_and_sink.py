"""Two topics of one broker, written and read without any client: a source that is filled while
workers read it, and a sink that is read as a read_committed reader reads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, Final, Self

from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.control import ControlType, read_control_record
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from tests.support.up import Wire

PARTITIONS: Final = 4
READ_UNCOMMITTED, READ_COMMITTED = 0, 1

# A record for each partition every so often: a load, so that there is always something under way.
FEED_SECONDS: Final = 0.05

_FETCH_VERSION, _OFFSET_FETCH_VERSION = 11, 7
_FETCH_BYTES: Final = 1 << 20
_NOT_LEADER, _UNKNOWN_TOPIC = 6, 3


class Source:
    """A topic that gets numbered records in every partition, as long as it is open."""

    def __init__(self, port: int, topic: str) -> None:
        self._port = port
        self._topic = topic
        self._fed = 0
        self._ending = threading.Event()
        self._error: Exception | None = None
        self._feeder = threading.Thread(target=self._feed, daemon=True)

    def __enter__(self) -> Self:
        self._feeder.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> int:
        """Feeds no more; how many records there are in each partition."""
        self._ending.set()
        self._feeder.join()
        return self.fed

    @property
    def fed(self) -> int:
        """How many records are in each partition at least."""
        if self._error is not None:
            raise self._error
        return self._fed

    def _feed(self) -> None:
        try:
            with Wire(self._port) as wire:
                while not self._ending.wait(FEED_SECONDS):
                    for partition in range(PARTITIONS):
                        self._write(wire, partition)
                    self._fed += 1
        except Exception as error:  # noqa: BLE001 (raised by whoever asks)
            self._error = error

    def _write(self, wire: Wire, partition: int) -> None:
        value = value_of(partition, self._fed)
        batch = build_batch(None, [value], time.time_ns() // 1_000_000)
        answer = wire.produce(self._topic, batch, partition)
        if answer.error_code or answer.base_offset != self._fed:
            raise ValueError(f"record {value!r} was not taken as it should be: {answer}")


def value_of(partition: int, number: int) -> bytes:
    return b"%d-%d" % (partition, number)


def create_topics(port: int, *topics: str) -> None:
    """Creates them and waits until they can be used: see FINDINGS.md."""
    with Wire(port) as wire:
        for topic in topics:
            wire.create(topic, PARTITIONS)
        for topic in topics:
            for partition in range(PARTITIONS):
                while _fetch(wire, topic, partition, 0).error_code in (_NOT_LEADER, _UNKNOWN_TOPIC):
                    pass


def committed_offsets(port: int, group: str) -> dict[int, int]:
    """The group's offsets by partition, as far as there are any."""
    with Wire(port) as wire:
        answer = wire.ask(OffsetFetchRequest(group, topics=None), _OFFSET_FETCH_VERSION)
    return {
        partition.partition_index: partition.committed_offset
        for topic in answer.topics
        for partition in topic.partitions
        if partition.committed_offset >= 0
    }


def read(port: int, topic: str, partition: int, isolation: int) -> list[bytes]:
    """The values in a partition, as a reader of this isolation level sees them."""
    with Wire(port) as wire:
        return _read(lambda offset: _fetch(wire, topic, partition, offset, isolation))


def _read(fetch: Callable[[int], Any]) -> list[bytes]:
    values: list[bytes] = []
    offset = 0
    while True:
        answer = fetch(offset)
        if answer.error_code:
            raise ValueError(f"Fetch at offset {offset} is answered with {answer.error_code}")
        if not answer.records:
            return values
        to_come = sorted(answer.aborted_transactions or (), key=lambda one: one.first_offset)
        aborting: set[int] = set()
        for header, batch in split_batches(answer.records, tolerate_partial=True):
            while to_come and to_come[0].first_offset <= header.last_offset:
                aborting.add(to_come.pop(0).producer_id)
            if header.is_control:
                if read_control_record(batch).type == ControlType.ABORT:
                    aborting.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in aborting):
                values += [bytes(record.value or b"") for record in iter_records(batch)]
            offset = header.next_offset


def _fetch(
    wire: Wire, topic: str, partition: int, offset: int, isolation: int = READ_UNCOMMITTED
) -> Any:
    wanted = FetchPartition(partition, fetch_offset=offset, partition_max_bytes=_FETCH_BYTES)
    request = FetchRequest(
        max_wait_ms=0,
        min_bytes=0,
        max_bytes=_FETCH_BYTES,
        isolation_level=isolation,
        topics=[FetchTopic(topic, partitions=[wanted])],
    )
    return wire.ask(request, _FETCH_VERSION).responses[0].partitions[0]
