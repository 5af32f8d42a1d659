"""What the leader of a partition knows of its followers.

A follower's Fetch tells how far it has come: it asks for what it has not got. From that follow

- the high watermark: the offset up to which everybody has the records who counts. Those count who
  are in sync, those of a proposal that is not decided yet (whichever way the controller decides,
  nothing that was told is lost), and those who keep up, are up, and are about to be proposed, so
  that they need not chase a leader that runs ahead of them;
- who is in sync: a follower that has reached the high watermark, in this leader's epoch, is
  proposed; one that has not had all of the log for ``replica.lag.time.max.ms`` is proposed to be
  left out.

One proposal is under way at a time; the next one builds on its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from fencepost_broker.metadata.model import Broker, Partition

UNKNOWN_OFFSET: Final = -1


class Config(Protocol):
    """The setting of a topic that counts here."""

    @property
    def min_insync_replicas(self) -> int:
        """With fewer in sync, the high watermark stays where it is."""


class Log(Protocol):
    """What is asked of a partition's log."""

    @property
    def config(self) -> Config:
        """As it is now."""

    log_end_offset: int
    high_watermark: int

    def set_high_watermark(self, offset: int) -> bool:
        """Set it, within the log; says whether it or the last stable offset moved."""


class InSync(NamedTuple):
    """One replica of a proposal, by the incarnation that was seen to fetch."""

    broker_id: int
    broker_epoch: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the controller is to be asked for by AlterPartition."""

    leader_epoch: int
    partition_epoch: int
    isr: tuple[InSync, ...]

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """Who would be in sync."""
        return tuple(each.broker_id for each in self.isr)


@dataclass(slots=True)
class Follower:
    """One replica that is not the leader's own."""

    log_end_offset: int = UNKNOWN_OFFSET
    log_start_offset: int = UNKNOWN_OFFSET
    broker_epoch: int = -1
    """Of the incarnation that fetched last."""
    caught_up_ms: int = 0
    """When it last had all that the leader had at that time."""
    _fetched_ms: int = 0
    _leader_end_then: int = 0

    def begin(self, now_ms: int, *, in_sync: bool) -> None:
        """A new leader knows nothing of it, and gives those in sync their time to fetch."""
        self.log_end_offset = self.log_start_offset = UNKNOWN_OFFSET
        self.broker_epoch = -1
        self.caught_up_ms = now_ms if in_sync else 0
        self._fetched_ms = self._leader_end_then = 0

    def fetched(
        self, offset: int, log_start: int, epoch: int, leader_end: int, now_ms: int
    ) -> None:
        """It asks for what comes at ``offset``, so it has all that is before.

        When it asks for the leader's end it has caught up now; when it asks for what was the end
        at its last fetch, it had caught up then: a leader that is written to all the time is
        followed although its end is never reached.
        """
        if offset >= leader_end:
            self.caught_up_ms = max(self.caught_up_ms, now_ms)
        elif offset >= self._leader_end_then:
            self.caught_up_ms = max(self.caught_up_ms, self._fetched_ms)
        self.log_end_offset, self.log_start_offset = offset, log_start
        self.broker_epoch = epoch
        self._fetched_ms, self._leader_end_then = now_ms, leader_end

    def stayed(self, now_ms: int) -> None:
        """It asks for the leader's end, as at its last fetch, and that has not moved."""
        self.caught_up_ms = self._fetched_ms = now_ms

    def keeps_up(self, leader_end: int, now_ms: int, lag_max_ms: int) -> bool:
        """Whether it has all, or had not long ago."""
        return self.log_end_offset == leader_end or now_ms - self.caught_up_ms <= lag_max_ms


