# mypy: disable-error-code="import-not-found"
"""librdkafka's client for Python (confluent-kafka) against any broker.

python -m tests.conformance.clients.python.confluent_client 127.0.0.1:9092 admin produce
"""

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    TIMESTAMP_LOG_APPEND_TIME,
    Consumer,
    ElectionType,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ConfigSource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.conformance.clients.python import confluent_groups
from tests.conformance.clients.python.checks import (
    FIRST_TIMESTAMP,
    GIVE_UP_SECONDS,
    PARTITIONS,
    RECORDS,
    MismatchError,
    Record,
    Script,
    by_partition,
    eventually,
    expect,
    expect_records,
    main,
    now_ms,
    record,
)
from tests.conformance.clients.python.confluent_helpers import (
    admin_client,
    create_topic,
    produce,
    read,
    refused,
    to_record,
    wait_until_known,
)


def admin(script: Script) -> None:
    client = admin_client(script)
    topic = script.name("admin")
    settings = {"retention.ms": "-1", "max.message.bytes": "20000"}

    def topics() -> set[str]:
        return set(client.list_topics(timeout=GIVE_UP_SECONDS).topics)

    with script.check("create-topic"):
        client.create_topics([NewTopic(topic, 3, 1, config=settings)])[topic].result()
        wait_until_known(client, topic)
    with script.check("create-topic-again"):
        future = client.create_topics([NewTopic(topic, 3, 1)])[topic]
        refused(future, KafkaError.TOPIC_ALREADY_EXISTS)
    with script.check("create-topic-bad-name"):
        name = script.name("not a name!")
        refused(client.create_topics([NewTopic(name, 1, 1)])[name], KafkaError.TOPIC_EXCEPTION)
    with script.check("create-topic-validate-only"):
        name = script.name("admin-validated")
        client.create_topics([NewTopic(name, 1, 1)], validate_only=True)[name].result()
        expect(name in topics(), False, "the validated topic is there")
    with script.check("create-topic-assignment"):
        name = script.name("admin-assigned")
        broker = client.describe_cluster().result().nodes[0].id
        new_topic = NewTopic(name, 2, replica_assignment=[[broker], [broker]])
        client.create_topics([new_topic])[name].result()
        wait_until_known(client, name)
        expect(len(describe(client, name).partitions), 2, "partitions")
    with script.check("list-topics"):
        wanted = {topic, script.name("admin-assigned")}
        eventually(lambda: wanted <= topics(), f"{wanted} among the topics")
    with script.check("describe-topic"):
        broker = client.describe_cluster().result().nodes[0].id
        for number, partition in enumerate(describe(client, topic).partitions):
            actual = (
                partition.id,
                partition.leader.id,
                [node.id for node in partition.replicas],
                [node.id for node in partition.isr],
            )
            expect(actual, (number, broker, [broker], [broker]), "partition, leader, replicas, isr")
        expect(len(describe(client, topic).partitions), 3, "partitions")
    with script.check("describe-unknown-topic"):
        name = script.name("admin-unknown")
        future = client.describe_topics(TopicCollection([name]))[name]
        refused(future, KafkaError.UNKNOWN_TOPIC_OR_PART)
        expect(name in topics(), False, "the unknown topic is there")
    with script.check("describe-configs"):
        configs = topic_configs(client, topic)
        for setting, value in settings.items():
            expect(configs[setting].value, value, setting)
            source = ConfigSource(configs[setting].source)
            expect(source, ConfigSource.DYNAMIC_TOPIC_CONFIG, f"the source of {setting}")
        expect(configs["cleanup.policy"].value, "delete", "cleanup.policy")
        expect(configs["cleanup.policy"].is_default, True, "cleanup.policy is the default")
    with script.check("alter-configs"):
        alter_configs(client, topic)
    with script.check("create-partitions"):
        client.create_partitions([NewPartitions(topic, 5)])[topic].result()
        eventually(lambda: len(describe(client, topic).partitions) == 5, "5 partitions")
        future = client.create_partitions([NewPartitions(topic, 2)])[topic]
        refused(future, KafkaError.INVALID_PARTITIONS)
    with script.check("describe-cluster"):
        cluster = client.describe_cluster().result()
        addresses = [f"{node.host}:{node.port}" for node in cluster.nodes]
        expect(addresses, [script.bootstrap], "the brokers")
        expect(cluster.controller.id, cluster.nodes[0].id, "the controller")
        expect(bool(cluster.cluster_id), True, "there is a cluster id")
    with script.check("list-offsets"):
        produce(script, topic, [(0, record(i)) for i in range(10)])
        asked = {
            OffsetSpec.earliest(): 0,
            OffsetSpec.latest(): 10,
            OffsetSpec.for_timestamp(FIRST_TIMESTAMP + 2500): 3,
            OffsetSpec.max_timestamp(): 9,
        }
        for spec, wanted_offset in asked.items():
            expect(list_offset(client, topic, spec), wanted_offset, f"the offset for {spec}")
    with script.check("delete-records"):
        place = TopicPartition(topic, 0, 4)
        (future,) = client.delete_records([place]).values()
        expect(future.result().low_watermark, 4, "the low watermark")
        expect(list_offset(client, topic, OffsetSpec.earliest()), 4, "the earliest offset")
        first, *_ = read(script, topic, {0: OFFSET_BEGINNING})[0]
        expect(first, (4, record(4)), "the first record")
    script.unsupported("describe-log-dirs", "confluent-kafka's AdminClient has no such call")
    with script.check("delete-topic"):
        client.delete_topics([topic])[topic].result()
        eventually(lambda: topic not in topics(), "the topic is gone")
        refused(client.delete_topics([topic])[topic], KafkaError.UNKNOWN_TOPIC_OR_PART)


