"""Commits and deletions of offsets that name partitions which do not exist.

`tests/conformance/test_api_answers.py` compares many orders of partitions with Apache Kafka.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from tests.support.broker import RunningBroker, running_broker

UNKNOWN = "UNKNOWN_TOPIC_OR_PARTITION"
ASKED = (("t", (0, 9)), ("nowhere", (0,)), ("t", (-1, 0)), ("nowhere", (1,)))
FIRST = [(9, UNKNOWN), (-1, UNKNOWN)]
NOWHERE = ("nowhere", [(0, UNKNOWN), (1, UNKNOWN)])


@pytest_asyncio.fixture
async def broker() -> AsyncIterator[RunningBroker]:
    async with running_broker(topics={"t": 1}) as running:
        yield running


async def have_a_coordinator(broker: RunningBroker) -> None:
    await broker.ask(FindCoordinatorRequest("g", 0), 3)


def told(answer: Any) -> list[tuple[str, list[tuple[int, str]]]]:
    return [
        (
            topic.name,
            [(each.partition_index, ErrorCode(each.error_code).name) for each in topic.partitions],
        )
        for topic in answer.topics
    ]


def commit(asked: Any = ASKED, generation: int = -1) -> OffsetCommitRequest:
    topics = [
        OffsetCommitRequestTopic(
            name, partitions=[OffsetCommitRequestPartition(each, 5) for each in numbers]
        )
        for name, numbers in asked
    ]
    return OffsetCommitRequest("g", generation, topics=topics)


@pytest.mark.asyncio
@pytest.mark.parametrize(("generation", "known"), [(-1, "NONE"), (3, "GROUP_ID_NOT_FOUND")])
async def test_they_are_answered_first(broker: RunningBroker, generation: int, known: str) -> None:
    await have_a_coordinator(broker)
    answer = await broker.ask(commit(generation=generation), 9)
    assert told(answer) == [("t", [*FIRST, (0, known), (0, known)]), NOWHERE]


@pytest.mark.asyncio
async def test_a_broker_that_does_not_coordinate_knows_them_too(broker: RunningBroker) -> None:
    known = "NOT_COORDINATOR"
    assert told(await broker.ask(commit(), 9)) == [
        ("t", [*FIRST, (0, known), (0, known)]),
        NOWHERE,
    ]


@pytest.mark.asyncio
async def test_nobody_asks_the_group_when_there_is_nothing_else(broker: RunningBroker) -> None:
    asked = (("nowhere", (0,)), ("t", ()), ("nowhere", (1,)))
    assert told(await broker.ask(commit(asked, generation=3), 9)) == [NOWHERE]
    assert told(await broker.ask(commit((("t", ()),)), 9)) == []


@pytest.mark.asyncio
async def test_topics_by_id(broker: RunningBroker) -> None:
    created = await broker.ask(CreateTopicsRequest([CreatableTopic("u", 1, 1)], 5000), 7)
    ids = [created.topics[0].topic_id, b"?" * 16]
    await have_a_coordinator(broker)
    partitions = [OffsetCommitRequestPartition(0, 7), OffsetCommitRequestPartition(9, 7)]
    topics = [OffsetCommitRequestTopic(topic_id=each, partitions=partitions) for each in ids]
    answer = await broker.ask(OffsetCommitRequest("g", topics=topics), 10)
    assert [each.topic_id for each in answer.topics] == ids
    assert [partitions for _, partitions in told(answer)] == [
        [(9, UNKNOWN), (0, "NONE")],
        [(0, "UNKNOWN_TOPIC_ID"), (9, "UNKNOWN_TOPIC_ID")],
    ]
    wanted = [OffsetFetchRequestTopics("", each, [0]) for each in reversed(ids)]
    groups = [OffsetFetchRequestGroup("g", topics=wanted)]
    answer = await broker.ask(OffsetFetchRequest(groups=groups), 10)
    assert [each.topic_id for each in answer.groups[0].topics] == ids
    assert [partitions for _, partitions in told(answer.groups[0])] == [
        [(0, "NONE")],
        [(0, "UNKNOWN_TOPIC_ID")],
    ]


@pytest.mark.asyncio
async def test_in_a_transaction(broker: RunningBroker) -> None:
    await have_a_coordinator(broker)
    topics = [
        TxnOffsetCommitRequestTopic(
            name, [TxnOffsetCommitRequestPartition(each, 5) for each in numbers]
        )
        for name, numbers in ASKED
    ]
    request = TxnOffsetCommitRequest("x", "", 5, 0, topics=topics)
    known = "INVALID_GROUP_ID"
    expected = [("t", [*FIRST, (0, known), (0, known)]), NOWHERE]
    assert told(await broker.ask(request, 5)) == expected


@pytest.mark.asyncio
async def test_deletions(broker: RunningBroker) -> None:
    await have_a_coordinator(broker)
    topics = [
        OffsetDeleteRequestTopic(name, [OffsetDeleteRequestPartition(each) for each in numbers])
        for name, numbers in ASKED
    ]
    answer = await broker.ask(OffsetDeleteRequest("g", topics), 0)
    assert (answer.error_code, answer.topics) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
    unknown = OffsetDeleteRequest("g", topics[1:2])
    assert (await broker.ask(unknown, 0)).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    await broker.ask(commit((("t", (0,)),)), 9)
    answer = await broker.ask(OffsetDeleteRequest("g", topics), 0)
    assert told(answer) == [("t", [*FIRST, (0, "NONE"), (0, "NONE")]), NOWHERE]
