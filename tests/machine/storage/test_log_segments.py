"""The list of a log's segments: which one an offset is in, and what is taken out of it."""

from __future__ import annotations

import pytest
from fencepost_broker.storage.log.log_segments import LogSegments
from fencepost_broker.storage.log.segment import NEVER, Segment

from tests.machine.storage.harness import FOLDER, NOW, memory_disk


def segment(base_offset: int, *, size: int = 100) -> Segment:
    made = Segment(memory_disk(), FOLDER, base_offset, NOW, 1000)
    made.size = size
    return made


def segments(*base_offsets: int) -> LogSegments:
    return LogSegments([segment(offset) for offset in base_offsets])


def bases(found: list[Segment] | LogSegments) -> list[int]:
    return [each.base_offset for each in found]


@pytest.mark.parametrize(
    ("offset", "expected"), [(3, 5), (5, 5), (9, 5), (10, 10), (29, 20), (999, 20)]
)
def test_an_offset_is_in_the_segment_that_begins_at_or_before_it(
    offset: int, expected: int
) -> None:
    log = segments(5, 10, 20)
    assert log.at(offset).base_offset == expected
    assert bases(log.from_offset(offset)) == [each for each in (5, 10, 20) if each >= expected]
    assert log.count_below(offset) == (5, 10, 20).index(expected)


def test_a_segment_ends_where_the_next_one_begins() -> None:
    log = segments(5, 10)
    assert log.after(log.first) is log.active
    assert log.after(log.active) is None
    assert [log.end_of(each) for each in log] == [10, NEVER]


def test_rolling_appends_a_segment_and_replaces_an_empty_one() -> None:
    log = segments(5)
    log.roll(segment(10, size=0))
    assert bases(log) == [5, 10]
    log.roll(segment(12))
    assert bases(log) == [5, 12]
    assert log.at(11).base_offset == 5
    assert log.active.base_offset == 12


def test_what_is_taken_out_is_not_found_any_more() -> None:
    log = segments(0, 5, 10, 15, 20)
    assert bases(log.drop_first(1)) == [0]
    log.drop_active()
    assert (log.first.base_offset, log.active.base_offset) == (5, 15)
    assert log.at(30) is log.active
    assert bases(log.drop_after(log.first)) == [10, 15]
    assert log.active is log.first is log.at(30)
    assert len(log) == 1


def test_a_segment_takes_the_place_of_neighbours() -> None:
    log = segments(0, 5, 10, 15)
    cleaned = segment(5)
    log.replace(log.from_offset(5)[:2], cleaned)
    assert bases(log) == [0, 5, 15]
    assert log.at(12) is cleaned
    assert log.end_of(cleaned) == 15
