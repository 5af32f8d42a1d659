"""kafka-python 2.0.2: records by a producer, read by a group. (It has no transactions.)"""

from __future__ import annotations

import sys

import kafka

bootstrap, topic = sys.argv[1:]
producer = kafka.KafkaProducer(bootstrap_servers=bootstrap, compression_type="gzip")
for value in (b"one", b"two"):
    producer.send(topic, value, key=b"key", headers=[("h", b"v")]).get(timeout=60)
producer.close()
consumer = kafka.KafkaConsumer(
    topic,
    bootstrap_servers=bootstrap,
    group_id=topic,
    auto_offset_reset="earliest",
    enable_auto_commit=False,
    consumer_timeout_ms=60_000,
)
values = []
for record in consumer:
    values.append(record.value.decode())
    if len(values) == 2:
        break
consumer.commit()
consumer.close()
print(f"{kafka.__version__}: {', '.join(values)}")
