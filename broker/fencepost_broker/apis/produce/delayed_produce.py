"""A Produce with acks all that waits until those in sync have what it appended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.request import Request
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import AppendResult

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.ports import Timer


class DelayedProduce:
    """Waits in partitions for their high watermarks; what is not there in time is told so."""

    __slots__ = ("_left", "_then", "_timer", "request")

    def __init__(
        self,
        request: Request,
        appended: Sequence[tuple[Partition, AppendResult]],
        then: Callable[[], None],
    ) -> None:
        self.request = request
        self._left = [(each, result, each.leader_epoch) for each, result in appended]
        self._then = then
        self._timer: Timer | None = None

    def begin(self, context: BrokerContext, timeout_ms: int) -> None:
        """Wait, for at least one that ``is_decided`` was asked about in vain."""
        for partition in self._partitions():
            partition.waiters.append(self)
        self._timer = context.clock.call_later(max(timeout_ms, 0), self.time_is_over)
        self.request.peer.on_loss(self._leave)

    def partition_moved(self, partition: Partition) -> None:
        """Called by a partition."""
        del partition
        if self._timer is None:
            return  # the answer is on its way
        watched = self._partitions()
        self._left = [each for each in self._left if not is_decided(*each)]
        for partition in watched - self._partitions():
            partition.waiters.remove(self)
        if not self._left:
            self._finish()

    def time_is_over(self) -> None:
        """Called by the timer, when the broker stops, and when a partition gets another leader."""
        for partition, result, leader_epoch in self._left:
            if not is_decided(partition, result, leader_epoch):
                result.error = ErrorCode.REQUEST_TIMED_OUT
        self._finish()

    def failed(self, error: Exception) -> None:
        """Called by a partition, where one of both raised something."""
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


def is_decided(partition: Partition, result: AppendResult, leader_epoch: int) -> bool:
    """Whether it is known what became of a batch; an error is put into its result."""
    if not partition.leads or partition.leader_epoch != leader_epoch:
        result.error = ErrorCode.NOT_LEADER_OR_FOLLOWER
        return True
    if partition.log.high_watermark <= result.last_offset:
        return False
    replication = partition.replication
    if replication is not None and replication.has_too_few:
        result.error = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
    return True
