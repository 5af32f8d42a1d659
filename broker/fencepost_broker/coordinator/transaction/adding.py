"""Adding partitions to a transaction, and verifying that it has them.

A producer adds partitions itself (AddPartitionsToTxn, AddOffsetsToTxn). Under transaction version 2
the partition leader adds them when the producer writes (KIP-890 part 2). For older producers the
leader asks the coordinator whether the partition was added (KIP-890 part 1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.transaction.commands import (
    CLIENT_VERSION_EPOCH_BUMP,
    CLIENT_VERSION_OLD,
    AddPartitions,
    Outcome,
    VerifyPartitions,
)
from fencepost_broker.coordinator.transaction.context import Context
from fencepost_broker.coordinator.transaction.model import (
    EPOCH_MAX,
    Partitions,
    Transaction,
    listed,
)
from fencepost_broker.coordinator.transaction.parking import park
from fencepost_broker.coordinator.transaction.states import State
from fencepost_broker.metadata.decision import Decision

OFFSETS_TOPIC: Final = "__consumer_offsets"
_ONGOING: Final = State.ONGOING
_FENCED_CODE_FROM: Final = 2
"""PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH (KIP-588)."""
_BY_BROKERS_FROM: Final = 4
_COORDINATOR_MISSING: Final = (
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
)
_ADDED: Final = Outcome(ErrorCode.NONE)
_PRODUCE_ABORTABLE_FROM: Final = 11
_OFFSETS_ABORTABLE_FROM: Final = 4


def add_partitions(context: Context, now_ms: int, command: AddPartitions) -> Decision[Outcome]:
    """Add partitions to the open transaction; without one, a transaction begins."""
    if command.version >= _BY_BROKERS_FROM and not context.cluster.transaction_version():
        return Decision(Outcome(ErrorCode.UNSUPPORTED_VERSION))
    if not command.is_known:
        missing = what_is_missing(context.cluster.has_partition, command.topics)
        if missing is not None:
            return Decision(missing)
    if not command.transactional_id:
        return Decision(Outcome(ErrorCode.INVALID_REQUEST))
    transaction = context.transactions.get(command.transactional_id)
    if transaction is None:
        return Decision(Outcome(ErrorCode.INVALID_PRODUCER_ID_MAPPING))
    if transaction.is_prepared:
        # The ids are compared later: the end may have chosen a new producer id, which takes effect
        # after the markers. A request with a wrong id waits too, and is refused after that.
        if context.settings.park_enable:
            return park(Decision(), command.transactional_id, command)
        return Decision(Outcome(ErrorCode.CONCURRENT_TRANSACTIONS))
    if transaction.client_id != command.producer_id:
        return Decision(Outcome(ErrorCode.INVALID_PRODUCER_ID_MAPPING))
    if transaction.client_epoch != command.producer_epoch or command.producer_epoch == EPOCH_MAX:
        # (The highest epoch only fences; no producer ever gets it.)
        fenced = command.version >= _FENCED_CODE_FROM
        return Decision(
            Outcome(ErrorCode.PRODUCER_FENCED if fenced else ErrorCode.INVALID_PRODUCER_EPOCH)
        )
    if transaction.is_kept:
        # The producer has another epoch than the transaction's records, and may only end it.
        return Decision(Outcome(ErrorCode.INVALID_TXN_STATE))
    partitions = _with(context, transaction, command)
    if partitions is None:
        if transaction.state is _ONGOING:
            return Decision(Outcome(ErrorCode.NONE))
        partitions = {}  # as in Kafka, a transaction may begin with no partitions at all
    value = transaction.next_value(_ONGOING, now_ms)
    if transaction.state is not _ONGOING:
        value.transaction_start_timestamp_ms = now_ms
    value.transaction_partitions = listed(transaction, partitions)
    value.client_transaction_version = (
        CLIENT_VERSION_EPOCH_BUMP if command.version >= _BY_BROKERS_FROM else CLIENT_VERSION_OLD
    )
    record = context.record(command.transactional_id, value)
    return Decision(_ADDED, (record,))


def _with(context: Context, transaction: Transaction, command: AddPartitions) -> Partitions | None:
    """Return the transaction's partitions with the new ones; ``None`` when it has all of them."""
    wanted = command.topics
    if command.group_id is not None:
        number = context.cluster.offsets_partition_of(command.group_id)
        wanted = (*wanted, (OFFSETS_TOPIC, (number,)))
    before = transaction.partitions
    after: Partitions | None = None
    for topic, numbers in wanted:
        known = (before if after is None else after).get(topic)
        new = numbers if known is None else [each for each in numbers if each not in known]
        if not new:
            continue
        if after is None:
            after = dict(before)
        # The old dictionaries never change: each request makes one copy per topic.
        after[topic] = dict.fromkeys(new) if known is None else known | dict.fromkeys(new)
    return after


