"""Sends markers: WriteTxnMarkers to the leaders, again and again until each partition has its own.

What becomes due in one turn of the loop goes out together, after the answers of that turn: a
producer has the outcome of its transaction before any marker is written. Waits are wire time. Tests
can hold markers back, for as long as they like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

from fencepost_broker.coordination.shard import AppendRefusedError
from fencepost_broker.coordinators.transactions.commands import MarkersWritten, SendMarkers
from fencepost_broker.coordinators.transactions.markers import may_pass

_VERSION: Final = 2
_BACK_OFF_MS: Final = 20
_BACK_OFF_MAX_MS: Final = 1000
_DOUBLINGS_MAX: Final = 6


class Clock(Protocol):
    """Wire time."""

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Any:
        """Make a call later."""


class Dispatch(Protocol):
    """Where requests go."""

    def ask(self, message: Any, version: int, then: Callable[[Any], None]) -> None:
        """Send a request; ``then`` gets the response."""


class Owner(Protocol):
    """The coordinator that wants the markers."""

    is_loaded: bool
    machine: Any

    def submit(self, command: Any) -> Any:
        """Carry out a command."""


class Hold:
    """Markers that are held back: those for which all that is given agrees."""

    def __init__(
        self,
        sender: MarkerSender,
        transactional_id: str | None,
        topic: str | None,
        partition: int | None,
    ) -> None:
        self._sender = sender
        self._wanted = (transactional_id, topic, partition)

    def covers(self, transactional_id: str, topic: str, partition: int) -> bool:
        """Whether this marker is held back."""
        given = (transactional_id, topic, partition)
        return all(want in (None, is_) for want, is_ in zip(self._wanted, given, strict=True))

    def release(self) -> None:
        """Let them go."""
        self._sender.release(self)


class _Sending:
    """One end of a transaction, until all its markers are there."""

    __slots__ = ("attempts", "owner", "send", "untold")

    def __init__(self, owner: Owner, send: SendMarkers) -> None:
        self.owner = owner
        self.send = send
        self.attempts = 0
        self.untold: MarkersWritten | None = None
        """All that is there, where the owner could not write it down: no marker goes out again."""

    @property
    def is_wanted(self) -> bool:
        """Whether somebody still waits for these markers."""
        return self.owner.is_loaded and self.owner.machine.is_sending(self.send)


class MarkerSender:
    """All markers that this broker's coordinators have on their way."""

    def __init__(self, clock: Clock, dispatch: Dispatch) -> None:
        self._clock = clock
        self._dispatch = dispatch
        self._queue: list[_Sending] = []
        self._held: list[_Sending] = []
        self._holds: list[Hold] = []
        self._backing_off: set[_Sending] = set()
        self._is_scheduled = False
        self._is_stopped = False

    def send(self, owner: Owner, send: SendMarkers) -> None:
        """Take over the markers of one end."""
        self._enqueue(_Sending(owner, send))

    def stop(self) -> None:
        """Send nothing more; the next start finds in the log what is outstanding."""
        self._is_stopped = True

    # -- for tests ------------------------------------------------------------------------------

    def hold(
        self,
        transactional_id: str | None = None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> Hold:
        """Hold back the markers of a transaction, to a topic, to a partition, or all."""
        hold = Hold(self, transactional_id, topic, partition)
        self._holds.append(hold)
        return hold

    def release(self, hold: Hold) -> None:
        """Let markers go that were held back."""
        if hold in self._holds:
            self._holds.remove(hold)
        held, self._held = self._held, []
        for sending in held:
            self._enqueue(sending)

    def is_held(self, transactional_id: str, topic: str, partition: int) -> bool:
        """Whether this marker is held back."""
        return any(hold.covers(transactional_id, topic, partition) for hold in self._holds)

    def repeats_of(self, transactional_id: str) -> int:
        """How often markers of this id were sent again."""
        under_way = (*self._backing_off, *self._queue, *self._held)
        attempts = (
            each.attempts for each in under_way if each.send.transactional_id == transactional_id
        )
        return max(attempts, default=0)

    # -- sending --------------------------------------------------------------------------------

    def _enqueue(self, sending: _Sending) -> None:
        self._queue.append(sending)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._clock.call_later(0, self._flush)

    def _flush(self) -> None:
        self._is_scheduled = False
        if self._is_stopped:
            return
        queue, self._queue = self._queue, []
        sent: dict[int, _Sending] = {}
        markers = []
        for sending in queue:
            if not sending.is_wanted:
                continue
            marker = self._marker(sending)
            if marker is None:
                self._held.append(sending)
            elif marker.producer_id in sent:
                self._enqueue(sending)  # a response tells markers apart by their producer id
            else:
                sent[marker.producer_id] = sending
                markers.append(marker)
        if markers:
            request = WriteTxnMarkersRequest(markers)
            self._dispatch.ask(request, _VERSION, lambda answer: self._answered(sent, answer))

    def _marker(self, sending: _Sending) -> WritableTxnMarker | None:
        """What of an end may go out now; ``None`` if all of it is held back."""
        send = sending.send
        topics: dict[str, list[int]] = {}
        for topic, partition in send.pending:
            if not self._holds or not self.is_held(send.transactional_id, topic, partition):
                topics.setdefault(topic, []).append(partition)
        if not topics:
            return None
        return WritableTxnMarker(
            send.producer_id,
            send.producer_epoch,
            send.is_commit,
            [WritableTxnMarkerTopic(topic, numbers) for topic, numbers in topics.items()],
            send.coordinator_epoch,
            send.transaction_version,
        )

    def _answered(self, sent: dict[int, _Sending], answer: WriteTxnMarkersResponse) -> None:
        for result in answer.markers:
            sending = sent.pop(result.producer_id, None)
            if sending is None or not sending.is_wanted:
                continue
            outcomes = []
            failed = False
            for topic in result.topics:
                for partition in topic.partitions:
                    error = ErrorCode.NONE
                    if partition.error_code:
                        error = ErrorCode(partition.error_code)
                        failed = failed or may_pass(error)
                    outcomes.append((topic.name, partition.partition_index, error))
            written = MarkersWritten(sending.send, outcomes)
            try:
                sending.owner.submit(written)
            except AppendRefusedError:
                # Behind the last marker: only the end of the transaction is written down.
                sending.untold = written
                failed = True
            self._go_on(sending, failed=failed)
        for sending in sent.values():
            self._go_on(sending, failed=True)  # it was not answered for

    def _go_on(self, sending: _Sending, *, failed: bool) -> None:
        if not sending.is_wanted:
            return
        if not failed:
            # What is left is held back, or was a moment ago.
            self._enqueue(sending)
            return
        delay_ms = min(_BACK_OFF_MS << min(sending.attempts, _DOUBLINGS_MAX), _BACK_OFF_MAX_MS)
        sending.attempts += 1
        self._backing_off.add(sending)
        self._clock.call_later(delay_ms, lambda: self._try_again(sending))

    def _try_again(self, sending: _Sending) -> None:
        self._backing_off.discard(sending)
        if sending.untold is not None and not self._is_stopped and sending.is_wanted:
            try:
                sending.owner.submit(sending.untold)
            except AppendRefusedError:
                self._go_on(sending, failed=True)
                return
        # Should a marker be wanted again after all (its topic was made anew), it goes out.
        sending.untold = None
        self._go_on(sending, failed=False)
