"""The marker sender: it writes markers, again and again, until each partition has its own.

Markers that become due in one turn of the event loop are sent together, after the answers of that
turn: a producer gets the outcome of its transaction before any marker is written. Delays are wire
time. Tests can hold markers back.

In a cluster, an end is divided into one part for each broker that leads some of its partitions.
This broker's part is written directly; the others are sent WriteTxnMarkers. Each of them has one
request in flight. Markers that become due in the meantime are assigned to leaders again after it,
because leaders may have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, Final, Protocol

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

from fencepost_broker.coordinator.runtime.shard import AppendRefusedError
from fencepost_broker.coordinator.transaction.commands import MarkersWritten, SendMarkers
from fencepost_broker.coordinator.transaction.markers import may_pass
from fencepost_broker.ports import ReadyList

_BACK_OFF_MS: Final = 20
_BACK_OFF_MAX_MS: Final = 1000
_DOUBLINGS_MAX: Final = 6


class Clock(Protocol):
    """Wire time."""

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Any:
        """Call a function after a delay."""


Outcomes = Sequence[tuple[str, int, ErrorCode]]
"""By topic and partition: whether the marker is there."""


class Here(Protocol):
    """The partitions that this broker leads."""

    def write(
        self,
        send: SendMarkers,
        partitions: Iterable[tuple[str, int]],
        then: Callable[[Outcomes], None],
    ) -> None:
        """Write markers of an end; ``then`` is called with their outcomes, at once or later."""


class Others(Protocol):
    """The other brokers."""

    @property
    def are_there(self) -> bool:
        """Whether the cluster has other brokers."""

    def leader_of(self, topic: str, number: int) -> int | None:
        """Return the leader of a partition; ``None`` if it is this broker or there is none."""

    def ask(self, broker_id: int, message: Any, then: Callable[[Any], None]) -> None:
        """Send a request; ``then`` is called later with the response, or with ``None``."""


class Owner(Protocol):
    """The shard of the coordinator that sends markers."""

    is_loaded: bool
    machine: Any

    def submit(self, command: Any) -> Any:
        """Carry out a command."""


class Hold:
    """A hold on markers; it matches those that agree in every criterion that is not ``None``."""

    def __init__(
        self,
        sender: MarkerSender,
        number: int,
        transactional_id: str | None,
        topic: str | None,
        partition: int | None,
    ) -> None:
        self._sender = sender
        self.number = number
        """Counts the holds of this broker."""
        self.wanted = (transactional_id, topic, partition)
        """Whose markers it holds back; ``None`` for any."""

    def covers(self, transactional_id: str, topic: str, partition: int) -> bool:
        """Whether this marker is held back."""
        given = (transactional_id, topic, partition)
        return all(want in (None, is_) for want, is_ in zip(self.wanted, given, strict=True))

    def release(self) -> None:
        """End the hold and send the markers."""
        self._sender.release(self)


class _Sending:
    """One end of a transaction, or the part of it for one broker, until its markers are written."""

    __slots__ = ("attempts", "owner", "part", "send", "untold")

    def __init__(
        self, owner: Owner, send: SendMarkers, part: Sequence[tuple[str, int]] | None = None
    ) -> None:
        self.owner = owner
        self.send = send
        self.part = part
        """The partitions of this part; ``None`` means all of them."""
        self.attempts = 0
        self.untold: MarkersWritten | None = None
        """Outcomes that the owner could not log; the retry repeats them and sends no marker."""

    @property
    def is_wanted(self) -> bool:
        """Whether these markers still have to be sent."""
        return self.owner.is_loaded and self.owner.machine.is_sending(self.send)

    def left(self) -> Collection[tuple[str, int]]:
        """Return the partitions without a marker."""
        pending = self.send.pending
        if self.part is None:
            return pending
        return [where for where in self.part if where in pending]


class MarkerSender:
    """Sends the markers of all coordinators in this broker."""

    def __init__(self, clock: Clock, ready: ReadyList, here: Here, others: Others) -> None:
        self._clock = clock
        self._ready = ready
        self._here = here
        self._others = others
        self._behind: dict[int, list[_Sending]] = {}
        """By broker with a request in flight: the ends that wait for it."""
        self._queue: list[_Sending] = []
        self._held: list[_Sending] = []
        self._holds: list[Hold] = []
        self._holds_begun = 0
        self._backing_off: set[_Sending] = set()
        self._is_scheduled = False
        self._is_stopped = False

    def send(self, owner: Owner, send: SendMarkers) -> None:
        """Send the markers of one end."""
        self._enqueue(_Sending(owner, send))

    def stop(self) -> None:
        """Stop sending; after a restart the outstanding ends are found in the log."""
        self._is_stopped = True

    # -- for tests ------------------------------------------------------------------------------

    def hold(
        self,
        transactional_id: str | None = None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> Hold:
        """Hold back the markers of a transaction, a topic or a partition, or all markers."""
        self._holds_begun += 1
        hold = Hold(self, self._holds_begun, transactional_id, topic, partition)
        self._holds.append(hold)
        return hold

    @property
    def holds(self) -> Sequence[Hold]:
        """The holds in force, in the order of their numbers."""
        return tuple(self._holds)

    def release(self, hold: Hold) -> None:
        """End a hold and send its markers."""
        if hold in self._holds:
            self._holds.remove(hold)
        held, self._held = self._held, []
        for sending in held:
            self._enqueue(sending)

    def is_held(self, transactional_id: str, topic: str, partition: int) -> bool:
        """Whether this marker is held back."""
        return any(hold.covers(transactional_id, topic, partition) for hold in self._holds)

    def repeats_of(self, transactional_id: str) -> int:
        """Return how often markers of this id were sent again."""
        behind = (each for queue in self._behind.values() for each in queue)
        under_way = (*self._backing_off, *self._queue, *self._held, *behind)
        attempts = (
            each.attempts for each in under_way if each.send.transactional_id == transactional_id
        )
        return max(attempts, default=0)

    # -- sending --------------------------------------------------------------------------------

    def _enqueue(self, sending: _Sending) -> None:
        self._queue.append(sending)
        if not self._is_scheduled:
            self._is_scheduled = True
            self._ready.add(self._flush)

    def _flush(self) -> None:
        self._is_scheduled = False
        if self._is_stopped:
            return
        queue, self._queue = self._queue, []
        if self._others.are_there:
            queue = self._hand_out(queue)
        for sending in queue:
            if not sending.is_wanted:
                continue
            left = self._free(sending) if self._holds else sending.left()
            if left:
                self._here.write(sending.send, left, partial(self._told, sending))
            else:
                self._held.append(sending)

    def _free(self, sending: _Sending) -> Collection[tuple[str, int]]:
        """Return the partitions without a marker, but for those that are held back."""
        name = sending.send.transactional_id
        return [where for where in sending.left() if not self.is_held(name, *where)]

    def _hand_out(self, queue: list[_Sending]) -> list[_Sending]:
        """Send other brokers their parts; return the parts for this broker."""
        by_leader: dict[int | None, list[_Sending]] = {None: []}
        for sending in queue:
            if sending.is_wanted:
                for leader, part in self._by_leader(sending).items():
                    by_leader.setdefault(leader, []).append(part)
        here = by_leader.pop(None)
        for leader, parts in by_leader.items():
            assert leader is not None
            behind = self._behind.get(leader)
            if behind is None:
                self._send_to(leader, parts)
            else:
                behind += parts
        return here

    def _by_leader(self, sending: _Sending) -> dict[int | None, _Sending]:
        """Divide an end by leader; this broker (``None``) gets the partitions without a leader."""
        wheres: dict[int | None, list[tuple[str, int]]] = {}
        for where in sending.left():
            wheres.setdefault(self._others.leader_of(*where), []).append(where)
        if len(wheres) == 1:
            return dict.fromkeys(wheres, sending)
        parts = {}
        for leader, part in wheres.items():
            parts[leader] = _Sending(sending.owner, sending.send, part)
            parts[leader].attempts = sending.attempts
        return parts

    def _send_to(self, broker_id: int, parts: list[_Sending]) -> None:
        request, sent = self._request(parts)
        if not sent:
            return
        self._behind[broker_id] = []

        def answered(answer: WriteTxnMarkersResponse | None) -> None:
            for sending in self._behind.pop(broker_id):
                self._enqueue(sending)
            if answer is None:
                self._not_answered(sent.values())
            else:
                self._answered(sent, answer)

        self._others.ask(broker_id, request, answered)

    def _request(self, queue: list[_Sending]) -> tuple[WriteTxnMarkersRequest, dict[int, _Sending]]:
        """Return one request for several ends, and the ends in it by producer id."""
        sent: dict[int, _Sending] = {}
        markers = []
        for sending in queue:
            send = sending.send
            if not sending.is_wanted:
                continue
            if send.producer_id in sent:
                self._enqueue(sending)  # the response identifies markers by producer id
                continue
            topics: dict[str, list[int]] = {}
            for topic, partition in self._free(sending):
                topics.setdefault(topic, []).append(partition)
            if not topics:
                self._held.append(sending)
                continue
            sent[send.producer_id] = sending
            markers.append(
                WritableTxnMarker(
                    send.producer_id,
                    send.producer_epoch,
                    send.is_commit,
                    [WritableTxnMarkerTopic(topic, numbers) for topic, numbers in topics.items()],
                    send.coordinator_epoch,
                    send.transaction_version,
                )
            )
        return WriteTxnMarkersRequest(markers), sent

    def _answered(self, sent: dict[int, _Sending], answer: WriteTxnMarkersResponse) -> None:
        for result in answer.markers:
            sending = sent.pop(result.producer_id, None)
            if sending is not None:
                outcomes = [
                    (topic.name, partition.partition_index, ErrorCode(partition.error_code))
                    for topic in result.topics
                    for partition in topic.partitions
                ]
                self._told(sending, outcomes)
        for sending in sent.values():
            self._go_on(sending, failed=True)  # the response does not mention it

    def _told(self, sending: _Sending, outcomes: Outcomes) -> None:
        if not sending.owner.is_loaded:
            return
        failed = False
        for _, _, error in outcomes:
            if error:
                failed = failed or may_pass(error)
        written = MarkersWritten(sending.send, outcomes)
        try:
            is_complete = sending.owner.submit(written)
        except AppendRefusedError:
            # This was the last marker: only CompleteX is logged, other outcomes are not.
            sending.untold = written
            is_complete, failed = False, True
        if not is_complete:
            self._go_on(sending, failed=failed)

    def _not_answered(self, lost: Iterable[_Sending]) -> None:
        """Handle a request without an answer: its markers may or may not be written."""
        for sending in lost:
            if sending.is_wanted:
                unknown = [(*where, ErrorCode.NETWORK_EXCEPTION) for where in sending.left()]
                sending.owner.submit(MarkersWritten(sending.send, unknown))
            self._go_on(sending, failed=True)

    def _go_on(self, sending: _Sending, *, failed: bool) -> None:
        if not sending.is_wanted:
            return
        if not failed:
            # The remaining partitions are held back, or were when the request was sent.
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
        # If a marker is needed after all (its topic was created again), it is sent.
        sending.untold = None
        self._go_on(sending, failed=False)
