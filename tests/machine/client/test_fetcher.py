"""What is fetched, and what of it an application sees."""

from __future__ import annotations

import pytest
from fencepost_client import ConsumerRecord, KafkaError, NetworkError, TopicPartition
from fencepost_client.consumer.fetcher import FetchSettings
from fencepost_client.errors import MalformedAnswerError
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import (
    AbortedTransaction,
    FetchResponse,
)
from fencepost_protocol.records.writer import build_batch

from tests.machine.client.harness.fetcher import (
    WHERE,
    Rig,
    batch,
    cluster_of,
    marker,
)


def test_records_are_handed_out_in_pieces_and_the_position_follows() -> None:
    rig = Rig()
    rig.fetch(batch(0, 3), batch(3, 2))
    assert rig.position.offset == 0
    assert rig.position.fetch_offset == 5
    assert rig.take(2) == [0, 1]
    assert rig.position.offset == 2
    assert rig.take(2) == [2, 3]
    assert rig.take() == [4]
    assert rig.position.offset == 5
    assert rig.position.ahead_bytes == 0


def test_a_batch_that_begins_before_the_position_is_cut() -> None:
    rig = Rig()
    rig.position.seek(4)
    rig.fetch(batch(0, 3), batch(3, 3))
    assert rig.take() == [4, 5]


def test_headers_belong_to_their_record() -> None:
    rig = Rig()
    rig.fetch(build_batch(None, [b"a", b"b", b"c"], 1, {1: [("h", b"1")], 2: [("h", b"2")]}))
    out: list[ConsumerRecord] = []
    rig.position.take(2, out)
    rig.position.take(9, out)
    assert [list(record.headers) for record in out] == [[], [("h", b"1")], [("h", b"2")]]


def test_aborted_transactions_are_left_out_and_others_are_not() -> None:
    rig = Rig(read_committed=True)
    rig.fetch(
        batch(0, 1, producer_id=7),  # aborted
        batch(1, 1, producer_id=8),  # committed
        batch(2, 1),  # no transaction
        marker(3, 7, committed=False),
        batch(4, 1, producer_id=7),  # the same producer's next one
        marker(5, 8, committed=True),
        batch(6, 1, producer_id=8),  # aborted
        marker(7, 8, committed=False),
        marker(8, 7, committed=True),
        aborted_transactions=[AbortedTransaction(8, 6), AbortedTransaction(7, 0)],
    )
    assert rig.take() == [1, 2, 4]
    assert rig.position.offset == 9, "behind the last marker"


def test_an_uncommitted_reader_sees_all_but_markers() -> None:
    rig = Rig()
    rig.fetch(batch(0, 1, producer_id=7), marker(1, 7, committed=False), batch(2, 1))
    assert rig.take() == [0, 2]


def test_a_batch_that_was_cut_off_is_fetched_again() -> None:
    rig = Rig()
    rig.fetch(batch(0), batch(2)[:-5])
    assert rig.take() == [0, 1]
    assert rig.position.fetch_offset == 2


def test_damage_is_told_after_what_was_before_it_and_is_fetched_again() -> None:
    rig = Rig()
    damaged = batch(2)
    damaged[-1] ^= 1
    rig.fetch(batch(0), damaged, batch(4))
    assert rig.take() == [0, 1]
    error, rig.position.error = rig.position.error, None
    assert error is not None
    assert error.code == ErrorCode.CORRUPT_MESSAGE
    assert "offset 2" in str(error)
    assert rig.position.fetch_offset == 2
    assert not rig.position.ahead


@pytest.mark.parametrize("hidden", [marker(0, 7, committed=False), batch(0, producer_id=7)])
def test_damage_is_told_of_what_is_not_returned(hidden: bytearray) -> None:
    """A marker says which records are left out, and so does a header."""
    rig = Rig(read_committed=True)
    damaged = bytearray(hidden)
    damaged[-1] ^= 1
    rig.fetch(damaged, aborted_transactions=[AbortedTransaction(7, 0)])
    assert rig.take() == []
    assert rig.position.error is not None
    assert rig.position.error.code == ErrorCode.CORRUPT_MESSAGE


