"""Members of groups that do not know that they are out, and offsets that lead nowhere."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic

from fencepost_broker.server.scenarios.members import AT_ONCE, GROUP, SESSION_MS, Member
from fencepost_broker.server.scenarios.scenario import AnyBroker, Facts, Scenario, Tell
from fencepost_broker.server.scenarios.wire import GROUPS, TOPIC, Connection

INSTANCE: Final = "reader-1"
_OFFSETS, _DELETE = 5, 1
"""Versions of requests."""


async def _committed_offset(connection: Connection) -> int:
    topics = [OffsetFetchRequestTopic(TOPIC, partition_indexes=[0])]
    answer = await connection.ask(OffsetFetchRequest(GROUP, topics), _OFFSETS)
    return int(answer.topics[0].partitions[0].committed_offset)


async def _zombie(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as first, Connection(broker) as second:
        for value in (b"1", b"2", b"3"):
            await first.produce(value)
        await first.find_coordinator(GROUP, GROUPS)
        zombie, heir = Member(first), Member(second)
        await zombie.join_alone()
        commit = await zombie.commit(1)
        tell(f"A member reads the first record and commits offset 1 ({commit}). Then it stops.")
        broker.clock.advance(seconds=SESSION_MS / 1000 + 1)
        await heir.join_alone()
        heirs = await heir.commit(3)
        tell(f"Its session ends. Another member reads all records and commits offset 3 ({heirs}).")
        late = await zombie.commit(2)
        offset = await _committed_offset(second)
        tell(f"The first one wakes and commits offset 2: {late}. The group stays at {offset}.")
        return {"commit": commit, "heirs_commit": heirs, "zombies_commit": late, "offset": offset}


async def _replaced(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as first, Connection(broker) as second:
        await first.produce(b"order")
        await first.find_coordinator(GROUP, GROUPS)
        old, new = Member(first, INSTANCE), Member(second, INSTANCE)
        await old.join_alone()
        before = await old.heartbeat()
        tell(f"A program joins as the static member {INSTANCE}; a heartbeat gets {before}.")
        await new.join_alone()
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


async def _out_of_range(broker: AnyBroker, tell: Tell) -> Facts:
    async with Connection(broker) as connection:
        for value in (b"1", b"2", b"3", b"4"):
            await connection.produce(value)
        await connection.find_coordinator(GROUP, GROUPS)
        member = Member(connection)
        await member.join_alone()
        await member.commit(1)
        tell("A group commits offset 1 of 4, and stops.")
        request = DeleteRecordsRequest(
            [DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(0, 3)])], 5_000
        )
        deleted = await connection.ask(request, _DELETE)
        start = deleted.topics[0].partitions[0].low_watermark
        tell(f"Meanwhile the records before offset {start} are deleted.")
        offset = await _committed_offset(connection)
        fetched = await connection.fetch(offset)
        tell(f"The group starts again and fetches at its offset {offset}: {fetched}.")
        return {
            "committed": offset,
            "log_start": int(start),
            "fetch": fetched,
            "fetch_at_start": await connection.fetch(int(start)),
        }


ZOMBIE: Final = Scenario(
    name="zombie-member-commits",
    summary="A member that was expelled from its group commits an offset",
    seen="A program that stood still for longer than session.timeout.ms gets CommitFailedException"
    " or UNKNOWN_MEMBER_ID, though it has processed the records: others process them again.",
    clients="All consumers of groups that may stand still: a long garbage collection, a closed"
    " laptop.",
    remedy="Process records so that twice does no harm, or commit offsets and output in one"
    " transaction (KIP-447); keep session.timeout.ms above the longest pause.",
    settings=AT_ONCE,
    run=_zombie,
)
REPLACED: Final = Scenario(
    name="static-member-replaced",
    summary="Two programs have the same group.instance.id",
    seen="The older one ends with FencedInstanceIdException: FENCED_INSTANCE_ID.",
    clients="Consumers with group.instance.id (KIP-345): two deployments with the same name.",
    remedy="Give each instance an id of its own, such as the name of its pod.",
    settings=AT_ONCE,
    run=_replaced,
)
OUT_OF_RANGE: Final = Scenario(
    name="offset-out-of-range",
    summary="The records at a group's offset were deleted",
    seen="OFFSET_OUT_OF_RANGE; then the consumer goes to the start or the end of the log, as"
    " auto.offset.reset says: records are read late, or never.",
    clients="Consumers that stop for longer than retention.ms, or whose topic has DeleteRecords.",
    remedy="A longer retention; auto.offset.reset=none to be told.",
    settings=AT_ONCE,
    run=_out_of_range,
)
