"""Keeps the cluster's metadata up to date, and waits for what callers need of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.errors import (
    AuthenticationError,
    IllegalStateError,
    KafkaError,
    NoBrokerError,
    RequestTimedOutError,
    RetriableError,
    UnknownTopicOrPartitionError,
    error_of,
)
from fencepost_client.metadata.cluster import Cluster, Topic, is_legal_name
from fencepost_client.network.client_settings import ClientSettings
from fencepost_client.requests.procedures import ANY_NODE, Ask

_IDLE_MS: Final = 3_600_000


class MetadataUpdater:
    """Asks for Metadata when it is due, or when somebody needs what is not known yet."""

    def __init__(
        self,
        settings: ClientSettings,
        cluster: Cluster,
        ask: Callable[[Ask], Awaitable[Any]],
        on_update: Callable[[], None],
    ) -> None:
        self.closed = False
        self._settings = settings
        self._cluster = cluster
        self._ask = ask
        self._on_update = on_update
        """Called after each answer and each failure."""
        self._loop = asyncio.get_running_loop()
        self._waiters: dict[asyncio.Future[None], None] = {}
        self._is_wanted = asyncio.Event()
        self._failure: KafkaError | None = None
        """The error of the last attempt."""
        self._has_all = False

    def refresh(self) -> None:
        """Ask soon, because something is out of date."""
        self._cluster.refresh(self._now_ms())
        self._is_wanted.set()

    async def nodes(self) -> None:
        """Wait until the cluster's brokers are known."""
        await self._updated_until(lambda: bool(self._cluster.nodes), "the cluster")

    async def topic(self, name: str) -> Topic:
        """A topic that has partitions; waits while it is unknown or is being created."""

        def known() -> Topic | None:
            topic = self._cluster.topics.get(name)
            if topic is not None and topic.error_code:
                error = error_of(topic.error_code, f"Topic {name!r}: {topic.error_code}.")
                if not isinstance(error, RetriableError):
                    raise error_of(topic.error_code, state=f"asking for topic {name!r}")
            return topic if topic is not None and topic.partition_count else None

        if not is_legal_name(name):
            raise error_of(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"{name!r:.300} is not a topic name: use 1 to 249 of the characters a-z, A-Z, "
                f"0-9, '.', '_' and '-'.",
            )
        self._cluster.want(name, self._now_ms())
        self._is_wanted.set()
        await self._updated_until(lambda: known() is not None, f"topic {name!r}")
        topic = known()
        assert topic is not None
        return topic

    def topic_id(self, name: str) -> bytes | None:
        """The id of a topic (KIP-516), if the last answer had one."""
        topic = self._cluster.topics.get(name)
        return topic.topic_id if topic is not None and any(topic.topic_id) else None

    def want_all_topics(self, wants_all: bool) -> None:
        """Ask for all topics from now on, or only for those that are needed."""
        self._cluster.wants_all = wants_all
        if wants_all:
            self.refresh()

    async def all_topics(self) -> None:
        """Wait for an answer with all topics, after ``want_all_topics``."""
        await self._updated_until(lambda: self._has_all, "all topics")

    async def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        """The current partition counts of topics; topics that do not exist are left out."""
        topics = [name for name in topics if is_legal_name(name)]
        for name in topics:
            self._cluster.want(name, self._now_ms())
        self._is_wanted.set()
        await self._updated_until(
            lambda: all(name in self._cluster.topics for name in topics), "the group's topics"
        )
        known = self._cluster.topics
        return {name: known[name].partition_count for name in topics if known[name].partition_count}

    async def updated(self) -> None:
        """Wait for the next answer, or for the failure of the next attempt."""
        if self.closed:
            raise IllegalStateError("the client is closed")
        future: asyncio.Future[None] = self._loop.create_future()
        self._waiters[future] = None
        try:
            await future
        finally:
            self._waiters.pop(future, None)

    async def _updated_until(self, enough: Callable[[], bool], what: str) -> None:
        limit_ms = self._settings.api_timeout_ms
        try:
            async with asyncio.timeout(limit_ms / 1000):
                while not enough():
                    await self.updated()
        except TimeoutError:
            no_answer = f"No broker answered about {what} within {limit_ms} ms"
            if self._failure is not None:
                raise NoBrokerError(
                    f"{no_answer}. The last attempt: {self._failure.message.rstrip('.')}."
                ) from None
            if what.startswith("topic"):
                raise UnknownTopicOrPartitionError(f"{no_answer}.") from None
            raise RequestTimedOutError(
                f"{no_answer}; the bootstrap servers are "
                f"{', '.join(f'{host}:{port}' for host, port in self._settings.bootstrap)}."
            ) from None

    async def run(self) -> None:
        """Ask whenever it is due, until this is cancelled."""
        while True:
            due_ms = self._cluster.deadline()
            pause_ms = _IDLE_MS if due_ms is None else due_ms - self._now_ms()
            if pause_ms <= 0:
                await self._update()
                continue
            self._is_wanted.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause_ms / 1000):
                    await self._is_wanted.wait()

    async def _update(self) -> None:
        cluster = self._cluster
        wanted, wants_all = frozenset(cluster.wanted), cluster.wants_all
        doubted = frozenset(cluster.doubted)
        try:
            answer = await self._ask(Ask(ANY_NODE, ApiKey.METADATA, lambda _: cluster.request()))
        except KafkaError as error:
            cluster.failed(self._now_ms())
            self._failure = error
            if isinstance(error, AuthenticationError):
                # Waiting longer would not help; metadata that is known stays in use.
                self._fail_waiters(error)
        else:
            cluster.answered(answer, self._now_ms())
            cluster.doubted -= doubted
            del answer  # 300 bytes a partition
            self._failure, self._has_all = None, wants_all
            are_wanted = (frozenset(cluster.wanted), cluster.wants_all)
            if (wanted, wants_all) != are_wanted or cluster.doubted:
                cluster.refresh(self._now_ms())
        for future in self._waiters:
            if not future.done():
                future.set_result(None)
        self._on_update()

    def close(self) -> None:
        """Fail everybody who waits for an answer."""
        self.closed = True
        self._fail_waiters(IllegalStateError("the client was closed"))

    def _fail_waiters(self, error: Exception) -> None:
        for future in self._waiters:
            if not future.done():
                future.set_exception(error)

    def _now_ms(self) -> int:
        return int(self._loop.time() * 1000)
