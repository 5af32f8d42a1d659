"""At least once: do it, then say that it is done. What a crash in between has done is done twice.

    python examples/semantics/at_least_once.py SOURCE TARGET --die-at 45

copies SOURCE to TARGET until a record says `the end`. It is killed at its danger point when it has
record 45 in hand. `python examples/semantics` runs it, starts it again, and counts.
"""

import argparse
import asyncio
import os
import signal

from fencepost_client import Consumer, Producer


async def copy(bootstrap: str, source: str, target: str, die_at: bytes | None) -> None:
    """Write what was read, and commit it then."""
    consumer = Consumer(
        bootstrap,
        group_id=f"copy-to-{target}",
        group_instance_id="copier",  # the same member after a restart: nobody waits for the dead
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_poll_records=10,
    )
    # It is idempotent: what it sends again because no answer came is written once. That does not
    # help here, for after the crash another producer sends, which nobody can know to be the same.
    producer = Producer(bootstrap)
    async with consumer, producer:
        consumer.subscribe([source])
        is_over = False
        while not is_over:
            values = [record.value for record in await consumer.getmany(timeout_ms=1_000)]
            for value in values:
                await producer.send(target, value)
            await producer.flush()
            if die_at in values:  # the danger point: it is written, and not called done
                os.kill(os.getpid(), signal.SIGKILL)
            await consumer.commit()
            is_over = b"the end" in values


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Copy a topic, at least once.")
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--die-at", type=str.encode, metavar="VALUE", help="kill -9 with this one")
    options = parser.parse_args()
    asyncio.run(copy(options.bootstrap, options.source, options.target, options.die_at))
