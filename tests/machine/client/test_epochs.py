"""A log that was cut off is noticed (KIP-320): what is asked, and what follows from the answers."""

from __future__ import annotations

import pytest
from fencepost_client import (
    AuthorizationError,
    FatalError,
    LogTruncatedError,
    NetworkError,
    OffsetOutOfRangeError,
    UnsupportedVersionError,
)
from fencepost_client.consumer.list_offsets import EARLIEST
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import EpochEndOffset as Diverging
from fencepost_protocol.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochResponse,
)

from tests.machine.client.harness.fetcher import WHERE, Rig, batch, cluster_of
from tests.machine.client.harness.truncation import answer, at_a_new_leader


def test_a_new_leader_is_asked_before_anything_is_fetched_of_it() -> None:
    rig = at_a_new_leader()
    check = rig.check()
    assert check.node_id == 2
    request = check.request()
    for version in (2, 3, 4):
        request.encode(version, bytearray())
    assert request.replica_id == -1
    (entry,) = request.topics[0].partitions
    assert (entry.partition, entry.current_leader_epoch, entry.leader_epoch) == (0, 3, 0)
    assert rig.ask() == [], "one question at a time"
    answer(rig, check, 0, 4)
    (fetch,) = rig.ask()
    for version, epoch in ((12, 0), (11, -1)):
        (wanted,) = rig.fetcher.request(fetch, rig.cluster, version).topics[0].partitions
        assert (wanted.current_leader_epoch, wanted.last_fetched_epoch) == (3, epoch)
    assert rig.take() == [2, 3]


def test_what_nothing_was_read_of_is_not_checked() -> None:
    rig = Rig()
    for epoch in (1, 2):
        rig.cluster = cluster_of(1, epoch=epoch)
        fetches = rig.ask()
        assert [list(fetch.partitions) for fetch in fetches] == [[WHERE]]
        rig.answer(fetches[0])


def test_what_was_fetched_under_this_leader_is_not_checked() -> None:
    rig = Rig()
    rig.cluster = cluster_of(1, epoch=2)
    rig.fetch(batch(0, leader_epoch=2))
    assert [list(fetch.partitions) for fetch in rig.ask()] == [[WHERE]]


def test_a_position_with_an_epoch_is_checked_at_first() -> None:
    rig = Rig()
    rig.position.seek(4, 1)
    rig.cluster = cluster_of(1, epoch=2)
    check = rig.check()
    (entry,) = check.request().topics[0].partitions
    assert (entry.current_leader_epoch, entry.leader_epoch) == (2, 1)
    answer(rig, check, 1, 4)
    rig.fetch(batch(4, leader_epoch=2))
    assert rig.take() == [4, 5]


def test_what_was_fetched_ahead_is_dropped_first() -> None:
    rig = at_a_new_leader()
    answer(rig, rig.check(), 0, 3)
    assert rig.take() == []
    assert rig.position.offset == 2
    # The application's own position is another question.
    answer(rig, rig.check(), 0, 3)
    fetches = rig.ask()
    assert len(fetches) == 1
    rig.answer(fetches[0], batch(2, 1), batch(3, leader_epoch=3))
    assert rig.take() == [2, 3, 4]
    assert rig.position.epoch == 3


@pytest.mark.parametrize("by_fetch", [False, True])
def test_what_was_read_and_is_gone_is_for_the_policy(by_fetch: bool) -> None:
    rig = at_a_new_leader()
    rig.take()
    if by_fetch:
        rig.position.checked_epoch = 3
        rig.fetch(diverging_epoch=Diverging(0, 3))
    else:
        answer(rig, rig.check(), 0, 3)
    assert rig.position.error is None
    assert rig.position.offset == 3, "where the logs part"
    assert rig.position.fetch_epoch == 0


@pytest.mark.parametrize("end", [(-1, -1), (-1, 5), (0, -1)])
def test_where_nothing_is_known_the_policy_decides(end: tuple[int, int]) -> None:
    rig = at_a_new_leader()
    rig.take()
    answer(rig, rig.check(), *end)
    assert rig.position.reset_to == EARLIEST


@pytest.mark.parametrize("by_fetch", [False, True])
def test_without_a_policy_the_application_is_told(by_fetch: bool) -> None:
    rig = at_a_new_leader(reset_to=None)
    rig.take()
    if by_fetch:
        rig.position.checked_epoch = 3
        rig.fetch(diverging_epoch=Diverging(0, 3))
    else:
        answer(rig, rig.check(), 0, 3)
    error = rig.position.error
    assert isinstance(error, LogTruncatedError)
    assert isinstance(error, OffsetOutOfRangeError)
    assert (error.where, error.offset, error.epoch, error.end_offset) == (WHERE, 4, 0, 3)
    assert "t-0 was cut off below offset 4" in str(error)
    rig.position.error = None
    # Told again, until the application seeks.
    answer(rig, rig.check(), -1, -1)
    assert "t-0 was cut off" in str(rig.position.error)
    rig.position.seek(3)
    assert len(rig.ask()) == 1


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ],
)
def test_what_passes_is_asked_again_after_a_pause(code: int) -> None:
    rig = at_a_new_leader()
    answer(rig, rig.check(), -1, -1, code)
    assert rig.fetcher.wants_metadata
    assert rig.ask() == []
    rig.now_ms = rig.fetcher.wake_at_ms or 0
    answer(rig, rig.check(), 0, 4)
    assert len(rig.ask()) == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, AuthorizationError),
        (ErrorCode.INVALID_REQUEST, FatalError),
    ],
)
def test_what_does_not_pass_is_told(code: int, kind: type[Exception]) -> None:
    rig = at_a_new_leader()
    answer(rig, rig.check(), -1, -1, code)
    assert isinstance(rig.position.error, kind)
    assert "leader epoch of t-0" in str(rig.position.error)


def test_an_answer_that_leaves_a_partition_out_is_asked_for_again() -> None:
    rig = at_a_new_leader()
    rig.fetcher.checked(0, rig.check(), OffsetForLeaderEpochResponse())
    rig.now_ms = 1000
    answer(rig, rig.check(), 0, 4)
    assert len(rig.ask()) == 1


def test_a_lost_connection_is_tried_again() -> None:
    rig = at_a_new_leader()
    rig.fetcher.failed(0, rig.check(), NetworkError())
    rig.now_ms = 1000
    answer(rig, rig.check(), 0, 4)
    assert len(rig.ask()) == 1


def test_a_broker_that_cannot_be_asked_is_believed() -> None:
    rig = at_a_new_leader()
    rig.fetcher.failed(0, rig.check(), UnsupportedVersionError())
    assert len(rig.ask()) == 1


def test_an_answer_for_before_a_seek_is_dropped() -> None:
    rig = at_a_new_leader()
    check = rig.check()
    rig.position.seek(1)
    answer(rig, check, 0, 0)
    assert rig.position.offset == 1
    assert len(rig.ask()) == 1
