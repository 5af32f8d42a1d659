"""One direction of a connection is put together again, whatever order its segments come in."""

from __future__ import annotations

import random

import pytest
from fencepost_protocol import limits
from fencepost_protocol.dissect.tcp import Gap, Piece, Stream, ahead

DATA = bytes(range(256)) * 8


def joined(pieces: list[Piece]) -> bytes:
    assert not any(isinstance(piece, Gap) for piece in pieces), pieces
    return b"".join(bytes(piece) for piece in pieces if not isinstance(piece, Gap))


def segment(start: int, end: int) -> memoryview:
    return memoryview(DATA)[start:end]


def test_sequence_numbers_go_round() -> None:
    assert ahead(5, 3) == 2
    assert ahead(1, 0xFFFF_FFFF) == 2
    assert ahead(0xFFFF_FFFF, 1) == -2


@pytest.mark.parametrize("begin", [0, 1000, 0xFFFF_FFF0])
@pytest.mark.parametrize("seed", range(20))
def test_late_repeated_and_overlapping_segments_come_out_in_order(begin: int, seed: int) -> None:
    rng = random.Random(seed)
    cuts = sorted(rng.sample(range(1, len(DATA)), 12))
    parts = list(zip([0, *cuts], [*cuts, len(DATA)], strict=True))
    for _ in range(8):
        start = rng.randrange(len(DATA))
        parts.append((start, rng.randint(start, len(DATA))))
    rng.shuffle(parts)
    stream = Stream()
    stream.begin(begin)
    pieces: list[Piece] = []
    for start, end in parts:
        pieces += stream.add((begin + 1 + start) % (1 << 32), segment(start, end))
    assert joined(pieces) == DATA
    assert not stream.finish()


def test_without_a_syn_the_stream_begins_with_the_first_segment() -> None:
    stream = Stream()
    pieces = stream.add(77, segment(0, 10)) + stream.add(87, segment(10, 20))
    assert joined(pieces) == DATA[:20]
    assert not stream.add(70, segment(0, 7))


def test_missing_bytes_are_a_gap_at_the_end() -> None:
    stream = Stream()
    stream.begin(0)
    assert joined(stream.add(1, segment(0, 10))) == DATA[:10]
    assert not stream.add(31, segment(30, 40))
    assert not stream.add(61, segment(60, 70))
    pieces = stream.finish()
    assert pieces == [Gap(20), segment(30, 40), Gap(20), segment(60, 70)]


def test_missing_bytes_are_a_gap_once_the_other_side_has_acknowledged_them() -> None:
    stream = Stream()
    stream.begin(0)
    stream.add(11, segment(10, 20))
    assert [stream.acknowledged(10) for _ in range(9)] == [[]] * 9
    pieces = [stream.acknowledged(21) for _ in range(4)]
    assert pieces == [[], [], [], [Gap(10), segment(10, 20)]]


def test_only_so_many_segments_may_wait() -> None:
    stream = Stream()
    stream.begin(0)
    pieces: list[Piece] = []
    for number in range(limits.MAX_CAPTURED_SEGMENTS_WAITING + 1):
        assert not pieces
        pieces = stream.add(101 + 2 * number, segment(0, 1))
    assert pieces == [Gap(100), segment(0, 1)]


def test_bytes_that_the_capture_has_cut_off_are_a_gap() -> None:
    stream = Stream()
    stream.begin(0)
    pieces = stream.add(1, segment(0, 10), missing=5)
    pieces += stream.add(16, segment(15, 20))
    assert pieces == [segment(0, 10), Gap(5), segment(15, 20)]
    assert not stream.add(1, segment(0, 10), missing=5)
