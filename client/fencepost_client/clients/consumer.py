"""``Consumer``: reads records and commits positions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Final, Unpack

from fencepost_client.clients.classic_membership import ClassicMembership, Membership
from fencepost_client.clients.fetch_loop import FetchLoop
from fencepost_client.clients.kip848_membership import ConsumerGroupMembership
from fencepost_client.clients.partition_reader import PartitionReader
from fencepost_client.clients.poll_timer import PollTimer
from fencepost_client.clients.rebalance_listener import OnChange, RebalanceListener
from fencepost_client.config.kafka_names import CONSUMER_NAMES, from_kafka_names
from fencepost_client.config.settings import (
    CONSUMER,
    GroupProtocol,
    IsolationLevel,
    OffsetReset,
    check_settings,
)
from fencepost_client.consumer.assignors import assignors_of
from fencepost_client.consumer.classic_member import DEFAULT_ASSIGNORS, MemberSettings
from fencepost_client.consumer.committed_offsets import commit_offsets, fetch_committed
from fencepost_client.consumer.fetcher import FetchSettings
from fencepost_client.consumer.kip848_member import ConsumerGroupSettings
from fencepost_client.consumer.list_offsets import (
    EARLIEST,
    LATEST,
)
from fencepost_client.consumer.rebalance import AssignmentChange, WantedTopics
from fencepost_client.errors import (
    CommitFailedError,
    ConfigError,
    FencedError,
    IllegalStateError,
    RequestTimedOutError,
)
from fencepost_client.metadata.cluster import is_legal_name
from fencepost_client.metrics import RequestMetrics
from fencepost_client.network import log
from fencepost_client.network.client_settings import ClientSettings, read_bootstrap
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.network.security import SecuritySettings, read_security
from fencepost_client.types import (
    GroupMetadata,
    OffsetAndMetadata,
    TopicPartition,
    as_offsets,
    distinct,
)

if TYPE_CHECKING:
    from fencepost_client.clients.history import History

_RESETS: Final = {"earliest": EARLIEST, "latest": LATEST, "none": None}
CLOSE_COMMIT_MS: Final = 10_000
_ISOLATION: Final = {"read_uncommitted": False, "read_committed": True}


def _member_settings(
    classic: MemberSettings, protocol: str, remote_assignor: str | None
) -> MemberSettings | ConsumerGroupSettings:
    if protocol == "classic":
        return classic
    if protocol == "consumer":
        return ConsumerGroupSettings(
            classic.group_id,
            classic.group_instance_id,
            classic.rebalance_timeout_ms,
            remote_assignor,
            classic.rack,
        )
    raise ConfigError(f"group_protocol is {protocol!r}; it can be classic or consumer")


class Consumer(PartitionReader):
    """Reads records, by itself or as a member of a group.

        async with Consumer("localhost:9092", group_id="billing") as consumer:
            consumer.subscribe(["orders"])
            async for record in consumer:
                print(record.topic, record.partition, record.offset, record.value)

    Calls for records also take part in rebalances and, with ``enable_auto_commit``, commit
    positions. Records that an earlier call has returned count as processed then.
    """

    def __init__(
        self,
        bootstrap_servers: str | Sequence[str],
        *,
        client_id: str = "fencepost-consumer",
        client_rack: str = "",
        group_id: str | None = None,
        group_instance_id: str | None = None,
        group_protocol: GroupProtocol = "classic",
        group_remote_assignor: str | None = None,
        isolation_level: IsolationLevel = "read_uncommitted",
        auto_offset_reset: OffsetReset = "latest",
        enable_auto_commit: bool = True,
        auto_commit_interval_ms: int = 5_000,
        max_poll_records: int = 500,
        max_poll_interval_ms: int = 300_000,
        session_timeout_ms: int = 45_000,
        heartbeat_interval_ms: int = 3_000,
        partition_assignment_strategy: Sequence[str] = DEFAULT_ASSIGNORS,
        fetch_min_bytes: int = 1,
        fetch_max_bytes: int = 50 << 20,
        fetch_max_wait_ms: int = 500,
        max_partition_fetch_bytes: int = 1 << 20,
        request_timeout_ms: int = 30_000,
        default_api_timeout_ms: int = 60_000,
        retry_backoff_ms: int = 100,
        retry_backoff_max_ms: int = 1_000,
        metadata_max_age_ms: int = 300_000,
        metrics: RequestMetrics | None = None,
        history: History | None = None,
        **security: Unpack[SecuritySettings],
    ) -> None:
        check_settings("Consumer", CONSUMER, locals())
        fetch_settings = FetchSettings(
            min_bytes=fetch_min_bytes,
            max_bytes=fetch_max_bytes,
            max_wait_ms=fetch_max_wait_ms,
            partition_max_bytes=max_partition_fetch_bytes,
            read_committed=_ISOLATION[isolation_level],
            reset_to=_RESETS[auto_offset_reset],
            retry_backoff_ms=retry_backoff_ms,
            rack_id=client_rack,
            replica_max_age_ms=metadata_max_age_ms,
        )
        client_settings = ClientSettings(
            read_bootstrap(bootstrap_servers),
            client_id=client_id,
            request_timeout_ms=request_timeout_ms,
            api_timeout_ms=default_api_timeout_ms,
            retry_backoff_ms=retry_backoff_ms,
            retry_backoff_max_ms=retry_backoff_max_ms,
            metadata_max_age_ms=metadata_max_age_ms,
            security=read_security(**security),
            metrics=metrics,
        )
        super().__init__(client_settings, fetch_settings, max_poll_records)
        if history is not None:
            self._history = history.client(client_id)
        self._member_settings = None
        if group_id is not None:
            classic = MemberSettings(
                group_id, group_instance_id, session_timeout_ms, max_poll_interval_ms
            )
            classic.rack = client_rack or None
            classic.assignors = assignors_of(partition_assignment_strategy)
            self._member_settings = _member_settings(classic, group_protocol, group_remote_assignor)
        self._max_poll_interval_ms = max_poll_interval_ms
        self._heartbeat_interval_ms = heartbeat_interval_ms
        self._auto_commit_ms = auto_commit_interval_ms if enable_auto_commit else None
        self._membership: Membership | None = None
        self._wanted: WantedTopics | None = None
        self._next_commit_ms = 0
        self._listener = RebalanceListener()
        self._rebalancing = asyncio.Lock()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Consumer:
        """Make a consumer with settings by Kafka's names; an unknown name raises an error.

        consumer = Consumer.from_config({"bootstrap.servers": "localhost:9092", "group.id": "g"})
        """
        return cls(**from_kafka_names(config, CONSUMER_NAMES))

    # -- beginning and end ---------------------------------------------------------------------

    async def _begin(self, client: NetworkClient) -> None:
        loop = self._fetch_loop = FetchLoop(client, self._fetch_settings)
        settings = self._member_settings
        timer = self._poll_timer = PollTimer(client.now_ms, self._max_poll_interval_ms)
        if isinstance(settings, ConsumerGroupSettings):
            self._membership = ConsumerGroupMembership(client, settings, timer, loop.wake)
        elif settings is not None:
            self._membership = ClassicMembership(
                client, settings, self._heartbeat_interval_ms, timer, loop.wake
            )
        await client.start()

    async def start(self) -> None:
        """Connect."""
        isolation = "read_committed" if self._fetch_settings.read_committed else "read_uncommitted"
        group = "" if self._member_settings is None else self._group_id()
        with self._recorded("open", isolation=isolation, group=group):
            await super().start()

    async def _exit(self, *, is_failure: bool) -> None:
        await self.close(commit=not is_failure)

    async def close(self, *, commit: bool = True) -> None:
        """Commit positions if that is automatic, leave the group, and close the connections.

        Each step takes some seconds at most. Raises an error if the positions were not committed
        in that time.
        """
        if self._client is None or self._client.closed:
            return
        try:
            if commit and self._auto_commit_ms is not None and self._membership is not None:
                await self._commit_at_last()
        finally:
            await self._leave_and_close()

    async def _commit_at_last(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_COMMIT_MS / 1000):
                await self._commit_quietly()
        except TimeoutError:
            raise RequestTimedOutError(
                f"Positions could not be committed within {CLOSE_COMMIT_MS} ms while closing."
            ) from None

    async def _leave_and_close(self) -> None:
        try:
            await self._leave()
            await self._fetching().end_sessions()
        finally:
            await super().close()

    # -- what to read --------------------------------------------------------------------------

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Read these partitions, without a group.

        consumer.assign([TopicPartition("orders", 0)])
        """
        if self._wanted is not None:
            raise IllegalStateError(
                "the consumer has a subscription: call unsubscribe before assign"
            )
        self._set_assignment(partitions)

    def subscribe(
        self,
        topics: Iterable[str] = (),
        *,
        regex: str | None = None,
        on_assigned: OnChange | None = None,
        on_revoked: OnChange | None = None,
        on_lost: OnChange | None = None,
    ) -> None:
        """Share these topics with the other members of the group.

        consumer.subscribe(["orders", "payments"], on_revoked=flush)
        consumer.subscribe(regex="orders-.*")

        A regular expression must match the whole name. In a classic group it has Python's syntax;
        the consumer looks for matching topics every ``metadata_max_age_ms``, except internal ones.
        With ``group_protocol="consumer"`` it has RE2's syntax, and the broker resolves it.

        The callables run during calls for records, with the partitions that a rebalance brings
        and takes; plain or async. ``on_revoked`` can still commit. ``on_lost``, or ``on_revoked``
        without it, is called for partitions that the group has taken from this member while it
        was out of the group.
        """
        if self._membership is None:
            raise IllegalStateError("subscribe needs a group_id; without one, use assign")
        if self._wanted is None and self._fetching().fetcher.positions:
            raise IllegalStateError(
                "the consumer has assigned partitions: call unsubscribe before subscribe"
            )
        names = frozenset(distinct(topics))
        for topic in names:
            if not is_legal_name(topic):
                raise ConfigError(f"{topic!r:.300} is not a topic name")
        if bool(names) == bool(regex):
            raise ConfigError(
                "subscribe takes either topics or a regex; unsubscribe() ends a subscription"
            )
        wanted = WantedTopics(names, regex)
        self._membership.subscribe(wanted)
        self._wanted = wanted
        self._listener = RebalanceListener(on_assigned, on_revoked, on_lost)

    async def unsubscribe(self) -> None:
        """Leave the group, or give up the assigned partitions, without a commit.

            await consumer.unsubscribe()

        It does not wait for a rebalance that is under way; neither do calls for records then.
        """
        self._listener.refuse_within()
        membership = self._membership
        with membership.leaving() if membership is not None else nullcontext():
            async with self._rebalancing:
                await self._leave()
                self._wanted = None
                self._set_assignment(())

    async def _leave(self) -> None:
        """Leave the group, and tell the listener. It may be called again."""
        if self._membership is None:
            return
        try:
            if self._wanted is not None:
                await self._listener.gone(
                    self.assignment(), are_lost=self._membership.metadata().generation_id < 0
                )
        finally:
            await self._membership.leave()

    def group_metadata(self) -> GroupMetadata:
        """The identity of this consumer in its group, for ``Producer.send_offsets``."""
        if self._membership is None:
            raise IllegalStateError("a consumer without group_id has no group metadata")
        return self._membership.metadata()

    def _in_call(self) -> AbstractContextManager[None]:
        return self._poll_timer

    async def _keep_up(self, until: float | None = None) -> None:
        client = self._connected()
        membership = self._membership
        if membership is not None and self._wanted is not None:
            self._listener.refuse_within()
            async with self._rebalancing:
                while (change := await membership.change(self.assignment(), until)) is not None:
                    await self._carry_out(change)
        if (
            self._auto_commit_ms is not None
            and membership is not None
            and client.now_ms() >= self._next_commit_ms
        ):
            self._next_commit_ms = client.now_ms() + self._auto_commit_ms
            await self._commit_quietly()
        await super()._keep_up(until)

    async def _carry_out(self, change: AssignmentChange) -> None:
        group_id = self.group_metadata().group_id
        if change.revoked:
            what = "lost" if change.is_lost else "gave back"
            log.reassigned(group_id, what, change.revoked)
            try:
                if self._auto_commit_ms is not None and not change.is_lost:
                    await self._commit_quietly()
            finally:
                await self._give_up(change)
        if change.assigned is not None:
            log.reassigned(group_id, "got", change.assigned)
            self._set_assignment(sorted(self.assignment() | change.assigned))
            with self._poll_timer.in_listener():
                await self._listener.assigned(set(change.assigned))

    async def _give_up(self, change: AssignmentChange) -> None:
        try:
            with self._poll_timer.in_listener():
                await self._listener.gone(set(change.revoked), are_lost=change.is_lost)
        finally:
            # Also when the listener raises: the group has decided.
            self._set_assignment(sorted(self.assignment() - change.revoked))

    def _look_again_seconds(self) -> float:
        if self._membership is not None and self._wanted is not None:
            return self._heartbeat_interval_ms / 1000
        return super()._look_again_seconds()

    # -- offsets of the group ------------------------------------------------------------------

    async def _committed_positions(
        self, partitions: list[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        return {} if self._member_settings is None else await self.committed(partitions)

    async def committed(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of the group; waits for open transactions to end (KIP-447)."""
        return await self._committed(partitions, is_stable=self._fetch_settings.read_committed)

    async def _committed(
        self, partitions: Iterable[TopicPartition], *, is_stable: bool
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        client, membership = self._connected(), self._membership
        group = GroupMetadata(self._group_id())
        partitions = list(partitions)
        assert membership is not None
        while True:
            if isinstance(self._member_settings, ConsumerGroupSettings):
                group = membership.metadata()
            procedure = fetch_committed(
                group,
                partitions,
                client.backoff(),
                require_stable=is_stable,
                id_of=client.metadata.topic_id,
            )
            try:
                return await client.run(procedure)
            except CommitFailedError:
                if not await membership.has_moved_on(group):
                    raise

    async def commit(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int] | None = None
    ) -> None:
        """Commit positions, or the given offsets: those of the next records to read.

        await consumer.commit({TopicPartition("orders", 0): record.offset + 1})
        """
        client = self._connected()
        self._group_id()
        assert self._membership is not None
        given = self._to_commit() if offsets is None else as_offsets(offsets)
        membership, history = self._membership, self._history
        while given:
            group = membership.metadata()
            if self._wanted is not None and group.generation_id < 0:
                # Without a generation, the commit would be that of a program outside of the group.
                raise CommitFailedError(state="committing offsets outside of the group")
            try:
                with nullcontext() if history is None else history.offsets(group.group_id, given):
                    await client.run(
                        commit_offsets(group, given, client.backoff(), client.metadata.topic_id)
                    )
            except CommitFailedError:
                if not await membership.has_moved_on(group) or not membership.has_kept(given):
                    raise
            else:
                return

    async def _commit_quietly(self) -> None:
        try:
            await self.commit()
        except (CommitFailedError, FencedError):
            # The group has rebalanced: another member will read these records again. A member that
            # is fenced learns it from its heartbeat.
            return

    # -- exactly once --------------------------------------------------------------------------

    def check_exactly_once(self) -> None:
        """Raise an error for settings with which ``exactly_once`` could lose or double records."""
        if self._auto_commit_ms is not None:
            raise ConfigError(
                "exactly_once needs enable_auto_commit=False, because it commits the offsets"
            )
        if not self._fetch_settings.read_committed:
            raise ConfigError("exactly_once needs isolation_level='read_committed'")
        self._group_id()

    def generation_id(self) -> int:
        """The generation of the group; -1 while this consumer is not a member."""
        return self.group_metadata().generation_id

    async def fetch_offsets(
        self, all_partitions: bool = True
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of all assigned partitions, or of those without a position.

        Waits while one of the offsets is part of an open transaction, with any isolation level.
        """
        known = self.positions()
        wanted = [each for each in self.assignment() if all_partitions or each not in known]
        return await self._committed(wanted, is_stable=True) if wanted else {}

    async def block_on_rebalance(self, timeout_ms: int) -> None:
        """Take part in a rebalance, if the group has one."""
        self._group_id()
        assert self._membership is not None
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                with self._in_call():
                    await self._keep_up()
                    while self._wanted is not None and await self._membership.ask():
                        await self._keep_up()
        except TimeoutError:
            raise RequestTimedOutError(
                f"The rebalance of the group did not end within {timeout_ms} ms."
            ) from None

    def _group_id(self) -> str:
        if self._member_settings is None:
            raise IllegalStateError("committing offsets needs a group_id")
        return self._member_settings.group_id
