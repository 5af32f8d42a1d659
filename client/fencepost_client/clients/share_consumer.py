"""``ShareConsumer``: reads and acknowledges records as a member of a share group (KIP-932)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, Final, Unpack

from fencepost_client.clients.base import BaseClient
from fencepost_client.clients.share_fetch_loop import Held, ShareFetchLoop
from fencepost_client.clients.share_membership import ShareGroupMembership
from fencepost_client.config.kafka_names import SHARE_CONSUMER_NAMES, from_kafka_names
from fencepost_client.config.settings import (
    SHARE_CONSUMER,
    AcknowledgementMode,
    AcquireMode,
    check_settings,
)
from fencepost_client.consumer.share_member import ShareGroupMember
from fencepost_client.consumer.share_records import ShareRecord
from fencepost_client.consumer.share_session import AcknowledgeType, ShareFetchSettings
from fencepost_client.errors import ConfigError, IllegalStateError, KafkaError
from fencepost_client.metadata.cluster import is_legal_name
from fencepost_client.metrics import RequestMetrics
from fencepost_client.network.client_settings import ClientSettings, read_bootstrap
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.network.security import SecuritySettings, read_security
from fencepost_client.types import TopicPartition, distinct

_ITERATION_MS: Final = 3_000
_LOOK_AGAIN_SECONDS: Final = 0.5
CLOSE_SECONDS: Final = 10.0
"""The longest time that closing waits for brokers' answers."""


