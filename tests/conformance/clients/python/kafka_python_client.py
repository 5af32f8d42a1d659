"""kafka-python against any broker.

python -m tests.conformance.clients.python.kafka_python_client 127.0.0.1:9092 admin produce
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, OffsetSpec, TopicPartition, errors
from kafka.admin import ConfigResource, ConfigResourceType

from tests.conformance.clients.python import kafka_python_cluster, kafka_python_groups
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
from tests.conformance.clients.python.kafka_python_helpers import (
    create_topic,
    produce,
    read,
    refused,
    send,
    to_record,
)


def admin(script: Script) -> None:
    client = KafkaAdminClient(bootstrap_servers=script.bootstrap)
    try:
        topics(script, client)
        configs(script, client)
        records(script, client)
        topic = script.name("admin")
        with script.check("delete-topic"):
            client.delete_topics([topic])
            eventually(lambda: topic not in client.list_topics(), "the topic is gone")
            refused(errors.UnknownTopicOrPartitionError, lambda: client.delete_topics([topic]))
    finally:
        client.close()


def topics(script: Script, client: KafkaAdminClient) -> None:
    topic = script.name("admin")
    settings = {"retention.ms": "-1", "max.message.bytes": "20000"}
    one = {"num_partitions": 1, "replication_factor": 1}

    with script.check("create-topic"):
        options = {"num_partitions": 3, "replication_factor": 1, "configs": settings}
        answer = client.create_topics({topic: options}, wait_for_metadata=True)
        (created,) = answer["topics"]
        for setting, value in settings.items():
            expect(created["configs"][setting]["value"], value, f"{setting} in the answer")
        expect(created["num_partitions"], 3, "partitions in the answer")
    with script.check("create-topic-again"):
        refused(errors.TopicAlreadyExistsError, lambda: client.create_topics({topic: one}))
    with script.check("create-topic-bad-name"):
        bad_name = script.name("not a name!")
        refused(errors.InvalidTopicError, lambda: client.create_topics({bad_name: one}))
    with script.check("create-topic-validate-only"):
        name = script.name("admin-validated")
        client.create_topics({name: one}, validate_only=True)
        expect(name in client.list_topics(), False, "the validated topic is there")
    with script.check("create-topic-assignment"):
        name = script.name("admin-assigned")
        broker = the_broker(client)
        options = {"assignments": {0: [broker], 1: [broker]}}
        client.create_topics({name: options}, wait_for_metadata=True)
        expect(len(describe(client, name)["partitions"]), 2, "partitions")
    with script.check("list-topics"):
        wanted = {topic, script.name("admin-assigned")}
        eventually(lambda: wanted <= set(client.list_topics()), f"{wanted} among the topics")
    with script.check("describe-topic"):
        broker = the_broker(client)
        fields = ("partition_index", "leader_id", "replica_nodes", "isr_nodes")
        actual = [
            tuple(partition[field] for field in fields)
            for partition in describe(client, topic)["partitions"]
        ]
        expect(sorted(actual), [(i, broker, [broker], [broker]) for i in range(3)], str(fields))
    with script.check("describe-unknown-topic"):
        name = script.name("admin-unknown")
        expect(describe(client, name)["error_code"], 3, "the error code")
        expect(name in client.list_topics(), False, "the unknown topic is there")
    with script.check("create-partitions"):
        client.create_partitions({topic: 5})
        eventually(lambda: len(describe(client, topic)["partitions"]) == 5, "5 partitions")
        refused(errors.InvalidPartitionsError, lambda: client.create_partitions({topic: 2}))
    with script.check("describe-cluster"):
        cluster = client.describe_cluster()
        addresses = [f"{broker['host']}:{broker['port']}" for broker in cluster["brokers"]]
        expect(addresses, [script.bootstrap], "the brokers")
        expect(cluster["controller_id"], the_broker(client), "the controller")
        expect(bool(cluster["cluster_id"]), True, "there is a cluster id")


def the_broker(client: KafkaAdminClient) -> int:
    (broker,) = client.describe_cluster()["brokers"]
    node_id: int = broker["broker_id"]
    return node_id


def describe(client: KafkaAdminClient, topic: str) -> dict[str, Any]:
    (description,) = client.describe_topics([topic])
    fields: dict[str, Any] = description
    return fields


def configs(script: Script, client: KafkaAdminClient) -> None:
    topic = script.name("admin")

    def resource(**changes: str | None) -> list[ConfigResource]:
        settings = {name.replace("_", "."): value for name, value in changes.items()}
        return [ConfigResource(ConfigResourceType.TOPIC, topic, configs=settings or None)]

    def described() -> dict[str, Any]:
        answer = client.describe_configs(resource(), config_filter="all")
        settings: dict[str, Any] = answer["topic"][topic]
        return settings

    with script.check("describe-configs"):
        found = described()
        for setting, value in {"retention.ms": "-1", "max.message.bytes": "20000"}.items():
            expect(found[setting]["value"], value, setting)
            source = found[setting]["config_source"]
            expect(source, "DYNAMIC_TOPIC_CONFIG", f"the source of {setting}")
        expect(found["cleanup.policy"]["value"], "delete", "cleanup.policy")
        expect(found["cleanup.policy"]["config_source"], "DEFAULT_CONFIG", "its source")
    with script.check("alter-configs"):
        client.reset_configs(resource(max_message_bytes=None))
        client.alter_configs(resource(segment_ms="3600000"))

        def values() -> list[str]:
            names = ("retention.ms", "max.message.bytes", "segment.ms")
            return [described()[name]["value"] for name in names]

        wanted = ["-1", "1048588", "3600000"]
        eventually(lambda: values() == wanted, f"the settings {wanted}, now {values()}")
        answer = client.alter_configs(resource(retention_ms="soon"))["topic"][topic]
        expect("InvalidConfigurationError" in answer, True, f"a bad value is refused ({answer})")


def records(script: Script, client: KafkaAdminClient) -> None:
    topic = script.name("admin")
    place = TopicPartition(topic, 0)

    def offset_for(spec: Any) -> int:
        offset: int = client.list_partition_offsets({place: spec})[place].offset
        return offset

    with script.check("list-offsets"):
        produce(script, topic, [(0, record(i)) for i in range(10)])
        asked = {
            OffsetSpec.EARLIEST: 0,
            OffsetSpec.LATEST: 10,
            FIRST_TIMESTAMP + 2500: 3,
            OffsetSpec.MAX_TIMESTAMP: 9,
        }
        for spec, wanted in asked.items():
            expect(offset_for(spec), wanted, f"the offset for {spec}")
    with script.check("delete-records"):
        answer = client.delete_records({place: 4})
        expect(answer[place]["low_watermark"], 4, "the low watermark")
        expect(offset_for(OffsetSpec.EARLIEST), 4, "the earliest offset")
        first, *_ = read(script, topic, {0: None})[0]
        expect(first, (4, record(4)), "the first record")
    with script.check("describe-log-dirs"):
        (broker,) = client.describe_log_dirs()
        sizes = {
            partition["partition_index"]: partition["partition_size"]
            for log_dir in broker["log_dirs"]
            for one in log_dir["topics"]
            if one["name"] == topic
            for partition in one["partitions"]
        }
        expect(sorted(sizes), list(range(5)), "the partitions in the log folders")
        expect(sizes[0] > 0, True, "partition 0 has a size")


def producing(script: Script) -> None:
    client = KafkaAdminClient(bootstrap_servers=script.bootstrap)
    try:
        round_trips(script, client)
        refusals(script, client)
    finally:
        client.close()
    with script.check("auto-create"):
        name = script.name("auto-created")
        fresh = replace(record(0), timestamp=now_ms())
        produce(script, name, [(0, fresh)])
        expect_records(read(script, name, {0: None}), {0: [fresh]})


def round_trips(script: Script, client: KafkaAdminClient) -> None:
    topic = script.name("produce")
    create_topic(client, topic, 30)
    partitions = iter(range(30))

    def round_trip(records: Iterable[Record], **config: Any) -> list[Any]:
        """Writes to a partition that is still empty and expects the same there."""
        partition = next(partitions)
        written = list(records)
        answers = produce(script, topic, [(partition, one) for one in written], **config)
        if config.get("acks") == 0:
            place = TopicPartition(topic, partition)
            latest = {place: OffsetSpec.LATEST}
            eventually(
                lambda: client.list_partition_offsets(latest)[place].offset == len(written),
                "what was written without acknowledgement is there",
            )
        expect_records(read(script, topic, {partition: 0}), {partition: written})
        return answers

    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        with script.check(f"codec-{codec}"):
            compression = None if codec == "none" else codec
            round_trip(map(record, range(100)), compression_type=compression)
    with script.check("headers"):
        headers = (("b", b"\x00\xff"), ("a", b"1"), ("b", b"2"), ("", b""))
        round_trip([Record(b"key", b"value", headers)])
    script.unsupported("null-header", "kafka-python takes only bytes as the value of a header")
    with script.check("null-key"):
        round_trip([Record(None, b"value"), Record(b"", b"value")])
    with script.check("null-value"):
        round_trip([Record(b"key", None), Record(b"key", b"")])
    for name, acks in (("acks-0", 0), ("acks-1", 1), ("acks-all", "all")):
        with script.check(name):
            answers = round_trip(map(record, range(10)), acks=acks, enable_idempotence=False)
            if acks != 0:
                offsets = [answer.offset for answer in answers]
                expect(offsets, list(range(10)), "the acknowledged offsets")
    with script.check("idempotent"):
        round_trip(map(record, range(100)), enable_idempotence=True, batch_size=500)
    with script.check("partition"):
        chosen = [next(partitions) for _ in range(3)]
        answers = produce(script, topic, [(partition, record(0)) for partition in chosen])
        expect([answer.partition for answer in answers], chosen, "the partitions")
        actual = read(script, topic, dict.fromkeys(chosen, 0))
        expect_records(actual, {partition: [record(0)] for partition in chosen})
    with script.check("timestamp"):
        round_trip([Record(b"key", b"value", timestamp=1), Record(b"key", b"value", timestamp=2)])
    with script.check("log-append-time"):
        name = script.name("log-append-time")
        create_topic(client, name, 1, message_timestamp_type="LogAppendTime")
        (answer,) = produce(script, name, [(0, record(0))])
        ((_, stored),) = read(script, name, {0: 0})[0]
        expect(stored.timestamp, answer.timestamp, "the timestamp as it was acknowledged")
        expect(stored.timestamp > FIRST_TIMESTAMP, True, "the broker's time is later")
    with script.check("large-message"):
        round_trip([Record(b"large", bytes(i * i % 251 for i in range(900_000)))])


def refusals(script: Script, client: KafkaAdminClient) -> None:
    def refused_then_taken(topic: str, error: type[Exception], bad: Record) -> None:
        refused(error, lambda: produce(script, topic, [(0, bad)]))
        (answer,) = produce(script, topic, [(0, record(0))])
        expect(answer.offset, 0, "the next record's offset")

    with script.check("too-large-message"):
        name = script.name("small")
        create_topic(client, name, 1, max_message_bytes="10000")
        refused_then_taken(name, errors.MessageSizeTooLargeError, Record(b"large", bytes(20_000)))
    with script.check("compacted-null-key"):
        name = script.name("compacted")
        create_topic(client, name, 1, cleanup_policy="compact")
        refused_then_taken(name, errors.InvalidRecordError, Record(None, b"value"))


def consume(script: Script) -> None:
    client = KafkaAdminClient(bootstrap_servers=script.bootstrap)
    topic = script.name("consume")
    create_topic(client, topic, PARTITIONS)
    create_topic(client, script.name("many"), PARTITIONS)
    client.close()
    produce(script, topic, [(i % PARTITIONS, record(i)) for i in range(RECORDS)])
    wanted = by_partition(range(RECORDS))

    with script.check("beginning"):
        expect_records(read(script, topic, dict.fromkeys(range(PARTITIONS))), wanted)
    with script.check("offset"):
        actual = read(script, topic, {1: 42})[1]
        expect(actual, list(enumerate(wanted[1]))[42:], "the records from offset 42")
    with script.check("timestamp"):
        # One millisecond behind record 149, which is at offset 49 of partition 2.
        found = offset_for_time(script, topic, 2, record(149).timestamp + 1)
        expect((found.offset, found.timestamp), (50, record(152).timestamp), "what is found")
        actual = read(script, topic, {2: found.offset})[2]
        expect(actual, list(enumerate(wanted[2]))[50:], "the records from there")
    with script.check("timestamp-past-end"):
        found = offset_for_time(script, topic, 2, record(RECORDS).timestamp)
        expect(found, None, "what is found past the end")
    with script.check("out-of-range"):
        again = read(script, topic, {0: 1_000_000}, auto_offset_reset="earliest")
        expect_records(again, {0: wanted[0]})
    with script.check("end"):
        read_from_end(script, topic)
    with script.check("many"):
        many(script)


def offset_for_time(script: Script, topic: str, partition: int, timestamp: int) -> Any:
    consumer = KafkaConsumer(bootstrap_servers=script.bootstrap)
    try:
        place = TopicPartition(topic, partition)
        return consumer.offsets_for_times({place: timestamp})[place]
    finally:
        consumer.close()


def read_from_end(script: Script, topic: str) -> None:
    consumer = KafkaConsumer(bootstrap_servers=script.bootstrap)
    try:
        place = TopicPartition(topic, 0)
        consumer.assign([place])
        consumer.seek_to_end(place)
        expect(consumer.position(place), 100, "the end")
        produce(script, topic, [(0, record(0))])
        (messages,) = consumer.poll(timeout_ms=1000 * GIVE_UP_SECONDS).values()
        actual = [(message.offset, to_record(message)) for message in messages]
        expect(actual, [(100, record(0))], "what is read from the end")
    finally:
        consumer.close()


def many(script: Script) -> None:
    topic = script.name("many")
    producer = KafkaProducer(bootstrap_servers=script.bootstrap, linger_ms=5)
    futures = [producer.send(topic, b"%0500d" % i, partition=i % PARTITIONS) for i in range(10_000)]
    producer.flush(GIVE_UP_SECONDS)
    for i, future in enumerate(futures):
        if not future.succeeded():
            raise MismatchError(f"record {i} was not acknowledged: {future.exception}")
    producer.close()
    for partition, messages in read(script, topic, dict.fromkeys(range(PARTITIONS), 0)).items():
        wanted = list(enumerate(range(partition, 10_000, PARTITIONS)))
        numbers = [(offset, int(one.value or b"-1")) for offset, one in messages]
        expect(numbers, wanted, f"offsets and numbers in partition {partition}")


def restart_before(script: Script) -> None:
    with script.check("write"):
        client = KafkaAdminClient(bootstrap_servers=script.bootstrap)
        create_topic(client, script.name("restart"), PARTITIONS)
        client.close()
        write_for_restart(script, range(RECORDS))


def after_restart(there: int, script: Script) -> None:
    """So many records are there; as many as the first time are written behind them."""
    more = range(there, there + RECORDS)
    topic = script.name("restart")
    starts = dict.fromkeys(range(PARTITIONS))
    with script.check("topic-kept"):
        client = KafkaAdminClient(bootstrap_servers=script.bootstrap)
        expect(len(describe(client, topic)["partitions"]), PARTITIONS, "partitions")
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        settings = client.describe_configs([resource])["topic"][topic]
        expect(settings["retention.ms"]["value"], "-1", "retention.ms")
        client.close()
    with script.check("read-back"):
        expect_records(read(script, topic, starts), by_partition(range(there)))
    with script.check("write-more"):
        offsets = write_for_restart(script, more)
        expect(offsets, [i // PARTITIONS for i in more], "the offsets")
    with script.check("read-all"):
        expect_records(read(script, topic, starts), by_partition(range(there + RECORDS)))


def write_for_restart(script: Script, numbers: range) -> list[int]:
    producer = KafkaProducer(bootstrap_servers=script.bootstrap, enable_idempotence=True)
    try:
        written = [(i % PARTITIONS, record(i)) for i in numbers]
        futures = send(producer, script.name("restart"), written)
        return [future.get(GIVE_UP_SECONDS).offset for future in futures]
    finally:
        producer.close()


if __name__ == "__main__":
    main(
        "kafka-python",
        {
            "admin": admin,
            "produce": producing,
            "consume": consume,
            "cluster": kafka_python_cluster.cluster,
            "restart-before": restart_before,
            "restart-after": partial(after_restart, RECORDS),
            "kill-after": partial(after_restart, 2 * RECORDS),
            "groups": kafka_python_groups.groups,
            "groups-consumer-protocol": kafka_python_groups.consumer_protocol,
            "transactions": kafka_python_groups.transactions,
        },
    )
