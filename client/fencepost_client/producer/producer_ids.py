"""Producer ids and epochs: how a producer gets them, and asks about them."""

from __future__ import annotations

from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest

from fencepost_client.errors import UnsupportedVersionError, producer_error
from fencepost_client.producer.batch import Identity
from fencepost_client.producer.response_codes import code_of
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import (
    ANY_NODE,
    TRANSACTION,
    Ask,
    Coordinator,
    Procedure,
    retry,
)

_ABORTED_BY_THE_COORDINATOR: Final = {"PrepareEpochFence", "PrepareAbort", "CompleteAbort"}
_TAKEN_UP_AGAIN: Final = "Empty"
"""By an InitProducerId whose answer was lost."""


def identity_of_nobody(timeout_ms: int, backoff: Backoff) -> Procedure[Identity]:
    """Get a producer id for an idempotent producer without transactions."""
    request = InitProducerIdRequest(None, timeout_ms)
    ask = Ask(ANY_NODE, ApiKey.INIT_PRODUCER_ID, lambda _: request)
    answer = yield from retry(ask, code_of, backoff)
    if answer.error_code:
        raise producer_error(answer.error_code, state="asking for a producer id")
    return Identity(answer.producer_id, answer.producer_epoch)


def was_ended_by_timeout(
    transactional_id: str, identity: Identity, backoff: Backoff
) -> Procedure[bool]:
    """Whether a refused epoch may be the coordinator's doing, and not another producer's (KIP-588).

    InitProducerId alone would tell; but where another producer has a transaction open, Kafka's
    coordinator aborts that before it compares epochs. So one looks before one asks.
    """
    ask = Ask(
        Coordinator(TRANSACTION, transactional_id),
        ApiKey.DESCRIBE_TRANSACTIONS,
        lambda _: DescribeTransactionsRequest([transactional_id]),
    )
    try:
        answer = yield from retry(ask, _code_of_description, backoff)
    except UnsupportedVersionError:
        return False  # before Apache Kafka 3.0
    if not answer.transaction_states or _code_of_description(answer):
        return False
    (found,) = answer.transaction_states
    return found.transaction_state in {*_ABORTED_BY_THE_COORDINATOR, _TAKEN_UP_AGAIN} and (
        found.producer_id,
        found.producer_epoch,
    ) == (identity.producer_id, identity.epoch + 1)


def _code_of_description(answer: Any) -> int:
    return next((state.error_code for state in answer.transaction_states), ErrorCode.NONE)