class LeaderState:
    """One partition's followers, at the broker that leads it."""

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
        """As the controller last said."""
        self.proposal: Proposal | None = None
        """What the controller was asked for, or is about to be."""
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
        """Whether fewer are in sync than ``min.insync.replicas``, which no topic of less has."""
        least = self._log.config.min_insync_replicas
        return len(self.partition.isr) < min(least, len(self.partition.replicas))

    @property
    def may_show_less(self) -> bool:
        """Whether the leader before may have shown consumers more than is replicated by now.

        A follower hears of the high watermark a Fetch later, so as a leader it may begin below it;
        it is past what anybody was shown when it has reached the end of its log as of then.
        """
        return self._log.high_watermark < self._epoch_start

    @property
    def is_settled(self) -> bool:
        """Whether all have all, and are in sync: time changes nothing about that."""
        log = self._log
        end = log.log_end_offset
        if log.high_watermark != end or self.proposal is not None:
            return False
        followers = self.followers.values()
        if len(self.partition.isr) <= len(followers):
            return False
        return all(follower.log_end_offset == end for follower in followers)

    # -- what happens ---------------------------------------------------------------------------

    def fetched(
        self, broker_id: int, offset: int, log_start: int, broker_epoch: int, now_ms: int
    ) -> bool:
        """A follower fetches; says whether more is replicated now."""
        follower = self.followers[broker_id]
        end = self._log.log_end_offset
        follower.fetched(offset, log_start, broker_epoch, end, now_ms)
        return self.advance(now_ms)

    def advance(self, now_ms: int) -> bool:
        """Move the high watermark as far as it may; says whether any offset moved by that."""
        if self.has_too_few:
            return False
        counted = set(self.partition.isr)
        if self.proposal is not None:
            counted.update(self.proposal.broker_ids)
        log = self._log
        lowest = end = log.log_end_offset
        for broker_id, follower in self.followers.items():
            if broker_id in counted or (
                self._is_about_to_join(follower, end, now_ms) and self._is_up(broker_id)
            ):
                lowest = min(lowest, follower.log_end_offset)
        return lowest > log.high_watermark and log.set_high_watermark(lowest)

    def _is_about_to_join(self, follower: Follower, end: int, now_ms: int) -> bool:
        return self._has_reached(follower) and follower.keeps_up(end, now_ms, self._lag_max_ms)

    def _has_reached(self, follower: Follower) -> bool:
        """Whether it has all that consumers were shown, and something of this leader's epoch."""
        reached = follower.log_end_offset
        return reached >= self._log.high_watermark and reached >= self._epoch_start

    def image_changed(self, partition: Partition, now_ms: int) -> bool:
        """The controller says something else; says whether more is replicated by that."""
        before = self.partition
        if partition.partition_epoch < before.partition_epoch:
            return False  # an answer has brought later news than the log has so far
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
        """Who of those in sync is in a consumer's rack, and has what it asks for (KIP-392).

        The one that has most; ``None`` where the leader is in that rack, too, or nobody is.
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

    # -- who is in sync -------------------------------------------------------------------------

    def propose(self, now_ms: int, brokers: Mapping[int, Broker]) -> Proposal | None:
        """What to ask the controller for, if something is to change and nothing is asked yet.

        One that keeps up is let in before one that lags is left out: both at once would be two
        changes on one answer.
        """
        if self.proposal is not None or self.partition.leader != self._node_id:
            return None
        isr = self.partition.isr
        end = self._log.log_end_offset
        joins = [
            broker_id
            for broker_id, follower in self.followers.items()
            if broker_id not in isr
            and self._has_reached(follower)
            and _may_join(brokers.get(broker_id), follower)
        ]
        stays = [
            broker_id
            for broker_id in isr
            if broker_id == self._node_id
            or broker_id not in self.followers
            or self.followers[broker_id].keeps_up(end, now_ms, self._lag_max_ms)
        ]
        wanted = (*isr, *joins) if joins else tuple(stays)
        if wanted == isr:
            return None
        self.proposal = Proposal(
            self.partition.leader_epoch,
            self.partition.partition_epoch,
            tuple(InSync(each, self._epoch_of(each, brokers)) for each in wanted),
        )
        return self.proposal

    def _epoch_of(self, broker_id: int, brokers: Mapping[int, Broker]) -> int:
        follower = self.followers.get(broker_id)
        if follower is not None:
            return follower.broker_epoch  # -1, which is not checked, until it has fetched
        broker = brokers.get(broker_id)
        return -1 if broker is None else broker.epoch

    def decided(self, partition: Partition | None, now_ms: int) -> bool:
        """The proposal was taken (``partition`` is how it is now), or was not: ask again later.

        Says whether more is replicated by that.
        """
        self.proposal = None
        if partition is not None:
            return self.image_changed(partition, now_ms)
        return self.advance(now_ms)


def _may_join(broker: Broker | None, follower: Follower) -> bool:
    """Whether the controller would take it: it is up, and is who fetched (KIP-903)."""
    return broker is not None and broker.is_active and follower.broker_epoch in {-1, broker.epoch}
