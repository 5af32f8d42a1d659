"""Fetch requests with many thousand partitions, which are read in several turns of the loop.

Such a request cannot be cut, because its limits (MaxBytes, MinBytes) apply to all partitions
together. If there are not enough bytes, all partitions are read again some time after one of them
has changed, and for the last time after MaxWaitMs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, Protocol

from fencepost_protocol.generated.fetch import (
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)

from fencepost_broker.apis.fetch.fetching import BY_ID_FROM, Fetching, is_final, replica_of
from fencepost_broker.apis.fetch.sessions import Opened
from fencepost_broker.apis.request import Request
from fencepost_broker.replication.partition import Partition
from fencepost_broker.replication.replicated_partitions import Replica

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext
    from fencepost_broker.ports import Timer

TURN_NS: Final = 5_000_000
AGAIN_MS: Final = 100
"""The pause between two readings of all partitions, since each append changes one."""
_AT_ONCE: Final = 100


class Owner(Protocol):
    """Sends the response to a large request."""

    def busy(self) -> None:
        """Note that many objects are made from now on."""

    def idle(self) -> None:
        """Note that the request waits."""

    def answer_with(self, make: Callable[[], FetchResponse]) -> None:
        """Answer with the response that ``make`` returns; it is called in a thread."""


def fetch_large(
    context: BrokerContext, request: Request, message: FetchRequest, owner: Owner
) -> None:
    """Carry out a decoded Fetch; the response goes to the owner."""
    replica = replica_of(message)
    if replica is not None and not context.access.allows_cluster_action(request.peer):
        from fencepost_broker.apis.fetch.followers import refuse_follower, tell_refused

        tell_refused(context, request)
        owner.answer_with(lambda: refuse_follower(message))
        return
    by_id = request.version >= BY_ID_FROM
    opened = context.fetch_sessions.open(context.clock.now_ms(), message, by_id=by_id)
    if opened.error:
        refusal = FetchResponse(error_code=opened.error)
        owner.answer_with(lambda: refusal)
        return
    fetching = LargeFetching(context, request, message, opened, replica, owner)
    fetching.start(message.max_wait_ms)


class LargeFetching(Fetching):
    """A large Fetch, until it is answered."""

    __slots__ = (
        "_again", "_answers", "_at", "_failed", "_got", "_has_moved", "_is_last", "_is_over",
        "_is_reading", "_loop", "_owner", "_size", "_watched",
    )  # fmt: skip

    def __init__(
        self, context: BrokerContext, request: Request, message: FetchRequest, opened: Opened,
        replica: Replica | None, owner: Owner,
    ) -> None:  # fmt: skip
        super().__init__(context, request, message, opened._replace(asked=()), replica)
        self.opened = opened
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._again: Timer | None = None
        self._watched: dict[Partition, None] = {}
        self._is_last = self._is_over = self._is_reading = False
        self._forget()

    def _forget(self) -> None:
        """Reset the state for reading all partitions again."""
        self._at = self._size = 0
        self._failed = self._has_moved = False
        self._answers: list[tuple[FetchTopic, PartitionData]] = []
        self._got: list[tuple[Partition, int]] = []

    def start(self, max_wait_ms: int) -> None:
        """Read all partitions, and wait if there are not enough bytes."""
        self._is_last = max_wait_ms <= 0
        if not self._is_last:
            self.timer = self.context.clock.call_later(max_wait_ms, self.time_is_over)
        self.request.peer.on_loss(self._lost)
        self._read_all()

    def _read_all(self) -> None:
        self._again = None
        self._is_reading = True
        self._forget()
        self._owner.busy()
        self._go_on()

    def _go_on(self) -> None:
        if self._is_over:
            return
        until_ns = perf_counter_ns() + TURN_NS
        try:
            while self._at < len(self.opened.asked):
                self._read_some()
                if perf_counter_ns() >= until_ns:
                    self._loop.call_soon(self._go_on)
                    return
        except Exception as error:  # noqa: BLE001 (as where any request is carried out)
            self.failed(error)
            return
        self._is_reading = False
        if self._failed or self._size >= self.min_bytes or self._is_last:
            self._finish()
            return
        has_moved = self._has_moved
        self._forget()
        self._owner.idle()
        if has_moved:
            self._go_through_again()

    def _read_some(self) -> None:
        for topic, entry in self.opened.asked[self._at : self._at + _AT_ONCE]:
            wanted = self._look_up_permitted(topic, entry)
            data = self._read(wanted, self.max_bytes - self._size, first=self._size == 0)
            self._failed = self._failed or is_final(data)
            self._answers.append((topic, data))
            partition = wanted.partition
            if partition is None:
                continue
            if data.error_code:
                partition.reads_refused += 1
            if data.records:
                self._size += len(data.records)
                self._got.append((partition, len(data.records)))
            if not self._is_last and partition not in self._watched:
                self._watched[partition] = None
                partition.waiters.append(self)
        self._at += _AT_ONCE

    def _finish(self) -> None:
        self._lost()
        for partition, size in self._got:
            partition.bytes_out += size
            partition.reads += 1
        if self.opened.session is None:
            self._owner.answer_with(self._make)
            return
        response = self._respond(self._answers)  # changes the session, so not in the thread
        self._owner.answer_with(lambda: response)

    def _make(self) -> FetchResponse:
        response = self._respond(self._answers)
        self._answers.clear()
        return response

    # -- waiting -------------------------------------------------------------------------------

    def partition_moved(self, partition: Partition) -> None:
        """Schedule another reading, because a partition has changed; the partition calls this."""
        del partition
        self._go_through_again()

    def _go_through_again(self) -> None:
        if self._is_reading:
            self._has_moved = True
        elif self._again is None and not self._is_over:
            self._again = self.context.clock.call_later(AGAIN_MS, self._read_all)

    def time_is_over(self) -> None:
        """Read for the last time and answer: the time is over, or the broker stops."""
        self._leave()
        self._is_last = True
        if not (self._is_reading or self._is_over):
            self._read_all()

    def failed(self, error: Exception) -> None:
        """Close the connection: reading raised an exception."""
        self._lost()
        self.request.peer.refuse_parked(self.request, error)

    def _lost(self) -> None:
        self._is_over = True
        self._leave()

    def _leave(self) -> None:
        for timer in (self.timer, self._again):
            if timer is not None:
                timer.cancel()
        self.timer = self._again = None
        for partition in self._watched:
            partition.waiters.remove(self)
        self._watched.clear()
