"""aiokafka: a record in and out, or what was wrong."""

import asyncio
import ssl
import sys
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.errors import KafkaError

bootstrap, protocol, mechanism, user, password, authority, topic = sys.argv[1:]


async def main() -> None:
    settings: dict[str, Any] = {
        "bootstrap_servers": bootstrap,
        "security_protocol": protocol,
        "sasl_mechanism": mechanism,
        "sasl_plain_username": user,
        "sasl_plain_password": password,
    }
    if "SSL" in protocol:
        settings["ssl_context"] = ssl.create_default_context(cafile=authority)
    producer = AIOKafkaProducer(**settings)
    try:
        await producer.start()
        await producer.send_and_wait(topic, b"secret")
    finally:
        await producer.stop()
    consumer = AIOKafkaConsumer(topic, group_id=topic, auto_offset_reset="earliest", **settings)
    await consumer.start()
    assert (await consumer.getone()).value == b"secret"
    await consumer.stop()


try:
    asyncio.run(main())
except KafkaError as error:
    sys.exit(f"AUTHENTICATION? {type(error).__name__.upper()}: {error}")
