"""A share partition against a plain queue: any order of operations, with leaders that move.

The model keeps one entry for each record. A record is delivered until it is accepted or rejected,
or was delivered as often as the limit allows; no record is held by two members, and none is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost_broker.replication.share.in_flight import FINAL
from fencepost_broker.replication.share.share_partition import (
    Acknowledge,
    Acknowledgement,
    AcquireLimits,
    AcquireMode,
    FetchedBatch,
    ShareLimits,
    SharePartition,
    StateBatch,
    StateWrite,
)
from fencepost_protocol.errors import ErrorCode
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

LOCK_MS = 100
MEMBERS = st.sampled_from("abc")
KINDS = st.sampled_from(list(Acknowledge))
OVER = (Acknowledge.GAP, Acknowledge.ACCEPT, Acknowledge.REJECT)


@dataclass
class Record:
    """One record of the model."""

    is_hidden: bool
    count: int = 0
    holder: str = ""
    until_ms: int = 0
    said: Acknowledge | None = None
    in_write: bool = False
    is_over: bool = False

    @property
    def can_be_given(self) -> bool:
        return not (self.holder or self.is_over or self.is_hidden)

    def give_back(self, limit: int) -> None:
        self.holder, self.said, self.in_write = "", None, False
        self.is_over = self.is_over or self.count >= limit


class Sharing(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now_ms = 0
        self.batches: list[FetchedBatch] = []
        self.records: dict[int, Record] = {}
        self.end = 0
        self.limits = ShareLimits(LOCK_MS, 3, 20)
        self.partition = SharePartition(0, limits=self.limits)
        self.stored_start = 0
        self.stored: dict[int, tuple[int, int]] = {}
        self.write: StateWrite | None = None

    @initialize(limit=st.integers(1, 3))
    def set_limit(self, limit: int) -> None:
        self.limits.delivery_count = limit

    @rule(size=st.integers(1, 6), hole=st.integers(0, 2), hidden=st.booleans())
    def append(self, size: int, hole: int, hidden: bool) -> None:
        first = self.end + hole
        self.end = first + size
        self.batches.append(FetchedBatch(first, self.end - 1, hidden))
        self.records.update({each: Record(hidden) for each in range(first, self.end)})

    @rule(member=MEMBERS, most=st.integers(1, 12), mode=st.sampled_from(list(AcquireMode)))
    def acquire(self, member: str, most: int, mode: AcquireMode) -> None:
        offset = self.partition.next_fetch_offset()
        if offset is None or offset >= self.end:
            return
        read = [each for each in self.batches if each.last >= offset][:4]
        wanted = AcquireLimits(most, mode, 8)
        acquired = self.partition.acquire(member, self.now_ms, offset, read, wanted)
        size = 0
        for first, last, count in acquired:
            for number in range(first, last + 1):
                record = self.records[number]
                assert record.can_be_given, number
                record.count += 1
                assert record.count == count <= self.limits.delivery_count
                record.holder, record.until_ms = member, self.now_ms + LOCK_MS
                size += 1
        assert mode is AcquireMode.BATCH_OPTIMIZED or size <= most

    @rule(member=MEMBERS, kind=KINDS, data=st.data())
    def acknowledge(self, member: str, kind: Acknowledge, data: st.DataObject) -> None:
        held = [n for n, r in self.records.items() if r.holder == member and r.said is None]
        if not held:
            return
        first = data.draw(st.sampled_from(held))
        last = first
        while last + 1 in held and data.draw(st.booleans()):
            last += 1
        said = [Acknowledgement(first, last, [kind])]
        assert self.partition.acknowledge(member, self.now_ms, said) is ErrorCode.NONE
        for number in range(first, last + 1):
            record = self.records[number]
            if kind is Acknowledge.RENEW:
                record.until_ms = self.now_ms + LOCK_MS
            else:
                record.said = kind

    @rule(member=MEMBERS, data=st.data())
    @precondition(lambda self: self.records)
    def acknowledge_what_it_has_not(self, member: str, data: st.DataObject) -> None:
        number = data.draw(st.sampled_from(list(self.records)))
        record = self.records[number]
        if record.holder == member and record.said is None:
            return
        said = [Acknowledgement(number, number, [Acknowledge.ACCEPT])]
        told = self.partition.acknowledge(member, self.now_ms, said)
        assert told or number < self.partition.start_offset

    @rule()
    def begin_write(self) -> None:
        write = self.partition.take_write()
        if write is None:
            return
        self.write = write
        for record in self.records.values():
            record.in_write = record.said is not None

    @rule(is_done=st.booleans())
    @precondition(lambda self: self.write is not None)
    def end_write(self, is_done: bool) -> None:
        assert self.write is not None
        self.partition.written(self.write, is_done=is_done)
        if is_done:
            self.store(self.write)
        for record in self.records.values():
            if not record.in_write:
                continue
            record.in_write = False
            if is_done:
                record.is_over = record.said in OVER
                record.give_back(self.limits.delivery_count)
            else:
                record.said = None
        self.write = None

    def store(self, write: StateWrite) -> None:
        self.stored_start = write.start_offset
        for first, last, state, count in write.batches:
            self.stored.update(dict.fromkeys(range(first, last + 1), (state, count)))

    @rule(by_ms=st.integers(1, 60))
    def wait(self, by_ms: int) -> None:
        self.now_ms += by_ms
        self.partition.expire(self.now_ms)
        for record in self.records.values():
            if record.holder and record.said is None and record.until_ms <= self.now_ms:
                record.give_back(self.limits.delivery_count)

    @rule(member=MEMBERS)
    def end_session(self, member: str) -> None:
        self.partition.release(member)
        for record in self.records.values():
            if record.holder == member and record.said is None:
                record.give_back(self.limits.delivery_count)

    @rule()
    def move_leader(self) -> None:
        """The new leader knows what was written, and nothing else."""
        batches = [StateBatch(n, n, *s) for n, s in self.stored.items() if n >= self.stored_start]
        self.partition = SharePartition(self.stored_start, batches, self.limits)
        self.write = None
        for number, record in self.records.items():
            state, record.count = self.stored.get(number, (0, 0))
            record.give_back(self.limits.delivery_count)
            record.is_over = number < self.stored_start or state in FINAL

    @invariant()
    def each_record_is_where_it_should_be(self) -> None:
        for number, record in self.records.items():
            if number < self.partition.start_offset:
                assert record.is_over or record.is_hidden, f"{number} is lost"
        for each in self.partition.in_flight:
            for number in range(each.first, each.last + 1):
                known = self.records.get(number)
                if known is not None and each.state in FINAL:
                    assert known.is_over or known.is_hidden, f"{number} is lost"

    def teardown(self) -> None:
        """Everything is delivered to a member that accepts all."""
        for _ in range(8 * len(self.records) + 8):
            if self.write is not None:
                self.end_write(True)
            self.wait(LOCK_MS)
            self.acquire("a", 20, AcquireMode.BATCH_OPTIMIZED)
            for number, record in self.records.items():
                if record.holder == "a" and record.said is None:
                    said = [Acknowledgement(number, number, [Acknowledge.ACCEPT])]
                    assert self.partition.acknowledge("a", self.now_ms, said) is ErrorCode.NONE
                    record.said = Acknowledge.ACCEPT
            self.begin_write()
            if self.write is None and self.partition.start_offset == self.end:
                break
        assert self.partition.start_offset == self.end
        assert all(each.is_over or each.is_hidden for each in self.records.values())
        super().teardown()


TestSharing = Sharing.TestCase
TestSharing.settings = settings(max_examples=150, stateful_step_count=60, deadline=None)
