"""Members of groups that do not know that they are out, and offsets that lead nowhere."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from fencepost_protocol.generated.sync_group import SyncGroupRequest

from fencepost_broker.server.embedded.broker import Broker
from fencepost_broker.server.scenarios.scenario import Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import GROUPS, TOPIC, Connection

GROUP: Final = "readers"
INSTANCE: Final = "reader-1"
_SESSION_MS: Final = 10_000
_AT_ONCE: Final = {"group.initial.rebalance.delay.ms": 0}
_JOIN_DYNAMIC, _JOIN_STATIC, _SYNC, _HEARTBEAT, _COMMIT, _OFFSETS = 2, 5, 3, 3, 7, 5
_FETCH, _DELETE = 11, 1
"""Versions of requests."""


class _Member:
    """A member of the group, on a connection of its own."""

    def __init__(self, connection: Connection, instance: str | None = None) -> None:
        self._connection = connection
        self._instance = instance
        self.id = ""
        self.generation = -1

    async def join(self) -> None:
        """Join alone, and take all partitions."""
        request = JoinGroupRequest(
            GROUP,
            _SESSION_MS,
            _SESSION_MS,
            group_instance_id=self._instance,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol("range", b"")],
        )
        version = _JOIN_DYNAMIC if self._instance is None else _JOIN_STATIC
        answer = await self._connection.ask(request, version)
        self.id, self.generation = answer.member_id, answer.generation_id
        sync = SyncGroupRequest(
            GROUP, self.generation, self.id, group_instance_id=self._instance, assignments=[]
        )
        await self._connection.ask(sync, _SYNC)

    async def heartbeat(self) -> str:
        """Send a heartbeat; return the error by its name, or NONE."""
        request = HeartbeatRequest(
            GROUP, self.generation, self.id, group_instance_id=self._instance
        )
        return ErrorCode((await self._connection.ask(request, _HEARTBEAT)).error_code).name

    async def commit(self, offset: int) -> str:
        """Commit the offset of the topic; return the error by its name, or NONE."""
        request = OffsetCommitRequest(
            GROUP,
            self.generation,
            self.id,
            self._instance,
            topics=[OffsetCommitRequestTopic(TOPIC, partitions=[_committed(offset)])],
        )
        answer = await self._connection.ask(request, _COMMIT)
        return ErrorCode(answer.topics[0].partitions[0].error_code).name


def _committed(offset: int) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(0, offset, committed_metadata="")


async def _committed_offset(connection: Connection) -> int:
    topics = [OffsetFetchRequestTopic(TOPIC, partition_indexes=[0])]
    answer = await connection.ask(OffsetFetchRequest(GROUP, topics), _OFFSETS)
    return int(answer.topics[0].partitions[0].committed_offset)


async def _zombie(broker: Broker, tell: Tell) -> Facts:
    async with Connection(broker) as first, Connection(broker) as second:
        for value in (b"1", b"2", b"3"):
            await first.produce(value)
        await first.find_coordinator(GROUP, GROUPS)
        zombie, heir = _Member(first), _Member(second)
        await zombie.join()
        commit = await zombie.commit(1)
        tell(f"A member reads the first record and commits offset 1 ({commit}). Then it stops.")
        broker.clock.advance(seconds=_SESSION_MS / 1000 + 1)
        await heir.join()
        heirs = await heir.commit(3)
        tell(f"Its session ends. Another member reads all records and commits offset 3 ({heirs}).")
        late = await zombie.commit(2)
        offset = await _committed_offset(second)
        tell(f"The first one wakes and commits offset 2: {late}. The group stays at {offset}.")
        return {"commit": commit, "heirs_commit": heirs, "zombies_commit": late, "offset": offset}


async def _replaced(broker: Broker, tell: Tell) -> Facts:
    async with Connection(broker) as first, Connection(broker) as second:
        await first.produce(b"order")
        await first.find_coordinator(GROUP, GROUPS)
        old, new = _Member(first, INSTANCE), _Member(second, INSTANCE)
        await old.join()
        before = await old.heartbeat()
        tell(f"A program joins as the static member {INSTANCE}; a heartbeat gets {before}.")
        await new.join()
        tell(f"Another program joins as {INSTANCE}, too, and takes the first one's place.")
        after = await old.heartbeat()
        commit = await old.commit(1)
        tell(f"The first one's next heartbeat gets {after}, and its commit {commit}.")
        return {
            "heartbeat_before": before,
            "heartbeat": after,
            "commit": commit,
            "new_heartbeat": await new.heartbeat(),
        }


async def _out_of_range(broker: Broker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        for value in (b"1", b"2", b"3", b"4"):
            await connection.produce(value)
        await connection.find_coordinator(GROUP, GROUPS)
        member = _Member(connection)
        await member.join()
        await member.commit(1)
        tell("A group commits offset 1 of 4, and stops.")
        request = DeleteRecordsRequest(
            [DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(0, 3)])], 5_000
        )
        deleted = await connection.ask(request, _DELETE)
        start = deleted.topics[0].partitions[0].low_watermark
        tell(f"Meanwhile the records before offset {start} are deleted.")
        offset = await _committed_offset(connection)
        fetched = await _fetch(connection, offset)
        tell(f"The group starts again and fetches at its offset {offset}: {fetched}.")
        return {
            "committed": offset,
            "log_start": int(start),
            "fetch": fetched,
            "fetch_at_start": await _fetch(connection, start),
        }


async def _fetch(connection: Connection, offset: int) -> str:
    wanted = FetchTopic(TOPIC, partitions=[FetchPartition(0, fetch_offset=offset)])
    answer = await connection.ask(FetchRequest(topics=[wanted]), _FETCH)
    return ErrorCode(answer.responses[0].partitions[0].error_code).name


ZOMBIE: Final = Scenario(
    name="zombie-member-commits",
    summary="A member that was expelled from its group commits an offset",
    seen="A program that stood still for longer than session.timeout.ms gets CommitFailedException"
    " or UNKNOWN_MEMBER_ID, though it has processed the records: others process them again.",
    clients="All consumers of groups that may stand still: a long garbage collection, a closed"
    " laptop.",
    remedy="Process records so that twice does no harm, or commit offsets and output in one"
    " transaction (KIP-447); keep session.timeout.ms above the longest pause.",
    settings=_AT_ONCE,
    run=_zombie,
)
REPLACED: Final = Scenario(
    name="static-member-replaced",
    summary="Two programs have the same group.instance.id",
    seen="The older one ends with FencedInstanceIdException: FENCED_INSTANCE_ID.",
    clients="Consumers with group.instance.id (KIP-345): two deployments with the same name.",
    remedy="Give each instance an id of its own, such as the name of its pod.",
    settings=_AT_ONCE,
    run=_replaced,
)
OUT_OF_RANGE: Final = Scenario(
    name="offset-out-of-range",
    summary="The records at a group's offset were deleted",
    seen="OFFSET_OUT_OF_RANGE; then the consumer goes to the start or the end of the log, as"
    " auto.offset.reset says: records are read late, or never.",
    clients="Consumers that stop for longer than retention.ms, or whose topic has DeleteRecords.",
    remedy="A longer retention; auto.offset.reset=none to be told.",
    settings=_AT_ONCE,
    run=_out_of_range,
)
