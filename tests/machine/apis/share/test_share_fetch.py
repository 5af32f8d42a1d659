"""ShareFetch: records, waits, sessions, and what happens to share partitions meanwhile."""

from __future__ import annotations

from fencepost_broker.replication.share.share_partition import StateBatch
from fencepost_broker.replication.share.share_partitions import ReadState, SharePartitionKey
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest
from fencepost_protocol.records.batch import read_header

from tests.machine.apis.share.harness import OTHER, Broker, Member, errors, given

NONE = ErrorCode.NONE
ACCEPT, RELEASE = [1], [2]


def test_two_members_share_the_records() -> None:
    broker = Broker()
    broker.append(10)
    broker.append(10)
    one, two = Member(broker), Member(broker, OTHER)
    first = one.fetch(max_records=5)
    assert given(first) == [(0, 0, 9, 1)]
    assert first.acquisition_lock_timeout_ms == 30_000
    second = two.fetch()
    assert given(second) == [(0, 10, 19, 1)]
    records = second.responses[0].partitions[0].records
    assert read_header(records).base_offset == 10


def test_a_first_answer_has_all_partitions_and_a_later_one_those_with_news() -> None:
    broker = Broker(partitions=2)
    member = Member(broker)
    broker.append(1, number=1)
    assert errors(member.fetch(partitions=2)) == [(NONE, NONE)] * 2
    broker.append(1, number=1)
    assert given(member.fetch(partitions=2)) == [(1, 1, 1, 1)]


def test_a_fetch_waits_for_an_append() -> None:
    broker = Broker()
    member = Member(broker)
    assert member.fetch(max_wait_ms=500) is None
    assert member.is_waiting()
    broker.append(3)
    assert given(member.told()) == [(0, 0, 2, 1)]


def test_a_fetch_waits_no_longer_than_asked() -> None:
    broker = Broker()
    member = Member(broker)
    member.fetch()
    assert member.fetch(max_wait_ms=500) is None
    broker.time_is_over()
    assert given(member.told()) == []


def test_a_fetch_waits_for_a_release() -> None:
    broker = Broker()
    broker.append(3)
    one, two = Member(broker), Member(broker, OTHER)
    one.fetch()
    assert two.fetch(max_wait_ms=500) is None
    one.acknowledge((0, 2, RELEASE))
    assert given(two.told()) == [(0, 0, 2, 2)]


def test_a_fetch_waits_for_the_end_of_locks() -> None:
    broker = Broker()
    broker.append(3)
    one, two = Member(broker), Member(broker, OTHER)
    one.fetch()
    assert two.fetch(max_wait_ms=500) is None
    assert broker.shares.deadline_ms() == broker.clock.now + 30_000
    broker.wait(29_999)
    assert two.is_waiting()
    broker.wait(1)
    assert given(two.told()) == [(0, 0, 2, 2)]


def test_min_bytes() -> None:
    broker = Broker()
    member = Member(broker)
    broker.append(1)
    assert member.fetch(max_wait_ms=500, min_bytes=200) is None
    broker.append(10)
    assert member.is_waiting() is False
    assert given(member.told()) == [(0, 0, 10, 1)]


def test_min_bytes_give_way_when_the_time_is_over() -> None:
    broker = Broker()
    member = Member(broker)
    broker.append(1)
    assert member.fetch(max_wait_ms=500, min_bytes=200) is None
    broker.time_is_over()
    assert given(member.told()) == [(0, 0, 0, 1)]


def test_max_bytes_cut_at_a_batch() -> None:
    broker = Broker()
    broker.append(5)
    broker.append(5)
    assert given(Member(broker).fetch(max_bytes=150)) == [(0, 0, 4, 1)]


def test_the_partition_that_had_records_is_read_last_the_next_time() -> None:
    broker = Broker(partitions=2)
    member = Member(broker)
    for number in (0, 1):
        broker.append(5, number=number)
        broker.append(5, number=number)
    assert given(member.fetch(partitions=2, max_records=5)) == [(0, 0, 4, 1)]
    assert given(member.fetch(partitions=2, max_records=5)) == [(1, 0, 4, 1)]


