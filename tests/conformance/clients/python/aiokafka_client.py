"""aiokafka against any broker.

python -m tests.conformance.clients.python.aiokafka_client 127.0.0.1:9092 admin produce
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from aiokafka import TopicPartition, errors
from aiokafka.admin import NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from tests.conformance.clients.python import aiokafka_groups
from tests.conformance.clients.python.aiokafka_helpers import (
    admin_client,
    consuming,
    create_topic,
    eventually,
    expect_code,
    produce,
    producing,
    read,
    refused,
    send,
    to_record,
    wait_until_known,
)
from tests.conformance.clients.python.checks import (
    FIRST_TIMESTAMP,
    GIVE_UP_SECONDS,
    PARTITIONS,
    RECORDS,
    Record,
    Script,
    by_partition,
    expect,
    expect_records,
    main,
    now_ms,
    record,
)

# ConfigSource in Kafka's protocol
SET_ON_TOPIC, DEFAULT = 1, 5


async def admin(script: Script) -> None:
    async with admin_client(script) as client:
        await topics(script, client)
        await configs(script, client)
        await records(script, client)
        topic = script.name("admin")
        with script.check("delete-topic"):
            answer = await client.delete_topics([topic])
            expect(answer.topic_error_codes, [(topic, 0)], "the answer")

            async def gone() -> bool:
                return topic not in await client.list_topics()

            await eventually(gone, "the topic is gone")
            ((_, code),) = (await client.delete_topics([topic])).topic_error_codes
            expect_code(code, errors.UnknownTopicOrPartitionError)


async def topics(script: Script, client: Any) -> None:
    topic = script.name("admin")
    settings = {"retention.ms": "-1", "max.message.bytes": "20000"}

    async def create(new_topic: NewTopic, **options: Any) -> int:
        ((_, code, _),) = (await client.create_topics([new_topic], **options)).topic_errors
        error_code: int = code
        return error_code

    with script.check("create-topic"):
        expect(await create(NewTopic(topic, 3, 1, topic_configs=settings)), 0, "the error code")
        await wait_until_known(client, topic)
    with script.check("create-topic-again"):
        expect_code(await create(NewTopic(topic, 3, 1)), errors.TopicAlreadyExistsError)
    with script.check("create-topic-bad-name"):
        bad_name = script.name("not a name!")
        expect_code(await create(NewTopic(bad_name, 1, 1)), errors.InvalidTopicError)
    with script.check("create-topic-validate-only"):
        name = script.name("admin-validated")
        expect(await create(NewTopic(name, 1, 1), validate_only=True), 0, "the error code")
        expect(name in await client.list_topics(), False, "the validated topic is there")
    with script.check("create-topic-assignment"):
        name = script.name("admin-assigned")
        broker = await the_broker(client)
        new_topic = NewTopic(name, -1, -1, replica_assignments={0: [broker], 1: [broker]})
        expect(await create(new_topic), 0, "the error code")
        await wait_until_known(client, name)
        expect(len(await partitions_of(client, name)), 2, "partitions")
    with script.check("list-topics"):
        wanted = {topic, script.name("admin-assigned")}
        expect(wanted - set(await client.list_topics()), set(), "topics not in the list")
    with script.check("describe-topic"):
        broker = await the_broker(client)
        fields = ("partition", "leader", "replicas", "isr")
        actual = [
            tuple(one[field] for field in fields) for one in await partitions_of(client, topic)
        ]
        expect(sorted(actual), [(i, broker, [broker], [broker]) for i in range(3)], str(fields))
    with script.check("describe-unknown-topic"):
        name = script.name("admin-unknown")
        (description,) = await client.describe_topics([name])
        expect_code(description["error_code"], errors.UnknownTopicOrPartitionError)
        # aiokafka allows the broker to create what it asks for.
        await wait_until_known(client, name)
    with script.check("create-partitions"):
        await client.create_partitions({topic: NewPartitions(5)})

        async def grown() -> bool:
            return len(await partitions_of(client, topic)) == 5

        await eventually(grown, "5 partitions")
        fewer = client.create_partitions({topic: NewPartitions(2)})
        await refused(errors.InvalidPartitionsError, fewer)
    with script.check("describe-cluster"):
        cluster = await client.describe_cluster()
        addresses = [f"{broker['host']}:{broker['port']}" for broker in cluster["brokers"]]
        expect(addresses, [script.bootstrap], "the brokers")
        expect(cluster["controller_id"], await the_broker(client), "the controller")
        expect(bool(cluster["cluster_id"]), True, "there is a cluster id")


async def the_broker(client: Any) -> int:
    (broker,) = (await client.describe_cluster())["brokers"]
    node_id: int = broker["node_id"]
    return node_id


async def partitions_of(client: Any, topic: str) -> list[dict[str, Any]]:
    (description,) = await client.describe_topics([topic])
    partitions: list[dict[str, Any]] = description["partitions"]
    return partitions


async def topic_settings(client: Any, topic: str) -> dict[str, tuple[str, int]]:
    """The topic's settings with their sources."""
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    (answer,) = await client.describe_configs([resource])
    ((code, message, _, _, entries),) = answer.resources
    expect(code, 0, f"the error code ({message})")
    return {name: (value, source) for name, value, _, source, *_ in entries}


