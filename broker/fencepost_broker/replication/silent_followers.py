"""Silent followers: those that have not fetched a partition since this broker became its leader.

A follower fetches all its partitions of one leader with one Fetch, which waits if there are no new
records. A new partition is in its next Fetch. If the waiting Fetch lasted its full time
(``replica.fetch.wait.max.ms``), a Produce with acks=all would wait as long after each topic
creation and each election. So a waiting Fetch is answered when its sender has to follow another
partition, and its next Fetches wait only briefly until it has fetched all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final, Generic, Protocol, TypeVar

LOOK_MS: Final = 20
"""The wait of a Fetch whose sender is silent about a partition and may learn of it soon."""
GIVE_UP_MS: Final = 5000
"""The time after which a silent follower is presumed to have a problem, and waits normally."""

_Partition = TypeVar("_Partition", bound=Hashable)


class Parked(Protocol):
    """A waiting Fetch."""

    def time_is_over(self) -> None:
        """Answer with what there is."""

    def failed(self, error: Exception) -> None:
        """Handle an exception of ``time_is_over``; the wait is over."""


class SilentFollowers(Generic[_Partition]):
    """For each follower: the partitions that it has yet to fetch, and its waiting Fetch."""

    def __init__(self) -> None:
        self._since_ms: dict[int, dict[_Partition, int]] = {}
        self._parked: dict[int, Parked] = {}

    def begin(self, partition: _Partition, followers: Iterable[int], now_ms: int) -> None:
        """Expect fetches of a partition that this broker has begun to lead."""
        for broker_id in followers:
            self._since_ms.setdefault(broker_id, {})[partition] = now_ms
            parked = self._parked.pop(broker_id, None)
            if parked is not None:
                try:
                    parked.time_is_over()
                except Exception as error:  # noqa: BLE001 (a bug costs this fetch alone)
                    parked.failed(error)

    def heard(self, broker_id: int, partition: _Partition) -> None:
        """Record that a follower fetches a partition."""
        waited_for = self._since_ms.get(broker_id)
        if waited_for:
            waited_for.pop(partition, None)

    def forget(self, partition: _Partition) -> None:
        """Expect no fetches of a partition that this broker no longer leads."""
        for waited_for in self._since_ms.values():
            waited_for.pop(partition, None)

    def wait_ms(self, broker_id: int, wanted_ms: int, now_ms: int) -> int:
        """Return how long a Fetch of a follower may wait."""
        waited_for = self._since_ms.get(broker_id)
        while waited_for:
            partition, since_ms = next(iter(waited_for.items()))
            if now_ms - since_ms < GIVE_UP_MS:
                return min(wanted_ms, LOOK_MS)
            del waited_for[partition]
        return wanted_ms

    def park(self, broker_id: int, fetch: Parked) -> None:
        """Register a follower's waiting Fetch."""
        self._parked[broker_id] = fetch

    def unpark(self, broker_id: int, fetch: Parked) -> None:
        """Remove a Fetch that no longer waits."""
        if self._parked.get(broker_id) is fetch:
            del self._parked[broker_id]
