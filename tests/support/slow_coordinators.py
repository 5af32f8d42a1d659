"""A broker with ``fsync=always``, on a disk that waits when a test says so; and raw requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fencepost_broker import Broker
from fencepost_broker.config import Value
from fencepost_broker.server.clock import wall_ms
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client
from tests.support.syncs import Syncs

NONE, LOST = ErrorCode.NONE, ErrorCode.NOT_COORDINATOR
ALWAYS: Final[Mapping[str, Value]] = {
    "fsync": "always",
    "group.initial.rebalance.delay.ms": 0,
    "offsets.topic.num.partitions": 1,
    "transaction.state.log.num.partitions": 1,
}
Who = tuple[int, int]


@dataclass
class Slow:
    """A broker, two clients of it, and its disk."""

    broker: Broker
    client: Client
    others: Client
    syncs: Syncs

    def soon(self, request: Message, version: int) -> asyncio.Task[Any]:
        """Ask on a connection of its own."""

        async def ask() -> Any:
            async with Client(self.broker.bootstrap) as client:
                return await client.ask(request, version)

        return asyncio.ensure_future(ask())

    def stand_still(self) -> None:
        self.syncs.may_go_on.clear()

    def go_on(self) -> None:
        self.syncs.may_go_on.set()

    async def until_parked(self, count: int, *tasks: asyncio.Task[Any]) -> None:
        """So many requests have arrived and wait."""
        async with asyncio.timeout(60):
            while self.broker.stats()["connections"]["parked_requests"] != count:
                await self.others.ask(MetadataRequest(topics=[]), 9)
                assert not any(task.done() for task in tasks), "it should wait"

    async def all_wait(self, *tasks: asyncio.Task[Any]) -> None:
        """All of these have arrived, and none of them is answered."""
        await self.until_parked(len(tasks), *tasks)

    async def end_of(self, topic: str, partition: int = 0, *, isolation: int = 0) -> int:
        """Where a partition ends, or its last stable offset, on disk or not."""
        wanted = ListOffsetsTopic(topic, [ListOffsetsPartition(partition, timestamp=-1)])
        answer = await self.others.ask(ListOffsetsRequest(-1, isolation, topics=[wanted]), 7)
        return int(answer.topics[0].partitions[0].offset)

    async def begin(self, name: str = "x") -> Who:
        answer = await self.client.ask(InitProducerIdRequest(name, 60_000), 4)
        assert not answer.error_code
        return answer.producer_id, answer.producer_epoch


@asynccontextmanager
async def slow(folder: Path, syncs: Syncs, **more: Value) -> AsyncIterator[Slow]:
    """Coordinators for the group ``g`` and the transactional id ``x`` are there."""
    async with (
        Broker(settings={**ALWAYS, **more}, data_dir=folder, topics={"t": 2}) as broker,
        Client(broker.bootstrap) as client,
        Client(broker.bootstrap) as others,
    ):
        for name, kind in (("g", 0), ("x", 1)):
            while (await client.ask(FindCoordinatorRequest(name, kind), 2)).error_code:
                pass
        try:
            yield Slow(broker, client, others, syncs)
        finally:
            syncs.may_go_on.set()


def code_of(answer: Any) -> ErrorCode:
    """The highest error code anywhere in an answer."""
    found = [0]
    todo = [answer]
    while todo:
        each = todo.pop()
        for name in getattr(each, "__slots__", ()):
            value = getattr(each, name)
            if name in ("error_code", "partition_error_code"):
                found.append(value)
            elif isinstance(value, list):
                todo += value
    return ErrorCode(max(found))


def commit(offset: int, group: str = "g", who: tuple[int, str] = (-1, "")) -> Message:
    topics = [OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, offset)])]
    return OffsetCommitRequest(group, *who, topics=topics)


def fetch_offsets(group: str = "g") -> Message:
    asked = OffsetFetchRequestGroup(group, topics=None)
    return OffsetFetchRequest(groups=[asked], require_stable=True)


def committed(answer: Any) -> list[tuple[int, int]]:
    (group,) = answer.groups
    assert not group.error_code
    return [(each.committed_offset, each.error_code) for each in group.topics[0].partitions]


def add(who: Who, *partitions: int) -> Message:
    return AddPartitionsToTxnRequest([], "x", *who, [AddPartitionsToTxnTopic("t", [*partitions])])


def sent(who: Who, sequence: int = 0) -> Message:
    records = build_batch(
        None, [b"x"], wall_ms(), producer_id=who[0], producer_epoch=who[1],
        base_sequence=sequence, transactional=True,
    )  # fmt: skip
    data = TopicProduceData("t", partition_data=[PartitionProduceData(0, bytes(records))])
    return ProduceRequest("x", -1, 5000, [data])


def offsets_in(who: Who, offset: int) -> Message:
    topics = [TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, offset)])]
    return TxnOffsetCommitRequest("x", "g", *who, topics=topics)


def join(member_id: str = "") -> Message:
    protocols = [JoinGroupRequestProtocol("any", b"m")]
    return JoinGroupRequest("g", 10_000, 60_000, member_id, None, "consumer", protocols)


async def state_of(client: Client) -> str:
    answer = await client.ask(DescribeTransactionsRequest(["x"]), 0)
    return str(answer.transaction_states[0].transaction_state)
