"""AddPartitionsToTxn, AddOffsetsToTxn and EndTxn: change and end a transaction.

Behaviour: EndTxn is answered when its outcome is in the coordinator's log; markers are written
afterwards. AddPartitionsToTxn, AddOffsetsToTxn and InitProducerId wait for the previous
transaction's markers (KIP-609, ``transaction.park.enable``), and later requests on the same
connection wait with them. The answer for a transactional id without a coordinator here is
NOT_COORDINATOR, or COORDINATOR_LOAD_IN_PROGRESS while it is being loaded.

Version notes: from AddPartitionsToTxn 4 on leaders ask for several transactions at once (KIP-890);
such a request never waits for markers. EndTxn 5 bumps the epoch. Tag 60900 of AddPartitionsToTxn 3
and of EndTxn is Fencepost's (KIP-609).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse

from fencepost_broker.apis.controller.brokers_only import may_ask
from fencepost_broker.apis.coordinator_requests import (
    ParkedTransactionRequest,
    Part,
    answer_when_durable,
    coordinator_error,
    error_or,
    submit,
    submit_at_once,
    transaction_shard,
)
from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.coordinator.runtime.shard import AppendRefusedError
from fencepost_broker.coordinator.transaction.adding import what_is_missing
from fencepost_broker.coordinator.transaction.commands import (
    AddPartitions,
    EndTxn,
    Outcome,
    VerifyPartitions,
)

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext

Topics = Sequence[AddPartitionsToTxnTopic]
_BATCHED_FROM: Final = 4


def end_txn(context: BrokerContext, request: Request, message: EndTxnRequest) -> Answer | None:
    """Answer EndTxn, versions 0 to 5."""
    shard = transaction_shard(context, message.transactional_id, request)
    if shard is None:
        return EndTxnResponse(error_code=coordinator_error(context, message.transactional_id))
    told = shard.carry_out(
        EndTxn(message, request.version), lambda told: request.release(_end_txn_answer(told))
    )
    return None if told is None else _end_txn_answer(told)


def _end_txn_answer(told: EndTxnResponse | AppendRefusedError) -> EndTxnResponse:
    return EndTxnResponse(0, told.error) if isinstance(told, AppendRefusedError) else told


def add_offsets_to_txn(
    context: BrokerContext, request: Request, message: AddOffsetsToTxnRequest
) -> Answer | None:
    """Answer AddOffsetsToTxn, versions 0 to 4."""
    name = message.transactional_id

    def answer(outcome: Any) -> Answer:
        error = error_or(outcome) or outcome.error
        return AddOffsetsToTxnResponse(error_code=error)

    shard = transaction_shard(context, name, request)
    if shard is None:
        return answer(Outcome(coordinator_error(context, name)))
    waiting = ParkedTransactionRequest(context, request, shard, name, answer)
    command = AddPartitions(
        name,
        message.producer_id,
        message.producer_epoch,
        (),
        min(request.version, _BATCHED_FROM - 1),
        waiting,
        message.group_id,
    )
    return waiting.submit(command)


def add_partitions_to_txn(
    context: BrokerContext, request: Request, message: AddPartitionsToTxnRequest
) -> Answer | None:
    """Answer AddPartitionsToTxn, versions 0 to 5."""
    if request.version >= _BATCHED_FROM:
        return _of_brokers(context, request, message.transactions)
    name, topics = message.v3_and_below_transactional_id, message.v3_and_below_topics

    def answer(outcome: Any) -> Answer:
        results = _results(topics, outcome)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)

    shard = transaction_shard(context, name, request)
    if shard is None:
        wanted = [(each.name, each.partitions) for each in topics]
        return answer(_missing(context, wanted) or Outcome(coordinator_error(context, name)))
    waiting = ParkedTransactionRequest(context, request, shard, name, answer)
    command = AddPartitions(
        name,
        message.v3_and_below_producer_id,
        message.v3_and_below_producer_epoch,
        [(each.name, each.partitions) for each in topics],
        request.version,
        waiting,
        message.group_id,
    )
    return waiting.submit(command)


def _of_brokers(
    context: BrokerContext, request: Request, asked: Sequence[AddPartitionsToTxnTransaction]
) -> Answer | None:
    """Answer a leader's request for several transactions, each with its own result."""
    if not may_ask(context, request):
        code = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        return AddPartitionsToTxnResponse(error_code=code)

    def answer(told: list[Any]) -> Answer:
        results = [
            AddPartitionsToTxnResult(each.transactional_id, _results(each.topics, outcome))
            for each, outcome in zip(asked, told, strict=True)
        ]
        return AddPartitionsToTxnResponse(results_by_transaction=results)

    parts = [_of_broker(context, each, request.version) for each in asked]
    return answer_when_durable(request, parts, answer)


def _of_broker(context: BrokerContext, asked: AddPartitionsToTxnTransaction, version: int) -> Part:
    """Submit one transaction of a leader's request."""
    name = asked.transactional_id
    topics = [(each.name, each.partitions) for each in asked.topics]
    shard = transaction_shard(context, name)
    if shard is None:
        return None, _missing(context, topics) or Outcome(coordinator_error(context, name))
    if asked.verify_only:
        missing = _missing(context, topics)
        if missing is not None:
            return None, missing
        command = VerifyPartitions(name, asked.producer_id, asked.producer_epoch, topics)
        return shard, submit(shard, command)
    # All transactions of a request are answered together, so none may wait; the leader retries.
    add = AddPartitions(name, asked.producer_id, asked.producer_epoch, topics, version)
    return shard, submit_at_once(shard, add)


def _missing(context: BrokerContext, topics: Sequence[tuple[str, Sequence[int]]]) -> Outcome | None:
    """Return the errors of partitions that do not exist; they precede those of the coordinator."""
    find = context.replicas.table.find
    return what_is_missing(lambda topic, number: find(topic, number) is not None, topics)


def _results(topics: Topics, outcome: Any) -> list[AddPartitionsToTxnTopicResult]:
    error = error_or(outcome)
    found = Outcome(error) if error else outcome
    if found.each is not None:  # as in Kafka, each partition once
        by_topic: dict[str, list[AddPartitionsToTxnPartitionResult]] = {}
        for (name, number), code in found.each.items():
            result = AddPartitionsToTxnPartitionResult(number, code)
            by_topic.setdefault(name, []).append(result)
        return [AddPartitionsToTxnTopicResult(*each) for each in by_topic.items()]
    return [
        AddPartitionsToTxnTopicResult(
            topic.name,
            [AddPartitionsToTxnPartitionResult(number, found.error) for number in topic.partitions],
        )
        for topic in topics
    ]
