"""The marker: the number of the next batch, and the query that it belongs to.

It is an offset of the sink's group, with metadata. Offset ``n`` means that all batches below ``n``
are committed. The metadata names the query, because batch numbers restart at 0 after a checkpoint
is lost, and these batches are not the ones that the sink has.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Final, Self

from fencepost_client.types import OffsetAndMetadata

from fencepost_pipeline.sink.errors import MarkerError

NOTE_VERSION: Final = 1
NOTE_BYTES_MAX: Final = 4_000
"""Kafka's ``offset.metadata.max.bytes`` is 4,096 by default."""


@dataclass(frozen=True, slots=True)
class Marker:
    """The marker that was committed with a batch."""

    next_batch: int
    query_id: str
    producer_id: int
    producer_epoch: int
    sources: str | None = None
    """The batch's offsets in its sources, as Spark's checkpoint has them, where it can be read."""
    sources_digest: str | None = None

    def written(self) -> OffsetAndMetadata:
        """The metadata of the offset."""
        note: dict[str, Any] = {
            "v": NOTE_VERSION,
            "query": self.query_id,
            "producer": [self.producer_id, self.producer_epoch],
            "sources": self.sources,
            "digest": self.sources_digest,
        }
        text = json.dumps(note, separators=(",", ":"))
        if len(text.encode()) > NOTE_BYTES_MAX:
            text = json.dumps(note | {"sources": None}, separators=(",", ":"))
        return OffsetAndMetadata(self.next_batch, text)

    def source_offsets(self, topic: str) -> dict[int, int] | None:
        """For each partition of a topic, the offset after the last record that was read.

        ``None``: the note does not say. Spark writes a line for each source, and those of Kafka
        sources, Spark's own and ours, are ``{"orders": {"0": 23}}``.
        """
        result: dict[int, int] = {}
        for line in (self.sources or "").splitlines():
            try:
                partitions = json.loads(line)[topic]
                read = {int(number): int(offset) for number, offset in partitions.items()}
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # a source of another kind, or of other topics
            for number, offset in read.items():
                result[number] = min(offset, result.get(number, offset))
        return result or None

    @classmethod
    def read(cls, committed: OffsetAndMetadata, where: str) -> Self:
        """Read the metadata; raises ``MarkerError`` for anything else."""
        try:
            note = json.loads(committed.metadata)
            producer_id, producer_epoch = note["producer"]
            assert note["v"] == NOTE_VERSION
            return cls(
                committed.offset,
                str(note["query"]),
                int(producer_id),
                int(producer_epoch),
                note.get("sources"),
                note.get("digest"),
            )
        except (AssertionError, ValueError, KeyError, TypeError) as error:
            raise MarkerError(
                f"{where} has the offset {committed.offset} with the note "
                f"{committed.metadata!r:.200}, which no sink of this version has committed. "
                f"Give the sink a group of its own: .option('markerGroup', ...)."
            ) from error


def digest_of(sources: str) -> str:
    """Enough of the sources' offsets to tell them from others."""
    return hashlib.sha256(sources.encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Batch:
    """The batch that Spark wants to write."""

    batch_id: int
    query_id: str
    sources: str | None = None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What somebody has looked at and found right: options that are taken away afterwards."""

    missing_marker: bool = False
    from_query: str | None = None


def must_be_written(
    batch: Batch, marker: Marker | None, where: str, allowed: Allowance = Allowance()
) -> bool:
    """Whether to write the batch; False if it is committed already. Raises ``MarkerError``.

    Spark repeats at most the last batch, and numbers batches without gaps. Anything else means that
    the checkpoint and the sink do not belong together.
    """
    if marker is None:
        if batch.batch_id == 0 or allowed.missing_marker:
            return True
        raise MarkerError(
            f"The query {batch.query_id} is at batch {batch.batch_id}, and there is no marker in "
            f"{where}: this sink has never seen it, or its offsets have expired "
            f"(offsets.retention.minutes) or were deleted. Nobody can tell whether batch "
            f"{batch.batch_id} was committed: look into the topic, and if it was not, start the "
            f"query with .option('acceptMissingMarker', 'true') once."
        )
    if marker.query_id != batch.query_id:
        if allowed.from_query == marker.query_id:
            return True
        raise MarkerError(
            f"{where} has the batches below {marker.next_batch} of query {marker.query_id}, and "
            f"this is query {batch.query_id} at batch {batch.batch_id}: its checkpoint is another "
            f"one, or was lost. Its first {marker.next_batch} batches would be taken for those, "
            f"and skipped. Use the old checkpoint; or a new sinkId, which writes anew what the "
            f"new query reads; or, if the query goes on exactly behind the last batch"
            f"{_read_so_far(marker)}, .option('continueQuery', '{marker.query_id}') once."
        )
    if batch.batch_id == marker.next_batch:
        return True
    if batch.batch_id == marker.next_batch - 1:
        _check_sources(batch, marker, where)
        return False
    if batch.batch_id < marker.next_batch:
        raise MarkerError(
            f"{where} has the batches below {marker.next_batch} of query {marker.query_id}, and "
            f"Spark runs batch {batch.batch_id} again: the checkpoint is older than the sink, as "
            f"after a restore. Batches that are planned anew from there would have other rows "
            f"than those that were committed. Use the last checkpoint, or a new sinkId."
        )
    if allowed.missing_marker:
        return True
    raise MarkerError(
        f"{where} has the batches below {marker.next_batch} of query {marker.query_id}, and Spark "
        f"is at batch {batch.batch_id}: those between were never committed here. If they went to "
        f"another sink on purpose, .option('acceptMissingMarker', 'true') once."
    )


def _check_sources(batch: Batch, marker: Marker, where: str) -> None:
    if batch.sources is None or marker.sources_digest is None:
        return
    if digest_of(batch.sources) != marker.sources_digest:
        raise MarkerError(
            f"{where} has batch {batch.batch_id} of query {batch.query_id} with other offsets of "
            f"its sources than this checkpoint has ({marker.sources or 'not kept'} against "
            f"{batch.sources}): the checkpoint was changed or restored. Use the one that the "
            f"batch was committed with, or a new sinkId."
        )


def _read_so_far(marker: Marker) -> str:
    return f" (its sources were at {marker.sources})" if marker.sources else ""


def marker_after(batch: Batch, producer_id: int, producer_epoch: int) -> Marker:
    """The marker that is committed with a batch."""
    digest = digest_of(batch.sources) if batch.sources is not None else None
    return Marker(
        batch.batch_id + 1, batch.query_id, producer_id, producer_epoch, batch.sources, digest
    )