async def configs(script: Script, client: Any) -> None:
    topic = script.name("admin")

    async def alter(settings: dict[str, str]) -> int:
        """AlterConfigs, the older call: what is not named goes back to its default."""
        resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=settings)
        (answer,) = await client.alter_configs([resource])
        error_code: int = answer.resources[0][0]
        return error_code

    with script.check("describe-configs"):
        found = await topic_settings(client, topic)
        expect(found["retention.ms"], ("-1", SET_ON_TOPIC), "retention.ms")
        expect(found["max.message.bytes"], ("20000", SET_ON_TOPIC), "max.message.bytes")
        expect(found["cleanup.policy"], ("delete", DEFAULT), "cleanup.policy")
    with script.check("alter-configs"):
        expect(await alter({"retention.ms": "-1", "segment.ms": "3600000"}), 0, "the error code")

        async def altered() -> bool:
            found = await topic_settings(client, topic)
            values = [found[name] for name in ("retention.ms", "segment.ms", "max.message.bytes")]
            wanted = [("-1", SET_ON_TOPIC), ("3600000", SET_ON_TOPIC), ("1048588", DEFAULT)]
            return values == wanted

        await eventually(altered, "the settings are altered")
        # One bad value, and nothing of this is done.
        code = await alter({"retention.ms": "soon", "segment.ms": "7200000"})
        expect_code(code, errors.InvalidConfigurationError)
        expect(await altered(), True, "the settings are as before")


async def records(script: Script, client: Any) -> None:
    topic = script.name("admin")
    place = TopicPartition(topic, 0)
    with script.check("list-offsets"):
        # aiokafka's consumer has these calls, its admin client has none.
        await produce(script, topic, [(0, record(i)) for i in range(10)])
        async with consuming(script) as consumer:
            expect(await consumer.beginning_offsets([place]), {place: 0}, "earliest")
            expect(await consumer.end_offsets([place]), {place: 10}, "latest")
            found = (await consumer.offsets_for_times({place: FIRST_TIMESTAMP + 2500}))[place]
            expect(found.offset, 3, "the offset for a timestamp")
    with script.check("delete-records"):
        answer = await client.delete_records({place: RecordsToDelete(4)})
        expect(answer[place], 4, "the low watermark")
        first, *_ = (await read(script, topic, {0: None}))[0]
        expect(first, (4, record(4)), "the first record")
    script.unsupported("describe-log-dirs", "aiokafka's admin client has no such call")


async def produce_scenario(script: Script) -> None:
    await round_trips(script)
    await refusals(script)
    with script.check("auto-create"):
        name = script.name("auto-created")
        fresh = replace(record(0), timestamp=now_ms())
        await produce(script, name, [(0, fresh)])
        expect_records(await read(script, name, {0: None}), {0: [fresh]})


