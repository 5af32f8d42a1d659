"""Examination of transactional batches before they are appended, in several turns if necessary.

The batches of one request are appended in one turn, because the answer of the transaction's
coordinator holds for that turn only. A few hundred bytes may decompress to 150,000 records, so the
slow part is done before: each batch is decompressed, counted and converted as its topic demands. If
one turn is not enough, the request is parked, the rest is examined in later turns, and the
coordinator is asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from fencepost_protocol import limits
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import PartitionProduceData, ProduceRequest

from fencepost_broker.apis.produce.appending import find_topic
from fencepost_broker.apis.produce.kept_frame import keep_message
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import AppendResult, Origin, PartitionLog, VerificationGuard

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_FIRST_TURN_NS: Final = 10_000_000
_TURN_NS: Final = 5_000_000
_CHANGED_BYTES_MAX: Final = limits.MAX_DECOMPRESSED_BYTES
"""The most bytes of recompressed batches that are kept until all batches are examined."""
GoOn = Callable[[ProduceRequest], Answer | None]


class Examination:
    """The results of examining the batches of one request, for appending them."""

    def __init__(self, context: BrokerContext, request: Request) -> None:
        self._context = context
        self._request = request
        self._found: dict[int, tuple[PartitionLog, memoryview | AppendResult]] = {}
        """By the ``id()`` of a batch's entry in the message, in the order of the request."""
        self._left: Iterator[tuple[PartitionProduceData, PartitionLog]] = iter(())
        self._changed_bytes = 0

    def is_done_now(self, message: ProduceRequest) -> bool:
        """Examine batches for one turn; return whether all are examined."""
        self._left = self._batches(message)
        return self._examine_some(perf_counter_ns() + _FIRST_TURN_NS)

    def go_on_later(self, message: ProduceRequest, go_on: GoOn) -> None:
        """Park the request, examine the rest in later turns, then call ``go_on``.

        The request gets a copy of its frame, because the connection reuses the buffer. Batches
        that were examined are not examined again: they may be converted already.
        """
        request = self._request
        was_in = request.frame.obj
        message = keep_message(request, message)
        self._left = self._batches(message)
        examined = list(self._found.values())
        self._found.clear()
        for (log, found), (entry, _) in zip(examined, self._left, strict=False):
            kept = found
            if isinstance(found, memoryview) and found.obj is was_in:
                assert entry.records is not None
                kept = memoryview(entry.records)[: len(found)]
            self._found[id(entry)] = log, kept

        def turn() -> None:
            try:
                if not self._examine_some(perf_counter_ns() + _TURN_NS):
                    self._context.clock.call_later(0, turn)
                    return
                answer = go_on(message)
            except Exception as error:  # noqa: BLE001 (as where any request is carried out)
                request.peer.refuse_parked(request, error)
                return
            if answer is not None:
                request.release(answer)

        self._context.clock.call_later(0, turn)

    def append(
        self,
        partition: Partition,
        entry: PartitionProduceData,
        now_ms: int,
        guard: VerificationGuard | None,
    ) -> AppendResult:
        """Append a batch with the result of its examination."""
        log, found = self._found.get(id(entry), (None, None))
        if found is None or log is not partition.log:
            return AppendResult(ErrorCode.NOT_LEADER_OR_FOLLOWER)  # moved since the examination
        if isinstance(found, AppendResult):
            return found
        return log.append_as_leader(
            found, partition.leader_epoch, now_ms, Origin.CLIENT, guard, is_examined=True
        )

    def _batches(
        self, message: ProduceRequest
    ) -> Iterator[tuple[PartitionProduceData, PartitionLog]]:
        for data in message.topic_data:
            topic = find_topic(self._context, data, self._request.version)
            if topic is None:
                continue
            for entry in data.partition_data:
                if 0 <= entry.index < len(topic.partitions) and entry.records is not None:
                    partition = topic.partitions[entry.index]
                    if partition.leads:
                        yield entry, partition.log

    def _examine_some(self, until_ns: int) -> bool:
        now_ms = self._context.clock.now_ms()
        for entry, log in self._left:
            assert entry.records is not None
            found = log.examine_first(memoryview(entry.records), now_ms)
            if isinstance(found, memoryview) and found.obj is not self._request.frame.obj:
                self._changed_bytes += len(found)
                if self._changed_bytes > _CHANGED_BYTES_MAX:
                    found = _too_much()
            self._found[id(entry)] = log, found
            if perf_counter_ns() > until_ns:
                return False
        return True


def _too_much() -> AppendResult:
    return AppendResult(
        ErrorCode.MESSAGE_TOO_LARGE,
        message=f"the batches of this request take more than {_CHANGED_BYTES_MAX} bytes after "
        "compression with their topics' compression.type",
    )
