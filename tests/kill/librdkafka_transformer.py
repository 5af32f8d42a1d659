# mypy: disable-error-code="import-not-found"
"""Consume, transform, produce with confluent-kafka, as its users write it; see ``transformers``.

    python -m tests.kill.librdkafka_transformer BOOTSTRAP NAME PARTITION OUTPUT_PARTITIONS FIRST

FIRST is the number of its first transaction. Reads ``go`` and ``hold`` from standard input, tells
what it does in lines of JSON. It runs in the environment of the clients under test, so it imports
nothing of the project.
"""

import json
import queue
import random
import sys
import threading
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

INPUT, OUTPUT = "in", "out"
SECONDS = 60.0
RECONNECTS = {"reconnect.backoff.ms": 10, "reconnect.backoff.max.ms": 100}


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


class Application:
    """Everything of it; ``orders`` come from another thread."""

    def __init__(self, bootstrap: str, name: str, partition: int, outputs: int, first: int) -> None:
        self.bootstrap, self.name, self.outputs = bootstrap, name, outputs
        self.rng = random.Random(f"{name}/{first}")
        self.place = TopicPartition(INPUT, partition)
        self.number = first
        self.orders: queue.Queue[str] = queue.Queue()
        self.consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": name,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                **RECONNECTS,
            }
        )
        self.begin_anew()

    def begin_anew(self) -> None:
        self.producer = Producer(
            {
                "bootstrap.servers": self.bootstrap,
                "transactional.id": self.name,
                "transaction.timeout.ms": 60_000,
                "linger.ms": 0,
                **RECONNECTS,
            }
        )
        repeat(lambda: self.producer.init_transactions(SECONDS))
        self.rewind()

    def rewind(self) -> None:
        """Read on from what is committed."""
        [found] = repeat(lambda: self.consumer.committed([self.place], SECONDS))
        position = max(found.offset, 0)
        self.consumer.assign([TopicPartition(INPUT, self.place.partition, position)])

    def run(self) -> None:
        order = self.orders.get()
        while order != "end":
            if order == "hold":
                tell(idle=True)
                order = self.orders.get()
                continue
            try:
                self.transform()
            except KafkaException as error:
                self.recover(error)
            if not self.orders.empty():
                order = self.orders.get()

    def recover(self, error: KafkaException) -> None:
        if error.args[0].txn_requires_abort():
            try:
                repeat(lambda: self.producer.abort_transaction(SECONDS))
            except KafkaException:
                self.begin_anew()
            else:
                self.rewind()
        else:
            self.begin_anew()

    def transform(self) -> None:
        messages = self.consumer.consume(self.rng.randint(1, 5), 1.0)
        messages = [each for each in messages if not each.error()]
        if not messages:
            return
        first, following = messages[0].offset(), messages[-1].offset() + 1
        partitions = self.rng.sample(range(self.outputs), self.rng.choice([2, 2, 3]))
        number, self.number = self.number, self.number + 1
        tell(begin=first, next=following, partitions=partitions, number=number)
        self.producer.begin_transaction()
        for partition in partitions:
            for offset in range(first, following):
                value = f"{self.name}/{number}/{offset}/{partition}"
                self.producer.produce(OUTPUT, value.encode(), partition=partition)
        read = [TopicPartition(INPUT, self.place.partition, following)]
        group = self.consumer.consumer_group_metadata()
        repeat(lambda: self.producer.send_offsets_to_transaction(read, group, SECONDS))
        if self.rng.random() < 0.2:
            repeat(lambda: self.producer.flush(SECONDS))
            repeat(lambda: self.producer.abort_transaction(SECONDS))
            tell(number=number, outcome="ABORTED")
            self.rewind()
            return
        tell(number=number, outcome="COMMIT_SENT")
        repeat(lambda: self.producer.commit_transaction(SECONDS))
        tell(number=number, outcome="COMMITTED")


def repeat(call: Callable[[], Any]) -> Any:
    """Call until what it says is final."""
    while True:
        try:
            return call()
        except KafkaException as error:
            if not error.args[0].retriable():
                raise


def main() -> None:
    bootstrap, name, *numbers = sys.argv[1:]
    application = Application(bootstrap, name, *map(int, numbers))

    def take_orders() -> None:
        for line in sys.stdin:
            application.orders.put(line.strip())
        application.orders.put("end")

    threading.Thread(target=take_orders, daemon=True).start()
    application.run()


if __name__ == "__main__":
    main()