def describe(client: AdminClient, topic: str) -> Any:
    return client.describe_topics(TopicCollection([topic]))[topic].result()


def topic_configs(client: AdminClient, topic: str) -> dict[str, Any]:
    (future,) = client.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]).values()
    configs: dict[str, Any] = future.result()
    return configs


def list_offset(client: AdminClient, topic: str, spec: OffsetSpec, partition: int = 0) -> int:
    (future,) = client.list_offsets({TopicPartition(topic, partition): spec}).values()
    offset: int = future.result().offset
    return offset


def alter_configs(client: AdminClient, topic: str) -> None:
    def change(*entries: ConfigEntry) -> Future[None]:
        resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=list(entries))
        (future,) = client.incremental_alter_configs([resource]).values()
        changed: Future[None] = future
        return changed

    change(
        ConfigEntry("max.message.bytes", None, incremental_operation=AlterConfigOpType.DELETE),
        ConfigEntry("segment.ms", "3600000", incremental_operation=AlterConfigOpType.SET),
    ).result()

    def values() -> tuple[str, str, str]:
        configs = topic_configs(client, topic)
        names = ("retention.ms", "max.message.bytes", "segment.ms")
        kept, taken_away, changed = (configs[name].value for name in names)
        return kept, taken_away, changed

    wanted = ("-1", "1048588", "3600000")
    eventually(lambda: values() == wanted, f"the settings {wanted}, now {values()}")
    bad = ConfigEntry("retention.ms", "soon", incremental_operation=AlterConfigOpType.SET)
    refused(change(bad), KafkaError.INVALID_CONFIG)


