"""The leader's state of a partition's followers.

A follower's fetch offset shows which records it has. From these offsets follow

- the high watermark: the offset up to which every counted replica has the records. The leader
  counts the ISR, and the ISR of an undecided proposal (so no acknowledged record is lost, whatever
  the controller decides). It also counts active followers that keep up and will be proposed soon,
  so that the high watermark does not run ahead of them;
- the proposed ISR: a follower joins when it has reached the high watermark in this leader epoch. A
  follower leaves when it has not caught up for ``replica.lag.time.max.ms``.

One proposal is in flight at a time; the next one is based on its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, Protocol

from fencepost_broker.metadata.image.model import Broker, Partition

UNKNOWN_OFFSET: Final = -1


class Config(Protocol):
    """The topic setting that a leader reads."""

    @property
    def min_insync_replicas(self) -> int:
        """The size of the ISR below which the high watermark does not move."""


class Log(Protocol):
    """The interface of a partition's log."""

    @property
    def config(self) -> Config:
        """The current settings."""

    log_end_offset: int
    high_watermark: int

    def set_high_watermark(self, offset: int) -> bool:
        """Set it, within the log; return whether it or the last stable offset moved."""


class InSync(NamedTuple):
    """One replica of a proposal, with the broker epoch of its last fetch."""

    broker_id: int
    broker_epoch: int


class Proposal(NamedTuple):
    """A proposed ISR, for an AlterPartition request."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[InSync, ...]

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """The broker ids of the proposed ISR."""
        return tuple(each.broker_id for each in self.isr)


class Follower:
    """The state of one follower."""

    __slots__ = (
        "_fetched_ms",
        "_leader_end_then",
        "broker_epoch",
        "caught_up_ms",
        "log_end_offset",
        "log_start_offset",
    )

    def __init__(self) -> None:
        self.begin(0, in_sync=False)

    def begin(self, now_ms: int, *, in_sync: bool) -> None:
        """Reset the state for a new leader; followers in the ISR get the full time to fetch."""
        self.log_end_offset = self.log_start_offset = UNKNOWN_OFFSET
        self.broker_epoch = -1
        """The broker epoch of its last fetch."""
        self.caught_up_ms = now_ms if in_sync else 0
        """The last time at which it had all of the leader's log."""
        self._fetched_ms = self._leader_end_then = 0

    def fetched(
        self, offset: int, log_start: int, epoch: int, leader_end: int, now_ms: int
    ) -> None:
        """Record a fetch from ``offset``, which shows that it has all records before that.

        A fetch from the leader's end means that the follower has caught up now. A fetch from the
        end at the time of its last fetch means that it had caught up then: under constant writes a
        follower may keep up without ever reaching the end.
        """
        if offset >= leader_end:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif offset >= self._leader_end_then:
            self.caught_up_ms = max(self.caught_up_ms, self._fetched_ms)
        self.log_end_offset, self.log_start_offset = offset, log_start
        self.broker_epoch = epoch
        self._fetched_ms, self._leader_end_then = now_ms, leader_end

    def stayed(self, now_ms: int) -> None:
        """Record a fetch from the leader's end, which has not moved since the last fetch."""
        self.caught_up_ms = self._fetched_ms = now_ms

    def keeps_up(self, leader_end: int, now_ms: int, lag_max_ms: int) -> bool:
        """Whether it has all records, or had them within the lag limit."""
        return self.log_end_offset == leader_end or now_ms - self.caught_up_ms <= lag_max_ms


