"""``python -m tests.bench.broker.in_process COUNT``: brokers started in this process, one by one.

Prints for each the milliseconds until it has answered its first request.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import fencepost_broker

from tests.support.apache_kafka import advertised_apis

NOT_THERE = 3


async def start(broker_class: Any) -> float:
    """One of them."""
    begin = time.perf_counter()
    async with broker_class() as broker:
        port = int(broker.bootstrap.rpartition(":")[2])
        await asyncio.to_thread(advertised_apis, port)
        return (time.perf_counter() - begin) * 1e3


def main() -> None:
    """The command."""
    broker_class = getattr(fencepost_broker, "Broker", None)
    if broker_class is None:
        sys.stderr.write("there is no fencepost_broker.Broker yet\n")
        sys.exit(NOT_THERE)
    for _ in range(int(sys.argv[1])):
        print(asyncio.run(start(broker_class)))


if __name__ == "__main__":
    main()
