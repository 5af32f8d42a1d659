"""kafka-python: a record in and out, or what was wrong."""

import sys
from typing import Any

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError

bootstrap, protocol, mechanism, user, password, authority, topic = sys.argv[1:]
settings: dict[str, Any] = {
    "bootstrap_servers": bootstrap,
    "security_protocol": protocol,
    "sasl_mechanism": mechanism,
    "sasl_plain_username": user,
    "sasl_plain_password": password,
}
if "SSL" in protocol:
    settings["ssl_cafile"] = authority
try:
    producer = KafkaProducer(**settings)
    producer.send(topic, b"secret").get(timeout=60)
    producer.close()
    consumer = KafkaConsumer(topic, group_id=topic, auto_offset_reset="earliest", **settings)
    assert next(consumer).value == b"secret"
    consumer.close()
except KafkaError as error:
    sys.exit(f"{type(error).__name__.upper()}: {error}")