def test_a_strict_limit_goes_for_all_partitions_together() -> None:
    broker = Broker(partitions=2)
    broker.append(5)
    broker.append(5, number=1)
    got = given(Member(broker).fetch(partitions=2, max_records=7, share_acquire_mode=1))
    assert got == [(0, 0, 4, 1), (1, 0, 1, 1)]


def test_read_committed_passes_over_aborted_records() -> None:
    broker = Broker(committed=True)
    member = Member(broker)
    broker.append(3, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    member.fetch()
    assert member.fetch(max_wait_ms=500) is None
    broker.end_transaction(7, commit=False)
    assert member.is_waiting()
    broker.append(2)
    assert given(member.told()) == [(0, 4, 5, 1)]
    assert [write.start_offset for write in broker.coordinator.writes] == [4]


def test_read_uncommitted_has_them_but_no_marker() -> None:
    broker = Broker()
    broker.append(3, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    broker.end_transaction(7, commit=False)
    broker.append(2)
    assert given(Member(broker).fetch()) == [(0, 0, 2, 1), (0, 4, 5, 1)]


# -- where a share partition begins ---------------------------------------------------------------


def test_without_a_start_offset_the_group_begins_where_its_setting_says() -> None:
    for reset, first in (("latest", 6), ("earliest", 0), ("by_duration:PT1M", 3)):
        broker = Broker(reset)
        broker.append(3)
        broker.clock.now += 120_000
        broker.append(3)
        member = Member(broker)
        member.fetch()
        broker.append(3)
        got = given(member.fetch())
        assert (got or [(0, first, 8, 1)])[-1][2] == 8
        led = broker.shares.get(SharePartitionKey("g", broker.topic_id, 0))
        assert led is not None
        assert led.state is not None
        assert led.state.start_offset == first, reset


def test_a_share_partition_goes_on_where_the_coordinator_says() -> None:
    broker = Broker()
    broker.append(10)
    key = SharePartitionKey("g", broker.topic_id, 0)
    broker.coordinator.states[key] = ReadState(
        3, 2, [StateBatch(4, 5, 2, 1), StateBatch(6, 7, 0, 3)]
    )
    assert given(Member(broker).fetch()) == [(0, 2, 3, 1)]


def test_a_fetch_waits_until_the_state_is_read() -> None:
    broker = Broker()
    broker.append(3)
    broker.coordinator.is_held = True
    member = Member(broker)
    assert member.fetch(max_wait_ms=500) is None
    broker.coordinator.let_go()
    assert given(member.told()) == [(0, 0, 2, 1)]


def test_a_state_that_cannot_be_read_is_read_again_by_the_next_fetch() -> None:
    broker = Broker()
    broker.append(3)
    member = Member(broker)
    broker.coordinator.error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert errors(member.fetch()) == [(ErrorCode.COORDINATOR_NOT_AVAILABLE, NONE)]
    broker.coordinator.error = ErrorCode.FENCED_LEADER_EPOCH
    assert errors(member.fetch()) == [(ErrorCode.NOT_LEADER_OR_FOLLOWER, NONE)]
    broker.coordinator.error = NONE
    assert given(member.fetch()) == [(0, 0, 2, 1)]


def test_the_log_deletes_records() -> None:
    broker = Broker()
    broker.append(5)
    broker.append(5)
    member = Member(broker)
    member.fetch(max_records=1)
    broker.node.table.by_name["t"].partitions[0].log.delete_records(7)
    assert given(member.fetch()) == [(0, 7, 9, 1)]


# -- sessions -------------------------------------------------------------------------------------


def test_epochs() -> None:
    broker = Broker()
    member = Member(broker)
    assert member.fetch(epoch=1).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert member.fetch(epoch=-1).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    assert member.fetch(epoch=0).error_code == NONE
    assert member.fetch(epoch=2).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert member.fetch(epoch=1).error_code == NONE
    assert member.fetch(epoch=1).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    assert member.fetch(epoch=0).error_code == NONE
    assert member.fetch((0, 0, ACCEPT), epoch=0).error_code == ErrorCode.INVALID_REQUEST


def test_the_last_request_acknowledges_and_releases_the_rest() -> None:
    broker = Broker()
    broker.append(10)
    one, two = Member(broker), Member(broker, OTHER)
    one.fetch()
    assert errors(one.fetch((0, 4, ACCEPT), epoch=-1)) == [(NONE, NONE)]
    assert given(two.fetch()) == [(0, 5, 9, 2)]
    assert one.fetch(epoch=1).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND


def test_a_session_ends_with_its_connection() -> None:
    broker = Broker()
    broker.append(10)
    one, two = Member(broker), Member(broker, OTHER)
    one.fetch()
    assert two.fetch(max_wait_ms=500) is None
    one.peer.client.disconnected()
    assert given(two.told()) == [(0, 0, 9, 2)]
    assert len(broker.context.share_sessions) == 1


def test_a_session_that_was_opened_again_outlives_its_first_connection() -> None:
    broker = Broker()
    one = Member(broker)
    one.fetch()
    again = Member(broker)
    again.fetch()
    one.peer.client.disconnected()
    assert again.fetch().error_code == NONE


def test_ids() -> None:
    broker = Broker()
    assert Member(broker, "").fetch().error_code == ErrorCode.INVALID_REQUEST
    assert Member(broker, "m" * 37).fetch().error_code == ErrorCode.INVALID_REQUEST


def test_a_lost_connection_leaves_no_waiting_fetch() -> None:
    broker = Broker()
    member = Member(broker)
    assert member.fetch(max_wait_ms=500) is None
    member.peer.lost()
    broker.append(3)
    assert member.is_waiting()
    assert given(Member(broker, OTHER).fetch()) == [(0, 0, 2, 1)]


def test_a_partition_that_does_not_exist() -> None:
    broker = Broker()
    member = Member(broker)
    unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NONE)
    assert errors(member.fetch(partitions=2)) == [(NONE, NONE), unknown]
    broker.node.controller.command(DeleteTopicsRequest(topic_names=["t"]))
    assert errors(member.fetch(partitions=1))[0] == (ErrorCode.UNKNOWN_TOPIC_ID, NONE)


def test_a_topic_that_is_deleted_ends_the_wait() -> None:
    broker = Broker()
    member = Member(broker)
    assert member.fetch(max_wait_ms=500) is None
    broker.node.controller.command(DeleteTopicsRequest(topic_names=["t"]))
    assert errors(member.told()) == [(ErrorCode.UNKNOWN_TOPIC_ID, NONE)]
    assert len(broker.shares) == 0


def test_a_leader_that_moves_ends_the_wait_and_answers_what_is_being_written() -> None:
    broker = Broker()
    broker.append(3)
    one, two = Member(broker), Member(broker, OTHER)
    one.fetch()
    assert two.fetch(max_wait_ms=500) is None
    broker.coordinator.is_held = True
    assert one.acknowledge((0, 0, ACCEPT)) is None
    assert one.acknowledge((1, 1, ACCEPT)) is None
    broker.move_leader()
    moved = ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert errors(two.told()) == [(moved, NONE)]
    broker.coordinator.let_go()
    assert [each.responses[0].partitions[0].error_code for each in one.peer.answers] == [moved] * 2
    assert len(broker.shares) == 0
    assert one.acknowledge((2, 2, ACCEPT)).responses[0].partitions[0].error_code == moved


def test_a_group_without_sessions_is_forgotten_and_its_next_member_loads_its_state() -> None:
    broker = Broker()
    broker.append(10)
    one, two = Member(broker), Member(broker, OTHER)
    one.fetch()
    two.fetch()
    one.fetch(epoch=-1)
    assert given(two.fetch()) == [(0, 0, 9, 2)]
    broker.coordinator.is_held = True
    two.fetch(epoch=-1)
    assert len(broker.shares) == 1, "a release is being written"
    broker.coordinator.let_go()
    assert len(broker.shares) == 0
    key = SharePartitionKey("g", broker.topic_id, 0)
    broker.coordinator.states[key] = ReadState(2, 7, [])
    assert given(Member(broker).fetch()) == [(0, 7, 9, 1)]


def test_a_member_that_comes_meanwhile_keeps_the_share_partition() -> None:
    broker = Broker()
    broker.append(10)
    one, two = Member(broker), Member(broker, OTHER)
    one.fetch()
    broker.coordinator.is_held = True
    one.fetch(epoch=-1)
    assert given(two.fetch()) == [(0, 0, 9, 2)]
    broker.coordinator.let_go()
    assert len(broker.shares) == 1
