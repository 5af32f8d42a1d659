"""The offsets of a micro-batch, and their distribution over tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise

from fencepost_client.types import TopicPartition

from fencepost_pipeline.spark.offsets import Offsets


@dataclass(frozen=True, slots=True)
class OffsetRange:
    """The records from ``start`` to before ``end``."""

    where: TopicPartition
    start: int
    end: int

    def __len__(self) -> int:
        return max(0, self.end - self.start)


def count_between(start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int]) -> int:
    """The number of offsets; 0 for a partition that has shrunk."""
    return sum(max(0, end[where] - start.get(where, 0)) for where in end)


def limit_rows(
    start: Mapping[TopicPartition, int], end: Mapping[TopicPartition, int], rows_max: int
) -> Offsets:
    """How far to go with so many rows: each partition by its share of what there is.

    What is left by rounding goes to those that lost most by it. So a small partition may wait for
    some micro-batches, but not for ever: its share grows as the others' backlog is worked off.
    """
    sizes = {where: max(0, end[where] - start.get(where, 0)) for where in end}
    total = sum(sizes.values())
    if total <= rows_max:
        return dict(end)
    shares = {where: size * rows_max // total for where, size in sizes.items()}
    left = rows_max - sum(shares.values())
    by_loss = sorted(sizes, key=lambda where: (-(sizes[where] * rows_max % total), where))
    for where in by_loss[:left]:
        shares[where] += 1
    return {
        where: start.get(where, 0) + shares[where] if size else end[where]
        for where, size in sizes.items()
    }


def split(
    ranges: Iterable[OffsetRange], *, tasks_min: int | None = None, rows_max: int | None = None
) -> list[OffsetRange]:
    """Ranges for tasks: a range per partition, or more where more tasks or smaller ones are asked.

    ``tasks_min`` is roughly kept, as in Spark's own source: large ranges are cut in as many pieces
    as their share of all offsets says.
    """
    left = [each for each in ranges if len(each)]
    if rows_max is not None:
        left = [piece for each in left for piece in _cut(each, -(-len(each) // rows_max))]
    if tasks_min is None or len(left) >= tasks_min:
        return left
    total = sum(map(len, left))
    found: list[OffsetRange] = []
    for each in left:
        found += _cut(each, max(1, round(len(each) * tasks_min / total)))
    return found


def _cut(whole: OffsetRange, pieces: int) -> list[OffsetRange]:
    """Equal pieces, none of them empty."""
    pieces = min(pieces, len(whole))
    bounds = [whole.start + len(whole) * number // pieces for number in range(pieces + 1)]
    return [OffsetRange(whole.where, start, end) for start, end in pairwise(bounds)]