def producing(script: Script) -> None:
    client = admin_client(script)
    topic = script.name("produce")
    create_topic(client, topic, 30)
    partitions = iter(range(30))

    def round_trip(records: Iterable[Record], **config: object) -> list[Message]:
        """Writes to a partition that is still empty and expects the same there."""
        partition = next(partitions)
        written = list(records)
        messages = produce(script, topic, [(partition, one) for one in written], **config)
        if config.get("acks") == "0":
            there = OffsetSpec.latest()
            eventually(
                lambda: list_offset(client, topic, there, partition) == len(written),
                "what was written without acknowledgement is there",
            )
        expect_records(read(script, topic, {partition: 0}), {partition: written})
        return messages

    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        with script.check(f"codec-{codec}"):
            round_trip(map(record, range(100)), **{"compression.type": codec})
    with script.check("headers"):
        headers = (("b", b"\x00\xff"), ("a", b"1"), ("b", b"2"), ("", b""))
        round_trip([Record(b"key", b"value", headers)])
    with script.check("null-header"):
        round_trip([Record(b"key", b"value", (("null", None), ("empty", b"")))])
    with script.check("null-key"):
        round_trip([Record(None, b"value"), Record(b"", b"value")])
    with script.check("null-value"):
        round_trip([Record(b"key", None), Record(b"key", b"")])
    for name, acks in (("acks-0", "0"), ("acks-1", "1"), ("acks-all", "all")):
        with script.check(name):
            messages = round_trip(map(record, range(10)), acks=acks)
            if acks != "0":
                offsets = [message.offset() for message in messages]
                expect(offsets, list(range(10)), "the acknowledged offsets")
    with script.check("idempotent"):
        round_trip(map(record, range(100)), **{"enable.idempotence": True, "batch.num.messages": 7})
    with script.check("partition"):
        chosen = [next(partitions) for _ in range(3)]
        messages = produce(script, topic, [(partition, record(0)) for partition in chosen])
        expect([message.partition() for message in messages], chosen, "the partitions")
        actual = read(script, topic, dict.fromkeys(chosen, 0))
        expect_records(actual, {partition: [record(0)] for partition in chosen})
    with script.check("timestamp"):
        round_trip([Record(b"key", b"value", timestamp=1), Record(b"key", b"value", timestamp=2)])
    with script.check("log-append-time"):
        name = script.name("log-append-time")
        create_topic(client, name, 1, message_timestamp_type="LogAppendTime")
        (message,) = produce(script, name, [(0, record(0))])
        expect(message.timestamp()[0], TIMESTAMP_LOG_APPEND_TIME, "the type of the timestamp")
        ((_, stored),) = read(script, name, {0: 0})[0]
        expect(stored.timestamp, message.timestamp()[1], "the timestamp as it was acknowledged")
        expect(stored.timestamp > FIRST_TIMESTAMP, True, "the broker's time is later")
    with script.check("large-message"):
        round_trip([Record(b"large", bytes(i * i % 251 for i in range(900_000)))])
    with script.check("too-large-message"):
        name = script.name("small")
        create_topic(client, name, 1, max_message_bytes="10000")
        expect_delivery_error(
            script, name, Record(b"k", bytes(20_000)), KafkaError.MSG_SIZE_TOO_LARGE
        )
        (message,) = produce(script, name, [(0, record(0))])
        expect(message.offset(), 0, "the next record's offset")
    with script.check("compacted-null-key"):
        name = script.name("compacted")
        create_topic(client, name, 1, cleanup_policy="compact")
        expect_delivery_error(script, name, Record(None, b"value"), KafkaError.INVALID_RECORD)
        (message,) = produce(script, name, [(0, record(0))])
        expect(message.offset(), 0, "the next record's offset")
    with script.check("auto-create"):
        name = script.name("auto-created")
        fresh = replace(record(0), timestamp=now_ms())
        produce(script, name, [(0, fresh)])
        expect_records(read(script, name, {0: 0}), {0: [fresh]})


def expect_delivery_error(script: Script, topic: str, refused_record: Record, code: int) -> None:
    try:
        produce(script, topic, [(0, refused_record)])
    except KafkaException as error:
        expect(error.args[0].code(), code, f"the error ({error.args[0]})")
    else:
        raise MismatchError("the record was taken")


def consume(script: Script) -> None:
    client = admin_client(script)
    topic = script.name("consume")
    create_topic(client, topic, PARTITIONS)
    produce(script, topic, [(i % PARTITIONS, record(i)) for i in range(RECORDS)])
    wanted = by_partition(range(RECORDS))

    with script.check("beginning"):
        # Half a second slower in librdkafka than an offset that is given as a number.
        starts = dict.fromkeys(range(PARTITIONS), OFFSET_BEGINNING)
        expect_records(read(script, topic, starts), wanted)
    with script.check("offset"):
        actual = read(script, topic, {1: 42})[1]
        expect(actual, list(enumerate(wanted[1]))[42:], "the records from offset 42")
    with script.check("timestamp"):
        # One millisecond behind record 149, which is at offset 49 of partition 2.
        offset = offset_for_time(script, topic, 2, record(149).timestamp + 1)
        expect(offset, 50, "the offset for the timestamp")
        actual = read(script, topic, {2: offset})[2]
        expect(actual, list(enumerate(wanted[2]))[50:], "the records from there")
    with script.check("timestamp-past-end"):
        offset = offset_for_time(script, topic, 2, record(RECORDS).timestamp)
        expect(offset, OFFSET_END, "the offset for a timestamp past the end")
    with script.check("out-of-range"):
        again = read(script, topic, {0: 1_000_000}, **{"auto.offset.reset": "earliest"})
        expect_records(again, {0: wanted[0]})
    with script.check("end"):
        read_from_end(script, topic)
    with script.check("many"):
        many(script, client)


