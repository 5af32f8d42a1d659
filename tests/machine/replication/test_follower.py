"""A follower over real logs, with a leader that is another log: what it asks, and what it takes."""

from __future__ import annotations

import pytest
from fencepost_broker.replication.follower import (
    FIRST_BACKOFF_MS,
    FULL_MS,
    Followed,
    Limits,
)
from fencepost_client.types import TopicPartition
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)

from tests.machine.replication.pair import BACKOFF_MS, WHERE, Pair, append
from tests.machine.storage.harness import open_log


@pytest.fixture
def pair() -> Pair:
    return Pair()


def test_a_follower_gets_all_and_the_high_watermark(pair: Pair) -> None:
    append(pair.leader, b"a", b"b", b"c")
    assert pair.step() == [pair.followed]
    assert (pair.log.log_end_offset, pair.log.high_watermark) == (3, 3)
    assert pair.is_equal()
    assert pair.step() == []


def test_the_high_watermark_stays_within_the_log(pair: Pair) -> None:
    append(pair.leader, b"a")
    request = pair.request()
    assert request is not None
    data = pair.answer(request)
    data.high_watermark = 9
    assert pair.take(data) == [pair.followed]
    assert pair.log.high_watermark == 1


def test_who_it_is_and_what_it_has_is_told(pair: Pair) -> None:
    append(pair.leader, b"a", epoch=2)
    pair.follow(2)
    pair.step()
    request = pair.request()
    assert request is not None
    assert request.replica_state is not None
    assert (request.replica_state.replica_id, request.replica_state.replica_epoch) == (7, 5)
    ((entry,),) = [topic.partitions for topic in request.topics]
    told = entry.fetch_offset, entry.last_fetched_epoch, entry.current_leader_epoch
    assert told == (1, 2, 2)
    assert entry.log_start_offset == 0


def test_what_the_leader_does_not_have_is_cut_off(pair: Pair) -> None:
    append(pair.leader, b"a", b"b")
    pair.step()
    append(pair.log, b"lost", b"lost too")
    append(pair.leader, b"c", epoch=1)
    pair.follow(1)
    assert pair.step() == []
    assert pair.log.log_end_offset == 2
    pair.step()
    assert pair.is_equal()


def test_who_led_without_writing_anything_follows_again(pair: Pair) -> None:
    append(pair.leader, b"a")
    pair.step()
    pair.log.begin_leader_epoch(1)
    pair.leader.begin_leader_epoch(2)
    pair.follow(2)
    for _ in range(2):
        pair.step()
    append(pair.leader, b"b", epoch=2)
    pair.step()
    assert pair.is_equal()
    assert pair.log.epochs.entries() == pair.leader.epochs.entries()


def test_several_epochs_apart(pair: Pair) -> None:
    append(pair.leader, b"a")
    pair.step()
    append(pair.log, b"x", epoch=1)
    append(pair.log, b"y", epoch=3)
    append(pair.leader, b"b", epoch=2)
    append(pair.leader, b"c", epoch=4)
    pair.follow(4)
    for _ in range(4):
        pair.step()
    assert pair.is_equal()
    assert pair.log.epochs.entries() == pair.leader.epochs.entries()


def test_an_answer_for_an_earlier_leader_is_passed_over(pair: Pair) -> None:
    append(pair.leader, b"a")
    request = pair.request()
    assert request is not None
    data = pair.answer(request)
    pair.follow(1)
    assert pair.take(data) == []
    assert pair.log.log_end_offset == 0


def test_an_answer_for_what_is_followed_no_more_is_passed_over(pair: Pair) -> None:
    append(pair.leader, b"a")
    request = pair.request()
    assert request is not None
    data = pair.answer(request)
    pair.fetcher.forget(WHERE)
    pair.take(data)
    assert pair.log.log_end_offset == 0
    assert pair.request() is None


@pytest.mark.parametrize(
    "code", [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH, ErrorCode(56)]
)
def test_after_an_error_it_is_asked_again_later(pair: Pair, code: ErrorCode) -> None:
    pair.request()
    assert pair.take(PartitionData(0, code, -1)) == []
    assert pair.request() is None
    assert pair.fetcher.next_ms() == FIRST_BACKOFF_MS
    pair.wire_ms = FIRST_BACKOFF_MS
    append(pair.leader, b"a")
    pair.step()
    assert pair.is_equal()


def test_pauses_grow_up_to_the_setting_s_and_begin_anew_behind_what_went_well(pair: Pair) -> None:
    def refused() -> int:
        pair.request()
        pair.take(PartitionData(0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1))
        pause_ms = (pair.fetcher.next_ms() or 0) - pair.wire_ms
        pair.wire_ms += pause_ms
        return pause_ms

    pauses = [refused() for _ in range(10)]
    assert pauses[:3] == [10, 20, 40]
    assert pauses[-2:] == [BACKOFF_MS, BACKOFF_MS]
    pair.step()
    assert refused() == FIRST_BACKOFF_MS


