"""What keeps ``__share_group_state`` short: its records before the oldest snapshot are deleted.

The snapshot of an idle share partition would keep all later records. So it is written again from
time to time, at the end of the log. It is marked, as in Kafka: its time is later than its state's.
When all snapshots are marked and no record has followed them, none is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from fencepost_broker.coordinator.share.messages import ShareKey
from fencepost_broker.coordinator.share.state import ShareState

SNAPSHOTS_AT_ONCE: Final = 100
"""So many snapshots are written in one batch."""


@dataclass(frozen=True, slots=True)
class DeleteRecords:
    """The effect that deletes records of the coordinator's log."""

    before_offset: int


class UpkeepTimes(NamedTuple):
    """When each of the two is next done; soft state."""

    snapshots_ms: int
    deletion_ms: int


def cold(
    states: Mapping[ShareKey, ShareState], now_ms: int, interval_ms: int
) -> list[tuple[ShareKey, ShareState]]:
    """Return the share partitions whose snapshots are old, unless all rest."""
    if all(each.created_ms != each.written_ms and not each.updates for each in states.values()):
        return []
    return [
        (key, state) for key, state in states.items() if now_ms - state.written_ms >= interval_ms
    ]
