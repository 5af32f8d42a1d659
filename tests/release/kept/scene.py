"""A broker with a little of everything that Fencepost writes to disk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fencepost_broker import Broker, StateClock
from fencepost_client import (
    EARLIEST,
    AcknowledgeType,
    Admin,
    ConfigResource,
    Consumer,
    DeletePassword,
    GroupMetadata,
    NewTopic,
    Producer,
    QuotaEntity,
    ResourceKind,
    ScramMechanism,
    SetPassword,
    ShareConsumer,
    TopicPartition,
)
from fencepost_client.config.settings import CompressionName
from fencepost_protocol.generated.create_acls import AclCreation, CreateAclsRequest
from fencepost_protocol.generated.delete_acls import DeleteAclsFilter, DeleteAclsRequest

from tests.support.broker import Client
from tests.support.waiting import asked_until
from tests.wire.transaction_harness import Producer as ByHand

BEGIN_MS: Final = 1_767_225_600_000
SETTINGS: Final[dict[str, Any]] = {
    "offsets.topic.num.partitions": 2,
    "transaction.state.log.num.partitions": 2,
    "share.coordinator.state.topic.num.partitions": 1,
    "group.initial.rebalance.delay.ms": 0,
    "group.share.assignment.interval.ms": 0,
    "log.index.interval.bytes": 100,
    "log.index.size.max.bytes": 4096,
    "metadata.log.max.record.bytes.between.snapshots": 5000,
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
PASSWORD: Final = "a password that is kept"
COMPRESSIONS: Final[tuple[CompressionName, ...]] = ("none", "gzip", "snappy", "lz4", "zstd")
LONG_MS: Final = 60_000
COMPACTED: Final = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0"}
TOPICS: Final = {
    "orders": (2, {"segment.ms": "1000"}),
    "latest": (1, {**COMPACTED, "segment.ms": "1000"}),
    "short": (1, {"retention.ms": "3600000", "segment.ms": "1000"}),
    "payments": (2, {"message.timestamp.type": "LogAppendTime"}),
    "jobs": (1, {}),
    "removed": (1, {}),
}  # fmt: skip


@asynccontextmanager
async def scene(folder: Path | None) -> AsyncIterator[Broker]:
    """Run a broker in this folder, or in memory, until all has happened; its clients live."""
    clock = StateClock(manual=True, at_ms=BEGIN_MS)
    broker = Broker(settings=SETTINGS, data_dir=folder, clock=clock)
    async with broker, AsyncExitStack() as clients:
        admin = await clients.enter_async_context(Admin(broker.bootstrap))
        await make_cluster(broker, admin)
        await make_records(broker, admin)
        await make_transactions(broker, clients)
        await make_groups(broker, admin, clients)
        await make_shares(broker, admin, clients)
        yield broker


async def make_cluster(broker: Broker, admin: Admin) -> None:
    """Topics, settings, users, quotas and ACLs, and what has been removed of them."""
    await admin.create_topics(
        [NewTopic(name, count, configs=given) for name, (count, given) in TOPICS.items()]
    )
    await admin.delete_topics(["removed"])
    await admin.create_partitions({"jobs": 2})
    kinds = ResourceKind
    await admin.alter_configs(
        {
            ConfigResource(kinds.TOPIC, "jobs"): {"max.message.bytes": "100000"},
            ConfigResource(kinds.BROKER, ""): {"log.cleaner.threads": "2"},
            ConfigResource(kinds.BROKER, "1"): {"message.max.bytes": "2000000"},
            ConfigResource(kinds.GROUP, "workers"): {"share.auto.offset.reset": "earliest"},
        }
    )
    await admin.alter_user_scram_credentials(
        {
            "ada": SetPassword(ScramMechanism.SCRAM_SHA_512, PASSWORD, iterations=4096),
            "bob": SetPassword(ScramMechanism.SCRAM_SHA_256, PASSWORD, iterations=5000),
            "carol": SetPassword(ScramMechanism.SCRAM_SHA_256, PASSWORD, iterations=4096),
        }
    )
    await admin.alter_user_scram_credentials(
        {"carol": DeletePassword(ScramMechanism.SCRAM_SHA_256)}
    )
    await admin.alter_client_quotas(
        {
            QuotaEntity(user="ada"): {"producer_byte_rate": 1e9},
            QuotaEntity(user="bob", client_id="loader"): {"consumer_byte_rate": 2e9},
        }
    )
    topic, literal, prefixed, read, write, allow, deny = 2, 3, 4, 3, 4, 3, 2
    acls = [
        AclCreation(topic, "orders", literal, "User:ada", "*", read, allow),
        AclCreation(topic, "pay", prefixed, "User:ada", "127.0.0.1", write, deny),
        AclCreation(topic, "gone", literal, "User:bob", "*", read, allow),
    ]
    async with Client(broker.bootstrap) as client:
        answer = await client.ask(CreateAclsRequest(acls), 3)
        unwanted = DeleteAclsFilter(topic, "gone", literal, "User:bob", "*", read, allow)
        removed = await client.ask(DeleteAclsRequest([unwanted]), 3)
    assert [each.error_code for each in answer.results] == [0, 0, 0]
    assert len(removed.filter_results[0].matching_acls) == 1


async def make_records(broker: Broker, admin: Admin) -> None:
    """Batches of each compression, several segments, a compacted log, an expired segment."""
    clock = broker.clock
    for number, compression in enumerate(COMPRESSIONS):
        async with Producer(broker.bootstrap, compression=compression) as producer:
            for partition in (0, 1):
                await producer.send_and_wait(
                    "orders", f"{compression} {partition} ".encode() * 6, key=b"k%d" % number,
                    partition=partition, timestamp_ms=clock.now_ms(),
                    headers=[("kind", b"kept"), ("empty", None)],
                )  # fmt: skip
        clock.advance(ms=1500)
    async with Producer(broker.bootstrap, enable_idempotence=False) as producer:
        for number in range(8):
            value = None if number == 6 else b"latest %d" % number
            await producer.send_and_wait(
                "latest", value, key=b"key %d" % (number % 3), timestamp_ms=clock.now_ms()
            )
            await producer.send_and_wait("short", b"short %d" % number, timestamp_ms=clock.now_ms())
            clock.advance(minutes=10)
    await admin.delete_records({TopicPartition("orders", 1): 2})
    clock.advance(minutes=1)
    short = TopicPartition("short", 0)
    first = await admin.list_offsets({short: EARLIEST})
    assert first[short].offset > 0, "retention has removed nothing"


async def make_transactions(broker: Broker, clients: AsyncExitStack) -> None:
    """One that is committed, one aborted, one open, and one whose markers are held back."""
    for name, commits in (("committed", True), ("aborted", False)):
        async with Producer(broker.bootstrap, transactional_id=name) as producer:
            for number in range(2):
                producer.begin()
                await producer.send_and_wait("payments", f"{name} {number}".encode(), partition=0)
                await (producer.commit() if commits else producer.abort())
    client = await clients.enter_async_context(Client(broker.bootstrap))
    opened = ByHand(client, "open")
    assert await opened.start(timeout_ms=900_000) == await opened.send("payments", 1) == 0
    clients.callback(broker.hold_markers("prepared").release)
    prepared = ByHand(client, "prepared")
    assert await prepared.start() == await prepared.send("payments") == await prepared.end() == 0


async def make_groups(broker: Broker, admin: Admin, clients: AsyncExitStack) -> None:
    """A classic group and one of KIP-848 with a member each, an empty and a removed one."""
    for protocol in ("classic", "consumer"):
        member = Consumer(
            broker.bootstrap, group_id=f"a {protocol} group", group_protocol=protocol,
            client_id=f"{protocol}-member", auto_offset_reset="earliest", enable_auto_commit=False,
        )  # fmt: skip
        await member.start()
        clients.push_async_callback(member.close, commit=False)
        member.subscribe(["orders"])
        assert await member.getmany(timeout_ms=LONG_MS)
        await member.commit()
    for name in ("empty", "to be removed"):
        await admin.alter_group_offsets(name, {TopicPartition("orders", 0): 1})
    await admin.delete_groups(["to be removed"])
    await admin.alter_group_offsets("of two topics", {TopicPartition("orders", 0): 1})
    await admin.alter_group_offsets("of two topics", {TopicPartition("jobs", 1): 0})
    await admin.delete_group_offsets("of two topics", [TopicPartition("orders", 0)])
    async with Producer(broker.bootstrap, transactional_id="with offsets") as producer:
        producer.begin()
        group = GroupMetadata("transactional")
        await producer.send_offsets({TopicPartition("orders", 1): 3}, group)
        await producer.commit()


async def make_shares(broker: Broker, admin: Admin, clients: AsyncExitStack) -> None:
    """A share group that has accepted, released and rejected one record of five each."""
    async with Producer(broker.bootstrap) as producer:
        jobs = [b"job %d" % number for number in range(5)]
        await producer.send_many("jobs", jobs, partition=0, timestamp_ms=broker.clock.now_ms())
        await producer.flush()
    member = ShareConsumer(
        broker.bootstrap, group_id="workers", share_acknowledgement_mode="explicit",
        client_id="share-member",
    )  # fmt: skip
    await member.start()
    clients.push_async_callback(member.close, accept=False)
    member.subscribe(["jobs"])
    records = await member.getmany(timeout_ms=LONG_MS)
    assert len(records) == 5, records
    kinds = [AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT]
    for record, kind in zip(records, [*kinds, kinds[1], kinds[1]], strict=True):
        member.acknowledge(record, kind)
    assert await member.commit() == {}


async def all_ended(admin: Admin) -> None:
    """Wait until no transaction waits for its markers."""

    async def none() -> bool:
        states = [each.state for each in await admin.list_transactions()]
        return not any(str(state).startswith("Prepare") for state in states)

    await asked_until(none)
