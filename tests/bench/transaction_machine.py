"""What the transaction coordinator's machine costs, without sockets and logs, records encoded.

    python -m tests.bench.transaction_machine

A cycle is a one-record transaction of version 2: partitions enter, EndTxn, markers acknowledged;
three records. CPU time; compare rows of one run.
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Sequence
from typing import Any

from fencepost_broker.coordinator.records import encode_batch
from fencepost_broker.coordinator.transaction.commands import (
    AddPartitions,
    EndTxn,
    InitProducerId,
    MarkersWritten,
)
from fencepost_broker.coordinator.transaction.machine import TransactionCoordinator
from fencepost_broker.coordinator.transaction.ports import TransactionSettings
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

from tests.machine.coordinator.transaction.harness import SomeCluster, SomeProducerIds

Topics = Sequence[tuple[str, Sequence[int]]]
Who = tuple[str, int, int]


class Machine:
    """The machine with records encoded and thrown away."""

    def __init__(self) -> None:
        self.machine = TransactionCoordinator(
            SomeCluster(), SomeProducerIds(), TransactionSettings()
        )
        self.now_ms = 1

    def ask(self, command: Any) -> Any:
        decision = self.machine.handle(self.now_ms, command)
        if decision.records:
            encode_batch(decision.records, self.now_ms)
            for record in decision.records:
                self.machine.replay(record)
        for soft in decision.soft:
            self.machine.apply_soft(soft)
        self.machine.deadline()
        self.now_ms += 1
        return decision

    def producer(self, name: str) -> Who:
        answer = self.ask(InitProducerId(InitProducerIdRequest(name, 60_000), 5)).answer
        return name, answer.producer_id, answer.producer_epoch

    def add(self, who: Who, topics: Topics) -> None:
        self.ask(AddPartitions(*who, topics, 4, is_known=True))

    def end(self, who: Who) -> Who:
        decision = self.ask(EndTxn(EndTxnRequest(*who, True), 5))
        send = decision.effects[0]
        self.ask(MarkersWritten(send, [(*each, ErrorCode.NONE) for each in send.pending]))
        return who[0], decision.answer.producer_id, decision.answer.producer_epoch

    def cycle(self, who: Who, topics: Topics) -> Who:
        self.add(who, topics)
        return self.end(who)


def by_ids(count: int, cycles: int = 10_000) -> tuple[float, float]:
    """Microseconds a cycle, and bytes an id."""
    gc.collect()
    tracemalloc.start()
    machine = Machine()
    before = tracemalloc.get_traced_memory()[0]
    names = [f"transactional-id-{number}" for number in range(count)]
    stride = max(count // 1000, 1)
    used = []
    for number, name in enumerate(names):
        who = machine.producer(name)
        if number % stride == 0:
            used.append(who)
    size = (tracemalloc.get_traced_memory()[0] - before) / count
    tracemalloc.stop()
    gc.collect()
    begin = time.process_time()
    for number in range(cycles):
        index = number % len(used)
        used[index] = machine.cycle(used[index], (("topic", (3,)),))
    return (time.process_time() - begin) / cycles * 1e6, size


def by_partitions(count: int, *, one_topic: bool, at_once: bool) -> float:
    """Microseconds a partition."""
    machine = Machine()
    who = machine.producer("a")
    partitions = [
        ("topic", number) if one_topic else (f"topic-{number}", 0) for number in range(count)
    ]
    topics: Topics = [(topic, (number,)) for topic, number in partitions]
    if at_once and one_topic:
        topics = [("topic", tuple(range(count)))]
    rounds = max(2, 2000 // count)
    begin = time.process_time()
    for _ in range(rounds):
        if at_once:
            machine.add(who, topics)
        else:
            for each in topics:
                machine.add(who, [each])
        who = machine.end(who)
    return (time.process_time() - begin) / rounds / count * 1e6


def main() -> None:
    """Print the tables."""
    print("| transactional ids | us a cycle | bytes an id |\n|---|---|---|")
    for count in (1, 10, 1000, 100_000):
        cost, size = by_ids(count)
        print(f"| {count:,} | {cost:.1f} | {size:,.0f} |")
    heads = ("one topic, at once", "topics, at once", "one topic, one by one", "topics, one by one")
    print(f"\n| us a partition, of | {' | '.join(heads)} |")
    print("|---|---|---|---|---|")
    for count in (1, 10, 100, 1000):
        costs = [
            by_partitions(count, one_topic=one_topic, at_once=at_once)
            for at_once in (True, False)
            for one_topic in (True, False)
        ]
        print(f"| {count:,} | " + " | ".join(f"{cost:.1f}" for cost in costs) + " |")


if __name__ == "__main__":
    main()
