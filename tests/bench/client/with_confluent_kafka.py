# mypy: disable-error-code="import-not-found"
"""confluent-kafka (librdkafka, in C); what is asked of it stands in `worker.py`."""

from __future__ import annotations

import threading
import time
import uuid
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.bench.client.worker import GIVE_UP_SECONDS, Job, Latencies, measured, own_kilobytes

Told = dict[str, float]


def _producer(job: Job, **settings: Any) -> Any:
    return Producer(
        {
            "bootstrap.servers": job.bootstrap,
            "enable.idempotence": True,
            "queue.buffering.max.messages": 1_000_000,
            **settings,
        }
    )


def _consumer(job: Job, partition: int = 0) -> Any:
    consumer = Consumer(
        {
            "bootstrap.servers": job.bootstrap,
            "group.id": uuid.uuid4().hex,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(job.topic, partition, 0)])
    return consumer


def produce(job: Job) -> Told:
    """``produce`` for each record."""
    value, told = bytes(job.size), Told()
    producer = _producer(job)
    producer.produce(job.topic, value)
    producer.flush()
    with measured(told, job.count):
        for _ in range(job.count):
            producer.produce(job.topic, value)
        producer.flush()
    return told


def consume(job: Job) -> Told:
    """All records of a partition from its beginning."""
    told = Told()
    consumer = _consumer(job)
    _read(consumer, 1, 1)
    with measured(told, job.count - 1):
        _read(consumer, job.count - 1)
    consumer.close()
    return told


def _read(consumer: Any, count: int, at_once: int = 5000) -> None:
    seen = 0
    while seen < count:
        for message in consumer.consume(min(at_once, count - seen), 1.0):
            if message.error():
                raise RuntimeError(message.error())
            message.value()
            seen += 1


def latency(job: Job) -> Told:
    """Sent at a rate, and read in another thread."""
    latencies = Latencies(job)
    producer, consumer = _producer(job, **{"linger.ms": 0}), _consumer(job)

    def read() -> None:
        while True:
            message = consumer.poll(1.0)
            if message is not None and not message.error() and latencies.arrived(message.value()):
                return

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    latencies.begin()
    for index in range(latencies.count):
        wait = latencies.wait_seconds(index)
        if wait > 0:
            time.sleep(wait)
        producer.produce(job.topic, latencies.record(index))
        producer.poll(0)
    reading.join(GIVE_UP_SECONDS)
    told = latencies.told()
    consumer.close()
    return told


def transactions(job: Job) -> Told:
    """One record each, one after the other."""
    producer = _producer(job, **{"transactional.id": uuid.uuid4().hex, "linger.ms": 0})
    producer.init_transactions()

    def transact() -> None:
        producer.begin_transaction()
        producer.produce(job.topic, bytes(job.size))
        producer.commit_transaction()

    transact()
    done, begin = 0, time.perf_counter()
    while time.perf_counter() < begin + job.seconds:
        transact()
        done += 1
    return {"rate": done / (time.perf_counter() - begin)}


def memory(job: Job) -> Told:
    """Consumers of a partition each, that have read what is there."""
    consumers: list[Any] = []

    def add() -> None:
        consumer = _consumer(job, len(consumers))
        consumers.append(consumer)
        _read(consumer, job.count)

    add()
    before = own_kilobytes()
    for _ in range(job.clients - 1):
        add()
    kilobytes = (own_kilobytes() - before) / (job.clients - 1)
    for consumer in consumers:
        consumer.close()
    return {"kilobytes": kilobytes}