class ShareConsumer(BaseClient):
    """Reads records as a member of a share group: members share partitions, record by record.

        async with ShareConsumer("localhost:9092", group_id="mails") as consumer:
            consumer.subscribe(["orders"])
            async for record in consumer:
                await send_mail(record.value)

    A record is locked for this member for the time of a lock (30 s, by the group's settings). The
    next call for records accepts those that the call before it has returned. With
    ``share_acknowledgement_mode="explicit"``, ``acknowledge`` says for each record whether it is
    accepted, released or rejected, before the next call for records.
    """

    def __init__(
        self,
        bootstrap_servers: str | Sequence[str],
        *,
        group_id: str,
        client_id: str = "fencepost-share-consumer",
        client_rack: str = "",
        share_acknowledgement_mode: AcknowledgementMode = "implicit",
        share_acquire_mode: AcquireMode = "batch_optimized",
        max_poll_records: int = 500,
        fetch_min_bytes: int = 1,
        fetch_max_bytes: int = 50 << 20,
        fetch_max_wait_ms: int = 500,
        request_timeout_ms: int = 30_000,
        default_api_timeout_ms: int = 60_000,
        retry_backoff_ms: int = 100,
        retry_backoff_max_ms: int = 1_000,
        metadata_max_age_ms: int = 300_000,
        metrics: RequestMetrics | None = None,
        **security: Unpack[SecuritySettings],
    ) -> None:
        check_settings("ShareConsumer", SHARE_CONSUMER, locals())
        super().__init__(
            ClientSettings(
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
        )
        self._group_id = group_id
        self._rack = client_rack or None
        self._is_explicit = share_acknowledgement_mode == "explicit"
        self._fetch_settings = ShareFetchSettings(
            fetch_min_bytes,
            fetch_max_bytes,
            fetch_max_wait_ms,
            max_poll_records,
            share_acquire_mode == "record_limit",
        )
        self._membership: ShareGroupMembership | None = None
        self._topics: frozenset[str] = frozenset()
        self._fetch_loop: ShareFetchLoop | None = None
        self._delivered: dict[tuple[str, int, int], Held] = {}
        """Records that were returned and not acknowledged."""
        self._renewed: set[tuple[str, int, int]] = set()
        self._iterated: deque[ShareRecord] = deque()

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> ShareConsumer:
        """Make a share consumer with settings by Kafka's names.

        ShareConsumer.from_config({"bootstrap.servers": "localhost:9092", "group.id": "g"})
        """
        return cls(**from_kafka_names(config, SHARE_CONSUMER_NAMES))

    # -- beginning and end ---------------------------------------------------------------------

    async def _begin(self, client: NetworkClient) -> None:
        member = ShareGroupMember(self._group_id, self._rack, client.settings.chance)
        loop = ShareFetchLoop(client, self._group_id, member, self._fetch_settings)
        self._fetch_loop = loop
        self._membership = ShareGroupMembership(client, member, self._group_id, loop.news.set)
        await client.start()

    async def _exit(self, *, is_failure: bool) -> None:
        await self.close(accept=not is_failure)

    async def close(self, *, accept: bool = True) -> None:
        """Acknowledge what was returned if that is implicit, release the rest, and leave the group.

        Without ``accept``, records that were returned and not acknowledged are released.
        """
        if self._client is None or self._client.closed:
            return
        try:
            if accept and not self._is_explicit:
                self._accept_delivered()
            await self._end_sessions()
            assert self._membership is not None
            await self._membership.leave()
        finally:
            await super().close()

    async def _end_sessions(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await self._fetching().end()
        except TimeoutError:
            return  # the brokers end the sessions with the connections

    # -- what to read --------------------------------------------------------------------------

    def subscribe(self, topics: Iterable[str]) -> None:
        """Read these topics, together with the other members of the group.

        consumer.subscribe(["orders", "payments"])
        """
        self._connected()
        names = frozenset(distinct(topics))
        for topic in names:
            if not is_legal_name(topic):
                raise ConfigError(f"{topic!r:.300} is not a topic name")
        if not names:
            raise ConfigError("subscribe takes topics; unsubscribe() ends a subscription")
        self._topics = names
        assert self._membership is not None
        self._membership.subscribe(names)

    async def unsubscribe(self) -> None:
        """Leave the group; records that were not acknowledged are released."""
        self._connected()
        self._topics = frozenset()
        self._iterated.clear()
        self._delivered.clear()
        self._renewed.clear()
        await self._end_sessions()
        assert self._membership is not None
        await self._membership.leave()

    def assignment(self) -> set[TopicPartition]:
        """The partitions that this member fetches now; others may fetch the same."""
        if self._membership is None:
            return set()
        return {each.where for each in self._membership.member.assignment}

    @property
    def acquisition_lock_timeout_ms(self) -> int | None:
        """How long records are locked for this member; ``None`` before the first answer."""
        return None if self._fetch_loop is None else self._fetch_loop.lock_timeout_ms

    # -- records -------------------------------------------------------------------------------

    async def getmany(
        self, *, timeout_ms: int = 0, max_records: int | None = None
    ) -> list[ShareRecord]:
        """Return acquired records, or wait for the first ones; none after ``timeout_ms``.

            records = await consumer.getmany(timeout_ms=1000)

        Implicitly, this accepts all records that were returned before.
        """
        client, loop = self._connected(), self._fetching()
        if not self._topics:
            raise IllegalStateError("the share consumer has no subscription: call subscribe")
        if not self._is_explicit:
            self._accept_delivered()
        elif self._delivered.keys() - self._renewed:
            raise IllegalStateError(
                "acknowledge all records before the next call for records, which cannot know what"
                " became of them"
            )
        limit = self._fetch_settings.max_records if max_records is None else max_records
        deadline = client.loop.time() + timeout_ms / 1000
        assert self._membership is not None
        while True:
            self._membership.keep_up()
            loop.raise_error()
            loop.news.clear()
            found = loop.take(limit)
            self._delivered |= {held.record[:3]: held for held in found}
            loop.send(fetches=not found)
            left = deadline - client.loop.time()
            if found or left <= 0:
                return [held.record for held in found]
            try:
                async with asyncio.timeout(min(left, _LOOK_AGAIN_SECONDS)):
                    await loop.news.wait()
            except TimeoutError:
                pass
            if client.closed:
                raise IllegalStateError("the share consumer was closed")

    def __aiter__(self) -> AsyncIterator[ShareRecord]:
        return self._records()

    async def _records(self) -> AsyncIterator[ShareRecord]:
        while True:
            await self.hold()
            while self._iterated:
                yield self._iterated.popleft()

    async def hold(self) -> None:
        """Wait for records, for an iteration."""
        while not self._iterated:
            self._iterated.extend(await self.getmany(timeout_ms=_ITERATION_MS))

    @property
    def held(self) -> deque[ShareRecord]:
        """Records that an iteration has not returned yet."""
        return self._iterated

    # -- acknowledging -------------------------------------------------------------------------

    def acknowledge(
        self, record: ShareRecord, kind: AcknowledgeType = AcknowledgeType.ACCEPT
    ) -> None:
        """Say what became of a record; the next call for records or ``commit`` sends it.

            consumer.acknowledge(record, AcknowledgeType.RELEASE)

        A record whose lock is renewed has to be acknowledged later.
        """
        if not self._is_explicit:
            raise IllegalStateError("acknowledge needs share_acknowledgement_mode='explicit'")
        name = record[:3]
        delivered = self._delivered.get(name)
        if delivered is None:
            raise IllegalStateError(
                f"{record.topic}-{record.partition} offset {record.offset} was acknowledged before,"
                " or not returned by this consumer"
            )
        delivered.session.acknowledge(delivered.key, record.offset, kind)
        if kind is AcknowledgeType.RENEW:
            self._renewed.add(name)
        else:
            del self._delivered[name]
            self._renewed.discard(name)

    def _accept_delivered(self) -> None:
        """Accept all records that were returned; an iteration may hold some back."""
        held = {record[:3] for record in self._iterated}
        for name, each in list(self._delivered.items()):
            if name not in held:
                each.session.acknowledge(each.key, name[2], AcknowledgeType.ACCEPT)
                del self._delivered[name]

    async def commit(self) -> dict[TopicPartition, KafkaError]:
        """Send all acknowledgements, and wait until they are written.

            failed = await consumer.commit()

        Implicitly, this accepts all records that were returned. The result has the partitions with
        acknowledgements that were refused since the last call, for example after the end of a lock:
        these records are delivered again.
        """
        self._connected()
        if not self._is_explicit:
            self._accept_delivered()
        loop = self._fetching()
        await loop.acknowledge_all()
        failed, loop.failed = loop.failed, {}
        return failed

    def _fetching(self) -> ShareFetchLoop:
        self._connected()
        assert self._fetch_loop is not None
        return self._fetch_loop
