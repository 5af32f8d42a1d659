"""Visits of group members: late commits, replaced static members, pending offsets."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

_GROUPS: Final = 0
_AGAIN: Final = (
    ErrorCode.MEMBER_ID_REQUIRED,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
)
_PROTOCOLS: Final = [JoinGroupRequestProtocol("range", b"")]


class _Member:
    """A member of a classic group, which is its only one."""

    def __init__(self, world: Any, group: str, instance: str | None = None) -> None:
        self.client = world.client
        self.group = group
        self.instance = instance
        self.member_id = ""
        self.generation = -1

    async def join(self) -> None:
        await self.client.ask(FindCoordinatorRequest(self.group, _GROUPS), 3)
        while True:
            request = JoinGroupRequest(
                self.group, 30_000, 30_000, self.member_id, self.instance, "consumer", _PROTOCOLS
            )
            answer = await self.client.ask(request, 5)
            self.member_id, self.generation = answer.member_id, answer.generation_id
            if answer.error_code not in _AGAIN:
                break
            await asyncio.sleep(0.1)
        assert not answer.error_code
        share = [SyncGroupRequestAssignment(self.member_id, b"")]
        sync = SyncGroupRequest(
            self.group, self.generation, self.member_id, self.instance, assignments=share
        )
        assert not (await self.client.ask(sync, 3)).error_code

    async def commit(self, offset: int) -> ErrorCode:
        partitions = [OffsetCommitRequestPartition(0, offset)]
        topics = [OffsetCommitRequestTopic("t", partitions=partitions)]
        who = (self.generation, self.member_id, self.instance)
        answer = await self.client.ask(OffsetCommitRequest(self.group, *who, topics=topics), 8)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    async def commit_with(self, producer: Any, offset: int) -> ErrorCode:
        topics = [TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, offset)])]
        of_producer = (producer.name, self.group, producer.id, producer.epoch)
        who = (self.generation, self.member_id, self.instance)
        request = TxnOffsetCommitRequest(*of_producer, *who, topics=topics)
        answer = await self.client.ask(request, 5)
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    async def committed(self) -> tuple[ErrorCode, int]:
        asked = OffsetFetchRequestGroup(
            self.group, topics=[OffsetFetchRequestTopics("t", partition_indexes=[0])]
        )
        answer = await self.client.ask(OffsetFetchRequest(groups=[asked], require_stable=True), 8)
        found = answer.groups[0].topics[0].partitions[0]
        return ErrorCode(found.error_code), found.committed_offset


async def late_commit(world: Any) -> None:
    """A commit of the generation before arrives after a rebalance."""
    member = _Member(world, "late")
    await member.join()
    before = member.generation
    await member.join()
    assert not await member.commit(7)
    member.generation = before
    assert await member.commit(3), "a commit of an older generation is taken"
    producer = await world.producer()
    assert await member.commit_with(producer, 3), "a transaction takes an older generation's"
    await producer.end("abort")
    assert (await member.committed())[1] == 7


async def stranger_commits(world: Any) -> None:
    """A member that was removed commits."""
    member = _Member(world, "strangers")
    await member.join()
    gone = _Member(world, "strangers")
    gone.generation, gone.member_id = member.generation, "gone"
    assert await gone.commit(3), "a commit of an unknown member is taken"


async def replaced_static_member(world: Any) -> None:
    """A static member commits after another one with its name has joined."""
    late, newer = (_Member(world, "static", "one") for _ in range(2))
    await late.join()
    await newer.join()
    late.generation = newer.generation
    assert await late.commit(3) == ErrorCode.FENCED_INSTANCE_ID, "a replaced member commits"
    assert not await newer.commit(4)


async def pending_offsets(world: Any) -> None:
    """Offsets of a transaction count when it is committed, and only then."""
    member = _Member(world, "pending")
    await member.join()
    assert not await member.commit(1)
    producer = await world.producer()
    for outcome, offset in (("abort", 1), ("commit", 6)):
        assert not await member.commit_with(producer, 6)
        code, _ = await member.committed()
        assert code == ErrorCode.UNSTABLE_OFFSET_COMMIT, "offsets are told that may change"
        assert not await producer.end(outcome)
        assert (await member.committed()) == (ErrorCode.NONE, offset), f"after the {outcome}"


async def late_offsets(world: Any) -> None:
    """Offsets of a fenced producer arrive late."""
    member = _Member(world, "late-offsets")
    await member.join()
    late = await world.producer()
    await type(late)(world.client, late.name).initialize()
    assert await member.commit_with(late, 5), "a fenced producer commits offsets"


MEMBER_VISITS: Final = (
    late_commit,
    stranger_commits,
    replaced_static_member,
    pending_offsets,
    late_offsets,
)
