"""The connections of one client: made when they are needed, closed when they are useless."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from fencepost_protocol.generated.index import ApiKey

from fencepost_client.errors import IllegalStateError, KafkaError
from fencepost_client.metadata.cluster import Cluster
from fencepost_client.network.client_settings import ClientSettings
from fencepost_client.network.connector import Connector
from fencepost_client.network.endpoint import Endpoint, explain_silence
from fencepost_client.network.first_answer import is_being_cancelled
from fencepost_client.network.link import Link
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.connection import Connection

_OF_LEADERS: Final = {ApiKey.PRODUCE, ApiKey.FETCH}
CLOSE_SECONDS: Final = 5.0


class Connections:
    """At most one connection to each endpoint. A failed attempt delays the next one."""

    def __init__(
        self,
        settings: ClientSettings,
        cluster: Cluster,
        on_change: Callable[[], None],
        on_doubt: Callable[[], None],
    ) -> None:
        self.closed = False
        self.links: dict[Endpoint, Link] = {}
        """The connections that requests can use."""
        self.connecting: dict[Endpoint, asyncio.Task[Link]] = {}
        """The attempts that are under way."""
        self.reconnects: dict[Endpoint, tuple[Backoff, float]] = {}
        """The endpoints whose last attempt failed, and when the next one may begin."""
        self._settings = settings
        self._cluster = cluster
        self._on_change = on_change
        self._on_doubt = on_doubt
        """Called when a lost or silent connection suggests that the metadata is out of date."""
        self._loop = asyncio.get_running_loop()
        self._last_features: dict[str, int] = {}
        self._closing: dict[Link, None] = {}
        self._connector = Connector(
            settings.security,
            settings.connect_timeout_ms,
            self._new_link,
            self._closing.setdefault,
        )

    def feature(self, name: str) -> int:
        """The level of a feature of the cluster; 0 without it."""
        levels = [link.machine.features.get(name, 0) for link in self.links.values()]
        return max(levels, default=self._last_features.get(name, 0))

    async def link(self, endpoint: Endpoint) -> Link:
        """The connection to an endpoint, which is made if there is none."""
        link = self.links.get(endpoint)
        if link is None:
            # Shielded: others wait for the same attempt, and this task may be cancelled.
            attempt, began_at = self.attempt(endpoint), self._loop.time()
            try:
                link = await asyncio.shield(attempt)
            except asyncio.CancelledError as error:
                if self.closed or not attempt.cancelled() or is_being_cancelled():
                    peer, for_s = f"{endpoint.host}:{endpoint.port}", self._loop.time() - began_at
                    error.add_note(explain_silence(peer, "a new connection", for_s, self._cluster))
                    raise
                raise endpoint.removed() from None  # the attempt was cancelled before it began
        return link

    def attempt(self, endpoint: Endpoint) -> asyncio.Task[Link]:
        """The attempt to connect to an endpoint, which begins if none is under way."""
        task = self.connecting.get(endpoint)
        if task is None:
            if self.closed:
                raise IllegalStateError("the client is closed")
            task = self._loop.create_task(self._connect(endpoint))
            self.connecting[endpoint] = task
            task.add_done_callback(lambda done: self._connected(endpoint, done))
        return task

    def _connected(self, endpoint: Endpoint, task: asyncio.Task[Link]) -> None:
        del self.connecting[endpoint]
        if task.cancelled():
            return
        if task.exception() is None and task.result().is_ready:
            self.links[endpoint] = task.result()
            self._last_features = task.result().machine.features
            self.reconnects.pop(endpoint, None)
        elif not self.closed:
            self._on_doubt()  # the partitions may have another leader now
        self._on_change()

    async def _connect(self, endpoint: Endpoint) -> Link:
        settings = self._settings
        backoff, not_before = self.reconnects.get(endpoint, (None, 0.0))
        if backoff is None:
            backoff = Backoff(
                settings.chance, settings.reconnect_backoff_ms, settings.reconnect_backoff_max_ms
            )
        try:
            await asyncio.sleep(max(0.0, not_before - self._loop.time()))
            link = await self._connector.connect(endpoint.host, endpoint.port)
        except asyncio.CancelledError:
            if self.closed or endpoint.address not in self._cluster.deserted:
                raise
            raise endpoint.removed() from None  # to the tasks that wait for this attempt
        except KafkaError:
            pause = backoff.next_ms() / 1000
            self.reconnects[endpoint] = (backoff, self._loop.time() + pause)
            raise
        self._closing.pop(link, None)
        return link

    def _new_link(self, peer: str) -> Link:
        settings = self._settings
        machine = Connection(peer, settings.client_id, settings.security.login)
        return Link(machine, self._loop, self._lost, settings.metrics, self._silent)

    def _silent(self, link: Link) -> None:
        """An answer is overdue: other brokers may know that this one is paused or cut off."""
        self.close_useless()
        if link.machine.under_way:
            self._on_doubt()

    def close_useless(self) -> None:
        """Close connections from which no answer can be expected; their requests go elsewhere.

        A broker that the cluster does not list is fenced, and its partitions have other leaders. A
        broker that is shutting down still answers, so its connection stays open meanwhile.
        """
        now_ms, cluster = int(self._loop.time() * 1000), self._cluster
        for endpoint, link in list(self.links.items()):
            machine, is_gone = link.machine, endpoint.address in cluster.deserted
            is_silent = machine.is_silent(now_ms)
            is_of_leader = machine.oldest_api in _OF_LEADERS
            if is_gone and (is_silent or not machine.under_way):
                link.close("the cluster no longer lists this broker")
            elif is_silent and is_of_leader and cluster.leads_nothing(*endpoint.address):
                link.close("another broker leads the requested partitions")
        for endpoint, task in list(self.connecting.items()):
            if endpoint.address in cluster.deserted:
                task.cancel()
        for endpoint in [each for each in self.reconnects if each.address in cluster.deserted]:
            del self.reconnects[endpoint]

    def forget(self, link: Link) -> bool:
        """Send nothing more over this connection; whether it was in use."""
        for endpoint, known in list(self.links.items()):
            if known is link:
                del self.links[endpoint]
                self._closing[link] = None
                return True
        return False

    def _lost(self, link: Link) -> None:
        if self.forget(link) and not self.closed:
            self._on_doubt()
        self._closing.pop(link, None)

    async def close(self) -> None:
        """Cancel all attempts and close all connections."""
        self.closed = True
        attempts = list(self.connecting.values())
        for task in attempts:
            task.cancel()
        try:
            await asyncio.gather(*attempts, return_exceptions=True)
        finally:  # also when the caller is cancelled here
            links = [*self.links.values(), *self._closing]
            for link in links:
                link.close(is_expected=True)
        if links:
            await asyncio.wait([link.closed for link in links], timeout=CLOSE_SECONDS)
