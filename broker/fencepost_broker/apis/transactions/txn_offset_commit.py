"""TxnOffsetCommit: commit a group's offsets as part of a transaction.

Behaviour: the group's partition of ``__consumer_offsets`` has to be in the transaction. Up to
version 4 that is verified before generation and member are checked; from 5 on the broker adds the
partition itself, and waits for the previous transaction's markers if necessary (KIP-609). If the
producer's transaction is open in that partition already, or the partition has seen a newer epoch
of the producer, the transactional id is not checked. Partitions that do not exist are answered
first, as in Kafka: if there are no others, nothing is added to the transaction.

Version notes: 3 fences by generation, member and instance (KIP-447); 4 may answer
TRANSACTION_ABORTABLE instead of INVALID_TXN_STATE.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

from fencepost_broker.apis.groups.unknown_partitions import put_first, take_unknown
from fencepost_broker.apis.produce.partition_verification import StillHolds, enter, verify
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.group.commands import Ask
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.shard import AppendRefusedError, Shard
from fencepost_broker.coordinator.transaction.adding import offset_commit_error
from fencepost_broker.coordinator.transaction.commands import Outcome
from fencepost_broker.storage.log.producers import VerificationGuard

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

_ENTERS_FROM: Final = 5
_VERIFICATION: Final = "transaction.partition.verification.enable"
_NO_SEQUENCE: Final = -1
_OF_THE_LOG: Final = (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.INVALID_TXN_STATE)
"""Errors of the partition's own check of the producer, which clients can handle as they are."""


def txn_offset_commit(
    context: BrokerContext, request: Request, message: TxnOffsetCommitRequest
) -> Answer | None:
    """Answer TxnOffsetCommit, versions 0 to 5."""
    version = request.version
    unknown = take_unknown(context, message)
    if not message.topics:
        return put_first(unknown, TxnOffsetCommitResponse())
    if not message.group_id:
        return _refused(message, unknown, ErrorCode.INVALID_GROUP_ID)
    shard = context.coordinators.runtime.shard(RecordFamily.GROUPS, message.group_id)
    if shard is None:
        refusal = context.coordinators.runtime.refusal(RecordFamily.GROUPS, message.group_id)
        return _refused(message, unknown, refusal)
    producer = message.producer_id, message.producer_epoch
    log = shard.partition.log
    if log.has_ongoing_transaction(*producer):
        return _commit(request, message, unknown, shard, None)
    is_asked = version >= _ENTERS_FROM or context.config.settings[_VERIFICATION]
    if is_asked and log.is_fenced(*producer):
        return _refused(message, unknown, ErrorCode.INVALID_PRODUCER_EPOCH)

    guards: list[VerificationGuard | None] = []

    def begin() -> StillHolds:
        guard = log.start_verification(
            *producer,
            _NO_SEQUENCE,
            supports_epoch_bump=version >= _ENTERS_FROM,
            now_ms=context.clock.now_ms(),
        )
        guards[:] = (guard,)
        return partial(log.is_verified, *producer, guard)

    def go_on(outcome: Outcome) -> Answer | None:
        if outcome.error:
            return _refused(message, unknown, offset_commit_error(outcome.error, version))
        if not shard.is_loaded:
            refusal = context.coordinators.runtime.refusal(RecordFamily.GROUPS, message.group_id)
            return _refused(message, unknown, refusal)  # another broker coordinates the group now
        if not guards:
            begin()
        return _commit(request, message, unknown, shard, guards[0])

    name = message.transactional_id
    partitions = [(shard.partition.topic, [shard.partition.number])]
    if version >= _ENTERS_FROM:
        return enter(context, request, name, producer, partitions, go_on, begin)
    if not is_asked:
        return go_on(Outcome(ErrorCode.NONE))
    return verify(context, request, name, producer, partitions, go_on, begin)


def _commit(
    request: Request,
    message: TxnOffsetCommitRequest,
    unknown: list[Any],
    shard: Shard,
    guard: VerificationGuard | None,
) -> Answer | None:
    peer = request.peer
    ask = Ask(message, request.version, request.client_id or "", peer.client_host)
    told = shard.carry_out(
        ask, lambda told: request.release(_answer(message, unknown, told)), guard
    )
    return None if told is None else _answer(message, unknown, told)


def _answer(message: TxnOffsetCommitRequest, unknown: list[Any], told: Any) -> Answer:
    if not isinstance(told, AppendRefusedError):
        return put_first(unknown, told)
    error = told.log_error if told.log_error in _OF_THE_LOG else told.error
    return _refused(message, unknown, error)


def _refused(message: TxnOffsetCommitRequest, unknown: list[Any], error: ErrorCode) -> Answer:
    """Return the error for all partitions that exist."""
    topics = [
        TxnOffsetCommitResponseTopic(
            topic.name,
            [
                TxnOffsetCommitResponsePartition(partition.partition_index, error)
                for partition in topic.partitions
            ],
        )
        for topic in message.topics
    ]
    return put_first(unknown, TxnOffsetCommitResponse(topics=topics))
