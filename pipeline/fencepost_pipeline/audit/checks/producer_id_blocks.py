"""Producer ids: the blocks they come from do not overlap, and nobody else's id is used.

The controller gives every broker blocks of producer ids (KIP-730) and notes in the metadata log
where the next one will begin. So these notes only grow: one that does not gave the same ids out
twice. An id at or above the last note was never given out. And a coordinator gives an id to one
transactional id only: two with the same one would take each other's records for retries.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fencepost_pipeline.audit.coordinator_log import TOPIC as STATE_TOPIC
from fencepost_pipeline.audit.coordinator_log import History
from fencepost_pipeline.audit.findings import Finding, Invariant, Ledger
from fencepost_pipeline.audit.partition_scan import Scanned

TOPIC = "__cluster_metadata"


class BlockNote(NamedTuple):
    """One ProducerIdsRecord."""

    offset: int
    broker_id: int
    next_id: int
    segment: str = ""


def check_blocks(
    notes: Iterable[BlockNote],
    history: History | None,
    partitions: Iterable[Scanned],
    ledger: Ledger,
) -> None:
    """Notes in the order of the metadata log, those of a snapshot first."""
    end = 0
    for note in notes:
        ledger.checked(Invariant.BLOCKS, 1)
        if note.next_id <= end:
            ledger.found(
                Finding(
                    Invariant.BLOCKS,
                    f"the block of broker {note.broker_id} ends at id {note.next_id}, "
                    f"but ids up to {end - 1} were given out before",
                    TOPIC,
                    0,
                    note.offset,
                    segment=note.segment,
                )
            )
        end = max(end, note.next_id)
    for scanned in partitions:
        _check_used(scanned, end, ledger)
    if history is not None:
        _check_owners(history, end, ledger)


def _check_used(scanned: Scanned, end: int, ledger: Ledger) -> None:
    summary = scanned.summary
    ledger.checked(Invariant.BLOCKS, len(summary.producer_ids))
    for producer_id, offset in summary.producer_ids.items():
        if producer_id >= end:
            ledger.found(
                Finding(
                    Invariant.BLOCKS,
                    f"producer id {producer_id} is used, and ids from {end} on are in no block",
                    summary.topic,
                    summary.partition,
                    offset,
                    producer_id=producer_id,
                    segment=summary.segment_of(offset),
                )
            )


def _check_owners(history: History, end: int, ledger: Ledger) -> None:
    ledger.checked(Invariant.BLOCKS, len(history.owners))
    for producer_id, owners in history.owners.items():
        partition, offset = history.first_seen[producer_id]
        if len(owners) > 1:
            text = f"producer id {producer_id} belongs to {' and '.join(sorted(owners))}"
        elif producer_id >= end:
            text = f"producer id {producer_id} is given out, and ids from {end} on are in no block"
        else:
            continue
        ledger.found(
            Finding(
                Invariant.BLOCKS,
                text,
                STATE_TOPIC,
                partition,
                offset,
                producer_id=producer_id,
                transactional_id=min(owners),
            )
        )
