r"""Count words exactly once, through crashes: lines in, words and their counts out.

    fencepost up &
    python examples/wordcount.py --demo 100

Two steps, each an `exactly_once` loop. The first one splits lines (topic `lines`) into words (topic
`words`, partitioned by word), the second one counts them (topic `counts`, compacted: the last
record of a word has its count). What was written, and how far was read for it, are committed
together or not at all.

The counts are kept in memory. After a start, or when a partition moves here from another instance,
they are read back from `counts`, to which they were committed: kill -9 this program whenever you
like, and start it again. Start a second one with `--instance 2`, and they share the work.

    fencepost produce -t lines < README.md
    fencepost consume -t counts -e --isolation read_committed -f '%k %s\n'
"""

import argparse
import asyncio
import re
from collections import Counter
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

DEMO = [b"To be, or not to be, that is the question", b"The rest is silence"]
PARTITIONS = 2


async def split_lines(bootstrap: str, instance: str) -> None:
    """The first step: `lines` into `words`."""

    async def split(lines: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        for line in lines:
            for word in re.findall(rb"\w+", (line.value or b"").lower()):
                await transaction.send("words", key=word)  # the same word, the same partition

    # The same name after a restart takes over from the life before: its place in the group
    # (group_instance_id), and its open transaction, which is aborted (transactional_id).
    name = f"wordcount-split-{instance}"
    consumer = consumer_of(bootstrap, "wordcount-split", name)
    producer = Producer(bootstrap, transactional_id=name)
    async with consumer, exactly_once(consumer, producer, split) as transactions:
        consumer.subscribe(["lines"])
        async for done in transactions:
            print(f"{len(done.records)} lines split", flush=True)


async def count_words(bootstrap: str, instance: str) -> None:
    """The second step: `words` into `counts`, partition by partition."""
    committed: dict[int, Counter[bytes]] = {}
    """The counts of each partition, as they are committed."""
    changing: dict[int, Counter[bytes]] = {}
    """Those that the open transaction is about to change; if it is aborted, they are forgotten."""

    async def count(words: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        changing.clear()
        for partition in {word.partition for word in words}:
            # First of all: the transaction's time runs from the first record that it sends.
            counts = committed.pop(partition, None)
            changing[partition] = counts or await read_counts(bootstrap, partition)
        for word in words:
            changing[word.partition][word.key or b""] += 1
        for partition, key in {(word.partition, word.key or b"") for word in words}:
            value = b"%d" % changing[partition][key]
            await transaction.send("counts", value, key=key, partition=partition)

    def forget(partitions: Iterable[TopicPartition]) -> None:
        for where in partitions:
            committed.pop(where.partition, None)  # others will count on

    name = f"wordcount-count-{instance}"
    consumer = consumer_of(bootstrap, "wordcount-count", name)
    producer = Producer(bootstrap, transactional_id=name)
    async with consumer, exactly_once(consumer, producer, count) as transactions:
        consumer.subscribe(["words"], on_revoked=forget)
        async for done in transactions:
            committed.update(changing)
            top = ", ".join(
                f"{word.decode()} {number}"
                for word, number in sum(committed.values(), Counter()).most_common(5)
            )
            print(f"{len(done.records)} words counted; most often: {top}", flush=True)


async def read_counts(bootstrap: str, partition: int) -> Counter[bytes]:
    """What was committed to `counts` for this partition, to its very end.

    A transaction of before may still be on its way to this partition: the end is therefore where
    uncommitted records end, and waiting until committed ones get there is waiting for the outcome.
    """
    where = TopicPartition("counts", partition)
    async with Admin(bootstrap) as admin:
        end = (await admin.list_offsets({where: LATEST}))[where].offset
    counts: Counter[bytes] = Counter()
    async with Consumer(bootstrap, isolation_level="read_committed") as reader:
        reader.assign([where])
        reader.seek_to_beginning()
        while await reader.position(where) < end:
            for record in await reader.getmany(timeout_ms=1_000):
                counts[record.key or b""] = int(record.value or b"0")
    return counts


def consumer_of(bootstrap: str, group_id: str, name: str) -> Consumer:
    """A consumer as `exactly_once` needs it."""
    return Consumer(
        bootstrap,
        group_id=group_id,
        group_instance_id=name,
        enable_auto_commit=False,
        isolation_level="read_committed",
        auto_offset_reset="earliest",
    )


async def main(bootstrap: str, instance: str, demo: int) -> None:
    """Create the topics if they are not there, and run both steps."""
    async with Admin(bootstrap) as admin:
        with suppress(TopicAlreadyExistsError):
            await admin.create_topics(
                [
                    NewTopic("lines", PARTITIONS),
                    NewTopic("words", PARTITIONS),
                    NewTopic("counts", PARTITIONS, configs={"cleanup.policy": "compact"}),
                ]
            )
    async with Producer(bootstrap) as producer:
        await producer.send_many("lines", [DEMO[n % len(DEMO)] for n in range(demo)])
    async with asyncio.TaskGroup() as steps:
        steps.create_task(split_lines(bootstrap, instance))
        steps.create_task(count_words(bootstrap, instance))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Count words exactly once.")
    parser.add_argument("--bootstrap", default="localhost:9092", help="(localhost:9092)")
    parser.add_argument("--instance", default="1", help="its name, the same after a restart (1)")
    parser.add_argument("--demo", type=int, default=0, metavar="N", help="write N lines first")
    options = parser.parse_args()
    with suppress(KeyboardInterrupt):
        asyncio.run(main(options.bootstrap, options.instance, options.demo))
