"""A producer of transactions that sends each request by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import Client, RunningBroker
from tests.support.waiting import asked_until

TRANSACTIONS, GROUPS = 1, 0

NONE = ErrorCode.NONE

KAFKAS_WAY = {"transaction.park.enable": "false"}


class Producer:
    """A transactional producer that does as it is told."""

    def __init__(self, client: Client, name: str = "a") -> None:
        self.client = client
        self.name = name
        self.id, self.epoch = -1, -1
        self.sequences: dict[tuple[str, int], int] = {}

    async def start(self, **given: Any) -> ErrorCode:
        await self.client.ask(FindCoordinatorRequest(self.name, TRANSACTIONS), 3)
        return await self.initialize(**given)

    async def initialize(self, *, own: bool = False, timeout_ms: int = 60_000) -> ErrorCode:
        who = (self.id, self.epoch) if own else (-1, -1)
        answer = await self.client.ask(InitProducerIdRequest(self.name, timeout_ms, *who), 5)
        if not answer.error_code:
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences.clear()
        return ErrorCode(answer.error_code)

    async def send(
        self, topic: str = "t", number: int = 0, version: int = 12, **given: Any
    ) -> ErrorCode:
        sequence = self.sequences.get((topic, number), 0)
        name = given.pop("name", self.name)
        batch: Any = {
            "producer_id": self.id,
            "producer_epoch": self.epoch,
            "base_sequence": sequence,
            "transactional": True,
        }
        records = bytes(build_batch(None, [b"x"], 1000, **(batch | given)))
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(number, records)])
        answer = await self.client.ask(ProduceRequest(name, -1, 5000, [data]), version)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        if not code:
            self.sequences[topic, number] = sequence + 1
        return code

    async def add(self, *numbers: int, version: int = 3, group: str | None = None) -> ErrorCode:
        topics = [AddPartitionsToTxnTopic("t", list(numbers))]
        request = AddPartitionsToTxnRequest([], self.name, self.id, self.epoch, topics, group)
        answer = await self.client.ask(request, version)
        [topic] = answer.results_by_topic_v3_and_below
        return max(ErrorCode(each.partition_error_code) for each in topic.results_by_partition)

    async def end(self, outcome: str = "commit", version: int = 5, **given: Any) -> ErrorCode:
        request = EndTxnRequest(self.name, self.id, self.epoch, outcome == "commit", **given)
        answer = await self.client.ask(request, version)
        if not answer.error_code and version >= 5:
            self.id, self.epoch = answer.producer_id, answer.producer_epoch
            self.sequences.clear()
        return ErrorCode(answer.error_code)


async def state_of(client: Client, name: str = "a") -> str:
    answer = await client.ask(DescribeTransactionsRequest([name]), 0)
    return str(answer.transaction_states[0].transaction_state)


async def until(found: Callable[[], Awaitable[object]], wanted: object) -> None:
    async def is_so() -> bool:
        return await found() == wanted

    await asked_until(is_so)


async def until_state(client: Client, state: str, name: str = "a") -> None:
    await until(lambda: state_of(client, name), state)


async def stable_offset(client: Client, topic: str = "t", number: int = 0) -> int:
    wanted = ListOffsetsTopic(topic, [ListOffsetsPartition(number, timestamp=-1)])
    answer = await client.ask(ListOffsetsRequest(-1, 1, [wanted]), 7)
    return int(answer.topics[0].partitions[0].offset)


def broker_address(broker: RunningBroker) -> str:
    return f"{broker.host}:{broker.port}"
