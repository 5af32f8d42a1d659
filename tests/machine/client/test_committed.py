"""Offsets committed and found again, by scripted answers."""

from __future__ import annotations

import pytest
from fencepost_client import (
    AuthorizationError,
    CommitFailedError,
    FencedError,
    FencedInstanceIdError,
    InvalidGroupIdError,
    KafkaError,
    NetworkError,
    OffsetAndMetadata,
    UnsupportedVersionError,
)
from fencepost_client.requests.procedures import Coordinator, LeaderOf, Moved, Pause
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)

from tests.machine.client.harness.committed_offsets import (
    ID,
    MEMBER,
    ONE,
    ZERO,
    _of,
    commit,
    committed,
    fetch,
    fetched,
    id_of,
)
from tests.machine.client.scripts import Script


def fetched_before_groups(*parts: tuple[int, int], code: int = 0) -> OffsetFetchResponse:
    found = [OffsetFetchResponsePartition(n, *_of(part)) for n, part in enumerate(parts)]
    return OffsetFetchResponse(topics=[OffsetFetchResponseTopic("t", found)], error_code=code)


# -- fetching ----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 5, 7, 9])
def test_what_is_committed_is_found_in_every_version(version: int) -> None:
    reply = fetched if version >= 8 else fetched_before_groups
    script = Script([reply((5, 0), (-1, 0))], version_max=version)
    assert script.play(fetch(MEMBER, id_of)) == {ZERO: OffsetAndMetadata(5)}
    asked = script.asked[0]
    assert asked.require_stable == (version >= 7)
    if version >= 9:
        assert (asked.groups[0].member_id, asked.groups[0].member_epoch) == ("me", 3)


def test_topics_go_by_their_ids_where_all_are_known() -> None:
    script = Script([fetched((5, 0), (-1, 0), by_id=True)])
    assert script.play(fetch(id_of=id_of)) == {ZERO: OffsetAndMetadata(5)}
    assert script.versions == [10]
    wanted = script.asked[0].groups[0]
    assert [(topic.name, topic.topic_id) for topic in wanted.topics] == [("", ID)]
    assert (wanted.member_id, wanted.member_epoch) == (None, -1)
    script = Script([fetched((5, 0), (6, 0))])
    assert len(script.play(fetch())) == 2
    assert script.versions == [9]


def test_an_id_that_nobody_knows_is_looked_up_anew() -> None:
    ids = iter([b"old" + bytes(13), ID])
    script = Script(
        [
            fetched((-1, ErrorCode.UNKNOWN_TOPIC_ID), (-1, 0), by_id=True),
            fetched((5, 0), (-1, 0), by_id=True),
        ]
    )
    assert script.play(fetch(id_of=lambda _: next(ids))) == {ZERO: OffsetAndMetadata(5)}
    assert Moved(LeaderOf("t", 0)) in script.steps
    assert script.asked[1].groups[0].topics[0].topic_id == ID


def test_pending_offsets_are_waited_for() -> None:
    unstable = ErrorCode.UNSTABLE_OFFSET_COMMIT
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    script = Script(
        [
            fetched((5, 0), (-1, unstable)),
            fetched((-1, loading), (-1, loading), code=loading),
            NetworkError(),
            fetched((5, 0), (6, 0)),
        ]
    )
    assert script.play(fetch())[ONE].offset == 6
    pauses = [step.ms for step in script.steps if isinstance(step, Pause)]
    assert pauses == sorted(set(pauses)), "each longer than the one before"
    assert len(pauses) == 3


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, AuthorizationError),
        (ErrorCode.INVALID_GROUP_ID, InvalidGroupIdError),
        (ErrorCode.GROUP_ID_NOT_FOUND, FencedError),
        (ErrorCode.STALE_MEMBER_EPOCH, CommitFailedError),
        (ErrorCode.UNKNOWN_MEMBER_ID, CommitFailedError),
        (ErrorCode.UNSUPPORTED_VERSION, UnsupportedVersionError),
        (ErrorCode.UNKNOWN_SERVER_ERROR, KafkaError),
    ],
)
def test_an_error_of_the_group_is_raised(code: int, error: type[Exception]) -> None:
    for reply in (fetched(code=code), fetched_before_groups((-1, code), code=code)):
        with pytest.raises(error, match="fetching offsets of group 'g'"):
            Script([reply], version_max=9 if reply.groups else 7).play(fetch())


