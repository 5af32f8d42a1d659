"""The network side of one Producer, Consumer or Admin: connections, metadata, requests.

A :class:`NetworkClient` runs procedures (:mod:`fencepost_client.requests.procedures`). Each request
goes to the node that its target stands for at that moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.index import ApiKey

from fencepost_client.errors import KafkaError, NetworkError, RequestTimedOutError
from fencepost_client.metadata.cluster import Cluster
from fencepost_client.network import log
from fencepost_client.network.client_settings import ClientSettings
from fencepost_client.network.connections import Connections
from fencepost_client.network.endpoint import Endpoint, explain_silence
from fencepost_client.network.first_answer import first_answer
from fencepost_client.network.link import Link
from fencepost_client.network.metadata_updater import MetadataUpdater
from fencepost_client.network.node_selection import least_loaded_first
from fencepost_client.requests import connection
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import (
    GROUP,
    AnyNode,
    Ask,
    Controller,
    Coordinator,
    LeaderOf,
    Moved,
    NodeId,
    PartitionRacks,
    Pause,
    Procedure,
    Target,
    find_coordinator,
)

T = TypeVar("T")
_GROUP_CHANNEL: Final = "group"
_MAY_WAIT_MS: Final = 4_000
"""After this time without an answer to a request that may wait, other brokers are asked whether the
broker is still there."""


class NetworkClient:
    """Sends requests to the brokers of one cluster."""

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self.on_change: Callable[[], None] = lambda: None
        """Called when metadata or a connection has changed."""
        self.loop = asyncio.get_running_loop()
        self.cluster = Cluster(self.backoff(), settings.metadata_max_age_ms)
        self.metadata = MetadataUpdater(settings, self.cluster, self.ask, self._updated)
        self.connections = Connections(
            settings, self.cluster, lambda: self.on_change(), self.metadata.refresh
        )
        self.closed = False
        self._coordinators: dict[Coordinator, Endpoint] = {}
        self._tasks: dict[asyncio.Task[Any], None] = {}

    async def start(self) -> None:
        """Learn the cluster; raises when no broker answers within ``api_timeout_ms``."""
        self.spawn(self.metadata.run())
        await self.metadata.nodes()

    def backoff(self) -> Backoff:
        """Pauses between attempts, by the settings."""
        settings = self.settings
        return Backoff(settings.chance, settings.retry_backoff_ms, settings.retry_backoff_max_ms)

    def now_ms(self) -> int:
        """The loop's time."""
        return int(self.loop.time() * 1000)

    def spawn(self, what: Any) -> asyncio.Task[Any]:
        """Run a coroutine until it ends or the client closes."""
        task = self.loop.create_task(what)
        self._tasks[task] = None
        task.add_done_callback(self._tasks.pop)
        return task

    def _updated(self) -> None:
        self.connections.close_useless()
        self.on_change()

    async def close(self) -> None:
        """End all tasks and connections."""
        if self.closed:
            return
        self.closed = self.connections.closed = True
        self.metadata.close()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:  # also when the caller is cancelled here
            await self.connections.close()

    async def run(self, procedure: Procedure[T], timeout_ms: int | None = None) -> T:
        """Run a procedure to its end, by default within ``api_timeout_ms``."""
        last: KafkaError | None = None
        limit_ms = self.settings.api_timeout_ms if timeout_ms is None else timeout_ms
        try:
            async with asyncio.timeout(limit_ms / 1000):
                step = next(procedure)
                while True:
                    answer = None
                    if isinstance(step, Pause):
                        last = step.because or last
                        log.trying_again(step.ms, last)
                        await asyncio.sleep(step.ms / 1000)
                    elif isinstance(step, Moved):
                        self._moved(step.what)
                    else:
                        try:
                            if isinstance(step, Ask):
                                answer = await self.ask(step)
                            elif isinstance(step, PartitionRacks):
                                answer = self.cluster.racks_of(step.topics)
                            else:
                                answer = await self.metadata.partition_counts(step.topics)
                        except KafkaError as error:
                            last = error
                            step = procedure.throw(error)
                            continue
                    step = procedure.send(answer)
        except StopIteration as done:
            result: T = done.value
            return result
        except TimeoutError as error:
            silent = getattr(error.__cause__, "__notes__", [])
            why = f" {silent[0]}" if silent else f" The last attempt: {last}" if last else ""
            raise RequestTimedOutError(f"No success within {limit_ms} ms.{why}") from last
        finally:
            procedure.close()

    async def ask(self, ask: Ask) -> Any:
        """Send one request and return its answer."""
        if isinstance(ask.to, AnyNode):
            links = self.connections.links
            machines = {endpoint: link.machine for endpoint, link in links.items()}
            endpoints = least_loaded_first(
                machines, self.cluster, self.settings.bootstrap, self.now_ms()
            )
            attempts = (partial(self._ask_at, endpoint, ask) for endpoint in endpoints)
            return await first_answer(attempts, connection.SILENCE_MS / 1000)
        return await self._ask_over(await self._link_to(ask.to), ask)

    async def _ask_at(self, endpoint: Endpoint, ask: Ask) -> Any:
        return await self._ask_over(await self.connections.link(endpoint), ask)

    async def _ask_over(self, link: Link, ask: Ask) -> Any:
        version = link.machine.choose_version(ask.api_key, ask.version_max)
        request: Message = ask.build(version)
        timeout_ms = self.settings.request_timeout_ms if ask.timeout_ms is None else ask.timeout_ms
        wait_ms = _MAY_WAIT_MS if ask.may_wait else 0
        reply, sent_at = link.send(request, version, timeout_ms, wait_ms), self.loop.time()
        try:
            answer, _ = await reply
        except asyncio.CancelledError as error:
            name, for_s = ApiKey(ask.api_key).name, self.loop.time() - sent_at
            error.add_note(explain_silence(link.machine.peer, name, for_s, self.cluster))
            if ask.may_wait:
                # The next requests on this connection would wait for it.
                self.connections.forget(link)
                link.close(
                    "the caller gave up a request that waits at the broker", is_expected=True
                )
            raise
        return answer

    def ready_link(self, node_id: int) -> Link | None:
        """The connection to a node, or ``None``: then an attempt to connect begins."""
        node = self.cluster.nodes.get(node_id)
        if node is None:
            return None
        endpoint = Endpoint(node.host, node.port)
        link = self.connections.links.get(endpoint)
        if link is None:
            self.connections.attempt(endpoint)
        return link

    async def link_beside(self, node_id: int, channel: str) -> Link | None:
        """A second connection to a node, for a purpose; ``None`` without a first one."""
        node = self.cluster.nodes.get(node_id)
        if node is None or Endpoint(node.host, node.port) not in self.connections.links:
            return None
        return await self.connections.link(Endpoint(node.host, node.port, channel))

    async def when_connected(self, node_id: int) -> None:
        """Wait for a connection to a node; raises when the attempt fails."""
        await self._link_to(NodeId(node_id))

    def _moved(self, what: Target) -> None:
        if isinstance(what, Coordinator):
            endpoint = self._coordinators.pop(what, None)
            if endpoint is not None:
                self.cluster.doubted.add(
                    endpoint.address
                )  # it may be cut off, and still name itself
        else:
            self.metadata.refresh()

    async def _link_to(self, target: Target) -> Link:
        assert not isinstance(target, AnyNode), "any node is chosen where it is asked"
        if isinstance(target, Coordinator):
            if target not in self._coordinators:
                found = await self.run(find_coordinator(target, self.backoff()))
                # JoinGroup waits for a whole rebalance, and after a Fetch on the same connection
                # it would wait itself: a group's requests have a connection of their own.
                channel = _GROUP_CHANNEL if target.kind == GROUP else ""
                self._coordinators[target] = Endpoint(found[1], found[2], channel)
            endpoint = self._coordinators[target]
            if endpoint.address in self.cluster.deserted:
                # Or the metadata is older than this answer: a refresh decides.
                del self._coordinators[target]
                self.metadata.refresh()
                raise endpoint.removed()
            return await self.connections.link(endpoint)
        if isinstance(target, LeaderOf):
            await self.metadata.topic(target.topic)
            node_id = self.cluster.leader(target.topic, target.partition)
        elif isinstance(target, Controller):
            node_id = self.cluster.controller_id
        else:
            node_id = target.id
        node = self.cluster.nodes.get(-1 if node_id is None else node_id)
        if node is None:
            raise NetworkError(f"No broker is known as {target}.")
        try:
            return await self.connections.link(Endpoint(node.host, node.port))
        except NetworkError as error:
            if (node.host, node.port) in self.settings.bootstrap:
                raise
            hint = f"broker {node.id} advertises this address: see its advertised.listeners"
            raise type(error)(f"{error.message} ({hint})") from error
