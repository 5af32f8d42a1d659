"""``python -m tests.bench.broker.in_process COUNT``: brokers started in this process, one by one.

Prints for each the milliseconds until it has answered its first request. The first one imports what
the others find imported.
"""

from __future__ import annotations

import asyncio
import sys
import time

from tests.support.apache_kafka import advertised_apis


async def start() -> float:
    """One of them."""
    begin = time.perf_counter()
    from fencepost_broker import Broker

    async with Broker() as broker:
        port = int(broker.bootstrap.rpartition(":")[2])
        await asyncio.to_thread(advertised_apis, port)
        return (time.perf_counter() - begin) * 1e3


def main() -> None:
    """The command."""
    for _ in range(int(sys.argv[1])):
        print(asyncio.run(start()))


if __name__ == "__main__":
    main()
