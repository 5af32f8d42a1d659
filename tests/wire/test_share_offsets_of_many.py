"""Requests about the offsets of very many share partitions."""

from __future__ import annotations

import pytest
from fencepost_broker.network.large_requests import runner
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from fencepost_protocol.generated.read_share_group_state_summary import (
    PartitionData,
    ReadShareGroupStateSummaryRequest,
    ReadStateSummaryData,
)

from tests.support.broker import running_broker

pytestmark = pytest.mark.asyncio
TOO_MANY = 10_001


async def test_many_groups_are_asked_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "TURN_NS", 0)
    names = [f"{number:0100}" for number in range(300)]
    groups = [DescribeShareGroupOffsetsRequestGroup(name, None) for name in names]
    async with running_broker() as broker:
        answer = await broker.ask(DescribeShareGroupOffsetsRequest(groups), 1)
    assert [each.group_id for each in answer.groups] == names


def described(partitions: list[int]) -> Message:
    topic = DescribeShareGroupOffsetsRequestTopic("t", partitions)
    group = DescribeShareGroupOffsetsRequestGroup("g", [topic])
    return DescribeShareGroupOffsetsRequest([group])


def summary(partitions: list[int]) -> Message:
    parts = [PartitionData(each, -1) for each in partitions]
    return ReadShareGroupStateSummaryRequest("g", [ReadStateSummaryData(bytes(16), parts)])


async def test_more_partitions_than_one_request_may_have_are_refused() -> None:
    many = list(range(TOO_MANY))
    async with running_broker(topics={"t": 1}) as broker:
        [group] = (await broker.ask(described(many), 1)).groups
        assert (group.error_code, group.topics) == (ErrorCode.INVALID_REQUEST, [])
        assert "split it" in group.error_message
        [topic] = (await broker.ask(summary(many), 0)).results
        assert {each.error_code for each in topic.partitions} == {ErrorCode.INVALID_REQUEST}
        [group] = (await broker.ask(described(many[:-1]), 1)).groups
        assert (group.error_code, len(group.topics[0].partitions)) == (0, TOO_MANY - 1)
