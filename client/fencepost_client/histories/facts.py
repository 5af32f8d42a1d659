"""What a history says, as columns: records, transactions, partitions and what readers were given.

A record is a number from here on, and so is a transaction; what is known of them is in lists.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

from fencepost_client.histories.operations import Name, Operation

UNKNOWN: Final = -1
"""An offset, a transaction or a record that there is not, or that nobody knows."""


class State(IntEnum):
    """How a transaction ended, or a send."""

    NEVER = 0
    """A transaction without a line that says that its commit was begun."""
    ABORTED = 1
    UNCERTAIN = 2
    COMMITTED = 3


class Session:
    """What a consumer was given of a partition in one go, without a seek or an assignment."""

    __slots__ = ("first", "offsets", "process", "read_committed", "run_lines", "run_starts")

    def __init__(self, process: Name, first: int, *, read_committed: bool) -> None:
        self.process = process
        self.first = first
        """Where it began to read: a seek, or the first offset that it was given."""
        self.read_committed = read_committed
        self.offsets = array("q")
        self.run_starts = array("q")
        """Of each poll, the position of its first offset in ``offsets``; and its line."""
        self.run_lines = array("q")

    def runs(self) -> Iterator[tuple[int, array[int]]]:
        """The line of each poll, and the offsets that it was given."""
        ends = [*self.run_starts[1:], len(self.offsets)]
        for line, start, end in zip(self.run_lines, self.run_starts, ends, strict=True):
            yield line, self.offsets[start:end]


class Partition:
    """A partition as its writers and readers know it together."""

    __slots__ = ("log", "name", "sessions", "topic")

    def __init__(self, topic: str, number: int) -> None:
        self.topic = topic
        self.name = f"{topic}-{number}"
        self.log: dict[int, int] = {}
        """The record at each offset that is known."""
        self.sessions: list[Session] = []


class Begun(NamedTuple):
    """Where an operation began; 0 if no line says so. And the records of a send."""

    line: int
    records: range


@dataclass(slots=True)
class Client:
    """A process: its settings, and where it is."""

    name: Name
    read_committed: bool = False
    idempotent: bool = True
    acks: str = "all"
    transactional_id: str = ""
    opened_at: int = 0
    fenced_at: int = 0
    """The line from which on another process has its transactional id; 0 if none."""
    fenced_by: Name = ""
    sessions: dict[int, Session] = field(default_factory=dict)
    seeks: dict[int, int] = field(default_factory=dict)
    sent: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For each partition, the line at which its latest send began, and its last offset."""
    watermarks: dict[int, tuple[int, int]] = field(default_factory=dict)
    begun: dict[int, tuple[Operation, Begun]] = field(default_factory=dict)
    """Operations without an end, by id."""


class GroupCommit(NamedTuple):
    """An offset that a group has committed."""

    group: str
    partition: int
    offset: int
    transaction: int


