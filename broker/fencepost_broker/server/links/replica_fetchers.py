"""Fetchers of followed partitions: one connection to each leader, one fetch at a time."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from fencepost_client.errors import KafkaError
from fencepost_client.network.link import Link
from fencepost_client.types import TopicPartition
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

from fencepost_broker.controller.channel.reachability import Reachability
from fencepost_broker.controller.channel.registration import Registration
from fencepost_broker.metadata.dynamic_config import DynamicConfig
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.ports import Clock, client_id_of_broker
from fencepost_broker.replication.follower import (
    VERSION_MIN,
    Followed,
    LeaderFetcher,
    Limits,
    growing_backoff_ms,
)
from fencepost_broker.replication.partition import PartitionTable
from fencepost_broker.replication.quotas import ReplicationQuotas
from fencepost_broker.server.links.dialing import DIAL_MS, address_of_broker, dialled
from fencepost_broker.storage.log import StorageError

_EARLIEST: Final = -2
_LATEST: Final = -1


class NoLeaderError(Exception):
    """The leader cannot be reached; the text is for users."""


@dataclass(slots=True, eq=False)
class _Leader:
    """One leader, the replicas that follow it, and the task that fetches."""

    broker_id: int
    fetcher: LeaderFetcher
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    is_answering: bool = False
    """Whether it has answered on the current connection, or on the last one."""
    reachability: Reachability = field(default_factory=Reachability)


class ReplicaFetchers:
    """All leaders that this broker follows."""

    def __init__(
        self,
        registration: Registration,
        config: DynamicConfig,
        image: MetadataImage,
        table: PartitionTable,
        clock: Clock,
        quotas: ReplicationQuotas,
        log: Any,
    ) -> None:
        settings = config.settings
        self._registration = registration
        self._config = config
        self._image = image
        self._table = table
        self._state_ms = clock.now_ms
        self._quotas = quotas
        self._log = log
        self._leaders: dict[int, _Leader] = {}
        self._leader_of: dict[TopicPartition, _Leader] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._timeout_ms = settings.replica_socket_timeout_ms
        self._backoff_ms = settings.replica_fetch_backoff_ms
        self._limits = Limits(
            settings.replica_fetch_wait_max_ms,
            settings.replica_fetch_min_bytes,
            settings.replica_fetch_response_max_bytes,
            settings.replica_fetch_max_bytes,
            settings.replica_fetch_backoff_ms,
        )

    def follow(self, leader_id: int, followed: Followed) -> None:
        """Begin to follow a replica's leader."""
        self.forget(followed.where)
        leader = self._leaders.get(leader_id)
        if leader is None:
            fetcher = LeaderFetcher(self._registration.node_id, self._limits, self._quotas)
            leader = self._leaders[leader_id] = _Leader(leader_id, fetcher)
        leader.fetcher.follow(followed)
        self._leader_of[followed.where] = leader
        leader.wake.set()
        if leader.task is None:
            leader.task = asyncio.get_running_loop().create_task(self._run(leader))

    def forget(self, where: TopicPartition) -> None:
        """Stop following it."""
        leader = self._leader_of.pop(where, None)
        if leader is not None:
            leader.fetcher.forget(where)
            if not len(leader.fetcher):
                # It may be followed again at once, in its next epoch.
                asyncio.get_running_loop().call_soon(self._end_if_idle, leader)

    def _end_if_idle(self, leader: _Leader) -> None:
        """Close the connection to a leader that leads nothing here; it may not answer any more.

        When it leads again, there is a new connection and nothing to wait for.
        """
        if len(leader.fetcher) or self._leaders.get(leader.broker_id) is not leader:
            return
        del self._leaders[leader.broker_id]
        if leader.task is not None:
            self._ending.add(leader.task)
            leader.task.add_done_callback(self._ending.discard)
            leader.task.cancel()

    async def close(self) -> None:
        """Close all connections."""
        tasks = [each.task for each in self._leaders.values() if each.task is not None]
        tasks += self._ending
        self._leaders.clear()
        self._leader_of.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- one leader -----------------------------------------------------------------------------

    async def _run(self, leader: _Leader) -> None:
        failures = 0
        while True:
            leader.wake.clear()
            if not len(leader.fetcher):
                await leader.wake.wait()
                continue
            leader.is_answering = False
            try:
                await self._fetch_from(leader)
                continue
            except (NoLeaderError, KafkaError, OSError, TimeoutError, StorageError) as error:
                leader.fetcher.failed()
                self._lost(leader, str(error) or type(error).__name__)
            except Exception as error:  # noqa: BLE001 (our bug must not leave replicas behind)
                leader.fetcher.failed()
                text = (
                    f"following broker {leader.broker_id} failed: this is a bug: please report it"
                )
                self._log.error(text, exc_info=error)
            failures = 0 if leader.is_answering else failures + 1
            await asyncio.sleep(growing_backoff_ms(failures, self._backoff_ms) / 1000)

    async def _fetch_from(self, leader: _Leader) -> None:
        address = address_of_broker(self._image, self._config.settings, leader.broker_id)
        client_id = client_id_of_broker(self._registration.node_id, "fetcher")
        within_ms = min(self._timeout_ms, DIAL_MS)
        async with dialled(address, client_id, within_ms=within_ms) as link:
            await self._fetch(leader, link)

    async def _fetch(self, leader: _Leader, link: Link) -> None:
        fetcher = leader.fetcher
        version = link.machine.choose_version(ApiKey.FETCH)
        if version < VERSION_MIN:
            text = f"broker {leader.broker_id} supports Fetch up to version {version}"
            raise NoLeaderError(f"{text}, and followers need {VERSION_MIN}")
        while len(fetcher):
            leader.wake.clear()
            for lost in fetcher.out_of_range(link.now_ms()):
                await self._locate(fetcher, lost, link)
            request = fetcher.request(version, self._registration.epoch, link.now_ms())
            if request is None:
                wait_ms = (fetcher.next_ms() or 0) - link.now_ms()
                with suppress(TimeoutError):
                    async with asyncio.timeout(max(wait_ms, 1) / 1000):
                        await leader.wake.wait()
                continue
            response, _ = await link.send(request, version, self._timeout_ms)
            self._answers(leader, link.now_ms())
            moved = fetcher.answered(response, link.now_ms(), self._state_ms())
            for each in moved:
                partition = self._table.find(each.where.topic, each.where.partition)
                if partition is not None:
                    partition.moved()

    def _lost(self, leader: _Leader, why: str) -> None:
        if leader.reachability.lost(int(asyncio.get_running_loop().time() * 1000)):
            told = {"kind": "leader-lost", "leader": leader.broker_id, "why": why}
            self._log.warning("cannot fetch from a leader", **told)

    def _answers(self, leader: _Leader, now_ms: int) -> None:
        leader.is_answering = True
        away_ms = leader.reachability.reached(now_ms)
        if away_ms is not None:
            told = {"leader": leader.broker_id, "after_ms": away_ms}
            self._log.info("fetching from a leader again", kind="leader-back", **told)

    async def _locate(self, fetcher: LeaderFetcher, lost: Followed, link: Link) -> None:
        """Ask where the leader's log begins and ends."""
        version = link.machine.choose_version(ApiKey.LIST_OFFSETS)
        found = []
        for timestamp in (_EARLIEST, _LATEST):
            partition = ListOffsetsPartition(lost.where.partition, lost.leader_epoch, timestamp)
            topic = ListOffsetsTopic(lost.where.topic, [partition])
            request = ListOffsetsRequest(self._registration.node_id, topics=[topic])
            response, _ = await link.send(request, version, self._timeout_ms)
            answer = response.topics[0].partitions[0]
            if answer.error_code:  # the others can be followed meanwhile
                fetcher.not_located(lost, link.now_ms())
                return
            found.append(answer.offset)
        start, end = found
        fetcher.located(lost, start, end, self._state_ms())
