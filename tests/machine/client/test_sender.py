"""The sender against a model of what a broker does with sequences."""

from __future__ import annotations

import pytest
from fencepost_client.errors import (
    DeliveryTimedOutError,
    RecordTooLargeError,
)
from fencepost_protocol.errors import ErrorCode
from hypothesis import given, settings

from tests.machine.client.harness.sender import LATER_MS, STEPS, TIMEOUT_MS, Rig, acquainted


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
