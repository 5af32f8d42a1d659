"""librdkafka's share consumer: what it is given, and what becomes of its acknowledgements."""

from __future__ import annotations

import time
from typing import Final

from confluent_kafka import AcknowledgeType, Message, Producer, ShareConsumer
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

TOPIC: Final = "parcels"
GROUP: Final = "couriers"
SECONDS_MAX: Final = 60.0
TYPES: Final = (AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT)


def told(bootstrap: str) -> list[str]:
    """Each third record is accepted, released, and rejected; a consumer then leaves the others."""
    where = {"bootstrap.servers": bootstrap}
    prepare(bootstrap, TOPIC, GROUP)
    _produce(where, "a", 9)
    lines: list[str] = []
    explicit = {"group.id": GROUP, "share.acknowledgement.mode": "explicit", **where}
    with ShareConsumer(explicit) as consumer:
        consumer.subscribe([TOPIC])
        for number, message in enumerate(_take(consumer, 9, lines)):
            consumer.acknowledge(message, TYPES[number % len(TYPES)])
        _commit(consumer, lines)
        for message in _take(consumer, 3, lines):
            consumer.acknowledge(message)
        _commit(consumer, lines)
        _produce(where, "b", 3)
        _take(consumer, 3, lines)
    with ShareConsumer({"group.id": GROUP, **where}) as consumer:
        consumer.subscribe([TOPIC])
        _take(consumer, 3, lines)
        _commit(consumer, lines)
    return lines


def prepare(bootstrap: str, topic: str, group_id: str) -> None:
    """Creates a topic, and a group that reads it from its beginning."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.create_topics([NewTopic(topic, 1, 1)]).values():
        future.result()
    earliest = ConfigEntry(
        "share.auto.offset.reset", "earliest", incremental_operation=AlterConfigOpType.SET
    )
    group = ConfigResource(ResourceType.GROUP, group_id, incremental_configs=[earliest])
    for future in admin.incremental_alter_configs([group]).values():
        future.result()


def _produce(where: dict[str, str], name: str, count: int) -> None:
    producer = Producer(where)
    for number in range(count):
        producer.produce(TOPIC, f"{name}{number}")
    assert not producer.flush(SECONDS_MAX)


def _take(consumer: ShareConsumer, count: int, lines: list[str]) -> list[Message]:
    found: list[Message] = []
    end = time.monotonic() + SECONDS_MAX
    while len(found) < count and time.monotonic() < end:
        for message in consumer.poll(0.5):
            assert message.error() is None, message.error()
            found.append(message)
    given = sorted((each.value().decode(), each.delivery_count()) for each in found)
    lines.append("given " + " ".join(f"{value}={count}" for value, count in given))
    return found


def _commit(consumer: ShareConsumer, lines: list[str]) -> None:
    errors = consumer.commit_sync(SECONDS_MAX)
    assert not any(errors.values()), errors
    lines.append("committed")
