"""Rooms for unfinished frames: used again, bounded, and given back to the system."""

from __future__ import annotations

import mmap

import pytest
from fencepost_broker.network.queued_bytes import BEGINNINGS_BYTES
from fencepost_broker.network.receive_buffer import KEPT_BYTES_MAX, KEPT_ROOMS_MAX, SharedBuffer

MB = 1 << 20


@pytest.mark.parametrize("size", [4097, 5000, 100_000, MB - 1, MB, MB + 1, 100 * MB])
def test_a_room_is_little_more_than_its_frame(size: int) -> None:
    room = SharedBuffer().take_room(size)
    assert size <= len(room) <= size * 5 // 4 + mmap.PAGESIZE


def test_a_room_is_used_again_by_a_frame_of_its_size() -> None:
    shared = SharedBuffer()
    small, large = shared.take_room(MB), shared.take_room(6 * MB)
    shared.give_back(large)
    shared.give_back(small)
    assert shared.take_room(MB - 7) is small
    assert shared.take_room(6 * MB) is large
    assert shared.take_room(6 * MB) is not large, "it is in use"


def test_a_small_frame_gets_no_large_room() -> None:
    """It would hold more than is counted for it."""
    shared = SharedBuffer()
    room = shared.take_room(6 * MB)
    shared.give_back(room)
    assert len(shared.take_room(MB)) < 2 * MB


def test_only_so_many_bytes_are_kept_and_the_latest_stay() -> None:
    shared = SharedBuffer()
    rooms = [shared.take_room(size * MB) for size in (1, 5, 6, 7)]
    for room in rooms:
        shared.give_back(room)
    assert shared.take_room(1 * MB) is not rooms[0]
    assert shared.take_room(5 * MB) is not rooms[1]
    assert shared.take_room(6 * MB) is rooms[2]
    assert shared.take_room(7 * MB) is rooms[3]


def test_only_so_many_rooms_are_kept() -> None:
    shared = SharedBuffer()
    rooms = [shared.take_room(5000) for _ in range(KEPT_ROOMS_MAX + 1)]
    for room in rooms:
        shared.give_back(room)
    again = [shared.take_room(5000) for _ in rooms]
    assert sum(any(each is room for room in rooms) for each in again) == KEPT_ROOMS_MAX


def test_a_huge_room_is_not_kept() -> None:
    shared = SharedBuffer()
    kept, huge = shared.take_room(MB), shared.take_room(KEPT_BYTES_MAX + 1)
    shared.give_back(kept)
    shared.give_back(huge)
    assert shared.take_room(KEPT_BYTES_MAX + 1) is not huge
    assert shared.take_room(MB) is kept, "nothing had to go for it"


def test_what_is_kept_can_be_forgotten() -> None:
    shared = SharedBuffer()
    room = shared.take_room(MB)
    shared.give_back(room)
    shared.forget()
    assert shared.take_room(MB) is not room


def test_a_room_that_was_given_back_is_scribbled_over_in_tests() -> None:
    shared = SharedBuffer()
    for room in (shared.take_room(MB), bytearray(100)):
        room[:3] = b"abc"
        shared.give_back(room)
        assert bytes(room[:3]) == b"\xa5\xa5\xa5"


def test_a_receive_gets_little_while_more_is_held_than_may_be() -> None:
    shared = SharedBuffer(1000)
    shared.queued.hold(1000 + BEGINNINGS_BYTES)
    assert len(shared.open) == len(shared.view)
    shared.queued.hold(1)
    assert len(shared.open) < len(shared.view) // 10
    shared.queued.hold(-1)
    assert len(shared.open) == len(shared.view)
