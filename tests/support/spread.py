"""A transaction whose coordinator, group and partition are with different brokers.

async with spread() as it:
    who = await it.begin()
    await it.leader.ask(it.sent(who), 12)
    await it.end(who)
    await it.ended()
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
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
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import RunningBroker
from tests.support.cluster import Cluster, running_cluster
from tests.support.slow_coordinators import code_of
from tests.support.waiting import asked_until, until

Who = tuple[int, int]
NONE = ErrorCode.NONE
GROUPS, TRANSACTIONS = RecordFamily.GROUPS, RecordFamily.TRANSACTIONS
Running: TypeAlias = Callable[..., AbstractAsyncContextManager[Cluster]]
"""``running_cluster``, or one like it."""


class Spread:
    """Where a test's transactional id, its group and its partition are: each elsewhere."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.leader_id = self.leader_of("t", 0)
        left = [each.node_id for each in cluster.brokers if each.node_id != self.leader_id]
        self.transactional_id = self._name_at(TRANSACTIONS, left[0])
        self.group_id = self._name_at(GROUPS, left[-1])

    def leader_of(self, topic: str, number: int) -> int:
        partition = self.cluster.controller.image.topics.partition(topic, number)
        assert partition is not None
        return partition.leader

    def _name_at(self, family: RecordFamily, broker_id: int) -> str:
        names = (f"name-{number}" for number in range(100))
        return next(each for each in names if self._coordinator_id(family, each) == broker_id)

    def _coordinator_id(self, family: RecordFamily, name: str) -> int:
        partitions = self.cluster.controller.image.topics.by_name[family.value].partitions
        return self.leader_of(family.value, partition_of(name, len(partitions)))

    @property
    def leader(self) -> RunningBroker:
        return self.cluster.broker(self.leader_of("t", 0))

    @property
    def coordinator(self) -> RunningBroker:
        return self.cluster.broker(self._coordinator_id(TRANSACTIONS, self.transactional_id))

    @property
    def of_group(self) -> RunningBroker:
        return self.cluster.broker(self._coordinator_id(GROUPS, self.group_id))

    @property
    def bootstrap(self) -> str:
        return f"{self.leader.host}:{self.leader.port}"

    async def begin(self) -> Who:
        request = InitProducerIdRequest(self.transactional_id, 60_000)
        answer = await self.coordinator.ask(request, 4)
        assert not answer.error_code
        return answer.producer_id, answer.producer_epoch

    def sent(self, who: Who, *numbers: int, sequence: int = 0) -> Message:
        batch = bytes(
            build_batch(
                None, [b"x"], 1000, producer_id=who[0], producer_epoch=who[1],
                base_sequence=sequence, transactional=True,
            )
        )  # fmt: skip
        parts = [PartitionProduceData(number, batch) for number in numbers or (0,)]
        topic = TopicProduceData("t", partition_data=parts)
        return ProduceRequest(self.transactional_id, -1, 5000, [topic])

    def offsets(self, who: Who, offset: int) -> Message:
        partitions = [TxnOffsetCommitRequestPartition(0, offset)]
        topics = [TxnOffsetCommitRequestTopic("t", partitions)]
        return TxnOffsetCommitRequest(self.transactional_id, self.group_id, *who, topics=topics)

    def entered(self, who: Who) -> Message:
        topics = [AddPartitionsToTxnTopic("t", [0])]
        return AddPartitionsToTxnRequest([], self.transactional_id, *who, topics)

    async def end(self, who: Who, *, commit: bool = True) -> Who:
        request = EndTxnRequest(self.transactional_id, *who, commit)
        answer = await self.coordinator.ask(request, 5)
        assert code_of(answer) is NONE
        return answer.producer_id, answer.producer_epoch

    async def state(self) -> str:
        request = DescribeTransactionsRequest([self.transactional_id])
        answer = await self.coordinator.ask(request, 0)
        return str(answer.transaction_states[0].transaction_state)

    async def ended(self) -> None:
        async def is_so() -> bool:
            return (await self.state()).startswith("Complete")

        await asked_until(is_so)


@asynccontextmanager
async def spread(
    count: int = 3,
    factor: int = 1,
    partitions: int = 1,
    running: Running = running_cluster,
    **settings: Any,
) -> AsyncIterator[Spread]:
    """A cluster with topic ``t`` and coordinators, made by ``running``."""
    internal = {
        "offsets_topic_num_partitions": count,
        "transaction_state_log_num_partitions": count,
        "offsets_topic_replication_factor": factor,
        "transaction_state_log_replication_factor": factor,
        "group_initial_rebalance_delay_ms": 0,
    }
    async with running(count, **internal, **settings) as cluster:
        await cluster.create("t", partitions, factor)
        for kind in (0, 1):
            request = FindCoordinatorRequest("any", kind)
            while (await cluster.broker(1).ask(request, 2)).error_code:
                pass
        names = [each.value for each in (GROUPS, TRANSACTIONS)]
        await until(
            lambda: all(
                name in each.server.table.by_name
                and len(each.server.table.by_name[name].partitions) == count
                for each in cluster.brokers
                for name in names
            )
        )
        found = Spread(cluster)
        await until(
            lambda: (
                found.coordinator.coordinators.shard(TRANSACTIONS, found.transactional_id)
                is not None
                and found.of_group.coordinators.shard(GROUPS, found.group_id) is not None
            )
        )
        yield found
