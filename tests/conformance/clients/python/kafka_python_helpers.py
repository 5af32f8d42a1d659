"""Writing and reading through kafka-python, as its scripts need it."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kafka import (
    KafkaAdminClient,
    KafkaConsumer,
    KafkaProducer,
    OffsetSpec,
    TopicPartition,
    errors,
)

from tests.conformance.clients.python.checks import (
    GIVE_UP_SECONDS,
    MismatchError,
    Record,
    Script,
    eventually,
)


def create_topic(admin: KafkaAdminClient, name: str, partitions: int, **settings: str) -> None:
    """Creates it and waits until it can be used, which may be a moment later.

    Its settings are written with _ for the dots; it keeps its records however old they are.
    """
    configs = {key.replace("_", "."): value for key, value in settings.items()}
    topic = {
        "num_partitions": partitions,
        "replication_factor": 1,
        "configs": {"retention.ms": "-1", **configs},
    }
    admin.create_topics({name: topic}, wait_for_metadata=True)
    # A broker may tell of a partition before it takes records for it: see FINDINGS.md.
    places = [TopicPartition(name, partition) for partition in range(partitions)]

    def ready() -> bool:
        try:
            admin.list_partition_offsets(dict.fromkeys(places, OffsetSpec.LATEST))
        except errors.NotLeaderForPartitionError:
            return False
        return True

    eventually(ready, f"{name} can be used")


def refused(wanted: type[Exception], call: Callable[[], Any]) -> None:
    """Expects this error of the call."""
    try:
        answer = call()
    except wanted:
        return
    raise MismatchError(f"no {wanted.__name__}, but {answer}")


def produce(
    script: Script, topic: str, records: Iterable[tuple[int, Record]], **config: Any
) -> list[Any]:
    """Writes the records to their partitions; what the broker said of each, in the same order."""
    producer = KafkaProducer(bootstrap_servers=script.bootstrap, **config)
    try:
        return [future.get(GIVE_UP_SECONDS) for future in send(producer, topic, records)]
    finally:
        producer.close()


def send(producer: KafkaProducer, topic: str, records: Iterable[tuple[int, Record]]) -> list[Any]:
    return [
        producer.send(
            topic,
            key=record.key,
            value=record.value,
            headers=list(record.headers),
            partition=partition,
            timestamp_ms=record.timestamp,
        )
        for partition, record in records
    ]


def read(
    script: Script, topic: str, starts: Mapping[int, int | None], **config: Any
) -> dict[int, list[tuple[int, Record]]]:
    """The offsets and records of these partitions to the end; None starts at the beginning."""
    consumer = KafkaConsumer(
        bootstrap_servers=script.bootstrap,
        fetch_max_wait_ms=10,  # for a quick end: see below
        **config,
    )
    found: dict[int, list[tuple[int, Record]]] = {partition: [] for partition in starts}
    places = {partition: TopicPartition(topic, partition) for partition in starts}
    deadline = time.monotonic() + GIVE_UP_SECONDS
    try:
        consumer.assign(list(places.values()))
        for partition, start in starts.items():
            if start is None:
                consumer.seek_to_beginning(places[partition])
            else:
                consumer.seek(places[partition], start)
        ends = consumer.end_offsets(list(places.values()))
        # A position moves on over the markers of transactions too, so that it reaches the end.
        while any(consumer.position(place) != ends[place] for place in places.values()):
            for place, messages in consumer.poll(timeout_ms=50).items():
                found[place.partition] += [(one.offset, to_record(one)) for one in messages]
            if time.monotonic() > deadline:
                counts = {partition: len(records) for partition, records in found.items()}
                raise MismatchError(f"the ends {ends} are not reached; records so far: {counts}")
    finally:
        consumer.close()
    return found


def to_record(message: Any) -> Record:
    return Record(message.key, message.value, tuple(message.headers), message.timestamp)
