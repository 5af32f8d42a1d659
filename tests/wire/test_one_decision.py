"""A request that is one decision has a bound: what is longer is refused before it is decided."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.adapters.one_decision import ELEMENTS_MAX
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.list_groups import ListGroupsRequest

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


@pytest.mark.parametrize(
    ("request_", "version", "code"),
    [
        (join(TOO_MANY), 9, ErrorCode.INVALID_REQUEST),
        (join(ELEMENTS_MAX), 9, ErrorCode.MEMBER_ID_REQUIRED),
        (heartbeat(TOO_MANY), 1, ErrorCode.INVALID_REQUEST),
        (heartbeat(ELEMENTS_MAX), 1, ErrorCode.NONE),
        (ListGroupsRequest(["Stable"] * TOO_MANY), 5, ErrorCode.INVALID_REQUEST),
    ],
    ids=["join", "join, as long as may be", "heartbeat", "heartbeat, as long as may be", "list"],
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
    ],
    ids=["create ACLs", "delete ACLs", "create topics"],
)
async def test_each_element_has_its_answer(request_: Message, version: int, results: str) -> None:
    async with running_broker() as broker:
        found: list[Any] = getattr(await broker.ask(request_, version), results)
        assert len(found) == TOO_MANY
        assert {each.error_code for each in found} == {ErrorCode.POLICY_VIOLATION}
        assert str(TOO_MANY) in found[0].error_message
