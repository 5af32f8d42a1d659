"""Batches of a transaction are examined before they are appended, in turns where that takes long.

The batches of one request are appended in one turn, since all of them go by what the transaction's
coordinator has said just now. A few hundred bytes may unpack to 150,000 records, so what takes long
is done before: each batch is unpacked, counted and changed as its topic wants it. If that is not
done in one turn, the request is parked, the rest examined between the turns of others, and the
coordinator asked anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final

from fencepost_protocol import limits
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import PartitionProduceData, ProduceRequest

from fencepost_broker.apis.produce.appending import find_topic
from fencepost_broker.apis.produce.partition_verification import keep_message
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import AppendResult, Origin, PartitionLog, VerificationGuard

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_FIRST_TURN_NS: Final = 10_000_000
_TURN_NS: Final = 5_000_000
_CHANGED_BYTES_MAX: Final = limits.MAX_DECOMPRESSED_BYTES
"""Bytes of batches that are compressed anew and kept until all are examined."""
GoOn = Callable[[ProduceRequest], Answer | None]


class Examination:
    """What was found out of the batches of one request, to append them by."""

    def __init__(self, context: BrokerContext, request: Request) -> None:
        self._context = context
        self._request = request
        self._found: dict[int, tuple[PartitionLog, memoryview | AppendResult]] = {}
        """By the identity of a batch's entry in the message, in the order of the request."""
        self._left: Iterator[tuple[PartitionProduceData, PartitionLog]] = iter(())
        self._changed_bytes = 0

    def is_done_now(self, message: ProduceRequest) -> bool:
        """Examine what a first turn allows; whether that was all."""
        self._left = self._batches(message)
        return self._examine_some(perf_counter_ns() + _FIRST_TURN_NS)

    def go_on_later(self, message: ProduceRequest, go_on: GoOn) -> None:
        """Examine the rest in turns of the loop, and then go on; the request is parked meanwhile.

        It has its frame for itself from now on, since the bytes of the other are used again. What
        was examined is not examined again: it may be changed already, as its topic wants it.
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
        """Append a batch as it was examined."""
        log, found = self._found.get(id(entry), (None, None))
        if found is None or log is not partition.log:
            return AppendResult(ErrorCode.NOT_LEADER_OR_FOLLOWER)  # it has become so just now
        if isinstance(found, AppendResult):
            return found
        return log.append_as_leader(
            found, partition.leader_epoch, now_ms, Origin.CLIENT, guard, is_examined=True
        )

    def _batches(
        self, message: ProduceRequest
    ) -> Iterator[tuple[PartitionProduceData, PartitionLog]]:
        for data in message.topic_data:
            topic, _ = find_topic(self._context, data, self._request.version)
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
        message=f"the batches of this request take more than {_CHANGED_BYTES_MAX} bytes when they "
        "are compressed as their topics want it",
    )