class LeaderState:
    """The followers of one partition that this broker leads."""

    __slots__ = (
        "_epoch_start",
        "_is_up",
        "_lag_max_ms",
        "_log",
        "_node_id",
        "followers",
        "partition",
        "proposal",
    )

    def __init__(
        self,
        node_id: int,
        partition: Partition,
        log: Log,
        now_ms: int,
        *,
        lag_max_ms: int,
        is_up: Callable[[int], bool] = lambda _: True,
    ) -> None:
        self._node_id = node_id
        self._is_up = is_up
        self._log = log
        self._lag_max_ms = lag_max_ms
        self.partition = partition
        """The last state from the controller."""
        self.proposal: Proposal | None = None
        """The undecided proposal, which may not be sent yet."""
        self.followers: dict[int, Follower] = {}
        self._begin(now_ms)

    def _begin(self, now_ms: int) -> None:
        self._epoch_start = self._log.log_end_offset
        self.followers = {}
        self._keep_followers(now_ms)
        for broker_id, follower in self.followers.items():
            follower.begin(now_ms, in_sync=broker_id in self.partition.isr)

    def _keep_followers(self, now_ms: int) -> None:
        others = [each for each in self.partition.replicas if each != self._node_id]
        kept = self.followers
        self.followers = {each: kept.get(each) or Follower() for each in others}
        for broker_id in others:
            if broker_id not in kept:
                self.followers[broker_id].begin(now_ms, in_sync=broker_id in self.partition.isr)

    @property
    def has_too_few(self) -> bool:
        """Whether the ISR is below ``min.insync.replicas`` (at most the number of replicas)."""
        least = self._log.config.min_insync_replicas
        return len(self.partition.isr) < min(least, len(self.partition.replicas))

    @property
    def may_show_less(self) -> bool:
        """Whether consumers may have seen a higher high watermark under the last leader.

        A follower learns the high watermark one Fetch late, so it may start below it as a leader.
        This ends when the high watermark has reached the end of the log at the leader's start.
        """
        return self._log.high_watermark < self._epoch_start

    @property
    def is_settled(self) -> bool:
        """Whether every replica has all records and is in the ISR, so that time changes nothing."""
        log = self._log
        end = log.log_end_offset
        if log.high_watermark != end or self.proposal is not None:
            return False
        followers = self.followers.values()
        if len(self.partition.isr) <= len(followers):
            return False
        return all(follower.log_end_offset == end for follower in followers)

    # -- events ---------------------------------------------------------------------------------

    def fetched(
        self, broker_id: int, offset: int, log_start: int, broker_epoch: int, now_ms: int
    ) -> bool:
        """Handle a follower's fetch; return whether the high watermark moved."""
        follower = self.followers[broker_id]
        end = self._log.log_end_offset
        follower.fetched(offset, log_start, broker_epoch, end, now_ms)
        return self.advance(now_ms)

    def advance(self, now_ms: int) -> bool:
        """Advance the high watermark if possible; return whether any offset moved."""
        counted = self.partition.isr
        if self.proposal is not None:
            counted += self.proposal.broker_ids
        log = self._log
        lowest = end = log.log_end_offset
        for broker_id, follower in self.followers.items():
            if follower.log_end_offset < lowest and (
                broker_id in counted
                or (self._is_about_to_join(follower, end, now_ms) and self._is_up(broker_id))
            ):
                lowest = follower.log_end_offset
        if lowest <= log.high_watermark or self.has_too_few:
            return False
        return log.set_high_watermark(lowest)

    def _is_about_to_join(self, follower: Follower, end: int, now_ms: int) -> bool:
        return self._has_reached(follower) and follower.keeps_up(end, now_ms, self._lag_max_ms)

    def _has_reached(self, follower: Follower) -> bool:
        """Whether it has reached the high watermark and the start of this leader epoch."""
        reached = follower.log_end_offset
        return reached >= self._log.high_watermark and reached >= self._epoch_start

    def image_changed(self, partition: Partition, now_ms: int) -> bool:
        """Handle a new state from the controller; return whether the high watermark moved."""
        before = self.partition
        if partition.partition_epoch < before.partition_epoch:
            return False  # an AlterPartition response was newer than the metadata log
        self.partition = partition
        if partition.leader_epoch != before.leader_epoch:
            self.proposal = None
            self._begin(now_ms)
        else:
            if partition.partition_epoch != before.partition_epoch:
                self.proposal = None
            self._keep_followers(now_ms)
        return self.advance(now_ms)

    def nearer(self, rack: str, offset: int, brokers: Mapping[int, Broker]) -> int | None:
        """Return an in-sync follower in a consumer's rack that has the offset (KIP-392).

        It is the one with the longest log; ``None`` if there is none or the leader is in that rack.
        """
        own = brokers.get(self._node_id)
        if own is not None and own.rack == rack:
            return None
        found = [
            (follower.log_end_offset, follower.caught_up_ms, -broker_id)
            for broker_id, follower in self.followers.items()
            if broker_id in self.partition.isr
            and follower.log_start_offset <= offset <= follower.log_end_offset
            and (broker := brokers.get(broker_id)) is not None
            and broker.rack == rack
            and not broker.fenced
        ]
        return -max(found)[2] if found else None

    # -- the ISR --------------------------------------------------------------------------------

    def propose(self, now_ms: int, brokers: Mapping[int, Broker]) -> Proposal | None:
        """Return a new proposal, or ``None`` if no change is needed or possible now.

        One proposal either adds or removes replicas; followers are added first.
        """
        if self.proposal is not None or self.partition.leader != self._node_id:
            return None
        isr = self.partition.isr
        end = self._log.log_end_offset
        joins, leaves = [], []
        for broker_id, follower in self.followers.items():
            if broker_id in isr:
                if not follower.keeps_up(end, now_ms, self._lag_max_ms):
                    leaves.append(broker_id)
            elif self._has_reached(follower) and _may_join(brokers.get(broker_id), follower):
                joins.append(broker_id)
        if not joins and not leaves:
            return None
        wanted = (*isr, *joins) if joins else tuple(each for each in isr if each not in leaves)
        self.proposal = Proposal(
            self.partition.leader_epoch,
            self.partition.partition_epoch,
            tuple(InSync(each, self._epoch_of(each, brokers)) for each in wanted),
        )
        return self.proposal

    def _epoch_of(self, broker_id: int, brokers: Mapping[int, Broker]) -> int:
        follower = self.followers.get(broker_id)
        if follower is not None:
            return follower.broker_epoch  # -1 until its first fetch; the controller skips the check
        broker = brokers.get(broker_id)
        return -1 if broker is None else broker.epoch

    def decided(self, partition: Partition | None, now_ms: int) -> bool:
        """Handle the decision on the proposal; return whether the high watermark moved.

        ``partition`` is the new state, or ``None`` if the proposal was refused.
        """
        self.proposal = None
        if partition is not None:
            return self.image_changed(partition, now_ms)
        return self.advance(now_ms)


def _may_join(broker: Broker | None, follower: Follower) -> bool:
    """Whether the controller would accept it: active, with the epoch of its fetch (KIP-903)."""
    return broker is not None and broker.is_active and follower.broker_epoch in {-1, broker.epoch}
