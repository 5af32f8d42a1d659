"""Which offsets a micro-batch covers, and how tasks share them: numbers only."""

from __future__ import annotations

from fencepost_client import TopicPartition
from fencepost_pipeline.spark.offset_ranges import OffsetRange, count_between, limit_rows, split
from hypothesis import given
from hypothesis import strategies as st

A, B, C = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
OFFSETS = st.dictionaries(st.sampled_from([A, B, C]), st.integers(0, 1000))


def test_without_more_than_the_limit_all_is_read() -> None:
    assert limit_rows({A: 0, B: 5}, {A: 10, B: 5}, 10) == {A: 10, B: 5}


def test_a_limit_is_shared_by_what_there_is() -> None:
    assert limit_rows({A: 0, B: 0}, {A: 900, B: 100}, 10) == {A: 9, B: 1}


def test_new_partitions_begin_at_zero() -> None:
    assert limit_rows({A: 100}, {A: 100, B: 50}, 10) == {A: 100, B: 10}
    assert count_between({A: 100}, {A: 100, B: 50}) == 50


def test_a_partition_that_has_shrunk_counts_for_nothing() -> None:
    assert count_between({A: 100, B: 0}, {A: 80, B: 10}) == 10
    assert limit_rows({A: 100, B: 0}, {A: 80, B: 10}, 5) == {A: 80, B: 5}


@given(OFFSETS, OFFSETS, st.integers(1, 500))
def test_a_limit_is_kept_and_used(
    start: dict[TopicPartition, int], end: dict[TopicPartition, int], rows_max: int
) -> None:
    limited = limit_rows(start, end, rows_max)
    assert limited.keys() == end.keys()
    assert count_between(start, limited) == min(rows_max, count_between(start, end))
    for where in end:
        assert limited[where] <= max(end[where], start.get(where, 0))


def test_small_backlogs_are_read_in_the_end() -> None:
    end = {A: 1000, B: 1}
    at = {A: 0, B: 0}
    rounds = 0
    while at != end:
        at = limit_rows(at, end, 10)
        rounds += 1
    assert rounds == 101


def test_a_range_per_partition_unless_more_are_asked_for() -> None:
    ranges = [OffsetRange(A, 0, 100), OffsetRange(B, 7, 7)]
    assert split(ranges) == [OffsetRange(A, 0, 100)]
    assert split(ranges, tasks_min=2) == [OffsetRange(A, 0, 50), OffsetRange(A, 50, 100)]


def test_large_ranges_are_cut_in_more_pieces() -> None:
    pieces = split([OffsetRange(A, 0, 900), OffsetRange(B, 0, 100)], tasks_min=10)
    assert [len(piece) for piece in pieces if piece.where == A] == [100] * 9
    assert [piece for piece in pieces if piece.where == B] == [OffsetRange(B, 0, 100)]


def test_tasks_of_a_size() -> None:
    pieces = split([OffsetRange(A, 5, 30)], rows_max=10)
    assert pieces == [OffsetRange(A, 5, 13), OffsetRange(A, 13, 21), OffsetRange(A, 21, 30)]


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 300)), max_size=5),
    st.integers(1, 40),
    st.none() | st.integers(1, 40),
)
def test_pieces_cover_everything_once(
    bounds: list[tuple[int, int]], tasks_min: int, rows_max: int | None
) -> None:
    ranges = [
        OffsetRange(TopicPartition("t", number), start, start + size)
        for number, (start, size) in enumerate(bounds)
    ]
    pieces = split(ranges, tasks_min=tasks_min, rows_max=rows_max)
    covered = [(p.where, offset) for p in pieces for offset in range(p.start, p.end)]
    assert covered == [(r.where, offset) for r in ranges for offset in range(r.start, r.end)]
    assert all(len(piece) for piece in pieces)
    if rows_max is not None:
        assert all(len(piece) <= rows_max for piece in pieces)
