"""Followers' Fetch requests while there is a quota of leaders (KIP-73).

While the quota is exceeded, the answer has no records of throttled partitions of which the follower
is not in sync. Followers in sync are never slowed down, since producers wait for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.generated.fetch import FetchRequest, FetchTopic, PartitionData

from fencepost_broker.apis.fetch.fetching import Fetching, Wanted
from fencepost_broker.apis.fetch.followers import ReplicaFetching
from fencepost_broker.apis.fetch.sessions import Opened
from fencepost_broker.apis.request import Request
from fencepost_broker.replication.partition import Partition
from fencepost_broker.replication.replicated_partitions import Replica

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


def throttled(
    context: BrokerContext, request: Request, message: FetchRequest, opened: Opened,
    replica: Replica,
) -> Fetching:  # fmt: skip
    """Make the Fetch of a follower that the quota may slow down."""
    is_in_session = opened.session is not None and not opened.is_first
    kind = ThrottledInSession if is_in_session else Throttled
    return kind(context, request, message, opened, replica)


class Throttled(Fetching):
    """A follower's Fetch that begins a session, or has none."""

    __slots__ = ()

    def _read(self, wanted: Wanted, left: int, *, first: bool) -> PartitionData:
        data = super()._read(wanted, left, first=first)
        if data.records and wanted.partition is not None and self._withholds(wanted.partition):
            data.records = b""
        return data

    def _withholds(self, partition: Partition) -> bool:
        quota, state, replica = (
            self.context.replicas.quotas.leader,
            partition.replication,
            self.replica,
        )
        return (
            quota is not None
            and state is not None
            and replica is not None
            and replica.broker_id not in state.partition.isr
            and quota.throttles(partition.log.config, partition.number)
            and quota.is_exceeded()
        )

    def _count_bytes(self, answers: list[tuple[FetchTopic, PartitionData]]) -> None:
        super()._count_bytes(answers)
        quota = self.context.replicas.quotas.leader
        if quota is None:
            return
        for (_, _, partition, _), (_, data) in zip(self.wanted, answers, strict=True):
            if (
                partition is not None
                and data.records
                and quota.throttles(partition.log.config, partition.number)
            ):
                quota.count(len(data.records))


class ThrottledInSession(Throttled, ReplicaFetching):
    """A follower's Fetch within a session."""

    __slots__ = ()
