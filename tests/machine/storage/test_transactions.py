"""Transactions in one partition: markers, the last stable offset, aborted ranges, verification."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.storage.log import AppendResult, PartitionLog, UpperBound
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.control import ControlType, read_control_record

from tests.machine.storage.harness import (
    NOW,
    append,
    batch,
    fill,
    of_producer,
    open_log,
    read_all,
    reopen,
)


def transactional_log(**settings: Any) -> PartitionLog:
    return open_log(transaction_partition_verification_enable=False, **settings)


def end(
    log: PartitionLog,
    *,
    producer: int = 7,
    epoch: int = 0,
    committed: bool = True,
    coordinator: int = 0,
    version: int = 1,
) -> AppendResult:
    return log.append_marker(
        producer,
        epoch,
        committed=committed,
        coordinator_epoch=coordinator,
        leader_epoch=0,
        now_ms=NOW,
        transaction_version=version,
    )


def aborted(log: PartitionLog, offset: int = 0, max_bytes: int = 1 << 20) -> list[tuple[int, int]]:
    result = log.read(offset, max_bytes, UpperBound.LAST_STABLE)
    assert result.aborted is not None
    return [tuple(entry) for entry in result.aborted]  # type: ignore[misc]


def test_an_open_transaction_holds_the_last_stable_offset() -> None:
    log = transactional_log()
    fill(log, 2)
    append(log, of_producer(0, 3, txn=True))
    fill(log, 2)
    assert (log.last_stable_offset, log.high_watermark, log.log_end_offset) == (2, 7, 7)
    assert log.has_ongoing_transaction(7, 0)
    result = end(log)
    assert (result.error, result.base_offset) == (ErrorCode.NONE, 7)
    assert log.last_stable_offset == log.log_end_offset == 8
    assert not log.has_ongoing_transaction(7, 0)


def test_a_marker_says_what_it_is() -> None:
    log = transactional_log()
    end(log, committed=False, epoch=3, coordinator=17)
    [(header, data)] = read_all(log)
    assert header.is_control
    assert header.is_transactional
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (7, 3, -1)
    record = read_control_record(data)
    assert (record.type, record.coordinator_epoch) == (ControlType.ABORT, 17)


def test_a_read_committed_reader_sees_nothing_of_an_open_transaction() -> None:
    log = transactional_log()
    append(log, of_producer(0, 3, txn=True))
    fill(log, 1)
    result = log.read(0, 1 << 20, UpperBound.LAST_STABLE)
    assert (result.error, result.size, result.aborted) == (ErrorCode.NONE, 0, [])
    assert log.read(0, 1 << 20, UpperBound.HIGH_WATERMARK).aborted is None
    end(log)
    assert log.read(0, 1 << 20, UpperBound.LAST_STABLE).size == log.size_in_bytes


def test_the_oldest_of_several_transactions_counts() -> None:
    log = transactional_log()
    append(log, of_producer(0, producer=1, txn=True))
    append(log, of_producer(0, producer=2, txn=True))
    end(log, producer=2)
    assert log.last_stable_offset == 0
    append(log, of_producer(1, producer=2, txn=True))
    end(log, producer=1)
    assert log.last_stable_offset == 3


def test_aborted_transactions_are_told_where_they_overlap() -> None:
    log = transactional_log()
    append(log, of_producer(0, producer=1, txn=True))  # 0
    append(log, of_producer(0, producer=2, txn=True))  # 1
    end(log, producer=2, committed=False)  # 2
    end(log, producer=1, committed=False)  # 3
    append(log, of_producer(1, producer=1, txn=True))  # 4
    end(log, producer=1)  # 5
    append(log, of_producer(1, producer=2, txn=True))  # 6
    end(log, producer=2, committed=False)  # 7
    assert sorted(aborted(log)) == [(1, 0), (2, 1), (2, 6)]
    assert aborted(log, 4) == [(2, 6)]
    assert aborted(log, 3) == [(1, 0), (2, 6)]
    assert aborted(log, 8) == []


def test_a_transaction_that_ended_later_is_told_even_if_another_one_ended_before() -> None:
    log = transactional_log(index_interval_bytes=0)
    append(log, of_producer(0, producer=1, txn=True))  # 0
    append(log, of_producer(0, producer=2, txn=True))  # 1
    fill(log, 1)  # 2
    end(log, producer=2, committed=False)  # 3
    end(log, producer=1, committed=False)  # 4
    assert aborted(log, 0, 10) == [(1, 0)]
    assert aborted(log, 2, 10) == [(2, 1), (1, 0)]


@pytest.mark.parametrize("clean", [True, False])
def test_aborted_transactions_survive_a_restart_and_a_roll(clean: bool) -> None:
    log = transactional_log(segment_bytes=350)
    expected = []
    for number in range(12):
        committed = bool(number % 3)
        start = log.log_end_offset
        append(log, of_producer(number, producer=1, txn=True))
        fill(log, 1)
        end(log, producer=1, committed=committed)
        if not committed:
            expected.append((1, start))
    append(log, of_producer(99, producer=2, txn=True))
    assert len(log.segments) > 4
    everything = [entry for segment in log.segments for entry in segment.transactions.entries()]
    assert [(entry.producer_id, entry.first_offset) for entry in everything] == expected
    again = reopen(log, clean=clean, recovery_point=0)
    assert [
        entry for segment in again.segments for entry in segment.transactions.entries()
    ] == everything
    assert again.last_stable_offset == log.last_stable_offset == again.log_end_offset - 1
    assert again.has_ongoing_transaction(2, 0)
    end(again, producer=2, committed=False)
    assert again.last_stable_offset == again.log_end_offset


def test_a_marker_is_written_even_without_a_transaction() -> None:
    log = transactional_log()
    for _ in range(2):
        assert not end(log, version=2).error
    assert log.log_end_offset == 2
    assert aborted(log) == []


def test_epochs_of_markers() -> None:
    log = transactional_log()
    append(log, of_producer(0, epoch=4, txn=True))
    assert end(log, epoch=3).error is ErrorCode.INVALID_PRODUCER_EPOCH
    assert end(log, epoch=4, version=2).error is ErrorCode.INVALID_PRODUCER_EPOCH
    assert log.log_end_offset == 1
    assert not end(log, epoch=5, version=2).error
    assert not end(log, epoch=5, version=2).error, "a late repeat does no harm"
    assert end(log, epoch=4, version=2).error is ErrorCode.INVALID_PRODUCER_EPOCH
    [producer] = log.describe_producers()
    assert (producer.producer_epoch, producer.last_sequence) == (5, -1)


def test_after_a_marker_with_a_new_epoch_sequences_begin_again() -> None:
    log = transactional_log()
    append(log, of_producer(0, 3, epoch=0, txn=True))
    end(log, epoch=1, version=2)
    late = log.append_as_leader(of_producer(3, epoch=0, txn=True), 0, NOW)
    assert late.error is ErrorCode.INVALID_PRODUCER_EPOCH
    gap = log.append_as_leader(of_producer(3, epoch=1, txn=True), 0, NOW)
    assert gap.error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    append(log, of_producer(0, epoch=1, txn=True))


def test_after_a_marker_with_the_same_epoch_sequences_run_on() -> None:
    log = transactional_log()
    append(log, of_producer(0, 3, txn=True))
    end(log, version=1)
    append(log, of_producer(3, txn=True))


def test_an_old_coordinator_is_fenced() -> None:
    log = transactional_log()
    end(log, coordinator=5)
    assert end(log, coordinator=4).error is ErrorCode.TRANSACTION_COORDINATOR_FENCED
    assert not end(log, coordinator=5).error
    assert end(log, coordinator=4, producer=8).error is ErrorCode.NONE


def test_a_batch_outside_the_transaction_of_its_producer_is_refused() -> None:
    log = transactional_log()
    append(log, of_producer(0, txn=True))
    refused = log.append_as_leader(of_producer(1), 0, NOW)
    assert refused.error is ErrorCode.INVALID_TXN_STATE
    append(log, of_producer(1, txn=True))


def test_a_transactional_batch_without_a_producer_is_just_written() -> None:
    log = open_log()
    append(log, batch(2, transactional=True))
    assert log.last_stable_offset == 2


def test_with_several_replicas_a_marker_counts_when_it_is_replicated() -> None:
    log = transactional_log()
    log.follows_log_end = False
    append(log, of_producer(0, 2, txn=True))
    assert log.set_high_watermark(2)
    assert (log.high_watermark, log.last_stable_offset) == (2, 0)
    end(log)
    assert log.last_stable_offset == 0
    assert not log.set_high_watermark(2)
    assert log.set_high_watermark(3)
    assert (log.high_watermark, log.last_stable_offset) == (3, 3)


def test_what_ended_above_the_high_watermark_is_held_back_behind_a_restart() -> None:
    log = transactional_log()
    append(log, of_producer(0, 2, txn=True))
    fill(log, 1)
    end(log)  # 3
    append(log, of_producer(0, 1, producer=8, txn=True))  # 4
    end(log, producer=8)  # 5
    again = reopen(log, clean=False, recovery_point=0)
    assert again.last_stable_offset == again.log_end_offset == 6
    for high_watermark, stable in ((3, 0), (4, 4), (5, 4), (6, 6)):
        again.set_high_watermark(high_watermark)
        assert again.last_stable_offset == stable


def test_what_ended_above_the_high_watermark_is_held_back_behind_a_cut() -> None:
    log = transactional_log()
    log.follows_log_end = False
    append(log, of_producer(0, 2, txn=True))
    end(log)  # 2
    fill(log, 2)
    log.set_high_watermark(1)
    log.truncate_to(4, NOW)
    assert (log.high_watermark, log.last_stable_offset) == (1, 0)
    log.set_high_watermark(4)
    assert log.last_stable_offset == 4


# --- verification (KIP-890) -----------------------------------------------------------------------


def guarded(log: PartitionLog, sequence: int, **more: Any) -> ErrorCode:
    guard = log.start_verification(7, 0, sequence, supports_epoch_bump=False, now_ms=NOW)
    return log.append_as_leader(of_producer(sequence, txn=True, **more), 0, NOW, guard=guard).error


def test_the_first_batch_of_a_transaction_needs_a_guard() -> None:
    log = open_log()
    records = of_producer(0, txn=True)
    assert log.append_as_leader(records, 0, NOW).error is ErrorCode.INVALID_TXN_STATE
    assert guarded(log, 0) is ErrorCode.NONE
    assert log.start_verification(7, 0, 1, supports_epoch_bump=False, now_ms=NOW) is None
    append(log, of_producer(1, txn=True))
    end(log)
    refused = log.append_as_leader(of_producer(2, txn=True), 0, NOW)
    assert refused.error is ErrorCode.INVALID_TXN_STATE


def test_a_marker_makes_a_guard_worthless() -> None:
    log = open_log()
    guard = log.start_verification(7, 0, 0, supports_epoch_bump=False, now_ms=NOW)
    assert guard is not None
    end(log, committed=False)
    result = log.append_as_leader(of_producer(0, txn=True), 0, NOW, guard=guard)
    assert result.error is ErrorCode.INVALID_TXN_STATE
    later = log.start_verification(7, 0, 0, supports_epoch_bump=False, now_ms=NOW)
    assert later is not guard
    result = log.append_as_leader(of_producer(0, txn=True), 0, NOW, guard=guard)
    assert result.error is ErrorCode.INVALID_TXN_STATE


def test_a_batch_that_overtook_the_first_one_is_held_back() -> None:
    log = open_log()
    first = log.start_verification(7, 0, 0, supports_epoch_bump=False, now_ms=NOW)
    second = log.start_verification(7, 0, 1, supports_epoch_bump=False, now_ms=NOW)
    assert second is first
    early = log.append_as_leader(of_producer(1, txn=True), 0, NOW, guard=second)
    assert early.error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert not log.append_as_leader(of_producer(0, txn=True), 0, NOW, guard=first).error
    assert not log.append_as_leader(of_producer(1, txn=True), 0, NOW, guard=second).error


def test_a_version_2_producer_that_is_new_here_begins_with_zero() -> None:
    log = open_log()
    guard = log.start_verification(7, 0, 5, supports_epoch_bump=True, now_ms=NOW)
    result = log.append_as_leader(of_producer(5, txn=True), 0, NOW, guard=guard)
    assert result.error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_stale_epoch_is_told_before_a_missing_guard() -> None:
    log = open_log()
    end(log, epoch=2)
    result = log.append_as_leader(of_producer(0, epoch=1, txn=True), 0, NOW)
    assert result.error is ErrorCode.INVALID_PRODUCER_EPOCH


def test_verifications_are_forgotten_after_a_while() -> None:
    log = open_log(producer_id_expiration_ms=1000)
    log.start_verification(7, 0, 0, supports_epoch_bump=False, now_ms=NOW)
    log.expire_producers(NOW + 999)
    assert log.producers.verifications
    log.expire_producers(NOW + 1000)
    assert not log.producers.verifications
