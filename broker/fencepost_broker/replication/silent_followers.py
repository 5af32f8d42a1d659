"""Followers that a leader has not heard of since it began to lead.

A follower asks for all that it follows of one leader with one Fetch, which waits where there is
nothing new. A partition that it follows from now on is in its next one: if it waited its full time
(``replica.fetch.wait.max.ms``) there, a Produce with acks all would wait as long behind each
creation of a topic and each election. So the Fetch that waits is answered when its sender is to
follow something more, and the next ones wait for a moment only, until it asks for all of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final, Generic, Protocol, TypeVar

LOOK_MS: Final = 20
"""How long a Fetch waits whose sender has not asked for all yet: it may hear of it any moment."""
GIVE_UP_MS: Final = 5000
"""Who has not asked by then has other troubles than this."""

_Partition = TypeVar("_Partition", bound=Hashable)


class Parked(Protocol):
    """A Fetch that waits."""

    def time_is_over(self) -> None:
        """It has to take what there is."""

    def failed(self, error: Exception) -> None:
        """That raised something: it waits no longer, and nobody else minds."""


class SilentFollowers(Generic[_Partition]):
    """By follower: the partitions that it has to ask for still, and its Fetch that waits."""

    def __init__(self) -> None:
        self._since_ms: dict[int, dict[_Partition, int]] = {}
        self._parked: dict[int, Parked] = {}

    def begin(self, partition: _Partition, followers: Iterable[int], now_ms: int) -> None:
        """These are to follow a partition that is led here from now on."""
        for broker_id in followers:
            self._since_ms.setdefault(broker_id, {})[partition] = now_ms
            parked = self._parked.pop(broker_id, None)
            if parked is not None:
                try:
                    parked.time_is_over()
                except Exception as error:  # noqa: BLE001 (it is this one's matter alone)
                    parked.failed(error)

    def heard(self, broker_id: int, partition: _Partition) -> None:
        """It asks for a partition."""
        waited_for = self._since_ms.get(broker_id)
        if waited_for:
            waited_for.pop(partition, None)

    def forget(self, partition: _Partition) -> None:
        """It is led here no longer."""
        for waited_for in self._since_ms.values():
            waited_for.pop(partition, None)

    def wait_ms(self, broker_id: int, wanted_ms: int, now_ms: int) -> int:
        """How long a Fetch of a follower may wait."""
        waited_for = self._since_ms.get(broker_id)
        while waited_for:
            partition, since_ms = next(iter(waited_for.items()))
            if now_ms - since_ms < GIVE_UP_MS:
                return min(wanted_ms, LOOK_MS)
            del waited_for[partition]
        return wanted_ms

    def park(self, broker_id: int, fetch: Parked) -> None:
        """A Fetch of this follower waits."""
        self._parked[broker_id] = fetch

    def unpark(self, broker_id: int, fetch: Parked) -> None:
        """It waits no longer."""
        if self._parked.get(broker_id) is fetch:
            del self._parked[broker_id]
