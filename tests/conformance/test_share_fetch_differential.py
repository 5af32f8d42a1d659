"""ShareFetch and ShareAcknowledge, asked the same of Apache Kafka and of this broker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import pytest
from fencepost_broker.blocking import Broker
from fencepost_client import Admin, ConfigResource, NewTopic, Producer, ResourceKind
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import initialize_share_group_state as initializing
from fencepost_protocol.generated import share_acknowledge as a
from fencepost_protocol.generated import share_fetch as f
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.primitives import uuid_text

from tests.support.apache_kafka import ApacheKafka
from tests.support.broker import Client
from tests.support.waiting import asked_until

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

ALL: Final = 1 << 20
GAP, ACCEPT, RELEASE, REJECT, RENEW = [0], [1], [2], [3], [4]
Ack = tuple[int, int, list[int]]


class Member:
    """A member of a group with the topic's name, over a connection of its own."""

    def __init__(self, side: Side, member_id: str) -> None:
        self.side = side
        self.client = Client(side.bootstrap)
        self.member_id = member_id
        self.epoch = 0

    async def fetch(self, *acks: Ack, partitions: tuple[int, ...] = (0,), **more: Any) -> Any:
        epoch = self.epoch = more.pop("epoch", self.epoch)
        topic_id = more.pop("topic_id", self.side.topic_id)
        raw = more.pop("raw", False)
        batches = [f.AcknowledgementBatch(*each) for each in acks]
        wanted = [f.FetchPartition(n, batches if n == 0 else []) for n in partitions]
        options: dict[str, Any] = {
            "max_records": 500,
            "batch_size": 500,
            "max_bytes": ALL,
            "min_bytes": 1,
        }
        options |= {"group_id": self.side.name, "member_id": self.member_id, "max_wait_ms": 300}
        topics = [f.FetchTopic(topic_id, wanted)] if wanted else []
        request = f.ShareFetchRequest(share_session_epoch=epoch, topics=topics, **(options | more))
        answer = await self.client.ask(request, 2)
        self.epoch += 1
        if answer.error_code:
            return ErrorCode(answer.error_code).name
        rows = [
            (
                data.partition_index,
                ErrorCode(data.error_code).name,
                ErrorCode(data.acknowledge_error_code).name,
                *(_acquired(data) if raw else _joined(_acquired(data))),
            )
            for topic in answer.responses
            for data in topic.partitions
        ]
        return sorted(rows)  # Apache Kafka orders them by a hash of the topic id, which is random

    async def acknowledge(self, *acks: Ack, number: int = 0, **more: Any) -> Any:
        epoch = self.epoch = more.pop("epoch", self.epoch)
        topic_id = more.pop("topic_id", self.side.topic_id)
        batches = [a.AcknowledgementBatch(*each) for each in acks]
        topics = [a.AcknowledgeTopic(topic_id, [a.AcknowledgePartition(number, batches)])]
        options = {"group_id": self.side.name, "member_id": self.member_id}
        request = a.ShareAcknowledgeRequest(
            share_session_epoch=epoch, topics=topics if acks else [], **(options | more)
        )
        answer = await self.client.ask(request, 2)
        self.epoch += 1
        if answer.error_code:
            return ErrorCode(answer.error_code).name
        return [
            (data.partition_index, ErrorCode(data.error_code).name)
            for topic in answer.responses
            for data in topic.partitions
        ]


def _acquired(data: Any) -> list[tuple[int, int, int]]:
    return [(r.first_offset, r.last_offset, r.delivery_count) for r in data.acquired_records]


