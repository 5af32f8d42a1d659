"""The client SDK without ``async``, for scripts and notebooks.

    from fencepost_client.blocking import Producer

    with Producer("localhost:9092") as producer:
        print(producer.send_and_wait("orders", b"42").offset)

The classes run the asyncio classes in a thread, which ends with the last of them. Several threads
can share a ``Producer`` or an ``Admin``; only one thread at a time can use a ``Consumer`` or a
``ShareConsumer``.
"""

from fencepost_client.clients.blocking.delivery import Deliveries, Delivery
from fencepost_client.clients.blocking.exactly_once import ExactlyOnce, exactly_once
from fencepost_client.clients.blocking.generated.faces import (
    Admin,
    Consumer,
    Producer,
    ShareConsumer,
    Transaction,
)
from fencepost_client.clients.exactly_once import Committed

__all__ = [
    "Admin",
    "Committed",
    "Consumer",
    "Deliveries",
    "Delivery",
    "ExactlyOnce",
    "Producer",
    "ShareConsumer",
    "Transaction",
    "exactly_once",
]
