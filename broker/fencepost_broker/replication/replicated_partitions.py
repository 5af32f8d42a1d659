"""The partitions with several replicas, which this broker leads or follows.

As a leader it handles the followers' fetches and proposes ISR changes; as a follower it fetches
from the leader.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.controller.channel.registration import Registration
from fencepost_broker.metadata.dynamic_config import DynamicConfig
from fencepost_broker.metadata.image import model
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.observability.cluster_events import ClusterEvents
from fencepost_broker.ports import Clock, ReadyList
from fencepost_broker.replication.alter_partition import AlterPartitionManager, Proposed
from fencepost_broker.replication.leader import LeaderState
from fencepost_broker.replication.partition import Partition
from fencepost_broker.replication.silent_followers import SilentFollowers

if TYPE_CHECKING:
    from collections.abc import Callable

    from fencepost_client.types import TopicPartition
    from fencepost_protocol.generated.fetch import FetchPartition

    from fencepost_broker.replication.alter_partition import Ask
    from fencepost_broker.replication.follower import Followed

_UNCHECKED = -1


class Replica(NamedTuple):
    """A follower's identity in its Fetch."""

    broker_id: int
    broker_epoch: int


class Following(Protocol):
    """The fetchers of this broker's replicas."""

    def follow(self, leader_id: int, followed: Followed) -> None:
        """Fetch a replica from its leader from now on."""

    def forget(self, where: TopicPartition) -> None:
        """Stop fetching a replica."""