def what_is_missing(
    has: Callable[[str, int], bool], topics: Sequence[tuple[str, Sequence[int]]]
) -> Outcome | None:
    """Return the error of each partition if one does not exist; then the whole request fails."""
    absent = [
        (topic, number) for topic, numbers in topics for number in numbers if not has(topic, number)
    ]
    if not absent:
        return None
    each = {
        (topic, number): ErrorCode.OPERATION_NOT_ATTEMPTED
        for topic, numbers in topics
        for number in numbers
    }
    each.update(dict.fromkeys(absent, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    return Outcome(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, each)


def verify_partitions(context: Context, command: VerifyPartitions) -> Decision[Outcome]:
    """Check that the open transaction has each partition. The answer comes at once."""
    if not command.transactional_id:
        return Decision(Outcome(ErrorCode.INVALID_REQUEST))
    transaction = context.transactions.get(command.transactional_id)
    if transaction is None or transaction.client_id != command.producer_id:
        return Decision(Outcome(ErrorCode.INVALID_PRODUCER_ID_MAPPING))
    if transaction.client_epoch != command.producer_epoch:
        return Decision(Outcome(ErrorCode.PRODUCER_FENCED))
    if transaction.is_prepared:
        return Decision(Outcome(ErrorCode.CONCURRENT_TRANSACTIONS))
    if transaction.is_kept:
        return Decision(Outcome(ErrorCode.INVALID_TXN_STATE))
    known = transaction.partitions
    each = {
        (topic, number): ErrorCode.NONE
        if number in known.get(topic, ())
        else ErrorCode.TRANSACTION_ABORTABLE
        for topic, numbers in command.topics
        for number in numbers
    }
    if all(code is ErrorCode.NONE for code in each.values()):
        return Decision(Outcome(ErrorCode.NONE))
    return Decision(Outcome(ErrorCode.TRANSACTION_ABORTABLE, each))


# --- translation of the coordinator's errors for Produce and TxnOffsetCommit ------------------


def produce_error(error: ErrorCode, version: int) -> ErrorCode:
    """Return the error in a Produce response of this version for a coordinator's error."""
    if error in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH):
        return ErrorCode.INVALID_PRODUCER_EPOCH  # PRODUCER_FENCED is fatal to clients
    if error is ErrorCode.TRANSACTION_ABORTABLE and version < _PRODUCE_ABORTABLE_FROM:
        return ErrorCode.INVALID_TXN_STATE
    if error is ErrorCode.CONCURRENT_TRANSACTIONS and version <= _PRODUCE_ABORTABLE_FROM:
        return ErrorCode.NOT_ENOUGH_REPLICAS  # an error that these clients retry
    if error in _COORDINATOR_MISSING or error is ErrorCode.NETWORK_EXCEPTION:
        return ErrorCode.NOT_ENOUGH_REPLICAS
    return error


def offset_commit_error(error: ErrorCode, version: int) -> ErrorCode:
    """Return the error in a TxnOffsetCommit response for a coordinator's error."""
    if error in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH):
        return ErrorCode.INVALID_PRODUCER_EPOCH
    if error is ErrorCode.TRANSACTION_ABORTABLE and version < _OFFSETS_ABORTABLE_FROM:
        return ErrorCode.INVALID_TXN_STATE
    if error is ErrorCode.NETWORK_EXCEPTION:
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # the client retries at the same broker
    return error
