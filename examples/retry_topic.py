r"""Retry topics: what fails is tried again later, and nothing waits behind it.

    fencepost up &
    python examples/retry_topic.py --demo 10

Orders are charged. A charge that fails (the bank does not answer) must not hold up the orders
behind it, and must not be lost. So the order moves on to a topic where it waits one second, after
the next failure to one where it waits five, and after that to `orders-dead`, for a person to see:

    orders -> orders-retry-1 -> orders-retry-2 -> orders-dead
        each -> charges, when it worked

Each arrow is a transaction: an order is moved and taken off its topic, or neither. Kill -9 this
program whenever you like and start it again: none is lost, none stands in two places. Headers tell
why it failed, once for each time. What a charge does elsewhere (at a real bank) may be done again
when its transaction is aborted: give the bank the order's number, and it can leave out the second.

Retries come behind later orders of the same customer: this is for work whose order does not matter.

    fencepost consume -t orders-dead -e --isolation read_committed -f '%s %h\n'
"""

import argparse
import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import suppress

from fencepost_client import (
    Admin,
    Consumer,
    ConsumerRecord,
    NewTopic,
    Producer,
    TopicAlreadyExistsError,
    Transaction,
    exactly_once,
)


def charge(order: bytes, failures: int) -> bytes:
    """What may fail; in this example an order says itself how often it does."""
    wanted = json.loads(order)
    if failures < wanted["fails"]:
        raise ConnectionError(f"the bank did not answer, attempt {failures + 1}")
    return b'{"charged": %d}' % wanted["id"]


async def charge_from(
    bootstrap: str, instance: str, topic: str, back_off_seconds: float, next_topic: str
) -> None:
    """Charge the orders of one of the topics, when each has waited its time."""

    async def handler(orders: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        # Before anything is sent, so that the transaction's time does not run yet. It has to be
        # well below max_poll_interval_ms (5 minutes), after which the group goes on without us.
        youngest = max(order.timestamp_ms for order in orders) / 1000
        await asyncio.sleep(max(0.0, youngest + back_off_seconds - time.time()))
        for order in orders:
            failures = sum(name == "failure" for name, _ in order.headers)
            try:
                charged = charge(order.value or b"", failures)
            except Exception as error:  # noqa: BLE001 - whatever it is, others must not wait for it
                headers = [*order.headers, ("failure", repr(error).encode())]
                await transaction.send(next_topic, order.value, key=order.key, headers=headers)
                print(f"{order.value!r}: {error!r}: goes to {next_topic}", flush=True)
            else:
                await transaction.send("charges", charged, key=order.key)

    # The same name after a restart takes over from the life before: its place in the group
    # (group_instance_id), and its open transaction, which is aborted (transactional_id).
    name = f"charge-{topic}-{instance}"
    producer = Producer(bootstrap, transactional_id=name)
    consumer = Consumer(
        bootstrap,
        group_id=f"charge-{topic}",
        group_instance_id=name,
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
        max_poll_records=50,  # those at the front wait until the last of them is due
    )
    async with consumer, exactly_once(consumer, producer, handler) as transactions:
        consumer.subscribe([topic])
        async for done in transactions:
            print(f"{topic}: {len(done.records)} orders done", flush=True)


async def main(bootstrap: str, instance: str, back_offs: Sequence[float], demo: int) -> None:
    """Create the topics if they are not there, and charge from each of them."""
    retries = [f"orders-retry-{number}" for number in range(1, len(back_offs) + 1)]
    topics = ["orders", *retries, "orders-dead"]
    async with Admin(bootstrap) as admin:
        with suppress(TopicAlreadyExistsError):
            await admin.create_topics([NewTopic(topic, 2) for topic in (*topics, "charges")])
    async with Producer(bootstrap) as producer:
        for number in range(demo):
            order = json.dumps({"id": number, "fails": number % (len(topics) + 1)}).encode()
            await producer.send("orders", order, key=b"customer-%d" % (number % 7))
    async with asyncio.TaskGroup() as stages:
        for topic, back_off, next_topic in zip(topics, (0.0, *back_offs), topics[1:], strict=False):
            stages.create_task(charge_from(bootstrap, instance, topic, back_off, next_topic))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Charge orders, and try again what failed.")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--instance", default="1", help="its name, the same after a restart (1)")
    parser.add_argument(
        "--back-off", type=float, nargs="+", default=[1.0, 5.0], metavar="SECONDS", help="(1 5)"
    )
    parser.add_argument("--demo", type=int, default=0, metavar="N", help="write N orders first")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(main(options.bootstrap, options.instance, options.back_off, options.demo))
