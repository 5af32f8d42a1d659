"""What time makes a machine write, where some of it cannot be written: the rest goes on."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fencepost_broker.coordinator.records import LogRecord, RecordFamily
from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from fencepost_broker.coordinator.runtime.shard import Shard
from fencepost_broker.coordinator.transaction.commands import DescribeTransaction
from fencepost_broker.coordinator.transaction.machine import TransactionCoordinator
from fencepost_broker.coordinator.transaction.ports import TransactionSettings
from fencepost_broker.coordinator.transaction.states import State
from fencepost_broker.observability.log_levels import LogLevels
from fencepost_broker.ports import ReadyList
from fencepost_broker.replication.partition import Partition, PartitionTable
from fencepost_broker.storage.log.config import LogConfig
from fencepost_protocol.generated.transaction_log import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)

from tests.machine.coordinator.transaction.harness import SomeCluster, SomeProducerIds
from tests.machine.storage.harness import NOW, open_log

TIMEOUT_MS = 1000
MANY = 200
"""As many ids as cannot be written in one try."""


class Timer:
    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call

    def cancel(self) -> None:
        self.call = lambda: None


class SomeClock:
    """A clock that is moved by the test, and with it the wire's."""

    runs = True

    def __init__(self) -> None:
        self.at_ms = NOW
        self.calls: list[tuple[int, Timer]] = []

    def now_ms(self) -> int:
        return self.at_ms

    def call_later(self, delay_ms: int, call: Callable[[], None]) -> Timer:
        timer = Timer(call)
        self.calls.append((self.at_ms + delay_ms, timer))
        return timer

    def pass_time(self, milliseconds: int) -> int:
        """Make the calls that become due; gives how many there were."""
        end_ms = self.at_ms + milliseconds
        made = 0
        while due := [each for each in self.calls if each[0] <= end_ms]:
            first = min(due, key=lambda each: each[0])
            self.calls.remove(first)
            self.at_ms = max(self.at_ms, first[0])
            first[1].call()
            made += 1
            assert made < 100, "it never rests"
        self.at_ms = end_ms
        return made


class Nowhere:
    """Where markers go: they stay out."""

    def write(self, send: Any, partitions: Any, then: Callable[[Any], None]) -> None:
        """Never answered."""


class Setting:
    """One machine of transactions, and its log, which takes only small batches."""

    def __init__(self) -> None:
        self.clock = SomeClock()
        unused: Any = SimpleNamespace(table=PartitionTable(), flushes=None, are_there=False)
        self.coordination = CoordinatorRuntime(
            1, self.clock, ReadyList(partial(self.clock.call_later, 0)), unused, unused,
            unused, unused, unused, unused, unused, cast("Any", Nowhere()), LogLevels(),
        )  # fmt: skip
        self.coordination.start()
        self.machine = TransactionCoordinator(
            SomeCluster(), SomeProducerIds(), TransactionSettings()
        )
        self.log = open_log(max_message_bytes=500)
        partition = Partition("__transaction_state", 0, self.log)
        self.shard = Shard(self.coordination, RecordFamily.TRANSACTIONS, partition, self.machine)
        self.shard.is_loaded = True
        self.coordination.shards["__transaction_state", 0] = self.shard

    def open(self, name: str, *, partitions: int = 1) -> None:
        """Begin a transaction, which writes more the more partitions it has."""
        value = TransactionLogValue(
            producer_id=len(self.machine),
            producer_epoch=0,
            transaction_timeout_ms=TIMEOUT_MS,
            transaction_status=State.ONGOING,
            transaction_partitions=[PartitionsSchema("t", list(range(partitions)))],
            transaction_last_update_timestamp_ms=self.clock.at_ms,
            transaction_start_timestamp_ms=self.clock.at_ms,
        )
        self.machine.replay(LogRecord(TransactionLogKey(name), value, 0))
        self.coordination.look_at_deadline(self.machine.deadline(), self.clock.at_ms)

    def is_aborted(self, name: str) -> bool:
        told = self.machine.handle(self.clock.at_ms, DescribeTransaction(name)).answer
        return bool(told.transaction_state == "PrepareAbort")

    def mend(self) -> None:
        """The log takes everything from now on."""
        self.log.configure(LogConfig())

    def told(self) -> list[str]:
        return [
            each.kind
            for each in self.coordination.take_events()
            if each.kind != "transaction-timed-out"
        ]


@pytest.fixture
def setting() -> Setting:
    return Setting()


def test_what_cannot_be_written_holds_up_nothing_else(setting: Setting) -> None:
    setting.open("large", partitions=500)
    setting.clock.pass_time(1)
    setting.open("small")
    setting.clock.pass_time(TIMEOUT_MS)
    assert setting.is_aborted("small")
    assert not setting.is_aborted("large")
    setting.open("later")
    setting.clock.pass_time(TIMEOUT_MS)
    assert setting.is_aborted("later")
    assert setting.told() == ["expiry-unwritten"]
    assert setting.clock.pass_time(10_000) == 10, "once a second is enough"
    assert not setting.told()
    setting.mend()
    setting.clock.pass_time(1000)
    assert setting.is_aborted("large")
    assert setting.clock.pass_time(10_000) == 0
    assert not setting.told()


def test_much_that_cannot_be_written_is_tried_piece_by_piece(setting: Setting) -> None:
    for number in range(MANY):
        setting.open(f"large-{number:03}", partitions=500)
    setting.open("small")
    setting.clock.pass_time(TIMEOUT_MS)
    assert not setting.is_aborted("small"), "it comes behind the others"
    setting.clock.pass_time(4000)
    assert setting.is_aborted("small")
    setting.mend()
    setting.clock.pass_time(10_000)
    assert all(setting.is_aborted(f"large-{number:03}") for number in range(MANY))
    assert setting.clock.pass_time(10_000) == 0
    assert setting.told() == ["expiry-unwritten"]


def test_an_id_that_cannot_be_forgotten_is_passed_over_until_it_is_taken_up(
    setting: Setting,
) -> None:
    machine = setting.machine
    for name, updated_ms in (("a", NOW), ("b", NOW + 5)):
        value = TransactionLogValue(
            producer_id=7,
            transaction_status=State.EMPTY,
            transaction_last_update_timestamp_ms=updated_ms,
        )
        machine.replay(LogRecord(TransactionLogKey(name), value, 0))
    first_ms = machine.deadline()
    assert first_ms is not None
    machine.put_off()
    assert machine.deadline() == first_ms + 5
    machine.put_off()
    assert machine.deadline() is None
    machine.take_up()
    assert machine.deadline() == first_ms
    forgotten = machine.expire(first_ms).records[0].key
    assert isinstance(forgotten, TransactionLogKey)
    assert forgotten.transactional_id == "a"
