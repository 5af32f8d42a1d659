"""A hundred tests as users write them, for any broker.

Each one creates a topic, writes ten records in a transaction, reads them in a group, and asks for
the names of topics. ``SUITE_BROKER`` is a broker's address, or the name of a fixture of Fencepost.
"""

from __future__ import annotations

import os
from typing import Any

import confluent_kafka
import fencepost_client
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from fencepost_client import blocking

BROKER = os.environ["SUITE_BROKER"]
TESTS = 100
SECONDS = 30.0
VALUES = [b"%d" % each for each in range(10)]


@pytest.fixture
def bootstrap(request: pytest.FixtureRequest) -> str:
    """The address of a broker."""
    return BROKER if ":" in BROKER else str(request.getfixturevalue(BROKER).bootstrap)


@pytest.mark.parametrize("number", range(TESTS))
def test_confluent_kafka(bootstrap: str, number: int) -> None:
    confluent({"bootstrap.servers": bootstrap}, number)


@pytest.mark.parametrize("number", range(TESTS))
def test_confluent_kafka_connecting_at_once(bootstrap: str, number: int) -> None:
    confluent({"bootstrap.servers": bootstrap, "enable.sparse.connections": False}, number)


def confluent(settings: dict[str, Any], number: int) -> None:
    """The test by confluent-kafka."""
    topic = f"orders-{number}"
    admin = AdminClient(settings)
    admin.create_topics([NewTopic(topic, 1, 1)])[topic].result(SECONDS)

    producer = confluent_kafka.Producer({**settings, "transactional.id": f"writer-{number}"})
    producer.init_transactions(SECONDS)
    producer.begin_transaction()
    for value in VALUES:
        producer.produce(topic, value)
    producer.commit_transaction(SECONDS)

    group = {"group.id": f"readers-{number}", "auto.offset.reset": "earliest"}
    consumer = confluent_kafka.Consumer({**settings, **group, "enable.auto.commit": False})
    consumer.subscribe([topic])
    read: list[Any] = []
    while len(read) < len(VALUES):
        read += consumer.consume(len(VALUES) - len(read), SECONDS)
    consumer.commit(asynchronous=False)
    consumer.close()

    assert [each.value() for each in read] == VALUES
    assert topic in admin.list_topics(timeout=SECONDS).topics


@pytest.mark.parametrize("number", range(TESTS))
def test_fencepost_client(bootstrap: str, number: int) -> None:
    topic = f"orders-{number}"
    with blocking.Admin(bootstrap) as admin:
        admin.create_topics([fencepost_client.NewTopic(topic, 1, 1)])

        writer = blocking.Producer(bootstrap, transactional_id=f"writer-{number}")
        with writer as producer, producer.transaction():
            for value in VALUES:
                producer.send(topic, value)

        reader = blocking.Consumer(
            bootstrap,
            group_id=f"readers-{number}",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        with reader as consumer:
            consumer.subscribe([topic])
            read: list[Any] = []
            while len(read) < len(VALUES):
                read += consumer.getmany(timeout_ms=1000)
            consumer.commit()

        assert [each.value for each in read] == VALUES
        assert topic in admin.list_topics()
