"""Events of the cluster, for the log: one line for each event.

The death of a leader changes thousands of partitions; the same event of many partitions is one
line, which names some of them and counts all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fencepost_broker.metadata.image.changes import BrokerChanged, Changes, PartitionChanged
from fencepost_broker.metadata.image.model import Broker
from fencepost_broker.storage.log.results import LogEvent

NAMED_MAX: Final = 5
_NOBODY: Final = -1


class ClusterEvents:
    """Collects events until they are logged."""

    def __init__(self, node_id: int) -> None:
        self._node_id = node_id
        self._gathered: dict[tuple[str, str, bool], list[str]] = {}
        self.unclean_elections = 0
        """How many leaders the controller of this process has elected that may lack records."""

    def take(self) -> list[LogEvent]:
        """Return the collected events, in order of their beginning."""
        gathered, self._gathered = self._gathered, {}
        return [
            LogEvent(kind, _named(partitions), text, unexpected=unexpected, area="controller")
            for (kind, text, unexpected), partitions in gathered.items()
        ]

    def _note(self, kind: str, text: str, partition: str = "", *, unexpected: bool = False) -> None:
        partitions = self._gathered.setdefault((kind, text, unexpected), [])
        if partition:
            partitions.append(partition)

    # -- what is seen ---------------------------------------------------------------------------

    def read(self, changes: Changes) -> None:
        """Note what a broker has read from its controller."""
        for change in changes:
            if isinstance(change, BrokerChanged):
                self._broker_changed(change.broker_id, change.before, change.after)
            elif isinstance(change, PartitionChanged):
                self._leader_changed(change)

    def decided(self, changes: Changes, session_ms: int, *, is_by_time: bool) -> None:
        """Note what the controller has decided; ``is_by_time``: because time passed."""
        for change in changes:
            if isinstance(change, PartitionChanged):
                self.unclean_elections += _is_unclean(change)
                self._leader_changed(change)
            elif isinstance(change, BrokerChanged):
                if _is_fenced_now(change):
                    self._fenced(change.broker_id, session_ms, is_by_time=is_by_time)
                else:
                    self._broker_changed(change.broker_id, change.before, change.after)

    def stood_still(self, for_ms: int) -> None:
        """Note that the controller's process did not run; no broker is fenced for that time."""
        text = (
            f"the controller's process did not run for {for_ms} ms (stopped, or a busy machine):"
            " broker sessions are extended by that time"
        )
        self._note("controller-stood-still", text, unexpected=True)

    def _fenced(self, broker_id: int, session_ms: int, *, is_by_time: bool) -> None:
        who = f"broker {broker_id} is fenced"
        if not is_by_time:
            self._note("broker-fenced", f"{who}: it is shutting down, or has restarted")
            return
        text = (
            f"{who}: no heartbeat came for {session_ms} ms (broker.session.timeout.ms);"
            " its partitions get new leaders"
        )
        self._note("broker-fenced", text, unexpected=True)

    def in_sync(self, partition: str, before: Iterable[int], after: Iterable[int]) -> None:
        """Note that the in-sync replicas of a partition that this broker leads have changed."""
        old, new = set(before), set(after)
        if left := sorted(old - new):
            text = f"{_brokers(left)} left the ISR"
            self._note("isr-shrunk", text, partition, unexpected=True)
        if joined := sorted(new - old):
            self._note("isr-grown", f"{_brokers(joined)} joined the ISR", partition)

    def _broker_changed(self, broker_id: int, before: Broker | None, after: Broker | None) -> None:
        who = "this broker" if broker_id == self._node_id else f"broker {broker_id}"
        if after is None:
            self._note("broker-gone", f"{who} is no longer registered")
        elif before is not None and after.fenced and not before.fenced:
            is_this = broker_id == self._node_id and not before.in_controlled_shutdown
            self._note("broker-fenced", f"the controller has fenced {who}", unexpected=is_this)
        elif not after.fenced and (before is None or before.fenced):
            self._note("broker-unfenced", f"{who} is unfenced")

    def _leader_changed(self, change: PartitionChanged) -> None:
        before, after = change.before, change.after
        if before is None or self._node_id not in after.replicas:
            return
        if before.leader_epoch != after.leader_epoch and before.leader != after.leader:
            now, old = self._name(after.leader), self._name(before.leader)
            text = f"the leader is now {now} (before: {old})"
            self._note("leader-changed", text, f"{change.name}-{after.partition_id}")

    def _name(self, leader: int) -> str:
        if leader == _NOBODY:
            return "no broker"
        return "this broker" if leader == self._node_id else f"broker {leader}"


def _is_unclean(change: PartitionChanged) -> bool:
    before, after = change.before, change.after
    return (
        before is not None
        and after.leader not in (_NOBODY, before.leader)
        and after.leader not in (*before.isr, *before.eligible_leader_replicas)
    )


def _is_fenced_now(change: BrokerChanged) -> bool:
    before, after = change.before, change.after
    return before is not None and after is not None and after.fenced and not before.fenced


def _brokers(ids: list[int]) -> str:
    names = ", ".join(map(str, ids))
    return f"broker {names}" if len(ids) == 1 else f"brokers {names}"


def _named(partitions: list[str]) -> str:
    named = ", ".join(partitions[:NAMED_MAX])
    more = len(partitions) - NAMED_MAX
    return f"{named} and {more} more" if more > 0 else named