def test_an_error_of_a_partition_is_raised_before_others_are_waited_for() -> None:
    reply = fetched(
        (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT), (-1, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    )
    with pytest.raises(AuthorizationError):
        Script([reply]).play(fetch())


# -- committing --------------------------------------------------------------------------------


def test_a_commit_names_the_member() -> None:
    script = Script([committed(0, 0)])
    script.play(commit())
    request = script.asked[0]
    assert (request.generation_id_or_member_epoch, request.member_id) == (3, "me")
    assert request.group_instance_id == "i"
    assert script.versions == [9]
    old = Script([committed(0, 0)], version_max=6)
    old.play(commit())
    assert [topic.name for topic in old.asked[0].topics] == ["t"]


def test_a_commit_is_for_the_topic_that_was_read() -> None:
    """Deleted and made again, it has another id, and is refused."""
    ids = iter([ID, b"new" + bytes(13)])
    script = Script([committed(0, ErrorCode.UNKNOWN_TOPIC_ID), committed(0, 0)])
    script.play(commit(id_of=lambda _: next(ids)))
    assert script.versions == [10, 10]
    for request in script.asked:
        assert [(topic.name, topic.topic_id) for topic in request.topics] == [("", ID)]


@pytest.mark.parametrize(
    ("code", "moved"),
    [
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, None),
        (ErrorCode.REQUEST_TIMED_OUT, None),
        (ErrorCode.NOT_COORDINATOR, Coordinator(0, "g")),
        (ErrorCode.COORDINATOR_NOT_AVAILABLE, Coordinator(0, "g")),
        (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, LeaderOf("t", 0)),
        (ErrorCode.UNKNOWN_TOPIC_ID, LeaderOf("t", 0)),
    ],
)
def test_what_may_pass_is_tried_again(code: int, moved: Coordinator | LeaderOf | None) -> None:
    for procedure, first, last in (
        (commit(), committed(0, code), committed(0, 0)),
        (fetch(), fetched((1, 0), (-1, code)), fetched((1, 0), (1, 0))),
    ):
        script = Script([first, last])
        script.play(procedure)
        assert script.count(Pause) == 1
        assert [step.what for step in script.steps if isinstance(step, Moved)] == (
            [] if moved is None else [moved]
        )


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ErrorCode.ILLEGAL_GENERATION, CommitFailedError),
        (ErrorCode.UNKNOWN_MEMBER_ID, CommitFailedError),
        (ErrorCode.REBALANCE_IN_PROGRESS, CommitFailedError),
        (ErrorCode.STALE_MEMBER_EPOCH, CommitFailedError),
        (ErrorCode.FENCED_INSTANCE_ID, FencedInstanceIdError),
        (ErrorCode.GROUP_ID_NOT_FOUND, FencedError),
        (ErrorCode.OFFSET_METADATA_TOO_LARGE, KafkaError),
        (ErrorCode.INVALID_COMMIT_OFFSET_SIZE, KafkaError),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, AuthorizationError),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, AuthorizationError),
        (ErrorCode.INVALID_GROUP_ID, InvalidGroupIdError),
        (ErrorCode.UNSUPPORTED_VERSION, UnsupportedVersionError),
        (ErrorCode.UNKNOWN_SERVER_ERROR, KafkaError),
    ],
)
def test_a_refused_commit(code: int, error: type[Exception]) -> None:
    with pytest.raises(error, match="committing offsets of group 'g'"):
        Script([committed(ErrorCode.NOT_COORDINATOR, code)]).play(commit())
