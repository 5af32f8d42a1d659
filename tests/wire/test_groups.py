"""Classic groups over the wire: members that wait for each other, leave, vanish, and restarts."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.server.clock import StateClock
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost_protocol.generated.list_groups import ListGroupsRequest
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
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment

from tests.conformance import group_operation_cases
from tests.support.broker import Client, RunningBroker, running_broker
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio

NONE = ErrorCode.NONE
AT_ONCE = {"group.initial.rebalance.delay.ms": 0}
GROUP = "readers"


class Member:
    """One member with a connection of its own."""

    def __init__(self, client: Client, name: bytes) -> None:
        self.client = client
        self.name = name
        self.member_id = ""
        self.generation = -1

    async def join(self) -> Any:
        protocols = [JoinGroupRequestProtocol("any", b"metadata of " + self.name)]
        while True:
            request = JoinGroupRequest(
                GROUP, 10_000, 60_000, self.member_id, None, "consumer", protocols
            )
            answer = await self.client.ask(request, 7)
            self.member_id = answer.member_id
            if answer.error_code != ErrorCode.MEMBER_ID_REQUIRED:
                self.generation = answer.generation_id
                return answer

    async def sync(self, **assignments: bytes) -> Any:
        given = [SyncGroupRequestAssignment(each, data) for each, data in assignments.items()]
        request = SyncGroupRequest(
            GROUP, self.generation, self.member_id, None, "consumer", "any", given
        )
        return await self.client.ask(request, 5)

    async def beat(self) -> ErrorCode:
        request = HeartbeatRequest(GROUP, self.generation, self.member_id)
        return ErrorCode((await self.client.ask(request, 4)).error_code)


async def members(stack: AsyncExitStack, broker: RunningBroker, *names: bytes) -> list[Member]:
    await broker.ask(FindCoordinatorRequest(GROUP, 0), 2)
    address = f"{broker.host}:{broker.port}"
    return [Member(await stack.enter_async_context(Client(address)), name) for name in names]


async def state(client: Client) -> str:
    answer = await client.ask(DescribeGroupsRequest([GROUP]), 5)
    return str(answer.groups[0].group_state)


async def commit(client: Client, offset: int) -> ErrorCode:
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, offset)])]
    answer = await client.ask(OffsetCommitRequest(GROUP, topics=topics), 8)
    return ErrorCode(answer.topics[0].partitions[0].error_code)


async def committed(client: Client) -> int:
    topics = [OffsetFetchRequestTopics("t", partition_indexes=[0])]
    asked = [OffsetFetchRequestGroup(GROUP, topics=topics), OffsetFetchRequestGroup("other")]
    answer = await client.ask(OffsetFetchRequest(groups=asked), 8)
    assert [each.group_id for each in answer.groups] == [GROUP, "other"]
    return int(answer.groups[0].topics[0].partitions[0].committed_offset)


async def test_two_members_share_and_one_leaves() -> None:
    async with AsyncExitStack() as stack:
        broker = await stack.enter_async_context(running_broker(AT_ONCE))
        first, second = await members(stack, broker, b"a", b"b")
        await first.join()
        assert (await first.sync(**{first.member_id: b"everything"})).assignment == b"everything"
        joining = asyncio.create_task(second.join())
        while await first.beat() is NONE:
            pass
        leader = await first.join()
        follower = await joining
        assert [each.metadata for each in leader.members] == [b"metadata of a", b"metadata of b"]
        assert (follower.leader, follower.members) == (first.member_id, [])
        waiting = asyncio.create_task(second.sync())
        given = {first.member_id: b"left", second.member_id: b"right"}
        assert (await first.sync(**given)).assignment == b"left"
        assert (await waiting).assignment == b"right"
        assert (await first.beat(), await second.beat(), await state(broker)) == (
            NONE, NONE, "Stable",
        )  # fmt: skip
        request = LeaveGroupRequest(GROUP, members=[MemberIdentity(second.member_id)])
        assert not (await broker.ask(request, 5)).error_code
        assert await first.beat() is ErrorCode.REBALANCE_IN_PROGRESS
        assert await second.beat() is ErrorCode.UNKNOWN_MEMBER_ID


class AnswersInOrder:
    """A watcher that notes the API and the client of each answer."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, str | None]] = []

    def answered(self, request: Request, pieces: Pieces) -> None:
        self.answers.append((request.api_key, request.client_id))

    def opened(self, connection: Any) -> None: ...
    def requested(self, request: Request) -> None: ...
    def parked(self, request: Request) -> None: ...
    def dropped(self, connection: Any, reason: str) -> None: ...
    def closed(self, connection: Any, reason: str) -> None: ...


