"""A transaction manager, and the answers that it gets."""

from __future__ import annotations

from fencepost_client import (
    GroupMetadata,
    OffsetAndMetadata,
    TopicPartition,
)
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from fencepost_protocol.generated.describe_transactions import (
    DescribeTransactionsResponse,
    TransactionState,
)
from fencepost_protocol.generated.end_txn import EndTxnResponse
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdResponse,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

from tests.machine.client.scripts import Script

CLASSIC, IMPLICIT = 1, 2

OFFSETS = {TopicPartition("in", 0): OffsetAndMetadata(5, "note", 3)}
MEMBER = GroupMetadata("g", 4, "member-1", "instance-1")


def initialized(code: int = 0, producer_id: int = 9, epoch: int = 0) -> InitProducerIdResponse:
    return InitProducerIdResponse(0, code, producer_id, epoch)


def added(*codes: int) -> AddPartitionsToTxnResponse:
    results = [AddPartitionsToTxnPartitionResult(n, code) for n, code in enumerate(codes)]
    return AddPartitionsToTxnResponse(
        results_by_topic_v3_and_below=[AddPartitionsToTxnTopicResult("t", results)]
    )


def committed(code: int = 0) -> TxnOffsetCommitResponse:
    part = TxnOffsetCommitResponsePartition(0, code)
    return TxnOffsetCommitResponse(topics=[TxnOffsetCommitResponseTopic("in", [part])])


def ended(code: int = 0, producer_id: int = -1, epoch: int = -1) -> EndTxnResponse:
    return EndTxnResponse(0, code, producer_id, epoch)


def described(
    state: str, epoch: int, producer_id: int = 9, code: int = 0
) -> DescribeTransactionsResponse:
    """What the coordinator tells of the transactional id."""
    found = TransactionState(code, "txn", state, producer_id=producer_id, producer_epoch=epoch)
    return DescribeTransactionsResponse(transaction_states=[found])


def manager(version: int = IMPLICIT) -> TransactionManager:
    """A producer in a transaction that has a partition."""
    made = TransactionManager("txn", 60_000, lambda: 0.5)
    Script([initialized()]).play(made.initialize())
    made.begin(version)
    if version == IMPLICIT:
        assert made.may_send("t", 0)
    else:
        assert not made.may_send("t", 0)
        Script([added(0)]).play(made.add_partitions())
        assert made.may_send("t", 0)
    return made
