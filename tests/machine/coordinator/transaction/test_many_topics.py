"""A transaction to which topics are added one by one: each costs the same."""

from __future__ import annotations

from fencepost_broker.coordinator.records import encode_batch, encode_key, encode_value
from fencepost_broker.coordinator.transaction.commands import AddPartitions, InitProducerId
from fencepost_broker.metadata.decision import Decision
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.records.writer import build_batch

from tests.machine.coordinator.transaction.harness import Coordinator
from tests.support.bytecodes import bytecodes

FEW, MANY = 40, 400
LARGEST_GROWTH = 1.1


class Adding:
    """A transaction and its topics."""

    def __init__(self) -> None:
        self.coordinator = Coordinator()
        self.coordinator.check_every_step = False
        request = InitProducerIdRequest("txn", 60_000)
        self.producer = self.coordinator.ask(InitProducerId(request, 5))
        self.count = 0

    def add(self, topic: str, *numbers: int) -> None:
        """Add partitions, as a leader does before the first batch there."""
        coordinator, producer = self.coordinator, self.producer
        command = AddPartitions(
            "txn", producer.producer_id, producer.producer_epoch, [(topic, numbers)], 4
        )
        decision: Decision[object] = coordinator.machine.handle(coordinator.now_ms, command)
        (record,) = decision.records
        batch = encode_batch(decision.records, coordinator.now_ms)
        content = encode_value(record)
        assert batch == build_batch([encode_key(record)], [content], coordinator.now_ms)
        coordinator.log.append(bytes(batch))
        coordinator.machine.replay(record)

    def cost(self, count: int) -> int:
        """What the last of so many topics costs, without its comparison and the log."""
        while self.count < count:
            self.count += 1
            self.add(f"topic-{self.count}", 0)
        machine, now_ms = self.coordinator.machine, self.coordinator.now_ms
        producer = self.producer
        command = AddPartitions(
            "txn", producer.producer_id, producer.producer_epoch, [("another", (0,))], 4
        )

        def another() -> None:
            decision = machine.handle(now_ms, command)
            encode_batch(decision.records, now_ms)
            machine.replay(decision.records[0])

        cost = bytecodes(another)
        self.coordinator.restart()
        return cost


def test_each_topic_costs_the_same() -> None:
    adding = Adding()
    assert adding.cost(MANY) < LARGEST_GROWTH * Adding().cost(FEW)


def test_partitions_of_topics_that_are_there_are_added_too() -> None:
    adding = Adding()
    adding.cost(FEW)
    before = adding.coordinator.machine.state.transactions["txn"].partitions
    for topic, number in (("topic-7", 3), ("topic-1", 1), ("new", 0), ("topic-7", 4)):
        adding.add(topic, number)
    coordinator = adding.coordinator
    after = coordinator.machine.state.transactions["txn"].partitions
    assert list(after) == [*before, "new"]
    assert (list(after["topic-1"]), list(after["topic-7"])) == ([0, 1], [0, 3, 4])
    durable = coordinator.machine.durable()
    coordinator.restart()
    assert coordinator.machine.durable() == durable