@pytest.mark.parametrize("fsync", ["interval", "always"])
async def test_the_request_that_completes_a_rebalance_is_answered_before_those_that_waited(
    fsync: str, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {**AT_ONCE, "fsync": fsync}
    async with AsyncExitStack() as stack:
        disk = FileDisk(tmp_path)
        broker = await stack.enter_async_context(running_broker(settings, disk=disk))
        await broker.ask(FindCoordinatorRequest(GROUP, 0), 2)
        first, second = [
            Member(
                await stack.enter_async_context(Client(f"{broker.host}:{broker.port}", name)),
                name.encode(),
            )
            for name in ("leader", "follower")
        ]
        await first.join()
        await first.sync(**{first.member_id: b"everything"})
        joining = asyncio.create_task(second.join())
        while await first.beat() is NONE:
            pass
        server = broker.process.socket_server
        server.watcher = watcher = AnswersInOrder()
        await first.join()
        await joining
        waiting = asyncio.create_task(second.sync())
        await until(lambda: server.parked_count == 1)
        await first.sync(**{first.member_id: b"left", second.member_id: b"right"})
        await waiting
        for key in (ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP):
            order = [client_id for api_key, client_id in watcher.answers if api_key == key]
            assert order == ["leader", "follower"]


async def test_a_member_that_is_silent_is_gone_after_its_session() -> None:
    clock = StateClock(manual=True)
    async with AsyncExitStack() as stack:
        settings = {"group.initial.rebalance.delay.ms": 3000}
        broker = await stack.enter_async_context(running_broker(settings, clock=clock))
        (only,) = await members(stack, broker, b"a")
        joining = asyncio.create_task(only.join())
        while await state(broker) != "PreparingRebalance":
            pass
        clock.advance(seconds=3)
        await joining
        await only.sync(**{only.member_id: b"everything"})
        clock.advance(seconds=9)
        assert await only.beat() is NONE
        clock.advance(seconds=9)
        assert await state(broker) == "Stable"
        clock.advance(seconds=1)
        assert await state(broker) == "Empty"


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_session_lasts_as_long_as_before(hours: int) -> None:
    """Sessions are durations, which setting the clock neither ends nor prolongs."""
    clock = StateClock(manual=True)
    async with AsyncExitStack() as stack:
        settings = {"group.initial.rebalance.delay.ms": 0}
        broker = await stack.enter_async_context(running_broker(settings, clock=clock))
        (only,) = await members(stack, broker, b"a")
        await only.join()
        await only.sync(**{only.member_id: b"everything"})
        clock.jump(hours=hours)
        clock.advance(ms=9_999)
        assert await state(broker) == "Stable"
        clock.advance(ms=1)
        assert await state(broker) == "Empty"


async def test_a_member_goes_on_with_the_next_broker() -> None:
    disk = MemoryDisk(MemoryBudget(64 << 20))
    async with AsyncExitStack() as stack:
        broker = await stack.enter_async_context(running_broker(AT_ONCE, disk=disk))
        (only,) = await members(stack, broker, b"a")
        await only.join()
        await only.sync(**{only.member_id: b"everything"})
    async with running_broker(disk=disk) as broker:
        only.client = broker
        assert await only.beat() is NONE
        assert await state(broker) == "Stable"


async def test_offsets_are_committed_fetched_and_deleted() -> None:
    disk = MemoryDisk(MemoryBudget(64 << 20))
    async with running_broker(topics={"t": 1}, disk=disk) as broker:
        assert await commit(broker, 5) is ErrorCode.NOT_COORDINATOR
        await broker.ask(FindCoordinatorRequest(GROUP, 0), 2)
        assert await committed(broker) == -1
        assert await commit(broker, 5) is NONE
        assert await committed(broker) == 5
    async with running_broker(disk=disk) as broker:
        assert await committed(broker) == 5
        topics = [OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(0)])]
        assert not (await broker.ask(OffsetDeleteRequest(GROUP, topics), 0)).error_code
        assert await committed(broker) == -1
        await commit(broker, 7)
        await broker.ask(DeleteTopicsRequest(topics=[DeleteTopicState("t")]), 6)
        broker.create("t")
        assert await committed(broker) == -1, "it was of another topic"


async def test_groups_are_listed_described_and_deleted() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        assert (await broker.ask(ListGroupsRequest(), 5)).groups == []
        await broker.ask(FindCoordinatorRequest(GROUP, 0), 2)
        await commit(broker, 5)
        answer = await broker.ask(ListGroupsRequest(), 5)
        assert [(each.group_id, each.group_state) for each in answer.groups] == [(GROUP, "Empty")]
        answer = await broker.ask(DescribeGroupsRequest([GROUP, "nobody"]), 5)
        assert [each.group_state for each in answer.groups] == ["Empty", "Dead"]
        answer = await broker.ask(DeleteGroupsRequest([GROUP, "nobody"]), 2)
        codes = [each.error_code for each in answer.results]
        assert codes == [NONE, ErrorCode.GROUP_ID_NOT_FOUND]
        assert (await broker.ask(ListGroupsRequest(), 5)).groups == []


async def test_what_may_be_done_with_groups_is_told_as_by_apache_kafka() -> None:
    expected = Path(group_operation_cases.__file__).with_name("group_operations.txt")
    async with running_broker() as broker:
        lines = await group_operation_cases.script(f"{broker.host}:{broker.port}")
    assert lines == expected.read_text(encoding="utf-8").splitlines()
