"""The sender against a model of what a broker does with sequences."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from fencepost_client.errors import (
    DeliveryTimedOutError,
    KafkaError,
    NetworkError,
    RecordTooLargeError,
)
from fencepost_client.producer.accumulator import Accumulator
from fencepost_client.producer.batch import Batch, Identity, size_of
from fencepost_client.producer.sender import Sender
from fencepost_client.producer.sender_settings import SenderSettings
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_protocol.errors import ErrorCode
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.machine.client.model_broker import ModelBroker

TIMEOUT_MS = 40_000
LATER_MS = 2_000
"""Behind every back-off."""


class Rig:
    """A sender, an accumulator with one topic, and a broker."""

    def __init__(
        self,
        partitions: int = 1,
        linger_ms: int = 0,
        transaction: TransactionManager | None = None,
    ) -> None:
        chance = random.Random(7).random
        self.now_ms = 1000
        self.finished: list[Batch] = []
        self.accumulator = Accumulator(chance, batch_size=100)
        self.accumulator.set_partitions("t", partitions)
        settings = SenderSettings(linger_ms=linger_ms, delivery_timeout_ms=TIMEOUT_MS)
        if transaction is not None:
            settings.transactional_id = transaction.transactional_id
        self.sender = Sender(self.accumulator, settings, chance, self.finished.append, transaction)
        self.sender.identity = Identity(5, 0)
        self.broker = ModelBroker(self.sender)
        self.batches: list[Batch] = []
        self.numbers: dict[Batch, list[int]] = {}
        self.sent = 0

    def batch(self, partition: int = 0, records: int = 1) -> Batch:
        """A batch with the next numbers as its records."""
        queue = self.accumulator.queue_for("t", None, partition)
        batch = self.accumulator.open_batch(queue, size_of(None, b"123", ()), self.now_ms)
        for _ in range(records):
            batch.append(None, b"%d" % self.sent, self.now_ms, ())
            self.numbers.setdefault(batch, []).append(self.sent)
            self.sent += 1
        self.batches.append(batch)
        return batch

    def lose(self) -> None:
        """The connection goes."""
        lost = self.broker.under_way
        self.broker.forget_under_way()
        for produce in lost:
            self.sender.failed(self.now_ms, produce, NetworkError())

    def take(self, step: str) -> None:
        """One of ``STEPS``."""
        broker = self.broker
        now: dict[str, Callable[[], object]] = {
            "batch": lambda: self.batch(0, 2),
            "other": lambda: self.batch(1),
            "send": lambda: broker.send(self.now_ms),
            "lose": self.lose,
            "time": lambda: self.pass_time(300),
            "long": lambda: self.pass_time(15_000),
        }
        if broker.requests:
            code = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
            now["handle"] = broker.handle
            now["refuse"] = lambda: broker.handle(ErrorCode.NOT_ENOUGH_REPLICAS)
            now["too large"] = lambda: broker.handle(ErrorCode.MESSAGE_TOO_LARGE)
            now["half"] = lambda: broker.handle(code, after_append=True)
        if broker.answers:
            now["answer"] = lambda: broker.answer(self.now_ms)
        now.get(step, lambda: None)()

    def pass_time(self, ms: int) -> None:
        self.now_ms += ms

    def settle(self) -> None:
        """From here on all is well."""
        for _ in range(200):
            self.now_ms += LATER_MS
            self.broker.send(self.now_ms)
            while self.broker.requests:
                self.broker.handle()
            while self.broker.answers:
                self.broker.answer(self.now_ms)
            if not self.accumulator.unfinished:
                return
        pytest.fail("it does not come to an end")

    def values(self, partition: int = 0) -> list[int]:
        return [int(value) for value in self.broker.log("t", partition).values]

    def errors(self) -> list[KafkaError | None]:
        return [batch.error for batch in self.batches]


def acquainted(linger_ms: int = 0) -> Rig:
    """A rig whose broker knows the producer: 0 is written."""
    rig = Rig(linger_ms=linger_ms)
    rig.batch()
    rig.settle()
    return rig


def test_the_first_batch_travels_alone() -> None:
    rig = Rig()
    rig.batch()
    rig.batch()
    rig.broker.send(rig.now_ms)
    rig.broker.send(rig.now_ms)
    assert len(rig.broker.requests) == 1
    rig.broker.handle(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    rig.settle()
    assert rig.values() == [0, 1]


def test_five_requests_are_under_way_and_no_more() -> None:
    rig = acquainted()
    for _ in range(7):
        rig.batch()
        rig.broker.send(rig.now_ms)
    assert len(rig.broker.requests) == 5
    rig.broker.handle()
    rig.broker.answer(rig.now_ms)
    rig.broker.send(rig.now_ms)
    assert len(rig.broker.requests) == 5
    rig.settle()
    assert rig.values() == list(range(8))
    assert rig.accumulator.reserved_bytes == 0


def test_a_batch_lingers_until_it_is_full_or_due() -> None:
    rig = acquainted(linger_ms=50)
    rig.batch()
    rig.broker.send(rig.now_ms + 49)
    assert not rig.broker.requests
    assert rig.sender.wake_at_ms == rig.now_ms + 50
    rig.broker.send(rig.now_ms + 50)
    assert len(rig.broker.requests) == 1
    rig.batch()
    rig.sender.flushing = 1
    rig.broker.send(rig.now_ms)
    assert len(rig.broker.requests) == 2


def test_a_lost_answer_does_not_write_twice() -> None:
    rig = acquainted()
    for _ in range(3):
        rig.batch()
        rig.broker.send(rig.now_ms)
    rig.broker.handle()
    rig.broker.handle()
    rig.lose()
    rig.settle()
    assert rig.values() == [0, 1, 2, 3]
    assert [batch.base_offset for batch in rig.batches] == [0, 1, 2, 3]
    assert rig.errors() == [None] * 4


def test_what_is_behind_a_refused_batch_keeps_its_place() -> None:
    rig = acquainted()
    for _ in range(3):
        rig.batch()
        rig.broker.send(rig.now_ms)
    rig.broker.handle(ErrorCode.NOT_ENOUGH_REPLICAS)
    rig.broker.handle()
    rig.broker.handle()
    rig.broker.answer(rig.now_ms)
    rig.now_ms += LATER_MS
    rig.broker.send(rig.now_ms)
    assert not rig.broker.requests, "it waits for what is behind it"
    rig.settle()
    assert rig.values() == [0, 1, 2, 3]
    assert rig.broker.log("t", 0).epoch == 0


def test_a_moved_leader_makes_it_ask_for_metadata() -> None:
    rig = Rig()
    rig.batch()
    rig.broker.send(rig.now_ms)
    rig.broker.handle(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    rig.broker.answer(rig.now_ms)
    assert rig.sender.wants_metadata
    rig.settle()
    assert rig.values() == [0]


def test_what_is_behind_a_failed_batch_is_numbered_anew() -> None:
    rig = acquainted()
    for records in (1, 2, 2):
        rig.batch(records=records)
        rig.broker.send(rig.now_ms)
    rig.broker.handle(ErrorCode.MESSAGE_TOO_LARGE)
    rig.settle()
    assert rig.values() == [0, 2, 3, 4, 5]
    assert isinstance(rig.batches[1].error, RecordTooLargeError)
    assert rig.errors()[2:] == [None, None]
    assert rig.broker.log("t", 0).epoch == 1


def test_what_is_behind_a_batch_that_was_written_before_it_was_given_up_is_not_written_twice() -> (
    None
):
    rig = acquainted()
    first = rig.batch()
    rig.broker.send(rig.now_ms)
    rig.now_ms += TIMEOUT_MS - 1
    rig.batch()
    rig.broker.send(rig.now_ms)
    rig.broker.handle()
    rig.broker.handle()
    rig.now_ms += 1
    rig.lose()
    assert isinstance(first.error, DeliveryTimedOutError)
    rig.settle()
    rig.batch()
    rig.settle()
    assert rig.values() == [0, 1, 2, 3]
    assert rig.errors()[2:] == [None, None]
    assert rig.broker.log("t", 0).epoch == 0


def test_time_is_over_for_a_batch_that_was_never_sent() -> None:
    rig = Rig()
    rig.batch()
    rig.now_ms += TIMEOUT_MS
    rig.broker.send(rig.now_ms)
    assert not rig.broker.requests
    assert isinstance(rig.batches[0].error, DeliveryTimedOutError)
    rig.batch()
    rig.settle()
    assert rig.values() == [1]
    assert rig.broker.log("t", 0).epoch == 0, "it had no number: there is no hole"


def test_a_broker_that_lost_records_is_told_of() -> None:
    rig = Rig()
    for _ in range(2):
        rig.batch()
        rig.settle()
    log = rig.broker.log("t", 0)
    log.values.pop()
    log.recent.pop()
    log.last_sequence -= 1
    for _ in range(2):
        rig.batch()
        rig.settle()
    (error,) = [error for error in rig.errors() if error is not None]
    assert error.code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert rig.values() == [0, 3]


@pytest.mark.parametrize("code", [ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_EPOCH])
def test_a_forgotten_producer_goes_on_in_its_next_epoch(code: int) -> None:
    rig = Rig()
    rig.batch()
    rig.broker.send(rig.now_ms)
    rig.broker.handle(code)
    rig.settle()
    assert rig.values() == [0]
    assert rig.broker.log("t", 0).epoch == 1


def test_nothing_is_sent_without_an_identity() -> None:
    rig = Rig()
    rig.sender.identity = None
    rig.batch()
    rig.broker.send(rig.now_ms)
    assert not rig.broker.requests


STEPS = st.lists(
    st.sampled_from(
        [
            "batch",
            "batch",
            "batch",
            "other",
            "send",
            "send",
            "handle",
            "handle",
            "refuse",
            "too large",
            "half",
            "answer",
            "answer",
            "lose",
            "time",
            "long",
        ]
    ),
    max_size=80,
)


@settings(max_examples=600)
@given(STEPS)
def test_records_are_written_once_and_in_order_whatever_happens(steps: list[str]) -> None:
    rig = Rig(partitions=2)
    for step in steps:
        rig.take(step)
    rig.settle()
    assert rig.accumulator.reserved_bytes == 0
    assert rig.accumulator.full == 0
    assert len(rig.finished) == len(rig.batches)
    for partition in (0, 1):
        written = rig.values(partition)
        assert written == sorted(set(written)), "twice, or out of order"
        for batch in rig.batches:
            if batch.partition == partition:
                for index, number in enumerate(rig.numbers[batch]):
                    if batch.error_of(index) is None:
                        offset = batch.metadata_of(index).offset
                        assert written[offset] == number, "not where it says"
    reasons = {type(error) for error in rig.errors()}
    assert reasons <= {type(None), DeliveryTimedOutError, RecordTooLargeError}
