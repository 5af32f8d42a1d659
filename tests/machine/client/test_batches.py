"""Batches that are too large, that are late, and that name their topic by id."""

from __future__ import annotations

import pytest
from fencepost_client.errors import DeliveryTimedOutError, RecordTooLargeError
from fencepost_client.producer.batch import NOBODY, Batch, Identity
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from fencepost_protocol.records.columns import read_columns
from fencepost_protocol.records.compression import Compression

from tests.machine.client.harness.sender import TIMEOUT_MS, Rig, acquainted

TOPIC_ID = bytes(range(16))


@pytest.mark.parametrize("code", [ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE])
def test_a_batch_that_is_too_large_goes_in_halves_under_its_numbers(code: int) -> None:
    rig = acquainted()
    batch = rig.batch(records=5)
    rig.broker.send(rig.now_ms)
    rig.broker.handle(code)
    rig.settle()
    log = rig.broker.log("t", 0)
    assert rig.values() == [0, 1, 2, 3, 4, 5]
    assert log.sizes == [1, 2, 3]
    assert log.epoch == 0, "nothing is missing, so nothing is numbered anew"
    assert [batch.metadata_of(index).offset for index in range(5)] == [1, 2, 3, 4, 5]
    assert rig.finished.count(batch) == 1
    assert not rig.accumulator.reserved_bytes


def test_what_may_be_written_already_is_not_halved() -> None:
    rig = acquainted()
    batch = rig.batch(records=2)
    rig.broker.send(rig.now_ms)
    rig.broker.handle(ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, after_append=True)
    rig.broker.answer(rig.now_ms)
    rig.now_ms += 2_000
    rig.broker.send(rig.now_ms)
    rig.broker.handle(ErrorCode.MESSAGE_TOO_LARGE)
    rig.settle()
    assert rig.values() == [0, 1, 2], "each once"
    assert isinstance(batch.error, RecordTooLargeError)


def test_it_is_halved_as_often_as_it_takes_and_others_wait_behind_it() -> None:
    rig = acquainted()
    rig.broker.log("t", 0).bytes_max = 80  # two records of this size, and a header
    rig.batch(records=7)
    rig.broker.send(rig.now_ms)
    behind = [rig.batch() for _ in range(2)]
    rig.broker.send(rig.now_ms)
    assert len(rig.broker.requests) == 2
    rig.settle()
    assert rig.values() == list(range(10))
    assert rig.errors() == [None] * 4
    assert all(batch.attempts > 1 for batch in behind[:1]), "it was under way, and out of order"
    assert rig.broker.log("t", 0).epoch == 0


def test_a_record_that_is_too_large_alone_fails_alone() -> None:
    rig = acquainted()
    rig.broker.log("t", 0).bytes_max = 100
    batch = rig.batch(records=3)
    batch.values[1] = bytes(200)
    rig.settle()
    log = rig.broker.log("t", 0)
    assert [int(value) for value in log.values] == [0, 1, 3]
    assert [type(batch.error_of(index)) for index in range(3)] == [
        type(None),
        RecordTooLargeError,
        type(None),
    ]
    assert batch.metadata_of(2).offset == 2
    with pytest.raises(RecordTooLargeError):
        batch.metadata_of(1)
    assert isinstance(batch.error, RecordTooLargeError), "for who asks about all of it"


@pytest.mark.parametrize("codec", list(Compression))
def test_halves_have_all_that_the_whole_had(codec: Compression) -> None:
    batch = Batch("t", 0, 1000, 0, 7)
    for number in range(5):
        headers = [("h", b"%d" % number)] if number in {1, 3} else ()
        key = None if number == 2 else b"k%d" % number
        batch.append(key, b"v%d" % number, 100 + number, headers)
    batch.number(Identity(5, 1), 0x7FFF_FFFE)
    batch.encode(codec, transactional=True)
    first, second = batch.split()
    assert (first.base_sequence, second.base_sequence) == (0x7FFF_FFFE, 0), "they wrap"
    assert batch.order <= first.order < second.order < 8
    for half, numbers in ((first, [0, 1]), (second, [2, 3, 4])):
        columns = read_columns(half.encode(codec, transactional=True))
        assert columns.values == [b"v%d" % number for number in numbers]
        assert columns.keys == [None if n == 2 else b"k%d" % n for n in numbers]
        assert columns.timestamps == [100 + number for number in numbers]
        assert [bool(columns.headers.get(i)) for i in range(len(numbers))] == [
            number in {1, 3} for number in numbers
        ]


