"""Frames out of a stream, however it arrives."""

from __future__ import annotations

import struct

import pytest
from fencepost_client.requests.frames import ROOM_BYTES, FrameReceiver
from fencepost_protocol.exceptions import RemoteProtocolError
from hypothesis import given
from hypothesis import strategies as st

SIZES = st.lists(
    st.sampled_from([0, 1, 7, 1000, ROOM_BYTES - 4, ROOM_BYTES - 3, 3 * ROOM_BYTES]), max_size=8
)


def feed(receiver: FrameReceiver, stream: bytes, steps: list[int]) -> list[bytes]:
    found: list[bytes] = []
    turn = 0
    while stream:
        room = receiver.buffer()
        assert len(room) > 0
        count = min(len(room), steps[turn % len(steps)], len(stream))
        turn += 1
        room[:count] = stream[:count]
        stream = stream[count:]
        frames = receiver.received(count)
        found += [bytes(frame) for frame in frames]
    return found


@given(
    SIZES, st.lists(st.sampled_from([1, 3, 5, 999, ROOM_BYTES, 1 << 20]), min_size=1, max_size=5)
)
def test_frames_come_out_as_they_went_in(sizes: list[int], steps: list[int]) -> None:
    if steps and max(steps) < 999:
        steps = [*steps, 999]
    frames = [bytes([number + 1]) * size for number, size in enumerate(sizes)]
    stream = b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)
    assert feed(FrameReceiver(1 << 20), stream, steps) == frames


def test_a_frame_stays_valid_when_more_arrives() -> None:
    receiver = FrameReceiver(1 << 20)
    kept = []
    for letter in b"abc":
        data = struct.pack(">i", 3) + bytes([letter]) * 3
        receiver.buffer()[: len(data)] = data
        kept += receiver.received(len(data))
    assert [bytes(frame) for frame in kept] == [b"aaa", b"bbb", b"ccc"]


@pytest.mark.parametrize("size", [-1, (1 << 20) + 1])
def test_a_size_that_cannot_be_is_refused(size: int) -> None:
    receiver = FrameReceiver(1 << 20)
    receiver.buffer()[:4] = struct.pack(">i", size)
    with pytest.raises(RemoteProtocolError, match="frame size"):
        receiver.received(4)
