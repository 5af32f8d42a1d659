"""Groups and transactions through aiokafka; called by aiokafka_client."""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from typing import Any

from aiokafka import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    TopicPartition,
    errors,
)

from tests.conformance.clients.python.aiokafka_helpers import (
    admin_client,
    create_topic,
    eventually,
    produce,
    read,
    refused,
    send,
)
from tests.conformance.clients.python.checks import (
    GIVE_UP_SECONDS,
    GROUP_CHECKS,
    MismatchError,
    Record,
    Script,
    expect,
    record,
)

GROUP_PARTITIONS = 4


def consumer_protocol(script: Script) -> None:
    for check in GROUP_CHECKS:
        script.unsupported(check, "aiokafka speaks the classic group protocol only")


async def groups(script: Script) -> None:
    topic = group = script.name("groups")
    await create_topic(script, topic, GROUP_PARTITIONS)

    async def member(listener: Any = None, **more: Any) -> Any:
        config: dict[str, Any] = {
            "group_id": group,
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "heartbeat_interval_ms": 300,
            "fetch_max_wait_ms": 50,
        }
        consumer = AIOKafkaConsumer(bootstrap_servers=script.bootstrap, **{**config, **more})
        consumer.subscribe([topic], listener=listener)
        await consumer.start()
        return consumer

    async with admin_client(script) as client:
        first, second = await member(), await member()
        try:
            with script.check("share"):
                await poll_until(
                    lambda: (
                        assigned(first) | assigned(second) == set(range(GROUP_PARTITIONS))
                        and bool(assigned(first))
                        and bool(assigned(second))
                        and not assigned(first) & assigned(second)
                    ),
                    [first, second],
                    "both have partitions, and together all of them",
                )
                await produce_numbers(script, topic, range(40))
                numbers = await poll_numbers([first, second], 40)
                expect(sorted(numbers), list(range(40)), "the numbers of the records")
            with script.check("commit"):
                await first.commit()
                await second.commit()
                actual = await committed(client, group)
                expect(actual, dict.fromkeys(range(4), 10), "the committed offsets")
            with script.check("describe"):
                listed = [name for name, _ in await client.list_consumer_groups()]
                expect(group in listed, True, "the group is listed")
                (answer,) = await client.describe_consumer_groups([group])
                ((code, name, state, _, _, members, *_),) = answer.groups
                expect((code, name, state), (0, group, "Stable"), "the group")
                expect(len(members), 2, "the number of members")
            with script.check("leave"):
                await second.stop()
                await poll_until(
                    lambda: assigned(first) == set(range(GROUP_PARTITIONS)),
                    [first],
                    "the first member has all partitions",
                )
        finally:
            await first.stop()
            await second.stop()
        with script.check("resume"):
            await produce_numbers(script, topic, range(40, 60))
            third = await member()
            try:
                numbers = await poll_numbers([third], 20)
                expect(sorted(numbers), list(range(40, 60)), "the numbers of the new records")
                await third.commit()
            finally:
                await third.stop()
            actual = await committed(client, group)
            expect(actual, dict.fromkeys(range(4), 15), "the committed offsets")
    script.unsupported("delete", "aiokafka's admin client has no such call")
    with script.check("static"):
        unread = {"group_id": f"{group}-static", "auto_offset_reset": "latest"}
        await static_members(
            lambda name, listener: member(listener, **unread, group_instance_id=name)
        )


class Changes(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self) -> None:
        self.seen: list[str] = []
        self.now: set[Any] = set()

    def on_partitions_revoked(self, revoked: Any) -> None:
        self.seen.append(f"revoked {revoked}")

    def on_partitions_assigned(self, assigned: Any) -> None:
        self.seen.append(f"assigned {assigned}")
        self.now = set(assigned)


async def static_members(member: Callable[[str, Any], Awaitable[Any]]) -> None:
    changes = Changes()
    one, other = await member("one", changes), await member("other", None)
    try:
        await poll_until(
            # Told last: the first one's partitions are what it was told of, too.
            lambda: len(changes.now) == len(assigned(other)) == GROUP_PARTITIONS // 2,
            [one, other],
            "both have two partitions",
        )
        changes.seen.clear()
        before = assigned(other)
        await other.stop()
        other = await member("other", None)
        await poll_until(lambda: assigned(other) == before, [one, other], f"{before} again")
        expect(changes.seen, [], "what the other noticed")
    finally:
        await one.stop()
        await other.stop()


def assigned(consumer: Any) -> set[int]:
    return {place.partition for place in consumer.assignment()}


async def produce_numbers(script: Script, topic: str, numbers: range) -> None:
    records = [(i % GROUP_PARTITIONS, Record(None, str(i).encode())) for i in numbers]
    await produce(script, topic, records)