def test_a_batch_without_numbers_has_halves_without() -> None:
    batch = Batch("t", 0, 1000, 0, 7)
    batch.extend(None, [b"a", None], 5)
    batch.number(NOBODY, -1)
    batch.encode(Compression.NONE, transactional=False)
    assert [half.base_sequence for half in batch.split()] == [-1, -1]


def test_time_is_over_for_what_is_under_way_before_its_request_is_answered() -> None:
    rig = acquainted()
    batch = rig.batch()
    rig.broker.send(rig.now_ms)
    assert rig.sender.wake_at_ms is not None
    assert rig.sender.wake_at_ms <= rig.now_ms + TIMEOUT_MS
    rig.now_ms += TIMEOUT_MS
    rig.broker.send(rig.now_ms)
    assert isinstance(batch.error, DeliveryTimedOutError)
    assert not rig.accumulator.reserved_bytes
    assert rig.sender.requests_under_way == 1
    # It is written after all, and its answer changes nothing any more.
    rig.broker.handle()
    rig.broker.answer(rig.now_ms)
    assert rig.sender.requests_under_way == 0
    assert rig.finished.count(batch) == 1
    rig.batch()
    rig.settle()
    assert rig.values() == [0, 1, 2]


def test_what_follows_waits_for_the_request_that_was_given_up() -> None:
    rig = acquainted()
    rig.batch()
    rig.broker.send(rig.now_ms)
    rig.now_ms += TIMEOUT_MS
    later = rig.batch()
    rig.broker.send(rig.now_ms)
    assert len(rig.broker.requests) == 1, "whether the first one is written is not known"
    rig.lose()
    rig.settle()
    assert rig.values() == [0, 2]
    assert later.error is None


def test_a_request_by_topic_ids() -> None:
    rig = acquainted()
    batch = rig.batch()
    (produce,) = rig.sender.drain(rig.now_ms, lambda *_: 1, lambda _: True)
    request = rig.sender.request(produce, {"t": TOPIC_ID})
    wire = bytearray()
    request.encode(13, wire)
    assert ProduceRequest.decode(memoryview(wire), 13)[0].topic_data[0].topic_id == TOPIC_ID
    refused = PartitionProduceResponse(0, ErrorCode.UNKNOWN_TOPIC_ID)
    answer = ProduceResponse([TopicProduceResponse("", TOPIC_ID, [refused])])
    rig.sender.answered(rig.now_ms, produce, answer)
    assert rig.sender.wants_metadata, "it was made anew, perhaps: its id is another then"
    assert not batch.done
    rig.now_ms += 2_000
    (produce,) = rig.sender.drain(rig.now_ms, lambda *_: 1, lambda _: True)
    rig.sender.request(produce, {"t": TOPIC_ID})
    good = PartitionProduceResponse(0, 0, 41)
    rig.sender.answered(
        rig.now_ms, produce, ProduceResponse([TopicProduceResponse("", TOPIC_ID, [good])])
    )
    assert batch.metadata_of(0).offset == 41


def test_versions_by_name_go_on_as_before() -> None:
    rig = Rig()
    rig.batch()
    (produce,) = rig.sender.drain(rig.now_ms, lambda *_: 1, lambda _: True)
    request = rig.sender.request(produce)
    wire = bytearray()
    request.encode(12, wire)
    assert ProduceRequest.decode(memoryview(wire), 12)[0].topic_data[0].name == "t"
