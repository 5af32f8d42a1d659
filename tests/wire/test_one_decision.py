"""A request that is one decision has a bound: what is longer is refused before it is decided."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker.apis.cutting import let_go
from fencepost_broker.apis.served import ELEMENTS_MAX
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.list_groups import ListGroupsRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

from tests.support.broker import running_broker

pytestmark = pytest.mark.asyncio

TOO_MANY = ELEMENTS_MAX + 1


def join(count: int) -> JoinGroupRequest:
    protocols = [JoinGroupRequestProtocol(f"p-{number}", b"") for number in range(count)]
    return JoinGroupRequest("g", 10_000, 10_000, "", None, "consumer", protocols)


def heartbeat(count: int) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id="new",
        member_id="AAAAAAAAAAAAAAAAAAAAAA",
        rebalance_timeout_ms=10_000,
        subscribed_topic_names=[f"t-{number}" for number in range(count)],
        topic_partitions=[],
    )


FETCH = FetchRequest(topics=[FetchTopic("t", partitions=[FetchPartition(0)] * 100_001)])


@pytest.mark.parametrize(
    ("request_", "version", "code"),
    [
        (join(TOO_MANY), 9, ErrorCode.INVALID_REQUEST),
        (join(ELEMENTS_MAX), 9, ErrorCode.MEMBER_ID_REQUIRED),
        (heartbeat(TOO_MANY), 1, ErrorCode.INVALID_REQUEST),
        (heartbeat(ELEMENTS_MAX), 1, ErrorCode.NONE),
        (ListGroupsRequest(["Stable"] * TOO_MANY), 5, ErrorCode.INVALID_REQUEST),
        (FETCH, 12, ErrorCode.INVALID_REQUEST),
    ],
    ids=[
        "join",
        "join, as long as may be",
        "heartbeat",
        "heartbeat, as long as may be",
        "list",
        "fetch",
    ],
)
async def test_a_request_with_one_answer(request_: Message, version: int, code: ErrorCode) -> None:
    async with running_broker() as broker:
        for group in ("g", "new"):
            await broker.ask(FindCoordinatorRequest(group), 3)
        answer = await broker.ask(request_, version)
        while answer.error_code in (
            ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
            ErrorCode.NOT_COORDINATOR,
        ):
            answer = await broker.ask(request_, version)
        assert answer.error_code == code
        message = getattr(answer, "error_message", None)
        assert message is None or str(TOO_MANY) in message


CREATION = AclCreation(2, "t", 3, "User:a", "*", 3, 3)
FILTER = DeleteAclsFilter(2, "t", 3, None, None, 1, 1)


@pytest.mark.parametrize(
    ("request_", "version", "results"),
    [
        (CreateAclsRequest([CREATION] * TOO_MANY), 3, "results"),
        (DeleteAclsRequest([FILTER] * TOO_MANY), 3, "filter_results"),
        (CreateTopicsRequest([CreatableTopic("t", 1, 1)] * TOO_MANY, 1_000), 7, "topics"),
        (DeleteTopicsRequest([DeleteTopicState("t")] * TOO_MANY), 6, "responses"),
    ],
    ids=["create ACLs", "delete ACLs", "create topics", "delete topics"],
)
async def test_each_element_has_its_answer(request_: Message, version: int, results: str) -> None:
    async with running_broker() as broker:
        found: list[Any] = getattr(await broker.ask(request_, version), results)
        assert len(found) == TOO_MANY
        assert {each.error_code for each in found} == {ErrorCode.POLICY_VIOLATION}
        assert str(TOO_MANY) in found[0].error_message


async def test_a_commit_of_too_many_offsets() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        await broker.ask(FindCoordinatorRequest("g"), 3)
        # A frame of a frequent API is counted from 256 KB on: twice as many make it large enough.
        for count, code in (
            (1, ErrorCode.NONE),
            (2 * TOO_MANY, ErrorCode.INVALID_COMMIT_OFFSET_SIZE),
        ):
            partitions = [OffsetCommitRequestPartition(0, 5)] * count
            request = OffsetCommitRequest(
                "g", topics=[OffsetCommitRequestTopic("t", partitions=partitions)]
            )
            [topic] = (await broker.ask(request, 8)).topics
            assert {each.error_code for each in topic.partitions} == {code}
            assert (topic.name, len(topic.partitions)) == ("t", count)


async def test_too_many_topics_of_a_transaction() -> None:
    topics = [AddPartitionsToTxnTopic("t" * 40, [0])] * TOO_MANY
    async with running_broker(topics={"t": 1}) as broker:
        old = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="x", v3_and_below_topics=topics
        )
        results = (await broker.ask(old, 3)).results_by_topic_v3_and_below
        new = AddPartitionsToTxnRequest([AddPartitionsToTxnTransaction("x", 1, 0, False, topics)])
        [transaction] = (await broker.ask(new, 4)).results_by_transaction
        assert transaction.transactional_id == "x"
        for found in (results, transaction.topic_results):
            codes = {each.results_by_partition[0].partition_error_code for each in found}
            assert (len(found), codes) == (TOO_MANY, {ErrorCode.INVALID_REQUEST})


@pytest.mark.parametrize("acks", [-1, 0])
async def test_too_many_batches_of_a_transaction(acks: int) -> None:
    # Without a transaction batches have nothing to do with each other, and are appended in parts.
    entries = [PartitionProduceData(number, b"x" * 40) for number in range(TOO_MANY)]
    topics = [TopicProduceData("t" * 40, partition_data=entries)]
    request = ProduceRequest("x", acks, 1_000, topics)
    async with running_broker(topics={"t": 1}) as broker:
        if not acks:
            with pytest.raises(asyncio.IncompleteReadError):
                await broker.ask(request, 12)
            return
        [topic] = (await broker.ask(request, 12)).responses
        codes = {each.error_code for each in topic.partition_responses}
        assert (len(topic.partition_responses), codes) == (TOO_MANY, {ErrorCode.INVALID_REQUEST})
        assert str(TOO_MANY) in topic.partition_responses[0].error_message
        request.transactional_id = None
        [topic] = (await broker.ask(request, 12)).responses
        assert len(topic.partition_responses) == TOO_MANY
        assert topic.partition_responses[0].error_code != ErrorCode.INVALID_REQUEST


async def test_too_many_topics_to_look_up() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        asked = [OffsetFetchRequestTopics("t", partition_indexes=[0])] * TOO_MANY
        fetch = OffsetFetchRequest(groups=[OffsetFetchRequestGroup("g", topics=asked)])
        [group] = (await broker.ask(fetch, 9)).groups
        assert (group.group_id, group.error_code) == ("g", ErrorCode.INVALID_REQUEST)
        old = OffsetFetchRequest("g", [OffsetFetchRequestTopic("t", [0])] * TOO_MANY)
        assert (await broker.ask(old, 7)).error_code == ErrorCode.INVALID_REQUEST
        describe = DescribeTopicPartitionsRequest([TopicRequest("t")] * TOO_MANY)
        described = (await broker.ask(describe, 0)).topics
        assert {each.error_code for each in described} == {ErrorCode.INVALID_REQUEST}


async def test_a_long_list_in_a_short_one_is_let_go() -> None:
    configs = [AlterableConfig("a", 0, "b")] * 1_000
    resources = [AlterConfigsResource(2, "t", configs)]
    let_go([IncrementalAlterConfigsRequest(resources)])
    assert not configs
    assert len(resources) == 1  # what is short may be kept by a decision