async def round_trips(script: Script) -> None:
    topic = script.name("produce")
    await create_topic(script, topic, 30)
    partitions = iter(range(30))

    async def round_trip(records: Iterable[Record], **config: Any) -> list[Any]:
        """Writes to a partition that is still empty and expects the same there."""
        partition = next(partitions)
        written = list(records)
        answers = await produce(script, topic, [(partition, one) for one in written], **config)
        if config.get("acks") == 0:

            async def there() -> bool:
                return len((await read(script, topic, {partition: 0}))[partition]) == len(written)

            await eventually(there, "what was written without acknowledgement is there")
        expect_records(await read(script, topic, {partition: 0}), {partition: written})
        return answers

    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        with script.check(f"codec-{codec}"):
            compression = None if codec == "none" else codec
            await round_trip(map(record, range(100)), compression_type=compression)
    with script.check("headers"):
        headers = (("b", b"\x00\xff"), ("a", b"1"), ("b", b"2"), ("", b""))
        await round_trip([Record(b"key", b"value", headers)])
    with script.check("null-header"):
        await round_trip([Record(b"key", b"value", (("null", None), ("empty", b"")))])
    with script.check("null-key"):
        await round_trip([Record(None, b"value"), Record(b"", b"value")])
    with script.check("null-value"):
        await round_trip([Record(b"key", None), Record(b"key", b"")])
    for name, acks in (("acks-0", 0), ("acks-1", 1), ("acks-all", "all")):
        with script.check(name):
            answers = await round_trip(map(record, range(10)), acks=acks)
            if acks != 0:
                offsets = [answer.offset for answer in answers]
                expect(offsets, list(range(10)), "the acknowledged offsets")
    with script.check("idempotent"):
        await round_trip(map(record, range(100)), enable_idempotence=True, max_batch_size=500)
    with script.check("partition"):
        chosen = [next(partitions) for _ in range(3)]
        answers = await produce(script, topic, [(partition, record(0)) for partition in chosen])
        expect([answer.partition for answer in answers], chosen, "the partitions")
        actual = await read(script, topic, dict.fromkeys(chosen, 0))
        expect_records(actual, {partition: [record(0)] for partition in chosen})
    with script.check("timestamp"):
        await round_trip([Record(b"key", b"value", timestamp=i) for i in (1, 2)])
    with script.check("log-append-time"):
        name = script.name("log-append-time")
        await create_topic(script, name, 1, message_timestamp_type="LogAppendTime")
        (answer,) = await produce(script, name, [(0, record(0))])
        expect(answer.timestamp_type, 1, "the type of the timestamp: LogAppendTime")
        ((_, stored),) = (await read(script, name, {0: 0}))[0]
        expect(stored.timestamp, answer.timestamp, "the timestamp as it was acknowledged")
        expect(stored.timestamp > FIRST_TIMESTAMP, True, "the broker's time is later")
    with script.check("large-message"):
        await round_trip([Record(b"large", bytes(i * i % 251 for i in range(900_000)))])


async def refusals(script: Script) -> None:
    async def refused_then_taken(topic: str, error: type[Exception], bad: Record) -> None:
        await refused(error, produce(script, topic, [(0, bad)]))
        (answer,) = await produce(script, topic, [(0, record(0))])
        expect(answer.offset, 0, "the next record's offset")

    with script.check("too-large-message"):
        name = script.name("small")
        await create_topic(script, name, 1, max_message_bytes="10000")
        large = Record(b"large", bytes(20_000))
        await refused_then_taken(name, errors.MessageSizeTooLargeError, large)
    with script.check("compacted-null-key"):
        name = script.name("compacted")
        await create_topic(script, name, 1, cleanup_policy="compact")
        # aiokafka 0.14 has no class for INVALID_RECORD.
        await refused_then_taken(name, errors.UnknownError, Record(None, b"value"))


async def consume(script: Script) -> None:
    topic = script.name("consume")
    await create_topic(script, topic, PARTITIONS)
    await produce(script, topic, [(i % PARTITIONS, record(i)) for i in range(RECORDS)])
    wanted = by_partition(range(RECORDS))

    async def offset_for_time(partition: int, timestamp: int) -> Any:
        place = TopicPartition(topic, partition)
        async with consuming(script) as consumer:
            return (await consumer.offsets_for_times({place: timestamp}))[place]

    with script.check("beginning"):
        expect_records(await read(script, topic, dict.fromkeys(range(PARTITIONS))), wanted)
    with script.check("offset"):
        actual = (await read(script, topic, {1: 42}))[1]
        expect(actual, list(enumerate(wanted[1]))[42:], "the records from offset 42")
    with script.check("timestamp"):
        # One millisecond behind record 149, which is at offset 49 of partition 2.
        found = await offset_for_time(2, record(149).timestamp + 1)
        expect((found.offset, found.timestamp), (50, record(152).timestamp), "what is found")
        actual = (await read(script, topic, {2: found.offset}))[2]
        expect(actual, list(enumerate(wanted[2]))[50:], "the records from there")
    with script.check("timestamp-past-end"):
        found = await offset_for_time(2, record(RECORDS).timestamp)
        expect(found, None, "what is found past the end")
    with script.check("out-of-range"):
        again = await read(script, topic, {0: 1_000_000}, auto_offset_reset="earliest")
        expect_records(again, {0: wanted[0]})
    with script.check("end"):
        await read_from_end(script, topic)
    with script.check("many"):
        await many(script)


