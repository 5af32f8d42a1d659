"""Idempotent producers: repeats, gaps, epochs, and what a restart remembers."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.storage.log import Origin, PartitionLog
from fencepost_broker.storage.log.producers import ProducerState
from fencepost_protocol.errors import ErrorCode

from tests.machine.storage.harness import NOW, append, fill, of_producer, open_log, read_all, reopen

OUT_OF_ORDER = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def error_of(log: PartitionLog, sequence: int, count: int = 1, **more: Any) -> ErrorCode:
    return log.append_as_leader(of_producer(sequence, count, **more), 0, NOW).error


def test_a_repeat_is_answered_with_the_first_copys_offsets() -> None:
    log = open_log()
    append(log, of_producer(0, 3, time=NOW - 5))
    append(log, of_producer(3, 2))
    again = append(log, of_producer(0, 3, time=NOW - 5))
    assert again.duplicate
    assert (again.base_offset, again.last_offset, again.log_append_time_ms) == (0, 2, NOW - 5)
    assert log.log_end_offset == 5


def test_five_batches_are_remembered() -> None:
    log = open_log()
    for sequence in range(6):
        append(log, of_producer(sequence))
    assert error_of(log, 0) is OUT_OF_ORDER
    for sequence in range(1, 6):
        assert append(log, of_producer(sequence)).base_offset == sequence
    assert log.log_end_offset == 6


def test_a_range_that_is_no_whole_batch_is_no_repeat() -> None:
    log = open_log()
    append(log, of_producer(0, 4))
    append(log, of_producer(4, 4))
    for sequence, count in ((0, 2), (2, 2), (2, 4), (0, 8), (5, 1)):
        assert error_of(log, sequence, count) is OUT_OF_ORDER


def test_a_gap_is_out_of_order() -> None:
    log = open_log()
    append(log, of_producer(0, 2))
    assert error_of(log, 3) is OUT_OF_ORDER
    append(log, of_producer(2))


def test_a_producer_that_is_new_here_may_begin_anywhere() -> None:
    log = open_log()
    assert append(log, of_producer(1000, 2)).base_offset == 0
    append(log, of_producer(1002))


def test_sequences_wrap() -> None:
    log = open_log()
    append(log, of_producer(2**31 - 3, 2))
    append(log, of_producer(2**31 - 1, 3))  # 2147483647, 0, 1
    assert append(log, of_producer(2**31 - 1, 3)).duplicate
    append(log, of_producer(2))
    assert error_of(log, 0) is OUT_OF_ORDER


def test_a_new_epoch_begins_with_sequence_zero() -> None:
    log = open_log()
    append(log, of_producer(0, 5))
    assert error_of(log, 5, epoch=1) is OUT_OF_ORDER
    append(log, of_producer(0, epoch=1))
    assert error_of(log, 1, epoch=0) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert error_of(log, 0, 5, epoch=0) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert not append(log, of_producer(1, epoch=1)).duplicate


def test_producers_do_not_disturb_one_another() -> None:
    log = open_log()
    append(log, of_producer(0, producer=1))
    append(log, of_producer(0, producer=2))
    fill(log, 1)
    append(log, of_producer(1, producer=1))
    assert error_of(log, 2, producer=2) is OUT_OF_ORDER


def test_a_coordinators_batches_have_no_sequence() -> None:
    log = open_log(transaction_partition_verification_enable=False)
    for _ in range(2):
        records = of_producer(-1, producer=4, txn=True)
        assert not log.append_as_leader(records, 0, NOW, Origin.COORDINATOR).error
    assert log.describe_producers()[0].last_sequence == -1
    old = of_producer(-1, producer=4, epoch=-1, txn=True)
    assert log.append_as_leader(old, 0, NOW, Origin.COORDINATOR).error is (
        ErrorCode.INVALID_PRODUCER_EPOCH
    )


@pytest.mark.parametrize("clean", [True, False])
def test_a_restart_remembers_producers(clean: bool) -> None:
    log = open_log(segment_bytes=400)
    for sequence in range(10):
        append(log, of_producer(sequence))
    fill(log, 3)
    again = reopen(log, clean=clean)
    assert again.describe_producers() == log.describe_producers()
    assert append(again, of_producer(9)).base_offset == 9
    assert error_of(again, 11) is OUT_OF_ORDER
    append(again, of_producer(10))


def test_idle_producers_are_forgotten_but_not_those_with_an_open_transaction() -> None:
    log = open_log(producer_id_expiration_ms=1000, transaction_partition_verification_enable=False)
    append(log, of_producer(0, producer=1, time=NOW))
    append(log, of_producer(0, producer=2, time=NOW + 500))
    append(log, of_producer(0, producer=3, time=NOW, txn=True))
    assert log.expire_producers(NOW + 999) == 0
    assert log.expire_producers(NOW + 1000) == 1
    assert sorted(log.producers.producers) == [2, 3]
    append(log, of_producer(77, producer=1))


@pytest.mark.parametrize("clean", [True, False])
def test_a_repeat_of_the_last_five_batches_is_known_after_a_restart(clean: bool) -> None:
    log = open_log(segment_bytes=300)
    for sequence in range(9):
        append(log, of_producer(sequence))
    assert len(log.snapshots.offsets) > 1
    again = reopen(log, clean=clean)
    for sequence in range(4, 9):
        result = again.append_as_leader(of_producer(sequence), 0, NOW)
        assert (result.error, result.base_offset) == (ErrorCode.NONE, sequence)
        assert result.duplicate
    assert error_of(again, 3) is OUT_OF_ORDER
    append(again, of_producer(9))


def test_a_snapshot_says_everything() -> None:
    log = open_log(transaction_partition_verification_enable=False)
    append(log, of_producer(0, 3, producer=1))
    append(log, of_producer(0, 3, producer=2, txn=True))
    log.append_marker(3, 5, committed=True, coordinator_epoch=8, leader_epoch=0, now_ms=NOW)
    state = ProducerState()
    state.load(bytes(log.producers.snapshot()), "snapshot")
    assert state.describe() == log.describe_producers()
    for producer_id, producer in log.producers.producers.items():
        assert state.producers[producer_id].batches == producer.batches
    assert state.ongoing == log.producers.ongoing == {3: 2}


def test_a_corrupt_snapshot_is_ignored_and_told() -> None:
    log = open_log(segment_bytes=300)
    for sequence in range(8):
        append(log, of_producer(sequence))
    described = log.describe_producers()
    log.close()
    newest = f"{log.folder}/{log.snapshots.offsets[-1]:020d}.snapshot"
    content = bytearray(log.disk.read(newest) or b"")
    content[-1] ^= 1
    log.disk.write(newest, content, durable=False)
    again = reopen(log, clean=True)
    assert "snapshot-ignored" in [event.kind for event in again.take_events()]
    assert again.describe_producers() == described


def test_everything_stays_readable() -> None:
    log = open_log()
    append(log, of_producer(0, 3))
    append(log, of_producer(0, 3))
    assert len(read_all(log)) == 1
