"""Begin, commit and abort of a batch's transaction, as procedures.

Different processes run them, which share only an :class:`OpenTransaction`. After a crash the next
process learns the state from the broker: InitProducerId aborts an open transaction, and the marker,
which is read after that, says what was committed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from fencepost_client.consumer.committed_offsets import fetch_committed
from fencepost_client.errors import FatalError, FencedError, KafkaError
from fencepost_client.producer.shared_transaction import OpenTransaction, SharedTransactionManager
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import Procedure
from fencepost_client.types import GroupMetadata, TopicPartition

from fencepost_pipeline.sink.marker import Marker

MARKER_PARTITION = 0


class MarkerPlace(NamedTuple):
    """The place of a sink's marker."""

    group_id: str
    topic: str

    @property
    def partition(self) -> TopicPartition:
        """The partition of the marker's offset."""
        return TopicPartition(self.topic, MARKER_PARTITION)

    def __str__(self) -> str:
        return f"group {self.group_id!r} ({self.topic}-{MARKER_PARTITION})"


class Begun(NamedTuple):
    """What the driver sends to the tasks."""

    transaction: OpenTransaction
    marker: Marker | None


def begin(
    manager: TransactionManager,
    place: MarkerPlace | None,
    version_of: Callable[[], int],
    backoff: Callable[[], Backoff],
) -> Procedure[Begun]:
    """Fence earlier drivers, and read the marker.

    ``version_of`` returns the level of the feature ``transaction.version``, after a first request.
    """
    identity = yield from manager.initialize()
    marker = None
    if place is not None:
        marker = yield from read_marker(place, backoff())
    return Begun(OpenTransaction(manager.transactional_id, *identity, version_of()), marker)


def read_marker(place: MarkerPlace, backoff: Backoff) -> Procedure[Marker | None]:
    """Read the committed marker; waits for a transaction that is ending."""
    where = place.partition
    group = GroupMetadata(place.group_id)
    committed = yield from fetch_committed(group, [where], backoff, require_stable=True)
    return Marker.read(committed[where], str(place)) if where in committed else None


def commit(
    manager: SharedTransactionManager,
    place: MarkerPlace | None,
    marker: Marker | None,
    backoff: Callable[[], Backoff],
) -> Procedure[None]:
    """Commit the rows of the tasks, with the marker.

    If the commit is refused, an earlier attempt without an answer may have succeeded. The marker
    says so.
    """
    if place is None or marker is None:
        yield from manager.end(commit=True)
        return
    offsets = {place.partition: marker.written()}
    try:
        yield from manager.send_offsets(offsets, GroupMetadata(place.group_id))
        yield from manager.end(commit=True)
    except KafkaError:
        if (yield from read_marker(place, backoff())) == marker:
            return
        raise


def abort(manager: SharedTransactionManager) -> Procedure[KafkaError | None]:
    """Abort, unless the transaction has ended; returns the error in that case.

    It has ended if it was committed after all, timed out, or was ended by a newer driver. The next
    begin finds out which.
    """
    try:
        yield from manager.end(commit=False)
    except (FencedError, FatalError) as error:
        return error
    return None