async def poll_until(condition: Callable[[], bool], consumers: list[Any], what: str) -> None:
    """Polls the members, which find their places meanwhile; there is nothing to read yet."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while not condition():
        for consumer in consumers:
            messages = await consumer.getmany(timeout_ms=50)
            expect(messages, {}, "records while the group is forming")
        if time.monotonic() > deadline:
            places = [sorted(assigned(consumer)) for consumer in consumers]
            raise MismatchError(f"not reached: {what}; assigned: {places}")


async def poll_numbers(consumers: list[Any], count: int) -> list[int]:
    numbers: list[int] = []
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while len(numbers) < count and time.monotonic() < deadline:
        for consumer in consumers:
            for messages in (await consumer.getmany(timeout_ms=50)).values():
                numbers += [int(message.value) for message in messages]
    return numbers


async def committed(client: Any, group: str) -> dict[int, int]:
    offsets = await client.list_consumer_group_offsets(group)
    return {place.partition: metadata.offset for place, metadata in offsets.items()}


async def transactions(script: Script) -> None:
    topic = script.name("transactions")
    await create_topic(script, topic, 8)

    async with AsyncExitStack() as open_producers:

        async def transactional_producer(suffix: str, **config: int) -> Any:
            transactional_id = script.name(suffix)
            producer = AIOKafkaProducer(
                bootstrap_servers=script.bootstrap, transactional_id=transactional_id, **config
            )
            open_producers.push_async_callback(producer.stop)
            await producer.start()
            return producer

        await ends_of_transactions(script, topic, transactional_producer)
        await offsets_in_transactions(script, topic, transactional_producer)


async def ends_of_transactions(
    script: Script, topic: str, transactional_producer: Callable[..., Awaitable[Any]]
) -> None:
    async def values(partition: int, isolation: str = "read_committed") -> list[bytes | None]:
        found = await read(script, topic, {partition: 0}, isolation_level=isolation)
        return [one.value for _, one in found[partition]]

    async def seen(partition: int, wanted: Sequence[bytes]) -> None:
        """What ends a transaction is answered before its markers are written."""

        async def as_wanted() -> bool:
            return await values(partition) == list(wanted)

        await eventually(as_wanted, f"a read_committed reader sees exactly {wanted}")

    async def write(producer: Any, partition: int, value: bytes) -> None:
        await send(producer, topic, [(partition, Record(None, value))])
        await producer.flush()

    with script.check("commit"):
        producer = await transactional_producer("commit")
        async with producer.transaction():
            await send(producer, topic, [(0, Record(None, b"a")), (1, Record(None, b"b"))])
        await seen(0, [b"a"])
        await seen(1, [b"b"])
    with script.check("abort"):
        producer = await transactional_producer("abort")
        await producer.begin_transaction()
        await write(producer, 2, b"aborted")
        await producer.abort_transaction()
        await produce(script, topic, [(2, Record(None, b"after"))])
        expect(await values(2, "read_uncommitted"), [b"aborted", b"after"], "read_uncommitted")
        await seen(2, [b"after"])
    with script.check("open"):
        producer = await transactional_producer("open")
        await producer.begin_transaction()
        await write(producer, 3, b"open")
        await produce(script, topic, [(3, Record(None, b"behind"))])
        expect(await values(3), [], "read_committed while the transaction is open")
        expect(await values(3, "read_uncommitted"), [b"open", b"behind"], "read_uncommitted")
        await producer.commit_transaction()
        await seen(3, [b"open", b"behind"])
    with script.check("alternate"):
        producer = await transactional_producer("alternate")
        for i in range(20):
            await producer.begin_transaction()
            await write(producer, 4, str(i).encode())
            if i % 2:
                await producer.abort_transaction()
            else:
                await producer.commit_transaction()
        await seen(4, [str(i).encode() for i in range(0, 20, 2)])
    with script.check("fencing"):
        first = await transactional_producer("fenced")
        await first.begin_transaction()
        await write(first, 5, b"first")
        second = await transactional_producer("fenced")
        await second.begin_transaction()
        await write(second, 5, b"second")
        await second.commit_transaction()
        await refused(errors.ProducerFenced, first.commit_transaction())
        await seen(5, [b"second"])
    with script.check("timeout"):
        late = await transactional_producer("late", transaction_timeout_ms=1000)
        await late.begin_transaction()
        await write(late, 7, b"late")
        await produce(script, topic, [(7, Record(None, b"behind"))])
        await seen(7, [b"behind"])
        await refused(errors.ProducerFenced, late.commit_transaction())


async def offsets_in_transactions(
    script: Script, topic: str, transactional_producer: Callable[..., Awaitable[Any]]
) -> None:
    group = script.name("transactional-group")

    async def send_offset(offset: int) -> Any:
        producer = await transactional_producer("send-offsets")
        await producer.begin_transaction()
        await send(producer, topic, [(6, record(0))])
        offsets = {TopicPartition(topic, 6): offset}
        await producer.send_offsets_to_transaction(offsets, group)
        return producer

    async with admin_client(script) as client:
        with script.check("send-offsets"):
            await (await send_offset(7)).commit_transaction()

            async def seven() -> bool:
                return await committed(client, group) == {6: 7}

            await eventually(seven, "offset 7 is committed")
        with script.check("send-offsets-abort"):
            await (await send_offset(9)).abort_transaction()
            expect(await committed(client, group), {6: 7}, "the committed offset")
