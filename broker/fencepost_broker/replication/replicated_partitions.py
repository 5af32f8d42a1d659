"""The partitions of several replicas: those that this broker leads, and those that it follows.

Where it leads, fetches come in and proposals go out; where it follows, somebody asks the leader for
more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.controller.channel.registration import Registration
from fencepost_broker.metadata import model
from fencepost_broker.metadata.dynamic_config import DynamicConfig
from fencepost_broker.metadata.image import MetadataImage
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
    """Who fetches, where that is a broker."""

    broker_id: int
    broker_epoch: int


class Following(Protocol):
    """Whoever asks leaders for what this broker has replicas of."""

    def follow(self, leader_id: int, followed: Followed) -> None:
        """Follow a replica from now on."""

    def forget(self, where: TopicPartition) -> None:
        """Do so no longer."""


class ReplicatedPartitions:
    """All partitions of this broker that have followers."""

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
        """``ask`` lets the controller decide.

        ``make_following`` makes what fetches from leaders, when there is something to follow.
        """
        self._node_id = registration.node_id
        self._image = image
        self._config = config
        self._clock = clock
        self._ready = ready
        self._events = events
        self._make_following = make_following
        self._led: dict[Partition, bytes] = {}
        """With the ids of their topics."""
        self._following: Following | None = None
        self._followed: dict[Partition, Followed] = {}
        self.unheard: SilentFollowers[Partition] = SilentFollowers()
        self._proposals = AlterPartitionManager(registration, ready, ask, self._decided)

    def changed(self, partition: Partition, topic_id: bytes, after: model.Partition) -> None:
        """The controller says who leads a partition, and who has replicas of it."""
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
        """It has another log than before: what goes by the old one begins anew."""
        self.forget(partition)
        partition.replication = None
        self.changed(partition, topic_id, after)

    def forget(self, partition: Partition) -> None:
        """It is gone."""
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
        # Not above: most brokers follow nobody, and start faster without.
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
        """A follower fetches, and so tells how far it has come."""
        state = partition.replication
        if state is None or replica.broker_id not in state.followers:
            # A leader epoch that both know of, and no replica: we are the one who lags.
            is_known = asked.current_leader_epoch != _UNCHECKED
            unknown = ErrorCode.UNKNOWN_LEADER_EPOCH if is_known else None
            return unknown or ErrorCode.NOT_LEADER_OR_FOLLOWER
        self.unheard.heard(replica.broker_id, partition)
        now_ms = self._clock.now_ms()
        moved = state.fetched(
            replica.broker_id,
            asked.fetch_offset,
            asked.log_start_offset,
            replica.broker_epoch,
            now_ms,
        )
        if moved:
            partition.moved()
        if self._propose(partition, state, now_ms):
            self._ready.add(self._proposals.send)
        return ErrorCode.NONE

    def _is_up(self, broker_id: int) -> bool:
        broker = self._image.cluster.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def broker_down(self) -> None:
        """A broker does not count any more: nobody waits for it."""
        now_ms = self._clock.now_ms()
        for partition in list(self._led):
            if partition.replication is not None and partition.replication.advance(now_ms):
                partition.moved()

    def look(self, now_ms: int) -> None:
        """See who has not caught up for too long."""
        for partition in list(self._led):
            state = partition.replication
            if state is not None and not state.is_settled:
                self._propose(partition, state, now_ms)
                if state.advance(now_ms):  # one that was waited for lags by now
                    partition.moved()
        self._proposals.send()

    def _propose(self, partition: Partition, state: LeaderState, now_ms: int) -> bool:
        """Whether there is something to propose to the controller."""
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
