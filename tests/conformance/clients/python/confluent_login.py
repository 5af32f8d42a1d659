"""confluent-kafka (librdkafka): a record in and out, or what was wrong."""

import sys
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer

bootstrap, protocol, mechanism, user, password, authority, topic = sys.argv[1:]
errors: list[str] = []
settings: dict[str, Any] = {
    "bootstrap.servers": bootstrap,
    "security.protocol": protocol,
    "sasl.mechanism": mechanism,
    "sasl.username": user,
    "sasl.password": password,
    "error_cb": lambda error: errors.append(error.name()),
}
if "SSL" in protocol:
    settings["ssl.ca.location"] = authority
producer = Producer(settings)
producer.produce(topic, b"secret")
while producer.flush(0.1):
    if "_AUTHENTICATION" in errors:
        sys.exit("AUTHENTICATION")
consumer = Consumer({**settings, "group.id": topic, "auto.offset.reset": "earliest"})
consumer.subscribe([topic])
try:
    while (message := consumer.poll(1.0)) is None or message.error():
        pass
except KafkaException as error:
    sys.exit(str(error))
assert message.value() == b"secret"
consumer.close()