def test_one_fetch_is_under_way_to_a_node() -> None:
    rig = Rig(2)
    (fetch,) = rig.ask()
    assert set(fetch.partitions) == {WHERE, TopicPartition("t", 1)}
    assert rig.ask() == []
    rig.answer(fetch)
    assert len(rig.ask()) == 1


def test_a_full_or_paused_partition_is_not_fetched() -> None:
    rig = Rig(2, partition_max_bytes=100)
    rig.fetch(batch(0, 50))
    (fetch,) = rig.ask()
    assert WHERE not in fetch.partitions
    rig.fetcher.failed(0, fetch, NetworkError())
    rig.now_ms = 1000
    rig.take()
    rig.position.is_paused = True
    (fetch,) = rig.ask()
    assert WHERE not in fetch.partitions


def test_a_range_is_not_fetched_beyond_its_end() -> None:
    rig = Rig()
    rig.position.seek(0, until=100)
    (fetch,) = rig.ask()
    first = rig.request(fetch).topics[0].partitions[0].partition_max_bytes
    assert first < FetchSettings().partition_max_bytes, "nobody knows how large records are"
    some = batch(0, 50)
    rig.answer(fetch, some)
    (fetch,) = rig.ask()
    asked = rig.request(fetch).topics[0].partitions[0].partition_max_bytes
    assert len(some) < asked < first, "as much as the first half took, and some more"
    rig.answer(fetch, batch(50, 60))
    assert rig.ask() == []
    assert rig.take() == [*range(100)], "what came along is behind the end of what was asked for"
    assert rig.ask() == []
    rig.position.seek(100)
    (fetch,) = rig.ask()
    asked = rig.request(fetch).topics[0].partitions[0].partition_max_bytes
    assert asked == FetchSettings().partition_max_bytes


def test_an_answer_for_before_a_seek_or_an_assignment_is_dropped() -> None:
    rig = Rig()
    (fetch,) = rig.ask()
    rig.position.seek(50)
    rig.answer(fetch, batch(0))
    assert rig.take() == []
    assert rig.position.fetch_offset == 50
    (fetch,) = rig.ask()
    old = rig.position
    rig.fetcher.assign([])
    rig.fetcher.assign([WHERE])
    rig.answer(fetch, batch(50))
    assert not old.ahead
    assert not rig.position.ahead


def test_partitions_take_turns_in_being_first() -> None:
    rig = Rig(3)
    rig.cluster = cluster_of(3, epoch=4)
    first = set()
    for _ in range(3):
        (fetch,) = rig.ask()
        request = rig.request(fetch)
        first.add(request.topics[0].partitions[0].partition)
        assert request.topics[0].partitions[0].current_leader_epoch == 4
        rig.fetcher.answered(0, fetch, FetchResponse())
    assert first == {0, 1, 2}


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.KAFKA_STORAGE_ERROR,
    ],
)
def test_what_passes_is_tried_again_after_a_pause(code: int) -> None:
    rig = Rig()
    rig.fetch(code=code)
    assert rig.fetcher.wants_metadata
    assert rig.position.error is None
    assert rig.ask() == []
    assert rig.fetcher.wake_at_ms == 100
    rig.now_ms = 100
    assert len(rig.ask()) == 1


def test_an_answer_that_makes_no_sense_is_told() -> None:
    rig = Rig()
    (fetch,) = rig.ask()
    rig.fetcher.failed(0, fetch, MalformedAnswerError("Fetch v18: 7 bytes are left behind"))
    assert isinstance(rig.position.error, MalformedAnswerError)
    rig.position.error = None
    assert len(rig.ask()) == 1


def test_a_lost_connection_is_tried_again() -> None:
    rig = Rig()
    (fetch,) = rig.ask()
    rig.fetcher.failed(0, fetch, NetworkError())
    rig.now_ms = 100
    assert len(rig.ask()) == 1


def test_nothing_at_the_position_is_for_the_policy_or_the_application() -> None:
    rig = Rig(reset_to=-2)
    rig.fetch(code=ErrorCode.OFFSET_OUT_OF_RANGE)
    assert rig.position.reset_to == -2
    assert rig.ask() == []
    rig = Rig(reset_to=None)
    rig.fetch(code=ErrorCode.OFFSET_OUT_OF_RANGE)
    assert isinstance(rig.position.error, KafkaError)
    assert rig.ask() == []
