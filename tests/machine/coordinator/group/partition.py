"""A partition of ``__consumer_offsets`` with its coordinator, as a node would drive them.

After every step a second machine is made of the log's bytes, and its durable state must be that
of the first.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fencepost_broker.coordinator.effects import Reply, Tell
from fencepost_broker.coordinator.group.commands import Ask, TopicsChanged, TopicsDeleted
from fencepost_broker.coordinator.group.machine import GroupCoordinator
from fencepost_broker.coordinator.group.ports import GroupCoordinatorSettings
from fencepost_broker.coordinator.group.share.commands import InitializeShares
from fencepost_broker.coordinator.group.soft import SetTimer
from fencepost_broker.coordinator.group.streams.commands import CreateInternalTopics
from fencepost_broker.coordinator.records import (
    LogRecord,
    RecordFamily,
    decode_record,
    encode_batch,
)
from fencepost_broker.metadata.decision import Decision
from fencepost_broker.simulation.replays import durable
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.records.reader import iter_records

CLIENT = "a-client"
HOST = "/127.0.0.1"


@dataclass
class SomeTopics:
    """Topics by name with as many partitions."""

    counts: dict[str, int] = field(default_factory=dict)
    ids: dict[str, bytes] = field(default_factory=dict)
    changes: int = 0

    def create(self, name: str, partitions: int) -> None:
        self.counts[name] = partitions
        self.ids.setdefault(name, name.encode()[:16].ljust(16, b"."))
        self.changes += 1

    def topic_id(self, name: str) -> bytes | None:
        return self.ids.get(name)

    def topic_name(self, topic_id: bytes) -> str | None:
        return next((name for name, known in self.ids.items() if known == topic_id), None)

    def partition_count(self, name: str) -> int:
        return self.counts.get(name, 0)

    def names(self) -> Iterable[str]:
        return self.counts

    def version(self) -> int:
        return self.changes


class SomePatterns:
    """Python's regular expressions, which are like RE2's for the likes of these tests."""

    def problem(self, pattern: str) -> str | None:
        try:
            re.compile(pattern)
        except re.error as error:
            return str(error)
        return None

    def matching(self, pattern: str, names: Iterable[str]) -> frozenset[str]:
        return frozenset(name for name in names if re.fullmatch(pattern, name))


class SomeConfigs(dict[tuple[str, str], int]):
    """Settings of groups by group and name."""

    def number(self, group_id: str, name: str) -> int | None:
        return self.get((group_id, name))


class Partition:
    """One machine, its log, and a clock that stands still."""

    def __init__(self, **settings: Any) -> None:
        self.settings = GroupCoordinatorSettings(**settings)
        self.topics = SomeTopics()
        self.configs = SomeConfigs()
        self.topics.create("t", 4)
        self.topics.create("u", 2)
        self.now_ms = 1_000_000
        self.log: list[Callable[[GroupCoordinator], None]] = []
        self.next_offset = 0
        self.machine = self._new_machine()
        self.replies: dict[Any, Any] = {}
        self.told: list[str] = []
        self.decisions: list[Decision[Any]] = []
        self._tokens = 0
        self._take(self.machine.activate(self.now_ms))

    def _new_machine(self) -> GroupCoordinator:
        patterns, chance = SomePatterns(), random.Random(7)
        return GroupCoordinator(
            self.topics, chance, self.settings, patterns=patterns, configs=self.configs
        )

    # -- what a node does ------------------------------------------------------------------------

    def ask(self, request: Message, version: int | None = None, client: str = CLIENT) -> Any:
        """The answer to a request; its token when it has to wait for one."""
        self._tokens += 1
        token = self._tokens
        known = request.MAX_VERSION if version is None else version
        decision = self.machine.handle(self.now_ms, Ask(request, known, client, HOST, token))
        self._take(decision)
        return token if decision.answer is None else decision.answer

    def submit(self, command: Any) -> Any:
        """The answer to a command of the node's own."""
        decision = self.machine.handle(self.now_ms, command)
        self._take(decision)
        return decision.answer

    def topics_deleted(self, *names: str) -> None:
        deleted = {self.topics.ids.pop(name): name for name in names}
        for name in names:
            del self.topics.counts[name]
        self.topics.changes += 1
        self._take(self.machine.handle(self.now_ms, TopicsDeleted(deleted)))
        self._take(self.machine.handle(self.now_ms, TopicsChanged(names, created=False)))

    def create_topic(self, name: str, partitions: int) -> None:
        created = name not in self.topics.counts
        self.topics.create(name, partitions)
        command = TopicsChanged([name], created)
        self._take(self.machine.handle(self.now_ms, command))

    def end(self, producer_id: int, *, committed: bool) -> None:
        """A marker comes into the log."""

        def marker(machine: GroupCoordinator) -> None:
            machine.replay_marker(producer_id, committed=committed)

        self.log.append(marker)
        self.next_offset += 1
        marker(self.machine)
        self.check()

    def advance(self, by_ms: int) -> None:
        """Moves the clock, stopping at every deadline."""
        until_ms = self.now_ms + by_ms
        while (deadline := self.machine.deadline()) is not None and deadline <= until_ms:
            self.now_ms = max(self.now_ms, deadline)
            self._take(self.machine.expire(self.now_ms))
        self.now_ms = until_ms

    def jump(self, by_ms: int) -> None:
        """Sets the clock."""
        self.now_ms += by_ms
        self.machine.jumped(by_ms)

    def restart(self) -> None:
        """What is not in the log is forgotten."""
        self.machine = self._replayed()
        self._take(self.machine.activate(self.now_ms))

    def _take(self, decision: Decision[Any]) -> None:
        self.decisions.append(decision)
        if decision.records:
            self._append(decision)
        for soft in decision.soft:
            self.machine.apply_soft(soft)
        for effect in decision.effects:
            if isinstance(effect, Reply):
                assert effect.token not in self.replies, "answered twice"
                self.replies[effect.token] = effect.answer
            elif isinstance(effect, Tell):
                self.told.append(effect.text)
            else:
                assert isinstance(effect, InitializeShares | CreateInternalTopics)
        if decision.records or not all(isinstance(each, SetTimer) for each in decision.soft):
            self.check()

    def replay(self, *records: LogRecord) -> None:
        """Records that another coordinator has left."""
        self._append(Decision(records=records))
        self.check()

    def _append(self, decision: Decision[Any]) -> None:
        batch = encode_batch(decision.records, self.now_ms)
        for number, raw in enumerate(iter_records(memoryview(batch))):
            offset = self.next_offset + number
            written = decode_record(RecordFamily.GROUPS, raw.key, raw.value)
            assert _plain(written) == _plain(decision.records[number])
            self.log.append(_replay(written, offset, decision.producer_id))
            self.machine.replay(decision.records[number], offset, decision.producer_id)
        self.next_offset += len(decision.records)

    def _replayed(self) -> GroupCoordinator:
        machine = self._new_machine()
        for step in self.log:
            step(machine)
        return machine

    def check(self) -> None:
        assert durable(self.machine) == durable(self._replayed())

    # -- what a test looks at --------------------------------------------------------------------

    @property
    def written(self) -> Sequence[LogRecord]:
        """The records of the last decision."""
        return self.decisions[-1].records

    def group(self, group_id: str) -> Any:
        return self.machine.state.groups.get(group_id)


def _replay(record: LogRecord, offset: int, producer_id: int) -> Callable[[GroupCoordinator], None]:
    return lambda machine: machine.replay(record, offset, producer_id)


def _plain(record: LogRecord) -> Any:
    return record.key, record.value, record.value_version


def code(value: int) -> str:
    return ErrorCode(value).name
