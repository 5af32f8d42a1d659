"""Followers' Fetch requests within a session, made cheap for partitions that do not change.

A session may have thousands of partitions, of which few change. A partition is quiet if the
follower has all of its records and knows all of its offsets. A quiet partition is not read again
until one of its offsets changes; the broker only notes that the follower still fetches. Consumers'
sessions have fewer partitions and more to check, so they do without this.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import FetchRequest, FetchResponse, PartitionData

from fencepost_broker.apis.fetch.fetching import Fetching, Wanted, add, is_final
from fencepost_broker.apis.fetch.sessions import Opened
from fencepost_broker.apis.request import Request
from fencepost_broker.replication.leader import Follower, LeaderState
from fencepost_broker.replication.partition import Partition
from fencepost_broker.replication.replicated_partitions import Replica
from fencepost_broker.storage.log import PartitionLog

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


def tell_refused(context: BrokerContext, request: Request) -> None:
    """Log a warning: a client without the right to do so fetches as a follower."""
    context.access.warn_of_refusal(request.peer, "a follower's FETCH")


def refuse_follower(message: FetchRequest) -> FetchResponse:
    """Return TOPIC_AUTHORIZATION_FAILED for all partitions, as Apache Kafka does.

    Unlike there, no session begins: sessions are few, and brokers need them.
    """
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    refusal = FetchResponse()
    for topic in message.topics:
        for entry in topic.partitions:
            add(refusal, topic, PartitionData(entry.partition, code, -1))
    return refusal


@dataclass(slots=True, eq=False)
class Quiet:
    """The offsets of a partition that the follower knows."""

    partition: Partition
    broker_id: int
    state: LeaderState
    follower: Follower
    log: PartitionLog
    leader_epoch: int
    end_offset: int
    high_watermark: int
    log_start_offset: int

    def lasts(self, broker_epoch: int, now_ms: int) -> bool:
        """Whether the partition is unchanged; if so, note that the follower has all of it."""
        partition, log, follower = self.partition, self.log, self.follower
        if (
            log.log_end_offset != self.end_offset
            or log.high_watermark != self.high_watermark
            or log.log_start_offset != self.log_start_offset
            or partition.leader_epoch != self.leader_epoch
            or partition.replication is not self.state
            or partition.log is not log
            or follower.broker_epoch != broker_epoch
            or follower.log_end_offset != self.end_offset
            # A follower that was fenced and came back with the same epoch can rejoin the ISR.
            or self.broker_id not in self.state.partition.isr
            or self.state.followers.get(self.broker_id) is not follower
        ):
            return False
        follower.stayed(now_ms)
        return True


class ReplicaFetching(Fetching):
    """A follower's Fetch within a session."""

    __slots__ = ("_watched",)

    def __init__(
        self, context: BrokerContext, request: Request, message: FetchRequest, opened: Opened,
        replica: Replica,
    ) -> None:  # fmt: skip
        super().__init__(context, request, message, opened._replace(asked=()), replica)
        self.opened = opened
        self._watched: dict[Partition, None] = {}

    def attempt(self) -> FetchResponse | None:
        """Return the response if there are enough bytes or an error; skip quiet partitions."""
        session, replica = self.opened.session, self.replica
        assert session is not None
        assert replica is not None
        now_ms, wanted = self.context.clock.now_ms(), []
        for told in session.partitions.values():
            quiet: Quiet | None = told.quiet
            if quiet is None or not quiet.lasts(replica.broker_epoch, now_ms):
                told.quiet = None
                wanted.append(self._look_up(*told.asked))
        self.wanted = wanted
        return super().attempt()

    def _read(self, wanted: Wanted, left: int, *, first: bool) -> PartitionData:
        data = super()._read(wanted, left, first=first)
        if not (data.records or is_final(data)):
            self._note_quiet(wanted, data)
        return data

    def _note_quiet(self, wanted: Wanted, data: PartitionData) -> None:
        session, replica, partition = self.opened.session, self.replica, wanted.partition
        assert session is not None
        assert replica is not None
        assert partition is not None
        state = partition.replication
        told = session.told(wanted.topic, wanted.entry)
        if state is None or told is None:
            return
        follower = state.followers.get(replica.broker_id)
        if (
            follower is not None
            and follower.log_end_offset == partition.log.log_end_offset
            and told.high_watermark == data.high_watermark
            and told.log_start_offset == data.log_start_offset
            # A follower outside the ISR may be proposed for it at any time.
            and replica.broker_id in state.partition.isr
            and state.proposal is None
        ):
            told.quiet = Quiet(
                partition,
                replica.broker_id,
                state,
                follower,
                partition.log,
                partition.leader_epoch,
                follower.log_end_offset,
                data.high_watermark,  # this fetch itself may have moved the log's since
                data.log_start_offset,
            )

    # -- waiting -------------------------------------------------------------------------------

    def park(self, max_wait_ms: int) -> None:
        """Wait for a change of any partition, including quiet ones."""
        assert self.opened.session is not None
        quiet = (told.quiet for told in self.opened.session.partitions.values())
        self._watched = {each.partition: None for each in quiet if each is not None}
        self._watched |= dict.fromkeys(super()._partitions())
        super().park(max_wait_ms)

    def _partitions(self) -> Iterable[Partition]:
        return self._watched

    def partition_moved(self, partition: Partition) -> None:
        """Try again if the partition is not quiet any more; the partition calls this."""
        state = partition.replication
        if state is not None and self.replica is not None:
            follower = state.followers.get(self.replica.broker_id)
            if follower is not None and follower.log_end_offset == partition.log.log_end_offset:
                return
        self._try_again()
