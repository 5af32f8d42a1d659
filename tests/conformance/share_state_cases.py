"""Scripts for both share coordinators: what a leader of share partitions can do, and must not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.conformance.share_peer import ShareSide

AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4


def before_the_beginning(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.read(group, 0)
    yield side.read(group, -1)
    yield side.write(group, (0, 0), 0)
    yield side.delete(group)
    yield side.summary(group)


def partitions_that_are_not(side: ShareSide, group: str) -> Iterator[Any]:
    for number in (-1, 9):
        yield side.initialize(group, 1, number=number)
        yield side.read(group, 1, number)
        yield side.write(group, (1, 1), 0, number=number)
        yield side.delete(group, number)
        yield side.summary(group, number)


def a_life(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.initialize(group, 3)
    yield side.read(group, -1)
    yield side.read(group, 0)
    yield side.read(group, 2)
    yield side.summary(group)
    yield side.write(group, (3, 2), 0, (0, 9, AVAILABLE, 1), (10, 19, ACKNOWLEDGED, 1), complete=10)
    yield side.read(group, 2)
    yield side.write(group, (3, 2), -1, (0, 4, ARCHIVED, 5))
    yield side.read(group, 4)
    for offset in range(5, 9):
        yield side.write(
            group, (3, 4), offset, (offset, offset, ACKNOWLEDGED, 2), complete=offset - 5
        )
        yield side.summary(group)
    yield side.read(group, 4)
    yield side.delete(group)
    yield side.summary(group)
    yield side.delete(group)
    yield side.read(group, 4)


def fenced(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.initialize(group, 5)
    yield side.initialize(group, 4)
    yield side.initialize(group, 5)
    yield side.read(group, 3)
    yield side.read(group, 2)
    for epochs in ((4, 3), (6, 3), (5, 2), (5, -1), (-1, 3), (5, 7)):
        yield side.write(group, epochs, 1)
    yield side.read(group, 3)
    yield side.read(group, 8)
    yield side.summary(group)
    yield side.initialize(group, -1)
    yield side.summary(group)
    yield side.write(group, (4, 8), 1)
    yield side.read(group, 7)
    yield side.initialize(group, 6, 100)
    yield side.read(group, 8)
    yield side.summary(group)


def batches_are_merged(side: ShareSide, group: str) -> Iterator[Any]:
    yield side.initialize(group, 1, 0)
    epochs = (1, 0)
    yield side.write(
        group, epochs, 0, (10, 19, AVAILABLE, 1), (0, 9, AVAILABLE, 1), (5, 12, ACKNOWLEDGED, 1)
    )
    yield side.read(group, 0)
    yield side.write(group, epochs, -1, (0, 3, ACKNOWLEDGED, 1), (20, 29, AVAILABLE, 1))
    yield side.read(group, 0)
    yield side.write(group, epochs, 8, (5, 9, ARCHIVED, 2), (1, 2, AVAILABLE, 1), (40, 41, 0, 1))
    yield side.read(group, 0)
    yield side.write(group, epochs, 60)
    yield side.write(group, epochs, 30)
    yield side.read(group, 0)


def several_partitions(side: ShareSide, group: str) -> Iterator[Any]:
    for number in range(4):
        yield side.initialize(group, 1, number * 10, number)
    yield side.write(group, (1, 0), 12, (12, 12, ACKNOWLEDGED, 1), number=1)
    yield side.delete(group, 2)
    for number in range(4):
        yield side.summary(group, number)


CASES = (
    before_the_beginning,
    partitions_that_are_not,
    a_life,
    fenced,
    batches_are_merged,
    several_partitions,
)
