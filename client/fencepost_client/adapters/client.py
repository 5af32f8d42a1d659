"""Connections to all brokers of a cluster, the upkeep of its picture, and who is asked what.

Producer, Consumer and Admin each have one :class:`Client`. It drives the pure parts: requests of a
:data:`~fencepost_client.procedures.Procedure` go to the node that their target means by then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.index import ApiKey

from fencepost_client import connection
from fencepost_client.adapters import log
from fencepost_client.adapters.anyone import first_answer, is_being_cancelled
from fencepost_client.adapters.client_settings import ClientSettings
from fencepost_client.adapters.dialing import Dialer
from fencepost_client.adapters.link import Link
from fencepost_client.adapters.place import Place, told_of_silence, whom_to_ask
from fencepost_client.backoff import Backoff
from fencepost_client.cluster import Cluster, Topic, is_legal_name
from fencepost_client.connection import Connection
from fencepost_client.errors import (
    AuthenticationError,
    IllegalStateError,
    KafkaError,
    NetworkError,
    NoBrokerError,
    RequestTimedOutError,
    RetriableError,
    UnknownTopicOrPartitionError,
    error_of,
)
from fencepost_client.procedures import (
    GROUP,
    AnyNode,
    Ask,
    Controller,
    Coordinator,
    LeaderOf,
    Moved,
    NodeId,
    Pause,
    Procedure,
    Target,
    find_coordinator,
)

T = TypeVar("T")
_GROUP_CHANNEL: Final = "group"
_OF_LEADERS: Final = {ApiKey.PRODUCE, ApiKey.FETCH}
_MAY_WAIT_MS: Final = 4_000
"""Behind so much, others are asked whether who holds back an answer is still there."""
CLOSE_SECONDS: Final = 5.0


class Client:
    """The connections of one Producer, Consumer or Admin."""

    def __init__(self, settings: ClientSettings) -> None:
        self.settings = settings
        self.on_change: Callable[[], None] = lambda: None
        """Called when there is news of the cluster or of a connection."""
        self.loop = asyncio.get_running_loop()
        self.cluster = Cluster(self.backoff(), settings.metadata_max_age_ms)
        self._links: dict[Place, Link] = {}
        self._connecting: dict[Place, asyncio.Task[Link]] = {}
        self._reconnects: dict[Place, tuple[Backoff, float]] = {}
        self._coordinators: dict[Coordinator, Place] = {}
        self._last_features: dict[str, int] = {}
        self._closing_links: set[Link] = set()
        self._dialer = Dialer(
            settings.security.context,
            settings.connect_timeout_ms,
            self._new_link,
            self._closing_links.add,
        )
        self._tasks: set[asyncio.Task[Any]] = set()
        self._waiting_for_news: set[asyncio.Future[None]] = set()
        self._metadata_wanted = asyncio.Event()
        self._unanswered: KafkaError | None = None
        """Why nobody told of the cluster when it was last asked for."""
        self._has_all = False
        self.closed = False

    async def start(self) -> None:
        """Learn the cluster; raises when no broker answers within ``api_timeout_ms``."""
        self.spawn(self._keep_picture())
        await self._news_until(lambda: bool(self.cluster.nodes), "the cluster")

    def backoff(self) -> Backoff:
        """Pauses between attempts, as the settings have it."""
        settings = self.settings
        return Backoff(settings.chance, settings.retry_backoff_ms, settings.retry_backoff_max_ms)

    def feature(self, name: str) -> int:
        """The level of a feature of the cluster, 0 if it has none."""
        levels = [link.machine.features.get(name, 0) for link in self._links.values()]
        return max(levels, default=self._last_features.get(name, 0))

    def now_ms(self) -> int:
        """The loop's time."""
        return int(self.loop.time() * 1000)

    def spawn(self, what: Any) -> asyncio.Task[Any]:
        """Run something until it ends or the client closes."""
        task = self.loop.create_task(what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """End all tasks and connections."""
        if self.closed:
            return
        self.closed = True
        for future in self._waiting_for_news:
            if not future.done():
                future.set_exception(IllegalStateError("the client was closed"))
        tasks = [*self._tasks, *self._connecting.values()]
        for task in tasks:
            task.cancel()
        try:
            await asyncio.gather(*tasks, return_exceptions=True)
        finally:  # also when somebody does not want to wait for that
            links = [*self._links.values(), *self._closing_links]
            for link in links:
                link.close(is_expected=True)
        if links:
            await asyncio.wait([link.closed for link in links], timeout=CLOSE_SECONDS)

    # -- the picture of the cluster ------------------------------------------------------------

    def refresh(self) -> None:
        """Something is out of date: ask for metadata soon."""
        self.cluster.refresh(self.now_ms())
        self._metadata_wanted.set()

    async def topic(self, name: str) -> Topic:
        """A topic that has partitions; waits for it, also while it is being created."""

        def known() -> Topic | None:
            topic = self.cluster.topics.get(name)
            if topic is not None and topic.error_code:
                error = error_of(topic.error_code, f"Topic {name!r}: {topic.error_code}.")
                if not isinstance(error, RetriableError):
                    raise error_of(topic.error_code, state=f"asking for topic {name!r}")
            return topic if topic is not None and topic.partition_count else None

        if not is_legal_name(name):
            raise error_of(
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                f"{name!r:.300} is no topic name: it takes 1 to 249 of the characters a-z, A-Z, "
                f"0-9, '.', '_' and '-'.",
            )
        self.cluster.want(name, self.now_ms())
        self._metadata_wanted.set()
        await self._news_until(lambda: known() is not None, f"topic {name!r}")
        topic = known()
        assert topic is not None
        return topic

    def topic_id(self, name: str) -> bytes | None:
        """A topic's id (KIP-516), if the last answer had one."""
        topic = self.cluster.topics.get(name)
        return topic.topic_id if topic is not None and any(topic.topic_id) else None

    def want_all_topics(self, wants_all: bool) -> None:
        """Keep all topics in the picture, or only those that somebody needs."""
        self.cluster.wants_all = wants_all
        if wants_all:
            self.refresh()

    async def all_topics(self) -> None:
        """Wait until all topics are known, which are wanted."""
        await self._news_until(lambda: self._has_all, "all topics")

    async def _news_until(self, enough: Any, what: str) -> None:
        try:
            async with asyncio.timeout(self.settings.api_timeout_ms / 1000):
                while not enough():
                    await self.news()
        except TimeoutError:
            within = f"within {self.settings.api_timeout_ms} ms"
            if self._unanswered is not None:
                raise NoBrokerError(
                    f"No broker told of {what} {within}. The last attempt: "
                    f"{self._unanswered.message.rstrip('.')}."
                ) from None
            if what.startswith("topic"):
                raise UnknownTopicOrPartitionError(f"No broker told of {what} {within}.") from None
            raise RequestTimedOutError(
                f"No broker told of {what} {within}; asked were "
                f"{', '.join(f'{host}:{port}' for host, port in self.settings.bootstrap)}."
            ) from None

    async def news(self) -> None:
        """Wait for the next answer with metadata."""
        if self.closed:
            raise IllegalStateError("the client is closed")
        future: asyncio.Future[None] = self.loop.create_future()
        self._waiting_for_news.add(future)
        try:
            await future
        finally:
            self._waiting_for_news.discard(future)

    async def _keep_picture(self) -> None:
        while True:
            deadline_ms = self.cluster.deadline()
            pause_ms = 3_600_000 if deadline_ms is None else deadline_ms - self.now_ms()
            if pause_ms > 0:
                self._metadata_wanted.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause_ms / 1000):
                        await self._metadata_wanted.wait()
                continue
            ask = Ask(AnyNode(), ApiKey.METADATA, lambda _: self.cluster.request())
            wanted, wants_all = frozenset(self.cluster.wanted), self.cluster.wants_all
            doubted = frozenset(self.cluster.doubted)
            try:
                answer = await self.ask(ask)
            except KafkaError as error:
                self.cluster.failed(self.now_ms())
                self._unanswered = error
                if isinstance(error, AuthenticationError):
                    # Who waits for news would wait in vain; what is known stays in use.
                    for future in self._waiting_for_news:
                        if not future.done():
                            future.set_exception(error)
            else:
                self.cluster.answered(answer, self.now_ms())
                self.cluster.doubted -= doubted
                del answer  # 300 bytes a partition
                self._unanswered, self._has_all = None, wants_all
                self._leave_useless()
                are_wanted = (frozenset(self.cluster.wanted), self.cluster.wants_all)
                if (wanted, wants_all) != are_wanted or self.cluster.doubted:
                    self.cluster.refresh(self.now_ms())
            for future in self._waiting_for_news:
                if not future.done():
                    future.set_result(None)
            self.on_change()

    # -- asking --------------------------------------------------------------------------------

    async def run(self, procedure: Procedure[T], timeout_ms: int | None = None) -> T:
        """Drive a procedure to its end; by default it has ``api_timeout_ms``."""
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
                            else:
                                answer = await self.partition_counts(step.topics)
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

    async def partition_counts(self, topics: Iterable[str]) -> dict[str, int]:
        """As the brokers have it now; topics that do not exist are left out."""
        topics = [name for name in topics if is_legal_name(name)]
        for name in topics:
            self.cluster.want(name, self.now_ms())
        self._metadata_wanted.set()
        await self._news_until(
            lambda: all(name in self.cluster.topics for name in topics), "the group's topics"
        )
        known = self.cluster.topics
        return {name: known[name].partition_count for name in topics if known[name].partition_count}

    async def ask(self, ask: Ask) -> Any:
        """One request, one answer."""
        if isinstance(ask.to, AnyNode):
            machines = {place: link.machine for place, link in self._links.items()}
            places = whom_to_ask(machines, self.cluster, self.settings.bootstrap, self.now_ms())
            attempts = (partial(self._ask_at, place, ask) for place in places)
            return await first_answer(attempts, connection.SILENCE_MS / 1000)
        return await self._ask_over(await self._link_to(ask.to), ask)

    async def _ask_at(self, place: Place, ask: Ask) -> Any:
        return await self._ask_over(await self._link(place), ask)

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
            error.add_note(told_of_silence(link.machine.peer, name, for_s, self.cluster))
            if ask.may_wait:
                # Whatever comes next on this connection would wait for it.
                self._forget(link)
                link.close("a request that waits was given up", is_expected=True)
            raise
        return answer

    def ready_link(self, node_id: int) -> Link | None:
        """The connection to a node, if there is one; if not, one is made."""
        node = self.cluster.nodes.get(node_id)
        if node is None:
            return None
        place = Place(node.host, node.port)
        link = self._links.get(place)
        if link is None:
            self._connection_to(place)
        return link

    async def link_beside(self, node_id: int, channel: str) -> Link | None:
        """A connection of its own to a node that there is one to."""
        node = self.cluster.nodes.get(node_id)
        if node is None or Place(node.host, node.port) not in self._links:
            return None
        return await self._link(Place(node.host, node.port, channel))

    async def when_connected(self, node_id: int) -> None:
        """Wait until there is a connection; raises when the attempt fails."""
        await self._link_to(NodeId(node_id))

    def _moved(self, what: Target) -> None:
        if isinstance(what, Coordinator):
            place = self._coordinators.pop(what, None)
            if place is not None:
                self.cluster.doubted.add(place.address)  # it may be cut off, and name itself
        else:
            self.refresh()

    async def _link_to(self, target: Target) -> Link:
        assert not isinstance(target, AnyNode), "whoever is asked decides who that is"
        if isinstance(target, Coordinator):
            if target not in self._coordinators:
                found = await self.run(find_coordinator(target, self.backoff()))
                # A group's requests wait (JoinGroup for a whole rebalance), or are waited for
                # behind a Fetch that does: they have a connection of their own.
                channel = _GROUP_CHANNEL if target.kind == GROUP else ""
                self._coordinators[target] = Place(found[1], found[2], channel)
            place = self._coordinators[target]
            if place.address in self.cluster.deserted:
                # Or the picture is older than this: both show when it is asked for again.
                del self._coordinators[target]
                self.refresh()
                raise place.gone()
            return await self._link(place)
        if isinstance(target, LeaderOf):
            await self.topic(target.topic)
            node_id = self.cluster.leader(target.topic, target.partition)
        elif isinstance(target, Controller):
            node_id = self.cluster.controller_id
        else:
            node_id = target.id
        node = self.cluster.nodes.get(-1 if node_id is None else node_id)
        if node is None:
            raise NetworkError(f"Nobody is known as {target}.")
        try:
            return await self._link(Place(node.host, node.port))
        except NetworkError as error:
            if (node.host, node.port) in self.settings.bootstrap:
                raise
            hint = f"broker {node.id} says that it is there: see its advertised.listeners"
            raise type(error)(f"{error.message} ({hint})") from error

    async def _link(self, place: Place) -> Link:
        link = self._links.get(place)
        if link is None:
            # Shielded: others wait for the same attempt, and one of us may be cancelled.
            attempt, began_at = self._connection_to(place), self.loop.time()
            try:
                link = await asyncio.shield(attempt)
            except asyncio.CancelledError as error:
                if self.closed or not attempt.cancelled() or is_being_cancelled():
                    peer, for_s = f"{place.host}:{place.port}", self.loop.time() - began_at
                    error.add_note(told_of_silence(peer, "a new connection", for_s, self.cluster))
                    raise
                raise place.gone() from None  # given up before it began
        return link

    # -- connections ---------------------------------------------------------------------------

    def _connection_to(self, place: Place) -> asyncio.Task[Link]:
        task = self._connecting.get(place)
        if task is None:
            if self.closed:
                raise IllegalStateError("the client is closed")
            task = self.loop.create_task(self._connect(place))
            self._connecting[place] = task
            task.add_done_callback(lambda done: self._connected(place, done))
        return task

    def _connected(self, place: Place, task: asyncio.Task[Link]) -> None:
        del self._connecting[place]
        if task.cancelled():
            return
        if task.exception() is None and task.result().is_ready:
            self._links[place] = task.result()
            self._last_features = task.result().machine.features
            self._reconnects.pop(place, None)
        elif not self.closed:
            self.refresh()  # another one may lead what that one led
        self.on_change()

    async def _connect(self, place: Place) -> Link:
        settings = self.settings
        backoff, not_before = self._reconnects.get(place, (None, 0.0))
        if backoff is None:
            backoff = Backoff(
                settings.chance, settings.reconnect_backoff_ms, settings.reconnect_backoff_max_ms
            )
        try:
            await asyncio.sleep(max(0.0, not_before - self.loop.time()))
            link = await self._dialer.dial(place.host, place.port)
        except asyncio.CancelledError:
            if self.closed or place.address not in self.cluster.deserted:
                raise
            raise place.gone() from None  # to those who wait for it
        except KafkaError:
            pause = backoff.next_ms() / 1000
            self._reconnects[place] = (backoff, self.loop.time() + pause)
            raise
        self._closing_links.discard(link)
        return link

    def _new_link(self, peer: str) -> Link:
        settings = self.settings
        machine = Connection(peer, settings.client_id, settings.security.login)
        return Link(machine, self.loop, self._lost, settings.metrics, self._is_silent)

    def _is_silent(self, link: Link) -> None:
        """An answer is overdue: others may know that this broker is paused, or cut off."""
        self._leave_useless()
        if link.machine.under_way:
            self.refresh()

    def _leave_useless(self) -> None:
        """Close connections that nothing can be expected of; what waits there goes elsewhere.

        A broker that is not named is fenced, and what it leads another leads by now; one that is
        about to stop still answers, and is waited for.
        """
        now_ms, cluster = self.now_ms(), self.cluster
        for place, link in list(self._links.items()):
            machine, is_gone = link.machine, place.address in cluster.deserted
            is_silent = machine.is_silent(now_ms)
            is_of_leader = machine.oldest_api in _OF_LEADERS
            if is_gone and (is_silent or not machine.under_way):
                link.close("the cluster does not name this broker any more")
            elif is_silent and is_of_leader and cluster.leads_nothing(*place.address):
                link.close("another broker leads what this one was asked for")
        for place, task in list(self._connecting.items()):
            if place.address in cluster.deserted:
                task.cancel()
        for place in [each for each in self._reconnects if each.address in cluster.deserted]:
            del self._reconnects[place]

    def _forget(self, link: Link) -> bool:
        """Let nobody use this connection any more; whether anybody could."""
        for place, known in list(self._links.items()):
            if known is link:
                del self._links[place]
                self._closing_links.add(link)
                return True
        return False

    def _lost(self, link: Link) -> None:
        if self._forget(link) and not self.closed:
            self.refresh()
        self._closing_links.discard(link)
