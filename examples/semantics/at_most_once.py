"""At most once: say that it is done, then do it. What a crash in between did not do is lost.

    python examples/semantics/at_most_once.py SOURCE TARGET --die-at 45

copies SOURCE to TARGET until a record says `the end`. It is killed at its danger point when it has
record 45 in hand. `python examples/semantics` runs it, starts it again, and counts.
"""

import argparse
import asyncio
import os
import signal

from fencepost_client import Consumer, Producer


async def copy(bootstrap: str, source: str, target: str, die_at: bytes | None) -> None:
    """Commit what was read, and write it then."""
    consumer = Consumer(
        bootstrap,
        group_id=f"copy-to-{target}",
        group_instance_id="copier",  # the same member after a restart: nobody waits for the dead
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        max_poll_records=10,
    )
    # It asks for no answer, so it does not know what is lost on the way, and sends nothing twice.
    producer = Producer(bootstrap, acks=0, enable_idempotence=False)
    async with consumer, producer:
        consumer.subscribe([source])
        is_over = False
        while not is_over:
            values = [record.value for record in await consumer.getmany(timeout_ms=1_000)]
            await consumer.commit()
            if die_at in values:  # the danger point: it is called done, and nothing is written
                os.kill(os.getpid(), signal.SIGKILL)
            for value in values:
                await producer.send(target, value)
            await producer.flush()
            is_over = b"the end" in values


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Copy a topic, at most once.")
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--die-at", type=str.encode, metavar="VALUE", help="kill -9 with this one")
    options = parser.parse_args()
    asyncio.run(copy(options.bootstrap, options.source, options.target, options.die_at))