def _joined(ranges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Adjacent ranges as one: where Kafka cuts between them depends on how they came before."""
    joined: list[tuple[int, int, int]] = []
    for first, last, count in ranges:
        if joined and (joined[-1][1] + 1, joined[-1][2]) == (first, count):
            joined[-1] = (joined[-1][0], last, count)
        else:
            joined.append((first, last, count))
    return joined


class Side:
    """One broker, and a topic of the case."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self.bootstrap = bootstrap
        self.name = name
        self.topic_id = b""
        self.members: list[Member] = []

    def member(self, member_id: str = "m") -> Member:
        member = Member(self, member_id)
        self.members.append(member)
        return member

    async def prepare(self) -> None:
        async with Admin(self.bootstrap) as admin, Client(self.bootstrap) as client:
            await admin.create_topics([NewTopic(self.name, 2)])
            group = {"share.auto.offset.reset": "earliest"}
            await admin.alter_configs({ConfigResource(ResourceKind.GROUP, self.name): group})
            request = MetadataRequest([MetadataRequestTopic(name=self.name)])
            self.topic_id = (await client.ask(request, 12)).topics[0].topic_id
            keys = [f"{self.name}:{uuid_text(self.topic_id)}:{number}" for number in (0, 1)]
            find = FindCoordinatorRequest(key_type=2, coordinator_keys=keys)

            async def is_found() -> bool:
                found = (await client.ask(find, 6)).coordinators
                return not any(each.error_code for each in found)

            await asked_until(is_found)
            rows = [initializing.PartitionData(number, 1, -1) for number in (0, 1)]
            begun = [initializing.InitializeStateData(self.topic_id, rows)]
            begin = initializing.InitializeShareGroupStateRequest(self.name, begun)

            async def is_begun() -> bool:
                row = (await client.ask(begin, 0)).results[0].partitions
                return not any(each.error_code for each in row)

            await asked_until(is_begun)

    async def produce(self, *sizes: int, number: int = 0) -> None:
        """Produce batches of so many records."""
        async with Producer(self.bootstrap, linger_ms=1000) as producer:
            for size in sizes:
                for _ in range(size):
                    await producer.send(self.name, b"value", partition=number)
                await producer.flush()


async def sessions(side: Side) -> AsyncIterator[Any]:
    member = side.member()
    yield await member.fetch(epoch=1)
    yield await member.fetch(epoch=-1)
    yield await member.acknowledge(epoch=1)
    yield await member.acknowledge(epoch=0)
    yield await member.fetch(epoch=0)
    yield await member.fetch(epoch=2)
    yield await member.fetch(epoch=1)
    yield await member.fetch(epoch=1)
    yield await member.acknowledge(epoch=5)
    yield await member.acknowledge(epoch=2)
    yield await member.fetch((0, 0, ACCEPT), epoch=0)
    yield await member.fetch(epoch=3, partitions=())
    yield await member.fetch(epoch=0)
    yield await member.fetch(epoch=-1)
    yield await member.fetch(epoch=1)
    yield await member.fetch(epoch=0, group_id=None)
    yield await member.fetch(epoch=0, member_id="")
    yield await member.fetch(epoch=0, member_id="m" * 37)
    yield await member.fetch(epoch=0, partitions=(0, 7))


async def acknowledgements(side: Side) -> AsyncIterator[Any]:
    await side.produce(10, 10)
    member, other = side.member(), side.member("o")
    yield await other.fetch(partitions=())
    yield await other.acknowledge((0, 1, ACCEPT))
    yield await member.fetch(max_records=5)
    yield await member.acknowledge((0, 4, ACCEPT), (5, 7, [1, 2, 3]))
    yield await member.acknowledge((0, 4, ACCEPT))
    yield await member.acknowledge((8, 12, ACCEPT))
    yield await member.acknowledge((30, 31, ACCEPT))
    yield await other.acknowledge((8, 9, ACCEPT))
    yield await member.acknowledge((9, 8, ACCEPT))
    yield await member.acknowledge((8, 9, []))
    yield await member.acknowledge((8, 9, [1, 1, 1]))
    yield await member.acknowledge((8, 8, ACCEPT), (7, 7, ACCEPT))
    yield await member.acknowledge((8, 9, [5]))
    yield await member.acknowledge((8, 9, [-1]))
    yield await member.acknowledge((8, 9, RENEW))
    yield await member.acknowledge((8, 9, RENEW), is_renew_ack=True)
    yield await member.acknowledge((6, 6, RENEW), is_renew_ack=True)
    yield await member.acknowledge((8, 9, GAP))
    yield await member.acknowledge((8, 9, ACCEPT), topic_id=b"unknown.topic.id")
    yield await member.acknowledge((8, 9, ACCEPT), number=7)
    yield await member.acknowledge((8, 9, ACCEPT), number=1)
    yield await member.fetch()


async def acknowledgements_in_fetches(side: Side) -> AsyncIterator[Any]:
    await side.produce(10, 10)
    member = side.member()
    yield await member.fetch(max_records=5)
    yield await member.fetch((0, 4, ACCEPT), (5, 9, RELEASE))
    yield await member.fetch((0, 4, ACCEPT), partitions=())
    yield await member.fetch((40, 41, ACCEPT))
    yield await member.fetch((5, 9, RENEW), is_renew_ack=True)
    zero: dict[str, Any] = {"max_bytes": 0, "min_bytes": 0, "max_records": 0, "max_wait_ms": 0}
    yield await member.fetch((5, 9, RENEW), is_renew_ack=True, **zero)
    yield await member.fetch((5, 19, ACCEPT))
    yield await member.fetch((5, 19, ACCEPT), epoch=-1)


async def limits(side: Side) -> AsyncIterator[Any]:
    await side.produce(10, 10, 10, 10)
    member = side.member()
    yield await member.fetch(max_records=15)
    yield await member.fetch(max_records=3, share_acquire_mode=1)
    yield await member.fetch(max_records=10, share_acquire_mode=1)
    yield await member.fetch()
    yield await member.acknowledge((0, 19, RELEASE), (23, 26, RELEASE))
    yield await member.fetch(max_records=7, share_acquire_mode=1)
    yield await member.fetch(max_records=500, share_acquire_mode=1)


async def sizes_of_batches(side: Side) -> AsyncIterator[Any]:
    await side.produce(10, 10, 10, 10)
    member = side.member()
    yield await member.fetch(batch_size=15, raw=True)
    yield await member.acknowledge((0, 39, RELEASE))
    yield await member.fetch()


async def often_delivered(side: Side) -> AsyncIterator[Any]:
    await side.produce(8)
    member = side.member()
    for _ in range(3):
        yield await member.fetch()
        yield await member.acknowledge((0, 7, RELEASE))
    for _ in range(16):
        answer = await member.fetch()
        yield answer
        for _, _, _, *acquired in answer:
            for first, last, _ in acquired:
                yield await member.acknowledge((first, last, RELEASE))


async def two_members_and_an_end(side: Side) -> AsyncIterator[Any]:
    await side.produce(10)
    one, two = side.member("one"), side.member("two")
    yield await one.fetch()
    yield await two.fetch()
    yield await one.acknowledge((0, 3, ACCEPT), epoch=-1)
    yield await one.acknowledge((4, 5, ACCEPT), epoch=-1)
    yield await two.fetch(max_wait_ms=2000)


async def partitions(side: Side) -> AsyncIterator[Any]:
    member = side.member()
    for _ in range(2):
        await member.fetch(partitions=(0, 1), max_wait_ms=1000)
    await side.produce(10)
    await side.produce(10, number=1)
    yield sorted(await member.fetch(partitions=()))
    forget = [f.ForgottenTopic(side.topic_id, [0])]
    await side.produce(5)
    yield await member.fetch(partitions=(), forgotten_topics_data=forget)
    yield await member.acknowledge((0, 9, ACCEPT))
    yield await member.acknowledge((0, 9, ACCEPT), number=1)


CASES: Final = [
    sessions,
    acknowledgements,
    acknowledgements_in_fetches,
    limits,
    sizes_of_batches,
    often_delivered,
    two_members_and_an_end,
    partitions,
]
Case = Callable[[Side], AsyncIterator[Any]]


@pytest.fixture(scope="module")
def kafka() -> Iterator[str]:
    with ApacheKafka() as running:
        yield running.bootstrap


@pytest.fixture(scope="module")
def ours() -> Iterator[str]:
    with Broker() as running:
        yield running.bootstrap


async def told(bootstrap: str, case: Case) -> list[Any]:
    side = Side(bootstrap, case.__name__)
    await side.prepare()
    found = [each async for each in case(side)]
    for member in side.members:
        await member.client.disconnect()
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_both_say_the_same(kafka: str, ours: str, case: Case) -> None:
    theirs, mine = (asyncio.run(told(each, case)) for each in (kafka, ours))
    for number, (expected, found) in enumerate(zip(theirs, mine, strict=True)):
        assert found == expected, f"step {number}"
