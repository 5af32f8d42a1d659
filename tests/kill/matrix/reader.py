"""A reader of committed records with our SDK, a process of its own; see ``words``."""

from __future__ import annotations

import asyncio

from fencepost_client import Consumer, TopicPartition

from tests.kill.matrix.words import hear, read_arguments, say
from tests.support.reached import has_reached

POLL_MS = 200


async def main() -> None:
    options = read_arguments("partitions", texts=("sink",))
    finishes = asyncio.Event()
    hear(lambda _: finishes.set())
    places = [TopicPartition(options.sink, number) for number in range(options.partitions)]
    consumer = Consumer(
        options.bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    )
    async with consumer:
        consumer.assign(places)
        ends: dict[TopicPartition, int] | None = None
        while ends is None or not has_reached(consumer, ends):
            if ends is None and finishes.is_set():
                ends = await consumer.end_offsets(places)
            found: dict[int, list[str]] = {}
            for record in await consumer.getmany(timeout_ms=POLL_MS):
                found.setdefault(record.partition, []).append((record.value or b"").decode())
            for partition, values in found.items():
                say("values", partition, *values)


if __name__ == "__main__":
    asyncio.run(main())