class ReplicatedPartitions:
    """The leaders and followers in this broker, and their proposals."""

    def __init__(
        self,
        registration: Registration,
        image: MetadataImage,
        config: DynamicConfig,
        clock: Clock,
        ready: ReadyList,
        ask: Ask,
        events: ClusterEvents,
        make_following: Callable[[], Following] | None,
    ) -> None:
        """``ask`` sends a request to the controller.

        ``make_following`` creates the fetchers, when the first replica has to follow.
        """
        self._node_id = registration.node_id
        self._image = image
        self._config = config
        self._clock = clock
        self._ready = ready
        self._events = events
        self._make_following = make_following
        self._led: dict[Partition, bytes] = {}
        """The partitions that this broker leads, with their topic ids."""
        self._following: Following | None = None
        self._followed: dict[Partition, Followed] = {}
        self.unheard: SilentFollowers[Partition] = SilentFollowers()
        self._proposals = AlterPartitionManager(registration, ready, ask, self._decided)

    def changed(self, partition: Partition, topic_id: bytes, after: model.Partition) -> None:
        """Apply a partition's state from the controller: its leader and its replicas."""
        if after.leader != self._node_id:
            if partition.leads:
                partition.follow()
            self._stop_leading(partition)
            self._follow(partition, topic_id, after)
            return
        self._stop_following(partition)
        if after.replicas == (self._node_id,):
            if not partition.is_plain:
                self._stop_leading(partition)
                partition.lead(None)
                partition.log.set_high_watermark(partition.log.log_end_offset)
                partition.moved()
            return
        now_ms = self._clock.now_ms()
        state = partition.replication
        if state is None:
            settings = self._config.settings
            state = LeaderState(
                self._node_id,
                after,
                partition.log,
                now_ms,
                lag_max_ms=settings.replica_lag_time_max_ms,
                is_up=self._is_up,
            )
            partition.lead(state)
            self._led[partition] = topic_id
            state.advance(now_ms)
            is_new_epoch = True
        else:
            is_new_epoch = after.leader_epoch != state.partition.leader_epoch
            before = state.partition.isr
            state.image_changed(after, now_ms)
            self._tell(partition, before, state)
        partition.moved()
        if is_new_epoch:
            self.unheard.begin(partition, state.followers, now_ms)

    def _stop_leading(self, partition: Partition) -> None:
        if self._led.pop(partition, None) is not None:
            self.unheard.forget(partition)

    def renew(self, partition: Partition, topic_id: bytes, after: model.Partition) -> None:
        """Start over with a partition whose log was replaced."""
        self.forget(partition)
        partition.replication = None
        self.changed(partition, topic_id, after)

    def forget(self, partition: Partition) -> None:
        """Stop leading or following a deleted partition."""
        self._stop_leading(partition)
        self._stop_following(partition)

    def _follow(self, partition: Partition, topic_id: bytes, after: model.Partition) -> None:
        before = self._followed.get(partition)
        if before is not None and before.leader_epoch == after.leader_epoch:
            return
        self._stop_following(partition)
        if after.leader < 0 or self._node_id not in after.replicas:
            return
        if self._following is None:
            if self._make_following is None:
                return
            self._following = self._make_following()
        # Imported here: most brokers follow no other broker and start faster without it.
        from fencepost_client.types import TopicPartition

        from fencepost_broker.replication.follower import Followed

        where = TopicPartition(partition.topic, partition.number)
        followed = Followed(where, topic_id, partition.log, after.leader_epoch)
        self._followed[partition] = followed
        self._following.follow(after.leader, followed)

    def _stop_following(self, partition: Partition) -> None:
        followed = self._followed.pop(partition, None)
        if followed is not None and self._following is not None:
            self._following.forget(followed.where)

    def fetched(self, partition: Partition, replica: Replica, asked: FetchPartition) -> ErrorCode:
        """Handle a follower's fetch of one partition, which shows how far it has replicated."""
        state = partition.replication
        if state is None or replica.broker_id not in state.followers:
            # The leader epoch is right, but the replica is unknown: our metadata is outdated.
            is_known = asked.current_leader_epoch != _UNCHECKED
            unknown = ErrorCode.UNKNOWN_LEADER_EPOCH if is_known else None
            return unknown or ErrorCode.NOT_LEADER_OR_FOLLOWER
        self.unheard.heard(replica.broker_id, partition)
        now_ms = self._clock.now_ms()
        if state.fetched(
            replica.broker_id,
            asked.fetch_offset,
            asked.log_start_offset,
            replica.broker_epoch,
            now_ms,
        ):
            partition.moved()
        if self._propose(partition, state, now_ms):
            self._ready.add(self._proposals.send)
        return ErrorCode.NONE

    def _is_up(self, broker_id: int) -> bool:
        broker = self._image.cluster.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def broker_down(self) -> None:
        """Advance high watermarks that may have waited for a broker that is down now."""
        now_ms = self._clock.now_ms()
        for partition in list(self._led):
            if partition.replication is not None and partition.replication.advance(now_ms):
                partition.moved()

    def look(self, now_ms: int) -> None:
        """Check for followers that have lagged for too long, and send all proposals."""
        for partition in list(self._led):
            state = partition.replication
            if state is not None and not state.is_settled:
                self._propose(partition, state, now_ms)
                if state.advance(now_ms):  # a follower that delayed it counts as lagging now
                    partition.moved()
        self._proposals.send()

    def _propose(self, partition: Partition, state: LeaderState, now_ms: int) -> bool:
        """Queue a proposal if the ISR has to change; return whether it does."""
        proposal = state.propose(now_ms, self._image.cluster.brokers)
        if proposal is not None:
            self._proposals.add(Proposed(partition, self._led[partition], state, proposal))
        return proposal is not None

    def _decided(self, proposed: Proposed, taken: model.Partition | None) -> bool:
        partition, state = proposed.partition, proposed.state
        before = state.partition.isr
        has_moved = state.decided(taken, self._clock.now_ms())
        self._tell(partition, before, state)
        return has_moved

    def _tell(self, partition: Partition, before: tuple[int, ...], state: LeaderState) -> None:
        if state.partition.isr != before:
            name = f"{partition.topic}-{partition.number}"
            self._events.in_sync(name, before, state.partition.isr)
