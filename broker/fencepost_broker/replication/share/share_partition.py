"""The leader's state of one share partition: which records a share group has in flight (KIP-932).

A record becomes available, is acquired by a member for the time of a lock, and is acknowledged
(accepted, released, rejected), or its lock ends. It is archived when it is rejected, when it was
delivered as often as the limit allows, and when no reader may see it. What a member acknowledges
takes effect once the share coordinator has written it. What time or the end of a session does takes
effect at once and is written later: if the leader fails before that, a record is delivered again.

One write is under way at a time. It holds the state that all changed records have by then, and the
start offset that they give.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.replication.share.in_flight import FINAL, InFlight, InFlightRanges, State

_MANY_DELIVERIES_MIN: Final = 2


class Acknowledge(IntEnum):
    """What a member says about a record."""

    GAP = 0
    """There is no record with this offset."""
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


class AcquireMode(IntEnum):
    """How strictly a fetch keeps to its number of records (KIP-1206)."""

    BATCH_OPTIMIZED = 0
    """Whole batches, until they have this number of records or more."""
    RECORD_LIMIT = 1
    """At most this number of records."""


_OUTCOMES: Final = {
    Acknowledge.GAP: State.ARCHIVED,
    Acknowledge.ACCEPT: State.ACKNOWLEDGED,
    Acknowledge.RELEASE: State.AVAILABLE,
    Acknowledge.REJECT: State.ARCHIVED,
}


@dataclass(slots=True)
class ShareLimits:
    """The settings of a group that a share partition needs."""

    lock_ms: int = 30_000
    delivery_count: int = 5
    """How often a record is delivered at most."""
    records_in_flight: int = 2_000
    """How many offsets may be in flight; the last batch that is acquired may exceed it."""


class FetchedBatch(NamedTuple):
    """A record batch that was read from the log."""

    first: int
    last: int
    is_hidden: bool = False
    """Whether no consumer may see its records: a marker, or those of an aborted transaction."""
    position: int = 0
    """Where it begins in the bytes that were read."""
    end: int = 0


class AcquireLimits(NamedTuple):
    """What a fetch asks for."""

    max_records: int
    mode: AcquireMode = AcquireMode.BATCH_OPTIMIZED
    batch_size: int = 1 << 31
    """From how many records on a new range is begun."""


class Acquired(NamedTuple):
    """Records that a member has now, and how often they have been delivered."""

    first: int
    last: int
    delivery_count: int


class Acknowledgement(NamedTuple):
    """What a member says about a range: one type for all of it, or one for each offset."""

    first: int
    last: int
    types: Sequence[int]


class StateBatch(NamedTuple):
    """The written state of a range."""

    first: int
    last: int
    state: int
    delivery_count: int


class StateWrite(NamedTuple):
    """What has to be written."""

    start_offset: int
    delivery_complete_count: int
    """How many records after the start offset are not delivered again (KIP-1226)."""
    batches: list[StateBatch]


def check(acknowledgements: Iterable[Acknowledgement]) -> ErrorCode:
    """Return the error for acknowledgements that no state of a partition could make right."""
    end = -1
    for first, last, types in acknowledgements:
        if not end < first <= last or not types:
            return ErrorCode.INVALID_REQUEST
        if len(types) not in (1, last - first + 1):
            return ErrorCode.INVALID_REQUEST
        if not all(Acknowledge.GAP <= each <= Acknowledge.RENEW for each in types):
            return ErrorCode.INVALID_REQUEST
        end = last
    return ErrorCode.NONE


class SharePartition:
    """The records in flight of one partition and one share group."""

    __slots__ = ("_deadline_ms", "_is_writing", "_written_start", "in_flight", "limits")

    def __init__(
        self,
        start_offset: int,
        batches: Iterable[StateBatch] = (),
        limits: ShareLimits | None = None,
    ) -> None:
        """Begin with the written state; offsets between its batches were never delivered."""
        self.limits = limits or ShareLimits()
        self.in_flight = InFlightRanges(start_offset)
        self._deadline_ms: int | None = None
        """No lock ends before."""
        self._is_writing = False
        for first, last, state, count in sorted(batches):
            if last < self.in_flight.end_offset:
                continue
            first = max(first, self.in_flight.end_offset)
            if first > self.in_flight.end_offset:
                hole = InFlight(self.in_flight.end_offset, first - 1, State.AVAILABLE)
                self.in_flight.append(hole)
            # An acquired record is available: its lock ended with the leader that knew of it.
            known = State(state) if state in FINAL else State.AVAILABLE
            size = last - first + 1
            self.in_flight.append(InFlight(first, last, known, count, batch_size=size))
        self.in_flight.tidy()
        self._written_start = self.start_offset

    @property
    def start_offset(self) -> int:
        """The first offset that may be delivered again."""
        return self.in_flight.start_offset

    @property
    def end_offset(self) -> int:
        """The first offset that was never in flight."""
        return self.in_flight.end_offset

    @property
    def is_writing(self) -> bool:
        """Whether a write is under way."""
        return self._is_writing

    # -- acquiring -----------------------------------------------------------------------------

    def next_fetch_offset(self) -> int | None:
        """Return the first offset that can be acquired; ``None`` if too many are in flight."""
        for each in self.in_flight:
            if each.is_available:
                return each.first
        return None if self._room() <= 0 else self.end_offset

    def acquire(
        self, member: str, now_ms: int, offset: int, fetched: Iterable[FetchedBatch],
        wanted: AcquireLimits,
    ) -> list[Acquired]:  # fmt: skip
        """Give a member the available records among those that were read from an offset on.

        An offset that was passed over while reading has no record any longer.
        """
        taken: list[InFlight] = []
        left = wanted.max_records
        for batch in fetched:
            first = max(batch.first, offset)
            if batch.last < first or left <= 0:
                continue
            if self._is_full(first):
                break
            if first > offset:
                self._archive(offset, first - 1)
            if batch.is_hidden:
                self._archive(first, batch.last)
            else:
                left = self._acquire(member, now_ms, first, batch.last, wanted, left, taken)
            offset = batch.last + 1
        for each in taken:
            if each.delivery_count == 1:
                each.batch_size = each.size
        acquired = [Acquired(each.first, each.last, each.delivery_count) for each in taken]
        self.in_flight.tidy()
        return acquired

    def _is_full(self, first: int) -> bool:
        return first >= self.end_offset and self._room() <= 0

    def _room(self) -> int:
        return self.limits.records_in_flight - (self.end_offset - self.start_offset)

    def _acquire(
        self, member: str, now_ms: int, first: int, last: int, wanted: AcquireLimits, left: int,
        taken: list[InFlight],
    ) -> int:  # fmt: skip
        """Acquire a batch, and return how many records are still wanted."""
        is_strict = wanted.mode is AcquireMode.RECORD_LIMIT
        for each in self.in_flight.between(first, last):
            if not each.is_available:
                continue
            if each.delivery_count >= self.limits.delivery_count:
                self._archive(max(each.first, first), min(each.last, last))  # the limit was lowered
                continue
            size = self._careful_size(each)
            if size is not None and taken:
                return (
                    0  # other records must not share the fate of one that no consumer can process
                )
            begin, end = max(each.first, first), min(each.last, last)
            if size is not None:
                end = min(end, begin + size - 1)
            if is_strict:
                end = min(end, begin + left - 1)
            self._lock(self.in_flight.cut(begin, end), member, now_ms, taken, wanted.batch_size)
            left -= end - begin + 1
            if size is not None or (is_strict and left <= 0):
                return 0
        begin = max(first, self.end_offset)
        if begin <= last and self._room() > 0:
            if is_strict:
                last = min(last, begin + min(left, self._room()) - 1)
            added = InFlight(begin, last, State.AVAILABLE)
            self.in_flight.append(added)
            self._lock([added], member, now_ms, taken, wanted.batch_size)
            left -= last - begin + 1
        return left

    def _careful_size(self, found: InFlight) -> int | None:
        """Return how many records are delivered of a range that has failed often.

        From half of the limit on, each delivery is of half as many of the records that came
        together, and the last one is of a record alone, so that a record that no consumer can
        process does not take others with it.
        """
        limit = self.limits.delivery_count
        many = max(_MANY_DELIVERIES_MIN, (limit + 1) // 2)
        if found.delivery_count < many:
            return None
        if found.delivery_count == limit - 1:
            return 1
        return max(1, found.batch_size >> (found.delivery_count - many + 1))

    def _lock(
        self, ranges: list[InFlight], member: str, now_ms: int, taken: list[InFlight],
        batch_size: int,
    ) -> None:  # fmt: skip
        deadline_ms = now_ms + self.limits.lock_ms
        for each in ranges:
            each.state = State.ACQUIRED
            each.delivery_count += 1
            each.member = member
            each.deadline_ms = deadline_ms
            before = taken[-1] if taken else None
            if (
                before is not None
                and before.last + 1 == each.first
                and before.size < batch_size
                and before.delivery_count == each.delivery_count
                and (before.is_unwritten, before.is_in_write)
                == (each.is_unwritten, each.is_in_write)
            ):
                self.in_flight.join(before, each)
            else:
                taken.append(each)
        self._note_deadline(deadline_ms)

    def _archive(self, first: int, last: int) -> None:
        """Never deliver these offsets, unless a member has them."""
        for each in self.in_flight.between(first, last):
            if each.is_available:
                for part in self.in_flight.cut(max(each.first, first), min(each.last, last)):
                    part.state = State.ARCHIVED
                    part.is_unwritten = True
        if last >= self.end_offset:
            begin = max(first, self.end_offset)
            self.in_flight.append(InFlight(begin, last, State.ARCHIVED, is_unwritten=True))

    # -- acknowledging -------------------------------------------------------------------------

    def acknowledge(
        self, member: str, now_ms: int, acknowledgements: Sequence[Acknowledgement]
    ) -> ErrorCode:
        """Note what a member says about its records: all of it, or nothing.

        The outcome takes effect with ``written``. Locks are renewed at once.
        """
        error = check(acknowledgements)
        if error:
            return error
        for first, last, _ in acknowledgements:
            error = self._refusal(member, first, last)
            if error:
                return error
        for first, last, types in acknowledgements:
            for begin, end, kind in _runs(first, last, types):
                self._take(kind, self.in_flight.cut(begin, end), now_ms)
        return ErrorCode.NONE

    def _refusal(self, member: str, first: int, last: int) -> ErrorCode:
        if last < self.start_offset:
            return ErrorCode.NONE  # the log has deleted the records, or they are over
        if last >= self.end_offset:
            return ErrorCode.INVALID_REQUEST
        for each in self.in_flight.between(first, last):
            if not each.is_locked or each.member != member:
                return ErrorCode.INVALID_RECORD_STATE
        return ErrorCode.NONE

    def _take(self, kind: Acknowledge, ranges: list[InFlight], now_ms: int) -> None:
        for each in ranges:
            if kind is Acknowledge.RENEW:
                each.deadline_ms = now_ms + self.limits.lock_ms
                self._note_deadline(each.deadline_ms)
                continue
            each.is_in_write = False  # what is being written is the state before
            each.outcome = _OUTCOMES[kind]
            if kind is Acknowledge.RELEASE and each.delivery_count >= self.limits.delivery_count:
                each.outcome = State.ARCHIVED
            each.is_unwritten = True

    # -- releasing -----------------------------------------------------------------------------

    def release(self, member: str) -> bool:
        """Release all records of a member whose session has ended; return whether it had any."""
        return self._release([e for e in self.in_flight if e.is_locked and e.member == member])

    def expire(self, now_ms: int) -> bool:
        """Release the records whose locks have ended; return whether there were any."""
        if self._deadline_ms is None or now_ms < self._deadline_ms:
            return False
        locked = [each for each in self.in_flight if each.is_locked]
        left = (each.deadline_ms for each in locked if each.deadline_ms > now_ms)
        self._deadline_ms = min(left, default=None)
        return self._release([each for each in locked if each.deadline_ms <= now_ms])

    def deadline_ms(self) -> int | None:
        """Return when ``expire`` should be called."""
        return self._deadline_ms

    def jumped(self, by_ms: int) -> None:
        """Move the ends of locks: the clock was set."""
        for each in self.in_flight:
            each.deadline_ms += by_ms
        if self._deadline_ms is not None:
            self._deadline_ms += by_ms

    def move_start(self, log_start_offset: int) -> None:
        """Forget records that the log has deleted."""
        self.in_flight.move_start(log_start_offset)

    def _note_deadline(self, deadline_ms: int) -> None:
        if self._deadline_ms is None or deadline_ms < self._deadline_ms:
            self._deadline_ms = deadline_ms

    def _release(self, ranges: list[InFlight]) -> bool:
        for each in ranges:
            is_last = each.delivery_count >= self.limits.delivery_count
            self._settle(each, State.ARCHIVED if is_last else State.AVAILABLE)
            each.is_unwritten = True
        if ranges:
            self.in_flight.tidy()
        return bool(ranges)

    def _settle(self, found: InFlight, state: State) -> None:
        found.state = state
        found.outcome = None
        found.member = ""

    # -- writing -------------------------------------------------------------------------------

    def take_write(self) -> StateWrite | None:
        """Return what has to be written, unless it is nothing or a write is under way.

        Call ``written`` with its result.
        """
        changed = [each for each in self.in_flight if each.is_unwritten]
        if self._is_writing or not (changed or self.start_offset > self._written_start):
            return None
        self._is_writing = True
        start = next((e.first for e in self.in_flight if e.will_be not in FINAL), self.end_offset)
        complete = sum(e.size for e in self.in_flight if e.first > start and e.will_be in FINAL)
        batches: list[StateBatch] = []
        for each in changed:
            each.is_unwritten = False
            each.is_in_write = True
            if each.first < start:
                continue
            state, count = each.will_be, each.delivery_count
            if state is State.ACQUIRED:  # acquired again, before the release was written
                state, count = State.AVAILABLE, count - 1
            last = batches[-1] if batches else None
            if last is not None and last[1:] == (each.first - 1, state, count):
                batches[-1] = StateBatch(last.first, each.last, state, count)
            else:
                batches.append(StateBatch(each.first, each.last, state, count))
        return StateWrite(start, complete, batches)

    def written(self, write: StateWrite, *, is_done: bool) -> None:
        """Let the outcomes that were in the write take effect, or drop them if it failed."""
        self._is_writing = False
        if is_done:
            self._written_start = write.start_offset
        for each in self.in_flight:
            if not each.is_in_write:
                continue
            each.is_in_write = False
            if each.outcome is None:
                each.is_unwritten = each.is_unwritten or not is_done
            elif is_done:
                self._settle(each, each.outcome)
            else:
                each.outcome = None  # the member has its records as before, if the lock lasts
                self._note_deadline(each.deadline_ms)
        self.in_flight.tidy()


def _runs(first: int, last: int, types: Sequence[int]) -> Iterable[tuple[int, int, Acknowledge]]:
    """Yield ranges of adjacent offsets with the same type."""
    if len(types) == 1:
        yield first, last, Acknowledge(types[0])
        return
    begin = 0
    for index in range(1, len(types) + 1):
        if index == len(types) or types[index] != types[begin]:
            yield first + begin, first + index - 1, Acknowledge(types[begin])
            begin = index
