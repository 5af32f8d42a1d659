"""The client SDK without ``async``, for scripts and notebooks.

    from fencepost_client.blocking import Producer

    with Producer("localhost:9092") as producer:
        print(producer.send_and_wait("orders", b"42").offset)

The same code as the asyncio classes', in a thread of its own while one of these is started.
``Producer`` and ``Admin`` may be used by several threads, a ``Consumer`` by one at a time.
"""

from fencepost_client.clients.blocking.delivery import Deliveries, Delivery
from fencepost_client.clients.blocking.exactly_once import ExactlyOnce, exactly_once
from fencepost_client.clients.blocking.generated.faces import (
    Admin,
    Consumer,
    Producer,
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
    "Transaction",
    "exactly_once",
]
