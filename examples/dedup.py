r"""Leave out what came before: events with repetitions in, each event once out.

    fencepost up &
    python examples/dedup.py --demo 100

Whoever sends events again because it does not know whether they arrived makes repetitions, and a
retry by an idempotent producer is not the only one there is: a phone sends again tomorrow. Events
have an id, which is the record's key (so repetitions come to the same partition). This program
passes on from `events` to `events-once` what it has not passed on before, within the last
REMEMBERED events of each partition.

Its memory is its own output: after a start, or when a partition moves here from another instance,
ids are read back from `events-once`, to which they were committed together with how far `events`
was read. So kill -9 this program whenever you like and start it again, or start a second one with
`--instance 2`.

    fencepost consume -t events-once -e --isolation read_committed -f '%k\n' | sort | uniq -d
"""

import argparse
import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress

from fencepost_client import (
    LATEST,
    Admin,
    Consumer,
    ConsumerRecord,
    NewTopic,
    Producer,
    TopicAlreadyExistsError,
    TopicPartition,
    Transaction,
    exactly_once,
)

PARTITIONS = 2
REMEMBERED = 100_000

Ids = dict[bytes, None]
"""The last ids of a partition, the oldest first."""


async def pass_on_once(bootstrap: str, instance: str) -> None:
    """`events` into `events-once`."""
    committed: dict[int, Ids] = {}
    """What was passed on, by partition."""
    changing: dict[int, Ids] = {}
    """What the open transaction is about to change; if it is aborted, it is forgotten."""

    async def handler(events: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        changing.clear()
        for partition in {event.partition for event in events}:
            # First of all: the transaction's time runs from the first record that it sends.
            ids = committed.pop(partition, None)
            changing[partition] = await read_ids(bootstrap, partition) if ids is None else ids
        for event in events:
            ids = changing[event.partition]
            if event.key is None or event.key in ids:
                continue
            ids[event.key] = None
            if len(ids) > REMEMBERED:
                del ids[next(iter(ids))]
            await transaction.send(
                "events-once",
                event.value,
                key=event.key,
                partition=event.partition,
                headers=event.headers,
            )

    def forget(partitions: Iterable[TopicPartition]) -> None:
        for where in partitions:
            committed.pop(where.partition, None)  # others will go on

    # The same name after a restart takes over from the life before: its place in the group
    # (group_instance_id), and its open transaction, which is aborted (transactional_id).
    name = f"dedup-{instance}"
    producer = Producer(bootstrap, transactional_id=name)
    consumer = Consumer(
        bootstrap,
        group_id="dedup",
        group_instance_id=name,
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
    )
    async with consumer, exactly_once(consumer, producer, handler) as transactions:
        consumer.subscribe(["events"], on_revoked=forget)
        async for done in transactions:
            committed.update(changing)
            known = sum(len(ids) for ids in committed.values())
            print(f"{len(done.records)} events came; {known} ids are known", flush=True)


async def read_ids(bootstrap: str, partition: int) -> Ids:
    """What was passed on in this partition, to its very end.

    A transaction of before may still be on its way to this partition: the end is therefore where
    uncommitted records end, and waiting until committed ones get there is waiting for the outcome.
    """
    where = TopicPartition("events-once", partition)
    async with Admin(bootstrap) as admin:
        end = (await admin.list_offsets({where: LATEST}))[where].offset
    ids: Ids = {}
    async with Consumer(
        bootstrap, isolation_level="read_committed", auto_offset_reset="earliest"
    ) as reader:
        reader.assign([where])
        reader.seek(where, max(0, end - REMEMBERED))
        while await reader.position(where) < end:
            for record in await reader.getmany(timeout_ms=1_000):
                ids[record.key or b""] = None
    return ids


async def main(bootstrap: str, instance: str, demo: int) -> None:
    """Create the topics if they are not there, send some events twice, and go to work."""
    async with Admin(bootstrap) as admin:
        with suppress(TopicAlreadyExistsError):
            await admin.create_topics(
                [NewTopic("events", PARTITIONS), NewTopic("events-once", PARTITIONS)]
            )
    async with Producer(bootstrap) as producer:
        for number in (*range(demo), *range(demo)):
            await producer.send("events", b"it happened", key=b"event-%d" % number)
    await pass_on_once(bootstrap, instance)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Pass on each event once.")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--instance", default="1", help="its name, the same after a restart (1)")
    parser.add_argument("--demo", type=int, default=0, metavar="N", help="send N events twice")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(main(options.bootstrap, options.instance, options.demo))