async def read_from_end(script: Script, topic: str) -> None:
    place = TopicPartition(topic, 0)
    async with consuming(script) as consumer:
        consumer.assign([place])
        await consumer.seek_to_end(place)
        expect(await consumer.position(place), 100, "the end")
        await produce(script, topic, [(0, record(0))])
        message = await asyncio.wait_for(consumer.getone(), GIVE_UP_SECONDS)
        expect((message.offset, to_record(message)), (100, record(0)), "what is read from the end")


async def many(script: Script) -> None:
    topic = script.name("many")
    await create_topic(script, topic, PARTITIONS)
    async with producing(script, linger_ms=5) as producer:
        futures = [
            await producer.send(topic, b"%0500d" % i, partition=i % PARTITIONS)
            for i in range(10_000)
        ]
        await asyncio.wait_for(asyncio.gather(*futures), GIVE_UP_SECONDS)
    found = await read(script, topic, dict.fromkeys(range(PARTITIONS), 0))
    for partition, messages in found.items():
        wanted = list(enumerate(range(partition, 10_000, PARTITIONS)))
        numbers = [(offset, int(one.value or b"-1")) for offset, one in messages]
        expect(numbers, wanted, f"offsets and numbers in partition {partition}")


async def restart_before(script: Script) -> None:
    with script.check("write"):
        await create_topic(script, script.name("restart"), PARTITIONS)
        await write_for_restart(script, range(RECORDS))


async def after_restart(there: int, script: Script) -> None:
    """So many records are there; as many as the first time are written behind them."""
    more = range(there, there + RECORDS)
    topic = script.name("restart")
    starts = dict.fromkeys(range(PARTITIONS))
    with script.check("topic-kept"):
        async with admin_client(script) as client:
            expect(len(await partitions_of(client, topic)), PARTITIONS, "partitions")
            settings = await topic_settings(client, topic)
            expect(settings["retention.ms"], ("-1", SET_ON_TOPIC), "retention.ms")
    with script.check("read-back"):
        expect_records(await read(script, topic, starts), by_partition(range(there)))
    with script.check("write-more"):
        offsets = await write_for_restart(script, more)
        expect(offsets, [i // PARTITIONS for i in more], "the offsets")
    with script.check("read-all"):
        expect_records(await read(script, topic, starts), by_partition(range(there + RECORDS)))


async def write_for_restart(script: Script, numbers: range) -> list[int]:
    async with producing(script, enable_idempotence=True) as producer:
        written = [(i % PARTITIONS, record(i)) for i in numbers]
        futures = await send(producer, script.name("restart"), written)
        answers = await asyncio.wait_for(asyncio.gather(*futures), GIVE_UP_SECONDS)
        return [answer.offset for answer in answers]


def in_a_loop(scenario: Callable[[Script], Awaitable[None]]) -> Callable[[Script], None]:
    async def run(script: Script) -> None:
        await scenario(script)

    return lambda script: asyncio.run(run(script))


if __name__ == "__main__":
    main(
        "aiokafka",
        {
            "admin": in_a_loop(admin),
            "produce": in_a_loop(produce_scenario),
            "consume": in_a_loop(consume),
            "cluster": Script.unsupported_cluster,
            "restart-before": in_a_loop(restart_before),
            "restart-after": in_a_loop(partial(after_restart, RECORDS)),
            "kill-after": in_a_loop(partial(after_restart, 2 * RECORDS)),
            "groups": in_a_loop(aiokafka_groups.groups),
            "groups-consumer-protocol": aiokafka_groups.consumer_protocol,
            "transactions": in_a_loop(aiokafka_groups.transactions),
        },
    )
