"""Rooms for large frames: used again, bounded, and never trusted to an announcement."""

from __future__ import annotations

from fencepost_broker.adapters.receiving import FIRST_ROOM_BYTES, KEPT_BYTES_MAX, SharedBuffer

MB = 1 << 20


def test_an_announced_frame_gets_little_before_it_arrives() -> None:
    shared = SharedBuffer()
    assert len(shared.take_room(100 * MB, 4)) == FIRST_ROOM_BYTES
    assert len(shared.take_room(100 * MB, 6 * MB)) == 6 * MB
    assert MB <= len(shared.take_room(MB + 1, 4)) < 2 * MB


def test_a_room_is_used_again_by_a_frame_that_it_fits() -> None:
    shared = SharedBuffer()
    small, large = shared.take_room(MB, 4), shared.take_room(6 * MB, 6 * MB)
    shared.give_back(large)
    shared.give_back(small)
    assert shared.take_room(MB - 7, 4) is small
    assert shared.take_room(5 * MB, 4) is large, "though little of the frame has arrived"
    assert shared.take_room(5 * MB, 4) is not large, "it is in use"


def test_a_room_that_is_too_small_for_the_frame_does_for_its_beginning() -> None:
    shared = SharedBuffer()
    room = shared.take_room(3 * MB, 3 * MB)
    shared.give_back(room)
    assert shared.take_room(50 * MB, 5 * MB) is not room, "more than that has arrived already"
    assert shared.take_room(50 * MB, 2 * MB) is room


def test_only_so_much_is_kept() -> None:
    shared = SharedBuffer()
    rooms = [shared.take_room(size * MB, size * MB) for size in (1, 5, 6, 7)]
    for room in rooms:
        shared.give_back(room)
    assert sum(map(len, shared._kept)) <= KEPT_BYTES_MAX
    assert shared.take_room(7 * MB, 7 * MB) is rooms[3], "the smallest went"
    huge = shared.take_room(KEPT_BYTES_MAX + 1, KEPT_BYTES_MAX + 1)
    shared.give_back(huge)
    assert shared.take_room(KEPT_BYTES_MAX + 1, KEPT_BYTES_MAX + 1) is not huge
    assert shared.take_room(6 * MB, 6 * MB) is rooms[2], "nothing had to go for it"


def test_a_room_that_was_given_back_is_scribbled_over_in_tests() -> None:
    shared = SharedBuffer(scribble=True)
    room = shared.take_room(MB, 4)
    room[:3] = b"abc"
    shared.give_back(room)
    assert bytes(room[:3]) == b"\xa5\xa5\xa5"
