# mypy: disable-error-code="import-not-found"
"""Writing and reading through confluent-kafka, as its scripts need it."""

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from confluent_kafka import (
    TIMESTAMP_CREATE_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

from tests.conformance.clients.python.checks import (
    GIVE_UP_SECONDS,
    MismatchError,
    Record,
    Script,
    eventually,
    expect,
)


def admin_client(script: Script) -> AdminClient:
    """Keep it as long as its futures: they end with it."""
    return AdminClient({"bootstrap.servers": script.bootstrap})


def create_topic(client: AdminClient, name: str, partitions: int, **settings: str) -> None:
    """Creates it and waits until it can be used, which may be a moment later.

    Its settings are written with _ for the dots; it keeps its records however old they are.
    """
    config = {key.replace("_", "."): value for key, value in settings.items()}
    topic = NewTopic(name, partitions, 1, config={"retention.ms": "-1", **config})
    client.create_topics([topic])[name].result()
    wait_until_known(client, name)
    # A broker may tell of a partition before it takes records for it: see FINDINGS.md.
    places = [TopicPartition(name, partition) for partition in range(partitions)]

    def ready() -> bool:
        futures = client.list_offsets({place: OffsetSpec.latest() for place in places})
        errors = [future.exception() for future in futures.values()]
        codes = {error.args[0].code() for error in errors if error is not None}
        if codes - {KafkaError.NOT_LEADER_FOR_PARTITION}:
            raise MismatchError(f"the ends of {name} are not told: {errors}")
        return not codes

    eventually(ready, f"{name} can be used")


def wait_until_known(client: AdminClient, name: str) -> None:

    def known() -> bool:
        try:
            client.describe_topics(TopicCollection([name]))[name].result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
            return False
        return True

    eventually(known, f"{name} is known")


def refused(future: Future[Any], code: int) -> None:
    """Expects this error of what was asked for."""
    try:
        answer = future.result(GIVE_UP_SECONDS)
    except KafkaException as error:
        expect(error.args[0].code(), code, f"the error ({error.args[0]})")
    else:
        raise MismatchError(f"no error, but {answer}")


def produce(
    script: Script, topic: str, records: Iterable[tuple[int, Record]], **config: object
) -> list[Message]:
    """Writes the records to their partitions; the delivered messages in the same order."""
    producer = Producer({"bootstrap.servers": script.bootstrap, **config})
    messages = send(producer, topic, records)
    expect(producer.flush(GIVE_UP_SECONDS), 0, "records neither delivered nor refused")
    return [message for message in messages if message is not None]


def send(
    producer: Producer, topic: str, records: Iterable[tuple[int, Record]]
) -> list[Message | None]:
    """Hands the records over; the list fills up, and errors are raised, while others wait."""
    messages: list[Message | None] = []

    def sent_as(number: int) -> Any:
        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is not None:
                raise KafkaException(error)
            messages[number] = message

        return delivered

    for number, (partition, record) in enumerate(records):
        messages.append(None)
        producer.produce(
            topic,
            key=record.key,
            value=record.value,
            headers=list(record.headers),
            timestamp=record.timestamp,
            partition=partition,
            on_delivery=sent_as(number),
        )
    return messages


def read(
    script: Script, topic: str, starts: Mapping[int, int], **config: object
) -> dict[int, list[tuple[int, Record]]]:
    """The offsets and records of these partitions, from the given offsets to the end."""
    consumer = Consumer(
        {
            "bootstrap.servers": script.bootstrap,
            "group.id": script.name("not-used"),
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 10,  # the end is known when a fetch comes back empty
            **config,
        }
    )
    found: dict[int, list[tuple[int, Record]]] = {partition: [] for partition in starts}
    open_partitions = set(starts)
    deadline = time.monotonic() + GIVE_UP_SECONDS
    try:
        consumer.assign([TopicPartition(topic, p, offset) for p, offset in starts.items()])
        while open_partitions:
            for message in consumer.consume(1000, timeout=0.02):
                error = message.error()
                if error is None:
                    found[message.partition()].append((message.offset(), to_record(message)))
                elif error.code() == KafkaError._PARTITION_EOF:
                    open_partitions.discard(message.partition())
                else:
                    raise KafkaException(error)
            if time.monotonic() > deadline:
                counts = {partition: len(records) for partition, records in found.items()}
                raise MismatchError(f"no end of {open_partitions}; records so far: {counts}")
    finally:
        consumer.close()
    return found


def to_record(message: Message) -> Record:
    kind, timestamp = message.timestamp()
    headers = tuple((name, value) for name, value in message.headers() or ())
    if kind == TIMESTAMP_CREATE_TIME or timestamp > 0:
        return Record(message.key(), message.value(), headers, timestamp)
    raise MismatchError(f"a record without a timestamp at offset {message.offset()}")
