"""A broker in a process of its own, ours or Apache Kafka, and what a test asks of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import pytest
from fencepost_client import ConsumerRecord, NewTopic, TopicPartition
from fencepost_client.blocking import Admin, Consumer
from fencepost_pipeline.sink.commit_protocol import MarkerPlace
from fencepost_pipeline.sink.settings import SinkSettings

from tests.support.apache_kafka import ApacheKafka
from tests.support.up import Up

BROKERS: Final = [
    "fencepost",
    "fencepost-tv1",
    pytest.param("kafka", marks=pytest.mark.conformance),
]
if os.environ.get("FENCEPOST_TEST_ALL_BROKERS"):
    BROKERS.append(pytest.param("kafka-tv1", marks=pytest.mark.conformance))


class Address(NamedTuple):
    """Of a broker on this machine."""

    port: int


@dataclass
class Running:
    """Where it is."""

    process: Up | ApacheKafka | Address

    @classmethod
    def at(cls, bootstrap: str) -> Self:
        """One that somebody else runs."""
        return cls(Address(int(bootstrap.rpartition(":")[2])))

    @property
    def bootstrap(self) -> str:
        """Where clients connect."""
        return f"127.0.0.1:{self.process.port}"

    def create(self, topic: str, partitions: int = 2, **configs: str) -> None:
        """Create a topic; ``_`` in the names of settings stands for a dot."""
        given = {name.replace("_", "."): value for name, value in configs.items()}
        with Admin(self.bootstrap) as admin:
            admin.create_topics([NewTopic(topic, partitions, 1, configs=given)])

    def settings(self, topic: str | None, sink_id: str, **others: Any) -> SinkSettings:
        """Of a sink that writes there."""
        return SinkSettings(
            {"bootstrap.servers": self.bootstrap},
            f"spark-{sink_id}",
            MarkerPlace(f"spark-sink-{sink_id}", "__consumer_offsets"),
            topic,
            **others,
        )

    def records(self, topic: str) -> list[ConsumerRecord]:
        """All that a reader of committed data sees, by partition and offset.

        Waits for the markers: Apache Kafka answers EndTxn before they are there.
        """
        with Admin(self.bootstrap) as admin:
            parts = admin.describe_topics([topic])[topic].partitions
        where = [TopicPartition(topic, part.partition) for part in parts]
        found: list[ConsumerRecord] = []
        with Consumer(self.bootstrap) as consumer:
            ends = consumer.end_offsets(where)
        with Consumer(self.bootstrap, isolation_level="read_committed") as consumer:
            stable = consumer.end_offsets(where)
            while any(stable[each] < ends[each] for each in where):
                stable = consumer.end_offsets(where)
            consumer.assign(where)
            consumer.seek_to_beginning(*where)
            while any(consumer.position(each) < stable[each] for each in where):
                found += consumer.getmany(timeout_ms=200)
        return sorted(found, key=lambda record: (record.partition, record.offset))

    def values(self, topic: str) -> Counter[bytes | None]:
        """How often each value is there, as committed."""
        return Counter(record.value for record in self.records(topic))


@contextmanager
def started(kind: str, **settings: str) -> Iterator[Running]:
    """A broker with a transaction version of its own."""
    is_old = kind.endswith("-tv1")
    with ExitStack() as stack:
        process: Up | ApacheKafka
        if kind.startswith("kafka"):
            arguments = ["--feature", "transaction.version=1"] if is_old else []
            process = ApacheKafka(settings, format_arguments=arguments)
        else:
            given = [f"{name}={value}" for name, value in settings.items()]
            given += ["features=transaction.version:1"] if is_old else []
            process = Up(*(word for each in given for word in ("-c", each)))
        stack.enter_context(process)
        yield Running(process)
