"""Batches that a coordinator has just built: taken as they are, changed where the topic asks."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.storage.log import Origin, PartitionLog
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.records.batch import TimestampType
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.writer import build_batch

from tests.machine.storage.harness import NOW, open_log, read_all

EPOCH = 3


def built(**options: Any) -> bytearray:
    return build_batch([b"k"], [b"value" * 20], NOW, **options)


def refusal(log: PartitionLog, batch: bytearray) -> ErrorCode | None:
    refused = log.append_built(batch, EPOCH, NOW)
    return None if refused is None else refused.error


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"compact": True},
        {"compression_type": Compression.ZSTD},
        {"compression_type": Compression.NONE},
        {"message_timestamp_type": TimestampType.LOG_APPEND_TIME},
    ],
    ids=str,
)
def test_it_is_the_same_as_a_coordinators_batch(settings: dict[str, Any]) -> None:
    one, other = open_log(**settings), open_log(**settings)
    for options in ({}, {"producer_id": 7, "producer_epoch": 1}):
        assert one.append_built(built(**options), EPOCH, NOW + 5) is None
        appended = other.append_as_leader(
            memoryview(built(**options)), EPOCH, NOW + 5, Origin.COORDINATOR
        )
        assert not appended.error
        assert appended.last_offset == one.log_end_offset - 1
    assert [bytes(data) for _, data in read_all(one)] == [
        bytes(data) for _, data in read_all(other)
    ]
    assert [header.partition_leader_epoch for header, _ in read_all(one)] == [EPOCH, EPOCH]


def test_one_that_is_too_large_is_refused() -> None:
    log = open_log(max_message_bytes=100)
    assert refusal(log, built()) is ErrorCode.MESSAGE_TOO_LARGE
    assert log.log_end_offset == 0


def test_a_transactional_one_needs_its_verification() -> None:
    log = open_log()
    batch = {"producer_id": 7, "producer_epoch": 1, "transactional": True}
    assert refusal(log, built(**batch)) is ErrorCode.INVALID_TXN_STATE
    guard = log.start_verification(7, 1, -1, supports_epoch_bump=True, now_ms=NOW)
    assert log.append_built(built(**batch), EPOCH, NOW, guard) is None
    old = {**batch, "producer_epoch": 0}
    assert refusal(log, built(**old)) is ErrorCode.INVALID_PRODUCER_EPOCH
    assert log.last_stable_offset == 0
