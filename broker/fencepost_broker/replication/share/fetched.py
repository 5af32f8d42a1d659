"""The batches of a read: their offsets, and whether a consumer of a share group may see them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from fencepost_protocol.records.batch import HEADER_SIZE, Buffer, read_header

from fencepost_broker.replication.share.share_partition import Acquired, FetchedBatch
from fencepost_broker.storage.log import AbortedTransaction


def fetched_batches(
    records: Buffer, aborted: Iterable[AbortedTransaction] | None
) -> list[FetchedBatch]:
    """Return the whole batches of a read; the last one may be cut off.

    ``aborted`` has the transactions that a read-committed reader skips.
    """
    to_come = deque(sorted(aborted or (), key=lambda each: each.first_offset))
    skipped: set[int] = set()
    batches = []
    position = 0
    while position + HEADER_SIZE <= len(records):
        header = read_header(records, position)
        end = position + header.size_in_bytes
        if end > len(records):
            break
        while to_come and to_come[0].first_offset <= header.last_offset:
            skipped.add(to_come.popleft().producer_id)
        is_hidden = header.is_control
        if header.is_control:
            skipped.discard(header.producer_id)
        elif header.is_transactional:
            is_hidden = header.producer_id in skipped
        batches.append(
            FetchedBatch(header.base_offset, header.last_offset, is_hidden, position, end)
        )
        position = end
    return batches


def bytes_of(batches: Iterable[FetchedBatch], acquired: list[Acquired]) -> tuple[int, int]:
    """Return where the batches with the acquired records begin and end."""
    first, last = acquired[0].first, acquired[-1].last
    needed = [each for each in batches if each.last >= first and each.first <= last]
    return needed[0].position, needed[-1].end
