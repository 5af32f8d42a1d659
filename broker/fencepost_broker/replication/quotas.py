"""Quotas of replication: how fast throttled replicas that lag may catch up (KIP-73).

A topic names its throttled replicas, by ``*`` or by ``partition:broker`` each, in one list for
leaders and in another for followers. All records that a throttled leader sends, or that a throttled
follower gets, count. While the quota is exceeded, followers that are not in sync wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_broker.config.values.units import LONG_MAX
from fencepost_broker.observability.rates import Rate, Windows

if TYPE_CHECKING:
    from fencepost_broker.config import Settings
    from fencepost_broker.metadata.dynamic_config import DynamicConfig
    from fencepost_broker.ports import Clock
    from fencepost_broker.storage.log.config import LogConfig

_ALL: Final = ("*",)


class ReplicationQuota:
    """The quota of one side."""

    def __init__(self, node_id: int, clock: Clock, windows: Windows, *, leads: bool) -> None:
        self.per_second = 0
        self._node_id = node_id
        self._clock = clock
        self._leads = leads
        self._rate = Rate(windows)

    def throttles(self, config: LogConfig, number: int) -> bool:
        """Whether this broker's replica of a partition is throttled; ``config`` is its topic's."""
        replicas = config.follower_replication_throttled_replicas
        if self._leads:
            replicas = config.leader_replication_throttled_replicas
        here = (number, self._node_id)
        return replicas == _ALL or any(here == _replica_of(each) for each in replicas)

    def count(self, size: int) -> None:
        """Count the records of a throttled replica."""
        self._rate.add(size, self._clock.now_ms())

    def is_exceeded(self) -> bool:
        """Whether throttled replicas that are not in sync have to wait."""
        return self._rate.exceeds(self.per_second, self._clock.now_ms())


class ReplicationQuotas:
    """The quotas of both sides; ``None`` while there is no limit, so that nothing is counted."""

    def __init__(self, node_id: int, config: DynamicConfig, clock: Clock) -> None:
        settings = config.settings
        windows = Windows(
            settings.replication_quota_window_num,
            settings.replication_quota_window_size_seconds * 1000,
        )
        self._of_leader = ReplicationQuota(node_id, clock, windows, leads=True)
        self._of_follower = ReplicationQuota(node_id, clock, windows, leads=False)
        self.leader: ReplicationQuota | None = None
        self.follower: ReplicationQuota | None = None
        config.listen(self._use)
        self._use(settings)

    def _use(self, settings: Settings) -> None:
        self._of_leader.per_second = settings.leader_replication_throttled_rate
        self._of_follower.per_second = settings.follower_replication_throttled_rate
        self.leader = _limited(self._of_leader)
        self.follower = _limited(self._of_follower)


def _limited(quota: ReplicationQuota) -> ReplicationQuota | None:
    return quota if quota.per_second < LONG_MAX else None


def _replica_of(text: str) -> tuple[int, int]:
    """Return the partition and the broker."""
    number, _, broker_id = text.partition(":")
    return int(number), int(broker_id)
