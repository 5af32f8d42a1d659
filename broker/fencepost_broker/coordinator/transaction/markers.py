"""Transaction markers: handling of their acknowledgements, and resumption after a restart."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.effects import Tell
from fencepost_broker.coordinator.transaction.commands import MarkersWritten, SendMarkers
from fencepost_broker.coordinator.transaction.context import Context
from fencepost_broker.coordinator.transaction.ending import completion, pending_of
from fencepost_broker.coordinator.transaction.parking import resumed
from fencepost_broker.coordinator.transaction.soft import MarkersAnswered
from fencepost_broker.coordinator.transaction.states import State
from fencepost_broker.metadata.decision import Decision

_GIVEN_UP: Final = (
    ErrorCode.INVALID_PRODUCER_EPOCH,
    ErrorCode.TRANSACTION_COORDINATOR_FENCED,
)
"""A newer producer or coordinator has written there: a retry would never succeed."""


def may_pass(error: ErrorCode) -> bool:
    """Whether the error is temporary, so that the same marker may succeed later."""
    return error is not ErrorCode.NONE and error not in _GIVEN_UP


def will_be_repeated(context: Context, topic: str, partition: int, error: ErrorCode) -> bool:
    """Whether a marker has to be sent again.

    A temporary error means a retry; a deleted partition needs no marker.
    """
    if not may_pass(error):
        return False
    if error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        return context.cluster.has_partition(topic, partition)
    return True


def markers_written(context: Context, now_ms: int, command: MarkersWritten) -> Decision[bool]:
    """Record acknowledgements; after the last one, write CompleteX and resume parked requests."""
    send = command.send
    transaction = context.transactions.get(send.transactional_id)
    if transaction is None or transaction.sending is not send:
        return Decision()  # an earlier end, which is complete
    pending = send.pending
    done: dict[tuple[str, int], None] = {}
    failed: list[tuple[str, int, ErrorCode]] = []
    tells: tuple[Tell, ...] = ()
    for topic, partition, error in command.outcomes:
        where = topic, partition
        if where not in pending:
            continue
        if error:
            if will_be_repeated(context, topic, partition, error):
                failed.append((topic, partition, error))
                continue
            tells += (_given_up(send, topic, partition, error),)
        done[where] = None
    if len(done) == len(pending):
        record = completion(context, now_ms, transaction)
        return Decision(True, (record,), tells + resumed(transaction))
    if not done and not failed:
        return Decision()
    return Decision(effects=tells, soft=(MarkersAnswered(send, tuple(done), tuple(failed)),))


def _given_up(send: SendMarkers, topic: str, partition: int, error: ErrorCode) -> Tell:
    text = f"{send.transactional_id}: {topic}-{partition} gets no marker: {error.name}"
    return Tell("marker-given-up", text, unexpected=error in _GIVEN_UP)


def outstanding(context: Context, now_ms: int) -> Decision[None]:
    """Continue every decided end, right after the log is loaded."""
    records = []
    sends = []
    for transaction in context.transactions.values():
        if not transaction.is_prepared:
            continue
        if not transaction.partitions:
            records.append(completion(context, now_ms, transaction))
            continue
        sends.append(
            SendMarkers(
                transaction.transactional_id,
                transaction.logged.producer_id,
                transaction.logged.producer_epoch,
                transaction.state is State.PREPARE_COMMIT,
                context.coordinator_epoch,
                transaction.logged.client_transaction_version,
                pending_of(transaction.partitions),
            )
        )
    return Decision(records=tuple(records), soft=tuple(sends), effects=tuple(sends))
