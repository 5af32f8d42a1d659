"""A partition of ``__share_group_state`` with its coordinator.

After every step a second machine is made of the log's bytes, and its state must be that of the
first.
"""

from __future__ import annotations

from typing import Any

from fencepost_broker.coordinator.group.commands import TopicsDeleted
from fencepost_broker.coordinator.records import (
    LogRecord,
    RecordFamily,
    decode_record,
    encode_batch,
)
from fencepost_broker.coordinator.share.machine import ShareCoordinator, ShareCoordinatorSettings
from fencepost_broker.coordinator.share.messages import answer_to, asked_of
from fencepost_broker.coordinator.share.upkeep import DeleteRecords
from fencepost_broker.metadata.decision import Decision
from fencepost_protocol.generated import delete_share_group_state as deleting
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated import read_share_group_state as reading
from fencepost_protocol.generated import read_share_group_state_summary as summing
from fencepost_protocol.generated import write_share_group_state as writing
from fencepost_protocol.records.reader import iter_records

from tests.machine.coordinator.group.partition import SomeTopics

GROUP = "g"
COLD_MS, PRUNE_MS = 1000, 300


class StateLog:
    """One machine, its log, and a clock that stands still."""

    def __init__(self, updates: int = 500) -> None:
        self.settings = ShareCoordinatorSettings(updates, COLD_MS, PRUNE_MS)
        self.topics = SomeTopics()
        self.topics.create("t", 4)
        self.now_ms = 1_000_000
        self.appended: list[tuple[int, LogRecord]] = []
        """Offset and record, as decoded from the log's bytes."""
        self.end_offset = 0
        self.machine = ShareCoordinator(self.topics, self.settings)
        self._take(self.machine.activate(self.now_ms))

    # -- requests of one partition -----------------------------------------------------------------

    def initialize(self, epoch: int, start: int = -1, number: int = 0, topic: str = "t") -> Any:
        part = initializing.PartitionData(number, epoch, start)
        row = initializing.InitializeStateData(self._id(topic), [part])
        return self._ask(initializing.InitializeShareGroupStateRequest(GROUP, [row]))

    def read(self, leader_epoch: int, number: int = 0, topic: str = "t") -> Any:
        row = reading.ReadStateData(self._id(topic), [reading.PartitionData(number, leader_epoch)])
        return self._ask(reading.ReadShareGroupStateRequest(GROUP, [row]))

    def write(
        self,
        state_epoch: int,
        leader_epoch: int,
        start: int,
        *batches: tuple[int, int, int, int],
        complete: int = -1,
        number: int = 0,
    ) -> Any:
        rows = [writing.StateBatch(*each) for each in batches]
        part = writing.PartitionData(number, state_epoch, leader_epoch, start, complete, rows)
        row = writing.WriteStateData(self._id("t"), [part])
        return self._ask(writing.WriteShareGroupStateRequest(GROUP, [row]))

    def delete(self, number: int = 0, topic: str = "t") -> Any:
        row = deleting.DeleteStateData(self._id(topic), [deleting.PartitionData(number)])
        return self._ask(deleting.DeleteShareGroupStateRequest(GROUP, [row]))

    def summary(self, number: int = 0, topic: str = "t") -> Any:
        row = summing.ReadStateSummaryData(self._id(topic), [summing.PartitionData(number, 0)])
        return self._ask(summing.ReadShareGroupStateSummaryRequest(GROUP, [row]))

    def topic_deleted(self, name: str) -> None:
        topic_id = self.topics.ids.pop(name)
        del self.topics.counts[name]
        self._take(self.machine.handle(self.now_ms, TopicsDeleted({topic_id: name})))

    def _id(self, topic: str) -> bytes:
        return self.topics.ids.get(topic, b"?" * 16)

    def _ask(self, message: Any) -> Any:
        (row,) = asked_of(message)
        decision = self.machine.handle(self.now_ms, row)
        self._take(decision)
        (topic,) = answer_to(message, [(row, decision.answer)]).results  # type: ignore[attr-defined]
        (result,) = topic.partitions
        return result

    # -- the log -----------------------------------------------------------------------------------

    def wait(self, ms: int) -> None:
        """Let time pass, as the runtime does."""
        self.now_ms += ms
        while (due_ms := self.machine.deadline()) is not None and due_ms <= self.now_ms:
            self._take(self.machine.expire(self.now_ms))

    def _take(self, decision: Decision[Any]) -> None:
        if decision.records:
            batch = encode_batch(decision.records, self.now_ms)
            for each in iter_records(batch):
                record = decode_record(RecordFamily.SHARES, each.key, each.value)
                self.appended.append((self.end_offset, record))
                self.machine.replay(record, self.end_offset)
                self.end_offset += 1
        for soft in decision.soft:
            self.machine.apply_soft(soft)
        for effect in decision.effects:
            assert isinstance(effect, DeleteRecords)
            self.appended = [each for each in self.appended if each[0] >= effect.before_offset]
        assert self.loaded().state == self.machine.state

    def records(self) -> list[LogRecord]:
        """What the log has, decoded."""
        return [record for _, record in self.appended]

    def loaded(self) -> ShareCoordinator:
        """A machine that the log was replayed to."""
        machine = ShareCoordinator(self.topics, self.settings)
        for offset, record in self.appended:
            machine.replay(record, offset)
        return machine
