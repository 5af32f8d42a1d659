"""FastStream: a subscriber whose return value is published. An order is committed after it."""

import asyncio
import os

from faststream import AckPolicy, FastStream
from faststream.kafka import KafkaBroker

broker = KafkaBroker(os.environ["BOOTSTRAP"].split(","))


@broker.subscriber(
    "orders", group_id="invoicing", auto_offset_reset="earliest", ack_policy=AckPolicy.ACK
)
@broker.publisher("invoices")
async def invoice(order: bytes) -> bytes:
    return b"invoice for " + order


asyncio.run(FastStream(broker).run())
