"""The sender in a transaction that somebody else began: no epoch of its own gets it over a hole."""

from __future__ import annotations

import pytest
from fencepost_client.errors import (
    AbortableTransactionError,
    FencedError,
    KafkaError,
    RecordTooLargeError,
)
from fencepost_client.producer.shared_transaction import OpenTransaction, SharedTransactionManager
from fencepost_protocol.errors import ErrorCode
from hypothesis import given, settings

from tests.machine.client.harness.sender import STEPS, Rig


def rig_in_transaction(partitions: int = 1) -> Rig:
    """A rig whose broker knows the producer in each partition: 0 and so on are written."""
    shared = SharedTransactionManager(OpenTransaction("x", 5, 0, 2), lambda: 0.5)
    rig = Rig(partitions=partitions, transaction=shared)
    for partition in range(partitions):
        rig.batch(partition)
    rig.settle()
    return rig


def too_large(rig: Rig) -> None:
    """The oldest request is refused for good, and its answer is here."""
    rig.broker.handle(ErrorCode.MESSAGE_TOO_LARGE)
    rig.broker.answer(rig.now_ms)


def told(error: KafkaError | None) -> str:
    """What is told of a batch behind another one that was refused."""
    assert type(error) is AbortableTransactionError, error
    assert isinstance(error.__cause__, RecordTooLargeError)
    return str(error)


def test_what_waits_behind_a_batch_that_was_refused_fails_at_once() -> None:
    rig = rig_in_transaction(partitions=2)
    rig.batch()
    rig.broker.send(rig.now_ms)
    rig.batch(0)
    rig.batch(1)
    too_large(rig)
    assert isinstance(rig.batches[2].error, RecordTooLargeError)
    rig.broker.send(rig.now_ms)
    assert not rig.broker.requests, "nothing of it can be committed"
    assert "'x' must be aborted: MESSAGE_TOO_LARGE" in told(rig.batches[3].error)
    told(rig.batches[4].error)
    assert not rig.accumulator.unfinished
    assert not rig.accumulator.reserved_bytes


def test_what_is_under_way_behind_it_fails_with_its_answer() -> None:
    rig = rig_in_transaction()
    for _ in range(3):
        rig.batch()
        rig.broker.send(rig.now_ms)
    too_large(rig)
    rig.broker.handle()  # OUT_OF_ORDER_SEQUENCE_NUMBER
    rig.broker.answer(rig.now_ms)
    told(rig.batches[2].error)
    assert not rig.batches[3].done, "its answer is not here"
    rig.broker.handle()
    rig.broker.answer(rig.now_ms)
    told(rig.batches[3].error)
    assert rig.sender.requests_under_way == 0, "so that the abort may go"
    assert rig.values() == [0]


def test_what_comes_late_fails_as_well() -> None:
    """It waited for memory, and the transaction was looked at before that."""
    rig = rig_in_transaction()
    rig.batch()
    rig.broker.send(rig.now_ms)
    too_large(rig)
    rig.batch()
    rig.broker.send(rig.now_ms)
    told(rig.batches[2].error)


def test_a_producer_that_is_over_says_so_itself() -> None:
    rig = rig_in_transaction()
    rig.batch()
    rig.broker.send(rig.now_ms)
    rig.batch()
    rig.broker.handle(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    rig.broker.answer(rig.now_ms)
    rig.broker.send(rig.now_ms)
    assert isinstance(rig.batches[2].error, FencedError)
    assert rig.batches[2].error is rig.batches[1].error


@pytest.mark.parametrize("code", [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.NOT_ENOUGH_REPLICAS])
def test_what_can_be_repeated_still_is(code: int) -> None:
    rig = rig_in_transaction()
    for _ in range(3):
        rig.batch()
        rig.broker.send(rig.now_ms)
    rig.broker.handle(code)
    rig.settle()
    assert rig.values() == [0, 1, 2, 3]
    assert rig.errors() == [None] * 4


@settings(max_examples=300)
@given(STEPS)
def test_nobody_waits_for_a_timeout_behind_a_refusal(steps: list[str]) -> None:
    """As soon as all answers to what is under way are here."""
    rig = rig_in_transaction(partitions=2)
    for step in [*steps, "send", "too large"]:
        rig.take(step)
    while rig.broker.requests:
        rig.broker.handle()
    while rig.broker.answers:
        rig.broker.answer(rig.now_ms)
    rig.broker.send(rig.now_ms)
    if any(isinstance(batch.error, RecordTooLargeError) for batch in rig.finished):
        assert all(batch.done for batch in rig.batches)
        assert not rig.broker.requests
    rig.settle()
    for partition in (0, 1):
        written = rig.values(partition)
        assert written == sorted(set(written))
