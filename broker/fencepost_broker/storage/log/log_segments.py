"""The segments of one log, in the order of their offsets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from fencepost_broker.storage.log.segment import NEVER, Segment


class LogSegments:
    """A log's segments, oldest first: at least one, of which the last is written.

    This alone knows where each segment stands. Nothing here touches a file.
    """

    __slots__ = ("_base_offsets", "_segments", "active")

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._segments = list(segments)
        self._base_offsets = [segment.base_offset for segment in self._segments]
        self.active = self._segments[-1]
        """The last segment, to which batches are appended."""

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    @property
    def first(self) -> Segment:
        """The oldest segment."""
        return self._segments[0]

    @property
    def size_in_bytes(self) -> int:
        """The size of all segments together."""
        return sum(segment.size for segment in self._segments)

    # --- looking up ---------------------------------------------------------------------------

    def at(self, offset: int) -> Segment:
        """Return the segment that an offset belongs to; the first one, if the offset is lower."""
        return self._segments[max(bisect_right(self._base_offsets, offset) - 1, 0)]

    def from_offset(self, offset: int) -> list[Segment]:
        """Return the segment that an offset belongs to, and all segments after it."""
        return self._segments[max(bisect_right(self._base_offsets, offset) - 1, 0) :]

    def after(self, segment: Segment) -> Segment | None:
        """Return the segment that follows; ``None`` after the active one."""
        number = bisect_right(self._base_offsets, segment.base_offset)
        return self._segments[number] if number < len(self._segments) else None

    def end_of(self, segment: Segment) -> int:
        """Return the offset at which the next segment begins; ``NEVER`` for the active one."""
        following = self.after(segment)
        return NEVER if following is None else following.base_offset

    def count_below(self, offset: int) -> int:
        """Count the segments that another segment follows at or below ``offset``."""
        return max(bisect_right(self._base_offsets, offset) - 1, 0)

    # --- changing -----------------------------------------------------------------------------

    def roll(self, segment: Segment) -> None:
        """Make a new segment the active one. It takes the place of an active one without bytes."""
        if not self.active.size:
            self._segments.pop()
            self._base_offsets.pop()
        self._segments.append(segment)
        self._base_offsets.append(segment.base_offset)
        self.active = segment

    def drop_active(self) -> None:
        """Take out the active segment; the one before it becomes active."""
        self._segments.pop()
        self._base_offsets.pop()
        self.active = self._segments[-1]

    def drop_after(self, segment: Segment) -> list[Segment]:
        """Take out all segments after this one, which becomes active; return them."""
        number = bisect_right(self._base_offsets, segment.base_offset)
        dropped = self._segments[number:]
        del self._segments[number:], self._base_offsets[number:]
        self.active = segment
        return dropped

    def drop_first(self, count: int) -> list[Segment]:
        """Take out the oldest segments, not all of them; return them."""
        dropped = self._segments[:count]
        del self._segments[:count], self._base_offsets[:count]
        return dropped

    def replace(self, group: list[Segment], segment: Segment) -> None:
        """Put a segment in the place of neighbours, of which none is active."""
        first = self._segments.index(group[0])
        end = first + len(group)
        self._segments[first:end] = [segment]
        self._base_offsets[first:end] = [segment.base_offset]
