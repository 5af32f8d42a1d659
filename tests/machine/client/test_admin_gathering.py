"""Questions about many things: outcomes, repetition, routes; by scripted answers."""

from __future__ import annotations

import pytest
from fencepost_client import (
    EARLIEST,
    MAX_TIMESTAMP,
    CreatedTopic,
    FatalError,
    ListedOffset,
    NetworkError,
    NewTopic,
    TopicAlreadyExistsError,
    TopicPartition,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from fencepost_client.admin.partitions import list_offsets
from fencepost_client.admin.routing import Coordinators, at_brokers
from fencepost_client.admin.topics import create_topics
from fencepost_client.requests.procedures import GROUP, Moved, NodeId, Pause, Procedure
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopicResult, CreateTopicsResponse
from fencepost_protocol.generated.find_coordinator import FindCoordinatorResponse
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)

from tests.machine.client.admin_answers import ONE, ZERO, backoff, brokers, coordinators, leaders
from tests.machine.client.scripts import Script


def created(**codes: int) -> CreateTopicsResponse:
    return CreateTopicsResponse(
        topics=[CreatableTopicResult(name, error_code=code) for name, code in codes.items()]
    )


def create(*names: str) -> Procedure[dict[str, CreatedTopic]]:
    return create_topics(map(NewTopic, names), backoff(), 1000, validate_only=False)


def test_only_what_may_still_succeed_is_asked_for_again() -> None:
    quota, exists = ErrorCode.THROTTLING_QUOTA_EXCEEDED, ErrorCode.TOPIC_ALREADY_EXISTS
    script = Script([created(a=0, b=quota, c=exists), created(b=0)])
    with pytest.raises(TopicAlreadyExistsError, match="'c'") as raised:
        script.play(create("a", "b", "c"))
    assert [[topic.name for topic in request.topics] for request in script.asked] == [
        ["a", "b", "c"],
        ["b"],
    ]
    outcomes = raised.value.outcomes
    assert list(outcomes) == ["a", "b", "c"]
    assert outcomes["b"].name == "b"
    assert outcomes["c"] is raised.value


def test_the_controller_that_moved_is_looked_up() -> None:
    script = Script([created(a=ErrorCode.NOT_CONTROLLER), created(a=0)])
    assert list(script.play(create("a"))) == ["a"]
    assert script.count(Moved) == 1
    (pause,) = [step for step in script.steps if isinstance(step, Pause)]
    assert pause.because is not None
    assert pause.because.name == "NOT_CONTROLLER"


def test_an_attempt_without_an_answer_may_have_been_carried_out() -> None:
    with pytest.raises(TopicAlreadyExistsError) as raised:
        Script([NetworkError(), created(a=ErrorCode.TOPIC_ALREADY_EXISTS)]).play(create("a"))
    assert "may have carried it out" in raised.value.__notes__[0]


def test_what_is_missing_from_an_answer_is_asked_for_again_and_the_rest_ignored() -> None:
    script = Script([created(b=0, never_asked=36), created(a=0, b=36)])
    assert list(script.play(create("a", "b"))) == ["a", "b"]


def test_a_broker_that_is_too_old_fails_what_was_asked_of_it() -> None:
    with pytest.raises(UnsupportedVersionError, match="highest timestamp") as raised:
        Script([leaders(1)], version_max=6).play(
            list_offsets({ZERO: MAX_TIMESTAMP}, backoff(), 1, read_committed=False)
        )
    assert list(raised.value.outcomes) == [ZERO]


def listed(*parts: tuple[int, int, int]) -> ListOffsetsResponse:
    """Partition, code and offset."""
    found = [
        ListOffsetsPartitionResponse(number, code, 5, offset, 2) for number, code, offset in parts
    ]
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse("t", found)])


def test_partitions_are_asked_about_at_their_leaders() -> None:
    script = Script(
        [
            leaders(1, -1),
            listed((0, ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)),
            NetworkError(),
            leaders(2, 2),
            listed((0, 0, 7), (1, 0, 8)),
        ]
    )
    found = script.play(list_offsets({ONE: EARLIEST, ZERO: 9}, backoff(), 1, read_committed=True))
    assert found == {ONE: ListedOffset(8, 5, 2), ZERO: ListedOffset(7, 5, 2)}
    assert list(found) == [ONE, ZERO]
    assert script.count(Pause) == 2
    assert script.asked[-1].isolation_level == 1
    assert [step.to for step in script.steps if hasattr(step, "to")][-1] == NodeId(2)


@pytest.mark.parametrize("missing", [TopicPartition("t", 1), TopicPartition("u", 0)])
def test_a_partition_that_stays_unknown_does_not_exist(missing: TopicPartition) -> None:
    script = Script([leaders(1), listed((0, 0, 7)), *[leaders(1)] * 4])
    with pytest.raises(UnknownTopicOrPartitionError) as raised:
        script.play(list_offsets({ZERO: 9, missing: 9}, backoff(), 1, read_committed=False))
    assert raised.value.outcomes[ZERO].offset == 7


def test_a_topic_that_may_not_be_seen_is_not_looked_for_again() -> None:
    with pytest.raises(FatalError):
        Script([leaders(code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)]).play(
            list_offsets({ZERO: 9}, backoff(), 1, read_committed=False)
        )


@pytest.mark.parametrize("version", [3, 6])
def test_coordinators_are_found_together_or_one_by_one(version: int) -> None:
    if version >= 4:
        replies = [coordinators({"a": 1, "b": 2, "c": -1, "d": -1}, {"c": 15, "d": 24})]
    else:
        replies = [
            FindCoordinatorResponse(0, 0, None, 1),
            FindCoordinatorResponse(0, 0, None, 2),
            FindCoordinatorResponse(0, 15),
            FindCoordinatorResponse(0, 24),
        ]
    routes = Script(replies, version_max=version).play(Coordinators(GROUP)(["a", "b", "c", "d"]))
    assert routes.by_target == {NodeId(1): ["a"], NodeId(2): ["b"]}
    assert list(routes.refused) == ["d"]
    assert routes.because is not None
    assert routes.because.code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_no_coordinator_is_known_when_nobody_answers() -> None:
    routes = Script([NetworkError()]).play(Coordinators(GROUP)(["a"]))
    assert (routes.by_target, routes.refused) == ({}, {})
    nobody = Script([NetworkError()]).play(at_brokers(int)([1]))
    assert isinstance(nobody.because, NetworkError)


def test_a_broker_that_is_not_there_is_named_with_those_that_are() -> None:
    routes = Script([brokers(1, 3)]).play(at_brokers(int)([3, 2]))
    assert routes.by_target == {NodeId(3): [3]}
    assert "no broker 2; the brokers are: 1, 3" in str(routes.refused[2])
