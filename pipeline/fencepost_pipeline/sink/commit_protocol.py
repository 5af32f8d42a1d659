"""Begin, commit and abort of a batch's transaction, each a procedure that one process runs alone.

They are run by different processes, which share nothing but an :class:`OpenTransaction`. What one
of them left half done is found out by the next from the broker: InitProducerId ends what is open,
and the marker, read afterwards, says what was committed.
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
    """Where a sink keeps its marker."""

    group_id: str
    topic: str

    @property
    def partition(self) -> TopicPartition:
        """The partition whose offset it is."""
        return TopicPartition(self.topic, MARKER_PARTITION)

    def __str__(self) -> str:
        return f"group {self.group_id!r} ({self.topic}-{MARKER_PARTITION})"


class Begun(NamedTuple):
    """What tasks are told."""

    transaction: OpenTransaction
    marker: Marker | None


def begin(
    manager: TransactionManager,
    place: MarkerPlace | None,
    version_of: Callable[[], int],
    backoff: Callable[[], Backoff],
) -> Procedure[Begun]:
    """Fence whoever was here before, then see how far they came.

    ``version_of`` tells the feature ``transaction.version`` once the cluster has been asked.
    """
    identity = yield from manager.initialize()
    marker = None
    if place is not None:
        marker = yield from read_marker(place, backoff())
    return Begun(OpenTransaction(manager.transactional_id, *identity, version_of()), marker)


def read_marker(place: MarkerPlace, backoff: Backoff) -> Procedure[Marker | None]:
    """The marker as it is committed; waits for a transaction that is being ended."""
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
    """Commit what the tasks wrote, with the marker.

    When the end is refused, an earlier attempt whose answer was lost may have been the one that
    committed: the marker tells.
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
    """Abort, unless it is over; gives why it could not be aborted.

    It is over when it was committed after all, timed out, or was ended by a newer driver. Nothing
    depends on which: the next begin finds out.
    """
    try:
        yield from manager.end(commit=False)
    except (FencedError, FatalError) as error:
        return error
    return None