def test_what_is_put_off_does_not_wait_for_news_of_the_others(pair: Pair) -> None:
    pair.step()
    other = TopicPartition("other", 0)
    pair.fetcher.follow(Followed(other, b"o" * 16, open_log(), 0))
    pair.request()
    data = PartitionData(0, ErrorCode.UNKNOWN_TOPIC_ID, -1)
    topic = FetchableTopicResponse("", b"o" * 16, [data])
    pair.fetcher.answered(FetchResponse(session_id=3, responses=[topic]), pair.wire_ms, 1000)
    request = pair.request()
    assert request is not None
    assert request.max_wait_ms == FIRST_BACKOFF_MS


def test_the_first_request_does_not_wait(pair: Pair) -> None:
    def wait_ms() -> int:
        request = pair.request()
        assert request is not None
        pair.take(pair.answer(request))
        return request.max_wait_ms

    assert [wait_ms(), wait_ms()] == [0, Limits().max_wait_ms]
    pair.fetcher.failed()
    assert [wait_ms(), wait_ms()] == [0, Limits().max_wait_ms]


def test_a_leader_whose_log_begins_later(pair: Pair) -> None:
    append(pair.leader, b"a", b"b", b"c")
    pair.leader.delete_records(2)
    pair.step()
    assert pair.fetcher.out_of_range(pair.wire_ms) == [pair.followed]
    assert pair.request() is None
    pair.fetcher.located(pair.followed, 2, 3, 1000)
    pair.step()
    assert (pair.log.log_start_offset, pair.log.log_end_offset) == (2, 3)


def test_a_leader_that_does_not_tell_where_it_begins_is_asked_later(pair: Pair) -> None:
    append(pair.leader, b"a", b"b", b"c")
    pair.leader.delete_records(2)
    pair.step()
    pair.fetcher.not_located(pair.followed, pair.wire_ms)
    assert pair.fetcher.out_of_range(pair.wire_ms) == []
    pair.wire_ms = pair.fetcher.next_ms() or 0
    assert pair.fetcher.out_of_range(pair.wire_ms) == [pair.followed]


def test_a_leader_that_has_less(pair: Pair) -> None:
    append(pair.log, b"a", b"b")
    pair.request()
    pair.take(PartitionData(0, ErrorCode.OFFSET_OUT_OF_RANGE, -1))
    pair.fetcher.located(pair.followed, 0, 1, 1000)
    assert pair.log.log_end_offset == 1


def test_records_that_the_leader_deleted_go_here_too(pair: Pair) -> None:
    append(pair.leader, b"a", b"b", b"c")
    pair.step()
    pair.leader.delete_records(2)
    pair.step()
    assert pair.log.log_start_offset == 2


def test_damaged_records_are_not_taken(pair: Pair) -> None:
    append(pair.leader, b"a")
    request = pair.request()
    assert request is not None
    data = pair.answer(request)
    damaged = bytearray(data.records or b"")
    damaged[-1] ^= 1
    data.records = bytes(damaged)
    pair.take(data)
    assert pair.log.log_end_offset == 0
    assert pair.request() is None


def named(request: FetchRequest | None) -> tuple[set[str], set[str]]:
    """The topics that a request names, and those that it forgets."""
    assert request is not None
    asked = {topic.topic_id.decode().strip(".") for topic in request.topics}
    forgotten = {topic.topic_id.decode().strip(".") for topic in request.forgotten_topics_data}
    return asked, forgotten


def test_a_session_is_told_what_has_changed_only(pair: Pair) -> None:
    def answer(*topics: tuple[str, int]) -> None:
        told = [
            FetchableTopicResponse("", name.encode().ljust(16, b"."), [PartitionData(0, code, 0)])
            for name, code in topics
        ]
        pair.fetcher.answered(FetchResponse(session_id=3, responses=told), pair.wire_ms, 1000)

    logs = {name: open_log() for name in ("a", "b", "c")}
    for name, log in logs.items():
        log.follows_log_end = False
        where = TopicPartition(name, 0)
        pair.fetcher.follow(Followed(where, name.encode().ljust(16, b"."), log, 0))
    pair.fetcher.forget(WHERE)
    assert named(pair.request()) == ({"a", "b", "c"}, set())
    answer(("a", 0), ("b", 0), ("c", 0))
    assert named(pair.request()) == (set(), set())
    answer(("b", ErrorCode.NOT_LEADER_OR_FOLLOWER))
    pair.fetcher.forget(TopicPartition("c", 0))
    assert named(pair.request()) == (set(), {"b", "c"})
    answer()
    pair.wire_ms += FIRST_BACKOFF_MS
    assert named(pair.request()) == ({"b"}, set())
    answer(("a", ErrorCode.OFFSET_OUT_OF_RANGE))
    assert named(pair.request()) == (set(), {"a"})
    answer()
    append(logs["b"], b"x")  # by nobody who would say so: all is looked at now and then
    assert named(pair.request()) == (set(), set())
    answer()
    pair.wire_ms += FULL_MS
    assert named(pair.request()) == ({"b"}, set())


def test_what_is_gone_is_told_when_something_else_is_asked_for(pair: Pair) -> None:
    pair.step()
    pair.fetcher.forget(WHERE)
    assert pair.request() is None
    pair.fetcher.follow(Followed(TopicPartition("n", 0), b"n".ljust(16, b"."), open_log(), 0))
    asked, forgotten = named(pair.request())
    assert (asked, forgotten) == ({"n"}, {"t" * 16})
