"""Checks of requests for producers, transactions and coordinators."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorization.by_topics import ByTopics, Place, module_of
from fencepost_broker.apis.authorization.verdicts import Asked, Refused, Rest, Verdict
from fencepost_broker.apis.authorization.whole import refusal
from fencepost_broker.apis.error_responses import refused
from fencepost_broker.security.authorizer.acls import AclResource, Operation

_DENIED: Final = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
COMMITTED: Final = ByTopics(Operation.READ, Place.FIRST)
_OF_BROKERS_FROM: Final = 4
_GROUP, _TRANSACTION, _SHARE = range(3)
_BATCHED_FROM: Final = 4
_WORDS: Final = {ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "share groups are for brokers to find"}
"""Error messages for one of several keys; other errors have none."""


def init_producer_id(asked: Asked) -> Verdict:
    """Check WRITE of the transactional id; without one, IDEMPOTENT_WRITE or WRITE of any topic.

    Transactions without a timeout need TWO_PHASE_COMMIT of the transactional id, too.
    """
    message, rights = asked.message, asked.rights
    if (name := message.transactional_id) is not None:
        if not rights.of_transaction(Operation.WRITE, name) or (
            message.enable2_pc and not rights.of_transaction(Operation.TWO_PHASE_COMMIT, name)
        ):
            return Refused(_no_producer_id(message, _DENIED))
        return None
    if not rights.of_cluster(Operation.IDEMPOTENT_WRITE) and not rights.may_any(
        Operation.WRITE, AclResource.TOPIC
    ):
        return Refused(_no_producer_id(message, ErrorCode.CLUSTER_AUTHORIZATION_FAILED))
    return None


def _no_producer_id(message: Any, code: int) -> Any:
    return module_of(message).InitProducerIdResponse(
        error_code=code, producer_id=-1, producer_epoch=-1
    )


def add_partitions_to_txn(asked: Asked) -> Verdict:
    """Check WRITE of the transactional id and of all topics; one denial refuses all of it.

    From version 4 on the handler checks that a broker sends the request.
    """
    message, rights = asked.message, asked.rights
    if asked.version >= _OF_BROKERS_FROM:
        return None
    if not rights.of_transaction(Operation.WRITE, message.v3_and_below_transactional_id):
        return refusal(asked, _DENIED)
    if message.group_id is not None and not rights.of_group(Operation.READ, message.group_id):
        # KIP-609: the request also does the work of AddOffsetsToTxn.
        return refusal(asked, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    codes = {
        topic.name: ErrorCode.TOPIC_AUTHORIZATION_FAILED
        for topic in message.v3_and_below_topics
        if not rights.of_topic(Operation.WRITE, topic.name)
    }
    if not codes:
        return None
    response: Any = refused(
        asked.api, message, asked.version, ErrorCode.OPERATION_NOT_ATTEMPTED, None
    )
    for topic in response.results_by_topic_v3_and_below:
        known = asked.image.topics.by_name.get(topic.name)
        for partition in topic.results_by_partition:
            is_there = known is not None and partition.partition_index in known.partitions
            if topic.name in codes:
                partition.partition_error_code = codes[topic.name]
            elif not is_there:
                partition.partition_error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return Refused(response)


def end_txn(asked: Asked) -> Verdict:
    """Check WRITE of the transactional id, and of topics that the request adds (KIP-609)."""
    message, rights = asked.message, asked.rights
    if not rights.of_transaction(Operation.WRITE, message.transactional_id):
        return refusal(asked, _DENIED)
    topics = message.topics or ()
    if not all(rights.of_topic(Operation.WRITE, each.name) for each in topics):
        return refusal(asked, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return None


def find_coordinator(asked: Asked) -> Verdict:
    """Check DESCRIBE of each group or transactional id."""
    message = asked.message
    if asked.version < _BATCHED_FROM:
        code = _unfindable(asked, message.key)
        if code is None:
            return None
        return Refused(
            module_of(message).FindCoordinatorResponse(
                error_code=code, error_message=f"not authorized: {code.name}", node_id=-1, port=-1
            )
        )
    keys = message.coordinator_keys
    codes = [_unfindable(asked, key) for key in keys]
    if not any(codes):
        return None
    message.coordinator_keys = [key for key, code in zip(keys, codes, strict=True) if code is None]
    make = module_of(message).Coordinator

    def complete(response: Any) -> None:
        told = iter(response.coordinators)
        response.coordinators = [
            next(told) if code is None else make(key, -1, "", -1, code, _WORDS.get(code, ""))
            for key, code in zip(keys, codes, strict=True)
        ]

    return Rest(complete, is_left=bool(message.coordinator_keys))


def _unfindable(asked: Asked, key: str) -> ErrorCode | None:
    kind, rights = asked.message.key_type, asked.rights
    if kind == _GROUP and not rights.of_group(Operation.DESCRIBE, key):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    if kind == _TRANSACTION and not rights.of_transaction(Operation.DESCRIBE, key):
        return _DENIED
    if kind == _SHARE and not rights.of_cluster(Operation.CLUSTER_ACTION):
        return ErrorCode.CLUSTER_AUTHORIZATION_FAILED
    return None


def describe_transactions(asked: Asked) -> Verdict:
    """Check DESCRIBE of each transactional id; leave out topics without DESCRIBE."""
    message, rights = asked.message, asked.rights
    ids = message.transactional_ids
    denied = {each for each in ids if not rights.of_transaction(Operation.DESCRIBE, each)}
    message.transactional_ids = [each for each in ids if each not in denied]
    make = module_of(message).TransactionState

    def complete(response: Any) -> None:
        told = iter(response.transaction_states)
        answers = [make(_DENIED, each) if each in denied else next(told) for each in ids]
        for each in answers:
            each.topics = _describable(asked, each.topics)
            if each.explanation is not None:
                each.explanation.markers = _describable(asked, each.explanation.markers)
        response.transaction_states = answers

    return Rest(complete, is_left=bool(message.transactional_ids))


def _describable(asked: Asked, topics: list[Any]) -> list[Any]:
    may = asked.rights.of_topic
    return [each for each in topics if may(Operation.DESCRIBE, each.topic)]


def write_txn_markers(asked: Asked) -> Verdict:
    """Allow every request: the handler checks the rights."""
    del asked
    return None
