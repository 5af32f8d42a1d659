"""KIP-609, pre-registration, as a client sees it: under both transaction versions, with offsets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import RunningBroker, running_broker
from tests.support.compiled import pure_only

pytestmark = pytest.mark.asyncio

NONE, WRONG_STATE = ErrorCode.NONE, ErrorCode.INVALID_TXN_STATE
OFFSETS = "__consumer_offsets"
SETTINGS = {"offsets.topic.num.partitions": 1}
VERSIONS = pytest.mark.parametrize(
    "kind", [(11, 3, 3), (11, 3, 4), (12, 5, 5)], ids=["TV1-v3", "TV1-v4", "TV2"]
)
"""Versions of Produce, TxnOffsetCommit and EndTxn."""


class Producer:
    """A pre-registering producer: it registers by AddPartitionsToTxn 3 under both versions."""

    def __init__(self, broker: RunningBroker, kind: tuple[int, int, int]) -> None:
        self.broker = broker
        self.produce, self.commit, self.version = kind
        self.who = (-1, -1)
        self.sequence = 0

    async def start(self) -> None:
        for name, kind in (("x", 1), ("g", 0)):
            await self.broker.ask(FindCoordinatorRequest(name, kind), 3)
        answer = await self.broker.ask(InitProducerIdRequest("x", 60_000), 5)
        assert not answer.error_code
        self.who = answer.producer_id, answer.producer_epoch

    async def register(self, *numbers: int, group: str | None = "g") -> None:
        topics = [AddPartitionsToTxnTopic("t", list(numbers))]
        request = AddPartitionsToTxnRequest([], "x", *self.who, topics, group)
        answer = await self.broker.ask(request, 3)
        for topic in answer.results_by_topic_v3_and_below:
            for each in topic.results_by_partition:
                assert not each.partition_error_code

    async def send(self, number: int) -> None:
        records = build_batch(
            None, [b"x"], 1000, producer_id=self.who[0], producer_epoch=self.who[1],
            base_sequence=0, transactional=True,
        )  # fmt: skip
        data = TopicProduceData("t", partition_data=[PartitionProduceData(number, bytes(records))])
        answer = await self.broker.ask(ProduceRequest("x", -1, 5000, [data]), self.produce)
        assert not answer.responses[0].partition_responses[0].error_code

    async def send_offsets(self) -> None:
        topics = [TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, 5)])]
        request = TxnOffsetCommitRequest("x", "g", *self.who, topics=topics)
        answer = await self.broker.ask(request, self.commit)
        assert not answer.topics[0].partitions[0].error_code

    async def end(self, topics: dict[str, list[int]] | None, *, commit: bool = True) -> ErrorCode:
        written = None if topics is None else [EndTxnTopic(*each) for each in topics.items()]
        request = EndTxnRequest("x", *self.who, commit, topics=written)
        answer = await self.broker.ask(request, self.version)
        return ErrorCode(answer.error_code)


async def described(broker: RunningBroker) -> tuple[str, dict[str, list[int]]]:
    (state,) = (await broker.ask(DescribeTransactionsRequest(["x"]), 0)).transaction_states
    return state.transaction_state, {each.topic: each.partitions for each in state.topics}


async def until(broker: RunningBroker, state: str) -> None:
    async with asyncio.timeout(60):
        while (await described(broker))[0] != state:
            pass


def markers(broker: RunningBroker) -> dict[str, int]:
    """How many markers there are: records that are not data, of which each test knows the rest."""
    topics = broker.server.table.by_name
    ends = {f"t-{each.number}": each.log.log_end_offset for each in topics["t"].partitions}
    return ends | {OFFSETS: topics[OFFSETS].partitions[0].log.log_end_offset}


def warnings_of(broker: RunningBroker) -> list[str]:
    """What people are warned of from now on."""
    warnings: list[str] = []

    def tell(shard: object, kind: str, text: str, *, unexpected: bool = False) -> None:
        assert (kind, unexpected) == ("partition-left-out", True), shard
        warnings.append(text)

    broker.coordinators.tell = tell  # type: ignore[method-assign]
    return warnings


@pure_only("fencepost_broker.coordinator.runtime.coordinator_runtime")
@VERSIONS
async def test_only_what_was_written_gets_a_marker(kind: tuple[int, int, int]) -> None:
    async with running_broker(SETTINGS, topics={"t": 4}) as broker:
        producer = Producer(broker, kind)
        await producer.start()
        warnings = warnings_of(broker)
        await producer.register(0, 1, 2)
        assert await described(broker) == ("Ongoing", {"t": [0, 1, 2], OFFSETS: [0]})
        await producer.send(1)
        assert await producer.end({"t": [1]}) is NONE
        await until(broker, "CompleteCommit")
        assert markers(broker) == {"t-0": 0, "t-1": 2, "t-2": 0, "t-3": 0, OFFSETS: 0}
        assert warnings == []


@VERSIONS
async def test_with_offsets_their_partition_is_named_too(kind: tuple[int, int, int]) -> None:
    async with running_broker(SETTINGS, topics={"t": 2}) as broker:
        producer = Producer(broker, kind)
        await producer.start()
        await producer.register(0, 1)
        await producer.send_offsets()
        assert await producer.end({OFFSETS: [0]}) is NONE
        await until(broker, "CompleteCommit")
        assert markers(broker) == {"t-0": 0, "t-1": 0, OFFSETS: 2}


@VERSIONS
async def test_null_means_all_and_none_means_none(kind: tuple[int, int, int]) -> None:
    async with running_broker(SETTINGS, topics={"t": 2}) as broker:
        producer = Producer(broker, kind)
        await producer.start()
        await producer.register(0, 1)
        assert await producer.end(None, commit=False) is NONE
        await until(broker, "CompleteAbort")
        assert markers(broker) == {"t-0": 1, "t-1": 1, OFFSETS: 1}
        await producer.start()
        await producer.register(0, 1)
        assert await producer.end({}) is NONE
        await until(broker, "CompleteCommit")
        assert markers(broker) == {"t-0": 1, "t-1": 1, OFFSETS: 1}


@VERSIONS
async def test_what_was_not_registered_is_refused_and_nothing_changes(
    kind: tuple[int, int, int],
) -> None:
    async with running_broker(SETTINGS, topics={"t": 4}) as broker:
        producer = Producer(broker, kind)
        await producer.start()
        await producer.register(0, 1, group=None)
        await producer.send(0)
        (log,) = [
            each.log for each in broker.server.table.by_name["__transaction_state"].partitions
            if each.log.log_end_offset
        ]  # fmt: skip
        written = log.log_end_offset
        wrong: list[dict[str, list[int]]] = [
            {"t": [0, 3]}, {"t": [0], "u": [0]}, {"t": [0], OFFSETS: [0]}, {"t": [-1]},
        ]  # fmt: skip
        for topics in wrong:
            assert await producer.end(topics) is WRONG_STATE
            assert await producer.end(topics, commit=False) is WRONG_STATE
        assert log.log_end_offset == written
        assert await described(broker) == ("Ongoing", {"t": [0, 1]})
        assert await producer.end({"t": [0]}) is NONE
        await until(broker, "CompleteCommit")


@pure_only("fencepost_broker.coordinator.runtime.coordinator_runtime")
@VERSIONS
async def test_what_is_left_out_and_holds_data_gets_its_marker_with_a_warning(
    kind: tuple[int, int, int],
) -> None:
    async with running_broker(SETTINGS, topics={"t": 3}) as broker:
        producer = Producer(broker, kind)
        await producer.start()
        warnings = warnings_of(broker)
        await producer.register(0, 1, 2)
        await producer.send(0)
        await producer.send(1)
        await producer.send_offsets()
        assert await producer.end({"t": [0]}) is NONE
        await until(broker, "CompleteCommit")
        assert markers(broker) == {"t-0": 2, "t-1": 2, "t-2": 0, OFFSETS: 2}
        assert [each.partition(" leaves out ")[2].partition(",")[0] for each in warnings] == [
            "t-1", f"{OFFSETS}-0",
        ]  # fmt: skip


async def test_it_does_not_depend_on_the_transaction_version() -> None:
    """A pre-registering client of TV1 under a cluster of TV1."""
    async with running_broker(SETTINGS, topics={"t": 3}) as broker:
        update = FeatureUpdateKey("transaction.version", 1, upgrade_type=2)
        answer = await broker.ask(UpdateFeaturesRequest(feature_updates=[update]), 1)
        assert not answer.error_code
        producer = Producer(broker, (11, 3, 4))
        await producer.start()
        for written in (0, 2):
            await producer.register(0, 2)
            sent: Any = {"t": [written]}
            assert await producer.end(sent) is NONE
            await until(broker, "CompleteCommit")
        assert markers(broker) == {"t-0": 1, "t-1": 0, "t-2": 1, OFFSETS: 0}