class Facts:
    """All columns."""

    def __init__(self) -> None:
        self.line = 0
        self.clients: dict[Name, Client] = {}
        self.partitions: list[Partition] = []
        self.partition_ids: dict[tuple[str, int], int] = {}
        # Records: each value of a send, and what readers saw at an offset that no send names.
        self.values: list[Name] = []
        self.senders: list[Client | None] = []
        self.state: list[int] = []
        self.transaction: list[int] = []
        self.partition: list[int] = []
        self.offset: list[int] = []
        self.seen = bytearray()
        self.same_value: list[int] = []
        """The record with the same value in the same topic before this one."""
        self.latest: dict[str, dict[Name, int]] = defaultdict(dict)
        """For each topic and value, its last record."""
        self.unsent: dict[int, None] = {}
        """Records that readers have seen, and no send is known to have written."""
        # Transactions.
        self.transaction_ids: dict[str, int] = {}
        self.transactions: list[str] = []
        self.ends: list[State] = []
        self.commit_line: list[int] = []
        """Where its commit began, if the history says that."""
        # Groups, and what transactions read.
        self.commits: list[GroupCommit] = []
        self.read_committed_groups: dict[str, bool] = {}
        self.reads_in: list[tuple[int, int, int, bool]] = []
        """A transaction, the partition and offset of what it has read, and whether its reader was
        read-committed."""
        self.two_values: list[tuple[int, int, int, int]] = []
        """A partition, an offset, and two records that are said to be there."""

    def client(self, process: Name) -> Client:
        """The client of a process."""
        found = self.clients.get(process)
        if found is None:
            found = self.clients[process] = Client(process)
        return found

    def partition_of(self, topic: str, number: int) -> int:
        """The number of a partition."""
        found = self.partition_ids.get((topic, number))
        if found is None:
            found = self.partition_ids[topic, number] = len(self.partitions)
            self.partitions.append(Partition(topic, number))
        return found

    def transaction_of(self, name: str) -> int:
        """The number of a transaction."""
        if not name:
            return UNKNOWN
        found = self.transaction_ids.get(name)
        if found is None:
            found = self.transaction_ids[name] = len(self.transactions)
            self.transactions.append(name)
            self.ends.append(State.NEVER)
            self.commit_line.append(0)
        return found

    def add_record(
        self, partition: int, value: Name, sender: Client | None, transaction: int
    ) -> int:
        """Add a record, which has no offset yet."""
        record = len(self.values)
        latest = self.latest[self.partitions[partition].topic]
        self.values.append(value)
        self.senders.append(sender)
        self.state.append(State.UNCERTAIN)
        self.transaction.append(transaction)
        self.partition.append(partition)
        self.offset.append(UNKNOWN)
        self.seen.append(0)
        self.same_value.append(latest.get(value, UNKNOWN))
        latest[value] = record
        return record

    def place(self, record: int, offset: int) -> None:
        """Its sender was told that a record is at this offset."""
        partition = self.partition[record]
        log = self.partitions[partition].log
        there = log.get(offset)
        if there is not None:
            if there not in self.unsent or self.values[there] != self.values[record]:
                self.two_values.append((partition, offset, there, record))
                return
            del self.unsent[there]
            self.offset[there] = UNKNOWN
        log[offset] = record
        self.offset[record] = offset

    def see(self, partition: int, offset: int, value: Name) -> None:
        """A reader was given this value, and no record with it was known at its offset."""
        log = self.partitions[partition].log
        there = log.get(offset)
        record = self.add_record(partition, value, None, UNKNOWN)
        self.unsent[record] = None
        self.offset[record] = offset
        log[offset] = record
        if there is not None:
            self.two_values.append((partition, offset, there, record))
            self.seen[there] |= self._was_given(partition, offset)

    def _was_given(self, partition: int, offset: int) -> bool:
        """Whether a reader was given an offset; the last one is being given it now."""
        times = 0
        for session in self.partitions[partition].sessions:
            place = bisect_left(session.offsets, offset)
            times += place < len(session.offsets) and session.offsets[place] == offset
        return times > 1

    def adopt(self) -> None:
        """Find the sends of records that were seen: of those with the value and without offset."""
        for seen in list(self.unsent):
            candidates = [
                record
                for record in self.of_same_value(seen)
                if self.senders[record] is not None
                and self.offset[record] == UNKNOWN
                and self.partition[record] == self.partition[seen]
            ]
            likely = [each for each in candidates if self.state[each] != State.ABORTED]
            if len(likely or candidates) == 1:
                record = (likely or candidates)[0]
                del self.unsent[seen]
                self.offset[record] = self.offset[seen]
                self.offset[seen] = UNKNOWN
                self.partitions[self.partition[record]].log[self.offset[record]] = record

    def of_same_value(self, record: int) -> Iterator[int]:
        """All records of this value in its topic."""
        topic = self.partitions[self.partition[record]].topic
        each = self.latest[topic][self.values[record]]
        while each != UNKNOWN:
            yield each
            each = self.same_value[each]

    # -- what the columns say together ---------------------------------------------------------

    def outcome(self, record: int) -> int:
        """Whether a record counts: by its transaction, or by its send."""
        transaction = self.transaction[record]
        return self.state[record] if transaction == UNKNOWN else self.ends[transaction]

    def told(self, record: int) -> str:
        """A record's value and place, for people."""
        return self._placed(record, "in")

    def _placed(self, record: int, preposition: str) -> str:
        at = f" at offset {self.offset[record]}" if self.offset[record] != UNKNOWN else ""
        place = self.partitions[self.partition[record]].name
        return f"{self.values[record]!r:.80} {preposition} {place}{at}"

    def sent(self, record: int) -> str:
        """Who sent a record, for people."""
        sender = self.senders[record]
        if sender is None:
            return f"somebody sent {self._placed(record, 'to')}"
        within = ""
        if self.transaction[record] != UNKNOWN:
            within = f" within transaction {self.transactions[self.transaction[record]]}"
        return f"{sender.name} sent {self._placed(record, 'to')}{within}"

    def ended(self, transaction: int) -> str:
        """How a transaction ended, for people."""
        name = self.transactions[transaction]
        return {
            State.NEVER: f"transaction {name} was never committed",
            State.ABORTED: f"transaction {name} was aborted",
            State.UNCERTAIN: f"nobody knows how transaction {name} ended",
            State.COMMITTED: f"transaction {name} was committed",
        }[self.ends[transaction]]
