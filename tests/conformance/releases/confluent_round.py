"""librdkafka: a committed and an aborted transaction, read by a group with read_committed."""

from __future__ import annotations

import sys

import confluent_kafka

address, topic = sys.argv[1:]
bootstrap = {"bootstrap.servers": address}
producer = confluent_kafka.Producer({**bootstrap, "transactional.id": topic})
producer.init_transactions(60)
for value, end in (
    ("committed", producer.commit_transaction),
    ("aborted", producer.abort_transaction),
    ("last", producer.commit_transaction),
):
    producer.begin_transaction()
    producer.produce(topic, value)
    producer.flush(60)
    end(60)
consumer = confluent_kafka.Consumer(
    {**bootstrap, "group.id": topic, "auto.offset.reset": "earliest"}
)
consumer.subscribe([topic])
values: list[str] = []
for _ in range(300):
    message = consumer.poll(0.2)
    if message is not None and message.error() is None:
        values.append(message.value().decode())
    if len(values) == 2:
        break
consumer.close()
print(f"{confluent_kafka.__version__}: {', '.join(values)}")
