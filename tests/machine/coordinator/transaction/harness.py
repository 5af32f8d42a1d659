"""A transaction coordinator and its log, as a node would drive them, with every promise checked.

After every step a machine that replays the log as it was written has to be equal to the live one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fencepost_broker.coordinator.effects import Reply, Tell
from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import (
    LogRecord,
    RecordFamily,
    decode_record,
    encode_batch,
)
from fencepost_broker.coordinator.transaction.commands import Resume, SendMarkers
from fencepost_broker.coordinator.transaction.machine import TransactionCoordinator
from fencepost_broker.coordinator.transaction.ports import TransactionSettings
from fencepost_broker.metadata.decision import Decision
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.reader import iter_records

Partition = tuple[str, int]


@dataclass
class SomeCluster:
    """Partitions by name; every topic has those that nobody took away."""

    version: int = 2
    missing: set[str] = field(default_factory=set)
    leaderless: set[Partition] = field(default_factory=set)
    holding: set[Partition] = field(default_factory=set)

    def has_partition(self, topic: str, partition: int) -> bool:
        return topic not in self.missing

    def leader_of(self, topic: str, partition: int) -> int | None:
        return None if (topic, partition) in self.leaderless else 1 + partition % 3

    def holds_transaction(
        self, topic: str, partition: int, producer_id: int, producer_epoch: int
    ) -> bool:
        return (topic, partition) in self.holding

    def offsets_partition_of(self, group_id: str) -> int:
        return partition_of(group_id, 5)

    def transaction_version(self) -> int:
        return self.version


@dataclass
class SomeProducerIds:
    """Ids from 1000 on, or none."""

    next_id: int = 1000
    empty: bool = False

    def take(self) -> tuple[ErrorCode, int]:
        if self.empty:
            return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, -1
        self.next_id += 1
        return ErrorCode.NONE, self.next_id - 1


class Coordinator:
    """The machine with its log; effects pile up for the test to look at."""

    def __init__(self, settings: TransactionSettings | None = None, epoch: int = 7) -> None:
        self.settings = settings or TransactionSettings()
        self.cluster = SomeCluster()
        self.producer_ids = SomeProducerIds()
        self.epoch = epoch
        self.log: list[bytes] = []
        self.now_ms = 1_000_000
        self.machine = self._loaded()
        self.news: list[Any] = []
        """Records, replies, sends and tells since they were last looked at, in order."""
        self.check_every_step = True

    def _loaded(self) -> TransactionCoordinator:
        machine = TransactionCoordinator(self.cluster, self.producer_ids, self.settings, self.epoch)
        for batch in self.log:
            for record in decoded(batch):
                machine.replay(record)
        return machine

    def ask(self, command: Any) -> Any:
        """Handle a command; gives its answer, ``None`` if it has to wait."""
        before = self.machine.durable()
        decision = self.machine.handle(self.now_ms, command)
        assert self.machine.durable() == before, "handle has changed something"
        return self.carry_out(decision)

    def wait(self, milliseconds: int) -> None:
        """Let time pass, stopping wherever the machine wants to be woken."""
        end_ms = self.now_ms + milliseconds
        while True:
            at_ms = self.machine.deadline()
            if at_ms is None or at_ms > end_ms:
                break
            self.now_ms = max(self.now_ms, at_ms)
            decision = self.machine.expire(self.now_ms)
            assert decision.records, "a deadline at which nothing happens"
            self.carry_out(decision)
        self.now_ms = end_ms
        assert not self.machine.expire(self.now_ms).records

    def restart(self, epoch: int | None = None) -> None:
        """Lose all that is not in the log."""
        self.epoch = self.epoch + 1 if epoch is None else epoch
        self.machine = self._loaded()
        self.carry_out(self.machine.activate(self.now_ms))

    def carry_out(self, decision: Decision[Any]) -> Any:
        if decision.records:
            batch = bytes(encode_batch(decision.records, self.now_ms))
            self.log.append(batch)
            for record in decision.records:
                self.machine.replay(record)
                self.news.append(record)
            assert tuple(decoded(batch)) == decision.records
        for soft in decision.soft:
            self.machine.apply_soft(soft)
        for effect in decision.effects:
            if isinstance(effect, Resume):
                answer = self.ask(effect.command)
                if answer is not None:
                    self.news.append(Reply(effect.command.token, answer))
            else:
                assert isinstance(effect, Reply | SendMarkers | Tell)
                self.news.append(effect)
        if self.check_every_step:
            assert self._loaded().durable() == self.machine.durable()
        return decision.answer


def decoded(batch: bytes) -> Iterable[LogRecord]:
    return [
        decode_record(RecordFamily.TRANSACTIONS, each.key, each.value)
        for each in iter_records(batch)
    ]
