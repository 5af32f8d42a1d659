"""Produce requests with acks=all that wait until the in-sync replicas have their batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.request import Request
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import AppendResult

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.ports import Timer


Unreplicated = tuple[Partition, AppendResult, int]
"""A batch that may not be replicated yet, and the leader epoch in which it was appended."""


def outcome(partition: Partition, result: AppendResult, leader_epoch: int) -> ErrorCode | None:
    """Return NONE if a batch is replicated, its error if it failed, ``None`` if it is pending."""
    if not partition.leads or partition.leader_epoch != leader_epoch:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if partition.log.high_watermark <= result.last_offset:
        return None
    replication = partition.replication
    if replication is not None and replication.has_too_few:
        return ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    return ErrorCode.NONE


def settle(batches: Iterable[Unreplicated]) -> list[Unreplicated]:
    """Set the errors of the batches whose outcome is known, and return the others."""
    left = []
    for batch in batches:
        error = outcome(*batch)
        if error is None:
            left.append(batch)
        else:
            batch[1].error = error
    return left


class DelayedProduce:
    """Waits for partitions' high watermarks to pass the request's batches, or for the timeout."""

    __slots__ = ("_left", "_then", "_timer", "request")

    def __init__(
        self,
        request: Request,
        unreplicated: Sequence[Unreplicated],
        then: Callable[[], None],
    ) -> None:
        self.request = request
        self._left = list(unreplicated)
        self._then = then
        self._timer: Timer | None = None

    def begin(self, context: BrokerContext, timeout_ms: int) -> None:
        """Wait for the batches whose outcome is not known; there is at least one."""
        for partition in self._partitions():
            partition.waiters.append(self)
        self._timer = context.clock.call_later(max(timeout_ms, 0), self.time_is_over)
        self.request.peer.on_loss(self._leave)

    def partition_moved(self, partition: Partition) -> None:
        """Check the partition, whose high watermark may have moved; the partition calls this."""
        del partition
        watched = self._partitions()
        self._left = settle(self._left)
        for partition in watched - self._partitions():
            partition.waiters.remove(self)
        if not self._left:
            self._finish()

    def time_is_over(self) -> None:
        """Fail the pending batches: on timeout, when the broker stops, or after a leader change."""
        for _, result, _ in settle(self._left):
            result.error = ErrorCode.REQUEST_TIMED_OUT
        self._finish()

    def failed(self, error: Exception) -> None:
        """Close the connection: ``partition_moved`` or ``time_is_over`` raised an exception."""
        self._leave()
        self.request.peer.refuse_parked(self.request, error)

    def _partitions(self) -> set[Partition]:
        return {partition for partition, _, _ in self._left}

    def _finish(self) -> None:
        self._leave()
        self._then()

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for partition in self._partitions():
            partition.waiters.remove(self)
        self._left = []
