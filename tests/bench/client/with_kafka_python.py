"""kafka-python; what is asked of it stands in `worker.py`."""

from __future__ import annotations

import threading
import time
import uuid
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

from tests.bench.client.worker import GIVE_UP_SECONDS, Job, Latencies, measured, own_kilobytes

Told = dict[str, float]


def _producer(job: Job, **settings: Any) -> KafkaProducer:
    return KafkaProducer(bootstrap_servers=job.bootstrap, enable_idempotence=True, **settings)


def _consumer(job: Job, partition: int = 0) -> KafkaConsumer:
    consumer = KafkaConsumer(bootstrap_servers=job.bootstrap, auto_offset_reset="earliest")
    consumer.assign([TopicPartition(job.topic, partition)])
    return consumer


def produce(job: Job) -> Told:
    """``send`` for each record."""
    value, told = bytes(job.size), Told()
    producer = _producer(job, linger_ms=5)
    producer.send(job.topic, value).get()
    with measured(told, job.count):
        for _ in range(job.count):
            producer.send(job.topic, value)
        producer.flush()
    producer.close()
    return told


def consume(job: Job) -> Told:
    """All records of a partition from its beginning."""
    told = Told()
    consumer = _consumer(job)
    consumer.poll(timeout_ms=60_000, max_records=1)
    with measured(told, job.count - 1):
        _read(consumer, job.count - 1)
    consumer.close()
    return told


def _read(consumer: KafkaConsumer, count: int) -> None:
    seen = 0
    while seen < count:
        found = consumer.poll(timeout_ms=1000, max_records=5000)
        seen += sum(map(len, found.values()))


def latency(job: Job) -> Told:
    """Sent at a rate, and read in another thread."""
    latencies = Latencies(job)
    producer, consumer = _producer(job, linger_ms=0), _consumer(job)

    def read() -> None:
        for record in consumer:
            if latencies.arrived(record.value):
                return

    reading = threading.Thread(target=read, daemon=True)
    reading.start()
    latencies.begin()
    for index in range(latencies.count):
        wait = latencies.wait_seconds(index)
        if wait > 0:
            time.sleep(wait)
        producer.send(job.topic, latencies.record(index))
    reading.join(GIVE_UP_SECONDS)
    told = latencies.told()
    producer.close()
    consumer.close()
    return told


def transactions(job: Job) -> Told:
    """One record each, one after the other."""
    producer = _producer(job, transactional_id=uuid.uuid4().hex)
    producer.init_transactions()

    def transact() -> None:
        producer.begin_transaction()
        producer.send(job.topic, bytes(job.size))
        producer.commit_transaction()

    transact()
    done, begin = 0, time.perf_counter()
    while time.perf_counter() < begin + job.seconds:
        transact()
        done += 1
    rate = done / (time.perf_counter() - begin)
    producer.close()
    return {"rate": rate}


def memory(job: Job) -> Told:
    """Consumers of a partition each, that have read what is there."""
    consumers: list[KafkaConsumer] = []

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
