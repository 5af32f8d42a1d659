"""The shop: sells until it is stopped, and writes down what it was told of each order.

    fencepost up --topic orders:2 &
    python examples/pipeline/orders.py --seed 7 --told told.jsonl

Order number n of a seed is always the same one; ten of them make a second of the shop's own time,
some come late. The producer is idempotent, as it always is unless told otherwise: what has to be
sent again, because a broker died with the answer, is in the topic once.

The file has a line for each order that was acknowledged, with its place in the topic and the order
itself. `fencepost audit --trace told.jsonl` compares the places with the broker's log. Ctrl-C (or
SIGTERM) ends it when what is under way is acknowledged.
"""

import argparse
import asyncio
import csv
import json
import random
import signal
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fencepost_client import Producer

OPENING_MS = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
ORDERS_PER_SECOND = 10
LATE_MS = 90_000
LOTS_PER_SECOND = 10
with Path(__file__).with_name("products.csv").open(encoding="utf-8") as file:
    PRODUCTS = [row["product"] for row in csv.DictReader(file)]


def order_of(seed: int, number: int) -> dict[str, Any]:
    """What somebody bought, and when."""
    chance = random.Random(f"{seed}-{number}")  # noqa: S311
    return {
        "order": f"{seed}-{number:07}",
        "product": chance.choice(PRODUCTS),
        "quantity": chance.randint(1, 5),
        "ordered_at": OPENING_MS + number * 1000 // ORDERS_PER_SECOND + chance.randrange(LATE_MS),
    }


async def sell(bootstrap: str, seed: int, rate: int, told: Path) -> None:
    """Send orders, a lot ten times a second, each when the one before is acknowledged."""
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    sold = 0
    # A broker that is away for longer than this ends the shop with an error.
    async with Producer(bootstrap, delivery_timeout_ms=600_000) as producer:
        print("the shop is open", flush=True)
        with told.open("a", encoding="utf-8") as file:
            while not stopped.is_set():
                lot = []
                for _ in range(max(1, rate // LOTS_PER_SECOND)):
                    order = order_of(seed, sold)
                    key, value = order["order"].encode(), json.dumps(order).encode()
                    lot.append((order, await producer.send("orders", value, key=key)))
                    sold += 1
                for order, delivery in lot:
                    at = await delivery
                    place = {"topic": at.topic, "partition": at.partition, "offset": at.offset}
                    file.write(json.dumps(place | order) + "\n")
                file.flush()
                await asyncio.sleep(1 / LOTS_PER_SECOND)
    print(f"{sold} orders", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Produce orders, until it is stopped.")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--seed", type=int, default=1, help="which orders (1)")
    parser.add_argument("--rate", type=int, default=200, help="how many a second (200)")
    parser.add_argument("--told", type=Path, default="told.jsonl", help="(told.jsonl)")
    options = parser.parse_args()
    asyncio.run(sell(options.bootstrap, options.seed, options.rate, options.told))