def offset_for_time(script: Script, topic: str, partition: int, timestamp: int) -> int:
    consumer = Consumer({"bootstrap.servers": script.bootstrap, "group.id": script.name("times")})
    try:
        place = TopicPartition(topic, partition, timestamp)
        (found,) = consumer.offsets_for_times([place], timeout=GIVE_UP_SECONDS)
        offset: int = found.offset
        return offset
    finally:
        consumer.close()


def read_from_end(script: Script, topic: str) -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": script.bootstrap,
            "group.id": script.name("not-used"),
            "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )
    try:
        consumer.assign([TopicPartition(topic, 0, OFFSET_END)])
        end = consumer.poll(GIVE_UP_SECONDS)
        if end is None or end.error() is None or end.error().code() != KafkaError._PARTITION_EOF:
            raise MismatchError(f"something else than the end of the partition: {end}")
        produce(script, topic, [(0, record(0))])
        message = consumer.poll(GIVE_UP_SECONDS)
        if message is None or message.error():
            raise MismatchError(f"no record after the end: {message}")
        expect((message.offset(), to_record(message)), (100, record(0)), "the record after the end")
    finally:
        consumer.close()


def many(script: Script, client: AdminClient) -> None:
    topic = script.name("many")
    create_topic(client, topic, PARTITIONS)
    producer = Producer({"bootstrap.servers": script.bootstrap, "enable.idempotence": True})
    for i in range(10_000):
        producer.produce(topic, b"%0500d" % i, partition=i % PARTITIONS)
        producer.poll(0)
    expect(producer.flush(GIVE_UP_SECONDS), 0, "records not delivered")
    actual = read(script, topic, dict.fromkeys(range(PARTITIONS), 0))
    for partition, messages in actual.items():
        wanted = list(enumerate(range(partition, 10_000, PARTITIONS)))
        numbers = [(offset, int(read_record.value or b"-1")) for offset, read_record in messages]
        expect(numbers, wanted, f"offsets and numbers in partition {partition}")


def cluster(script: Script) -> None:
    client = admin_client(script)
    topic = script.name("cluster")
    create_topic(client, topic, 1)
    with script.check("elect-leaders"):
        places = [TopicPartition(topic, 0), TopicPartition(script.name("unknown"), 0)]
        results = client.elect_leaders(ElectionType.PREFERRED, places).result()
        codes = {place.topic: error and error.code() for place, error in results.items()}
        wanted = (KafkaError.ELECTION_NOT_NEEDED, KafkaError.UNKNOWN_TOPIC_OR_PART)
        expect(tuple(codes[place.topic] for place in places), wanted, "the errors")
    script.unsupported_cluster("elect-leaders")


def restart_before(script: Script) -> None:
    with script.check("write"):
        topic = script.name("restart")
        create_topic(admin_client(script), topic, PARTITIONS)
        write_for_restart(script, range(RECORDS))


def after_restart(there: int, script: Script) -> None:
    """So many records are there; as many as the first time are written behind them."""
    more = range(there, there + RECORDS)
    topic = script.name("restart")
    starts = dict.fromkeys(range(PARTITIONS), 0)
    with script.check("topic-kept"):
        client = admin_client(script)
        expect(len(describe(client, topic).partitions), PARTITIONS, "partitions")
        expect(topic_configs(client, topic)["retention.ms"].value, "-1", "retention.ms")
    with script.check("read-back"):
        expect_records(read(script, topic, starts), by_partition(range(there)))
    with script.check("write-more"):
        messages = write_for_restart(script, more)
        offsets = [message.offset() for message in messages]
        expect(offsets, [i // PARTITIONS for i in more], "the offsets")
    with script.check("read-all"):
        expect_records(read(script, topic, starts), by_partition(range(there + RECORDS)))


def write_for_restart(script: Script, numbers: range) -> list[Message]:
    records = [(i % PARTITIONS, record(i)) for i in numbers]
    return produce(script, script.name("restart"), records, **{"enable.idempotence": True})


if __name__ == "__main__":
    main(
        "confluent",
        {
            "admin": admin,
            "produce": producing,
            "consume": consume,
            "cluster": cluster,
            "restart-before": restart_before,
            "restart-after": partial(after_restart, RECORDS),
            "kill-after": partial(after_restart, 2 * RECORDS),
            "groups": confluent_groups.classic,
            "groups-consumer-protocol": confluent_groups.consumer_protocol,
            "transactions": confluent_groups.transactions,
        },
    )
