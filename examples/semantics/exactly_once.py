"""Exactly once: what is done, and that it is done, become true together or not at all.

    python examples/semantics/exactly_once.py SOURCE TARGET --die-at 45

copies SOURCE to TARGET until a record says `the end`. It is killed at its danger point when it has
record 45 in hand. `python examples/semantics` runs it, starts it again, and counts.
"""

import argparse
import asyncio
import os
import signal
from collections.abc import Sequence

from fencepost_client import Consumer, ConsumerRecord, Producer, Transaction, exactly_once


async def copy(bootstrap: str, source: str, target: str, die_at: bytes | None) -> None:
    """Write and commit in one transaction."""
    consumer = Consumer(
        bootstrap,
        group_id=f"copy-to-{target}",
        group_instance_id="copier",  # the same member after a restart: nobody waits for the dead
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        max_poll_records=10,
    )
    # The next producer with this name aborts the transaction that a crash has left open.
    producer = Producer(bootstrap, transactional_id=f"copy-to-{target}")

    async def write(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        for record in records:
            await transaction.send(target, record.value)
        if die_at in [record.value for record in records]:
            await producer.flush()
            # The danger point: it is written, and neither committed nor called done.
            os.kill(os.getpid(), signal.SIGKILL)

    async with consumer, exactly_once(consumer, producer, write) as transactions:
        consumer.subscribe([source])
        async for done in transactions:
            if done.records[-1].value == b"the end":
                break


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Copy a topic, exactly once.")
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--die-at", type=str.encode, metavar="VALUE", help="kill -9 with this one")
    options = parser.parse_args()
    asyncio.run(copy(options.bootstrap, options.source, options.target, options.die_at))
