# mypy: disable-error-code="import-not-found"
"""librdkafka as a client: ``python -m tests.bench.broker.librdkafka_client WHAT ...``.

    produce BOOTSTRAP TOPIC PARTITIONS RECORDS VALUE_SIZE
    produce-synchronously BOOTSTRAP TOPIC PARTITIONS RECORDS VALUE_SIZE
    consume BOOTSTRAP TOPIC PARTITIONS RECORDS VALUE_SIZE
    transact BOOTSTRAP TOPIC PRODUCERS MILLISECONDS VALUE_SIZE

Prints "begin" when it is under way (a first record was acknowledged, or came) and "end" when all is
done, with what it has counted and measured in between: who started it reads the clocks then. To get
under way takes librdkafka up to a second, whatever the broker.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition

AT_ONCE = 10_000
GIVE_UP_SECONDS = 60.0


def failed(error: KafkaError) -> None:
    """Faults of a connection are retried; what cannot be is for the eyes of who reads this."""
    print(f"librdkafka: {error}", file=sys.stderr)


def producer(bootstrap: str, **settings: Any) -> Producer:
    """Idempotent and acknowledged by all; all else by default."""
    return Producer(
        {
            "bootstrap.servers": bootstrap,
            "enable.idempotence": True,
            "acks": "all",
            "error_cb": failed,
            **settings,
        }
    )


def produce(
    bootstrap: str, topic: str, partitions: int, records: int, value_size: int
) -> dict[str, float]:
    """As fast as it takes them."""
    client = producer(bootstrap)
    value = bytes(value_size)
    # The mock cluster's topics have more partitions than were asked for.
    partition = 0 if partitions == 1 else -1
    client.produce(topic, value, None, 0)
    client.flush(GIVE_UP_SECONDS)
    print("begin", flush=True)
    left = records - 1
    while left:
        try:
            while left:
                client.produce(topic, value, None, partition)
                left -= 1
        except BufferError:
            client.poll(0.01)
    if client.flush(GIVE_UP_SECONDS):
        raise SystemExit("not everything was acknowledged")
    return {"records": records - 1}


def produce_synchronously(
    bootstrap: str, topic: str, _: int, records: int, value_size: int
) -> dict[str, float]:
    """Each record waits for the acknowledgement of the one before."""
    client = producer(bootstrap, **{"linger.ms": 0})
    value = bytes(value_size)
    client.produce(topic, value)
    client.flush(GIVE_UP_SECONDS)
    took = []
    print("begin", flush=True)
    for _ in range(records - 1):
        begin = time.perf_counter()
        client.produce(topic, value)
        client.flush(GIVE_UP_SECONDS)
        took.append((time.perf_counter() - begin) * 1e6)
    took.sort()
    return {
        "records": records - 1,
        "p50_us": statistics.median(took),
        "p99_us": took[len(took) * 99 // 100],
    }


def consume(
    bootstrap: str, topic: str, partitions: int, records: int, value_size: int
) -> dict[str, float]:
    """From the beginning, without a group's coordinator."""
    client = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "bench",
            "enable.auto.commit": False,
            # By default it stops fetching for a second when it holds 64 MB or 100,000 messages:
            # then every broker is as fast as every other.
            "fetch.queue.backoff.ms": 1,
        }
    )
    client.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])
    seen = 0
    while seen < records:
        messages = client.consume(min(AT_ONCE, records - seen) if seen else 1, GIVE_UP_SECONDS)
        if not messages:
            raise SystemExit(f"only {seen} of {records} records came")
        if not seen:
            print("begin", flush=True)
        wrong = [m for m in messages if m.error() or len(m.value()) != value_size]
        if wrong:
            raise SystemExit(f"consume: {wrong[0].error() or 'a value of another size'}")
        seen += len(messages)
    return {"records": records - 1}


class Transactions:
    """One producer's: a record each, one after the other, to a partition of its own."""

    def __init__(self, bootstrap: str, topic: str, partition: int, value_size: int) -> None:
        settings = {"transactional.id": f"{topic}-{partition}", "linger.ms": 0}
        self._client = producer(bootstrap, **settings)
        self._record = (topic, bytes(value_size), None, partition)
        self.in_all = 0
        self.ends: list[float] = []
        self.cycles: list[float] = []
        self._client.init_transactions(GIVE_UP_SECONDS)

    def run(self, seconds: float) -> None:
        """So long; only the last call is what was measured."""
        self.ends, self.cycles = [], []
        begin = last = time.perf_counter()
        while last - begin < seconds:
            self._client.begin_transaction()
            self._client.produce(*self._record)
            self._client.flush(GIVE_UP_SECONDS)
            flushed = time.perf_counter()
            self._client.commit_transaction(GIVE_UP_SECONDS)
            now = time.perf_counter()
            self.ends.append((now - flushed) * 1e6)
            self.cycles.append((now - last) * 1e6)
            self.in_all += 1
            last = now


def transact(
    bootstrap: str, topic: str, producers: int, milliseconds: int, value_size: int
) -> dict[str, float]:
    """All producers side by side; a quarter of the time passes before it counts."""
    all_of_them = [
        Transactions(bootstrap, topic, partition, value_size) for partition in range(producers)
    ]
    with ThreadPoolExecutor(producers) as threads:

        def run(seconds: float) -> None:
            for _ in threads.map(lambda each: each.run(seconds), all_of_them):
                pass

        run(milliseconds / 4000)
        print("begin", flush=True)
        run(milliseconds / 1000)
    ends = sorted(took for each in all_of_them for took in each.ends)
    cycles = sorted(took for each in all_of_them for took in each.cycles)
    return {
        "records": len(cycles),
        "in_all": sum(each.in_all for each in all_of_them),
        "p50_us": statistics.median(cycles),
        "p99_us": cycles[len(cycles) * 99 // 100],
        "end_p50_us": statistics.median(ends),
        "end_p99_us": ends[len(ends) * 99 // 100],
    }


def main(words: list[str]) -> None:
    """The command."""
    commands = {
        "produce": produce,
        "produce-synchronously": produce_synchronously,
        "consume": consume,
        "transact": transact,
    }
    what, bootstrap, topic, *numbers = words
    partitions, records, value_size = map(int, numbers)
    measured = commands[what](bootstrap, topic, partitions, records, value_size)
    print("end", json.dumps(measured), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
