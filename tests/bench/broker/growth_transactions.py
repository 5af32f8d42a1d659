"""More and more transactional ids, partitions of a transaction, and records to restart from."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

from tests.bench.broker.growth import LONG_MS, REQUESTS, Crowd, patient, refuse_error, spread_out
from tests.bench.broker.loader import Load
from tests.bench.broker.peers import FencepostOnDisk
from tests.bench.broker.rows import Run, Sample
from tests.bench.broker.rows_raw import look, replay_to
from tests.bench.broker.rows_state import wait_until_idle
from tests.bench.broker.wire import ANSWER_SECONDS, Asked, Wire, refuse_later_than

Topics = list[AddPartitionsToTxnTopic]


@dataclass(frozen=True, slots=True)
class Producer:
    """Who may write under a transactional id."""

    transactional_id: str
    producer_id: int
    epoch: int

    def adds(self, topics: Topics) -> Message:
        """As clients before version 2 enter partitions: under them an epoch lasts."""
        return AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=self.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=topics,
        )

    def commits(self) -> Message:
        """The end of its transaction."""
        return EndTxnRequest(self.transactional_id, self.producer_id, self.epoch, True)


def producers(run: Run, first: int, behind: int) -> Iterator[Producer]:
    """New ones, by their numbers."""
    run.wire.ask(FindCoordinatorRequest("any", 1))
    names = [f"transactional-id-{number}" for number in range(first, behind)]
    asked = [InitProducerIdRequest(name, LONG_MS) for name in names]
    for name, answer in zip(names, run.wire.ask_all(asked), strict=True):
        refuse_error(answer.error_code, f"InitProducerId of {name}")
        yield Producer(name, answer.producer_id, answer.producer_epoch)


class TransactionalIds(Crowd):
    """Each with a producer; some of them have one transaction after the other."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.topics = [AddPartitionsToTxnTopic(run.topic(), [0])]
        self.producers: list[Producer] = []

    def grow(self, count: int) -> None:
        self.producers += producers(self.run, self.count, count)

    def cost(self) -> float:
        return self.cpu_us(transactions(self.run, spread_out(self.producers), self.topics), 1)


def transactions(run: Run, who: Sequence[Producer], topics: Topics) -> list[Asked]:
    """Two requests for each, to be sent on one connection: an end must not overtake."""
    return [look(run, each) for p in who for each in (p.adds(topics), p.commits())]


class PartitionsAtOnce(Crowd):
    """Of a transaction, all in one request. The cost is that of a partition."""

    is_held = False
    at_once = True

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.topic = run.topic(max(1, run.count(1_000)))
        self.producers = list(producers(run, 0, 3))

    def grow(self, count: int) -> None:
        """Nothing that stays."""

    def cost(self) -> float:
        pieces = [list(range(self.count))] if self.at_once else [[p] for p in range(self.count)]
        topics = [AddPartitionsToTxnTopic(self.topic, piece) for piece in pieces]
        asked = []
        for producer in self.producers:
            asked += [look(self.run, producer.adds([topic])) for topic in topics]
            asked.append(look(self.run, producer.commits()))
        each = len(topics) + 1
        partitions = max(2 * self.count, self.run.count(2 * REQUESTS))
        load = Load(partitions // self.count * each, connections=1, seconds_max=30)
        return replay_to(self.run, asked, load).cpu_us * each / self.count


class PartitionsOneByOne(PartitionsAtOnce):
    """The same, a request for each."""

    at_once = False


# -- restart ---------------------------------------------------------------------------------------

RECORDS: Final = 100_000
TRANSACTION_RECORDS: Final = 3
"""Ongoing, PrepareCommit, CompleteCommit."""
RESTART_IDS: Final = 1_000


def restart(run: Run) -> Sample:
    """After kill -9, until a producer of before is answered."""
    with patient(run) as other:
        count = max(2, other.count(RESTART_IDS))
        who = list(producers(other, 0, count))
        asked = transactions(other, who, [AddPartitionsToTxnTopic(other.topic(), [0])])
        wanted = max(20, other.count(RECORDS // TRANSACTION_RECORDS * 2))
        replay_to(other, asked, Load(wanted, connections=1, seconds_max=60))
        wait_until_idle(other.peer.pid)
        records = sum(other.wire.end_offset("__transaction_state", p) for p in range(5))
        peer = other.peer
        assert isinstance(peer, FencepostOnDisk)
        begin = time.perf_counter()
        peer.restart()
        again = InitProducerIdRequest(who[0].transactional_id, LONG_MS)
        with Wire(peer.port) as wire:
            end = time.monotonic() + ANSWER_SECONDS
            while wire.ask(again).error_code:
                refuse_later_than(end, "the coordinator does not come back")
            seconds = time.perf_counter() - begin
    return {"start_ms": seconds * 1e3 * RECORDS / records}
