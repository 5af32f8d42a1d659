"""The wire to a controller in another process: one connection asks, a second one follows its log.

What is asked goes out at once, and is answered in order; while there is no connection it waits. A
heartbeat goes the same way. The log has a connection of its own, since a Fetch that waits for news
would hold up whatever is behind it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Final

from fencepost_client.adapters.link import Link
from fencepost_client.errors import KafkaError
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import api_key_of
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.primitives import parse_uuid

from fencepost_broker.adapters.dialling import Asked, dialled, send
from fencepost_broker.controller.image import InconsistentMetadataError
from fencepost_broker.lifecycle import FINAL, Lifecycle, State
from fencepost_broker.log import StorageError
from fencepost_broker.metadata_follower import FollowError, MetadataFollower
from fencepost_broker.node import Node
from fencepost_broker.settings import Settings

_AGAIN_S: Final = 0.1
_BACK_SOON_MS: Final = 500
"""So long a broker that stops waits for a controller that it has lost."""
_ANSWER_MS_MIN: Final = 2000
_CONTROLLERS: Final = 2
_UNREACHABLE: Final = (KafkaError, OSError, TimeoutError)


class ControllerUnavailableError(OSError):
    """The controller did not take this broker in."""


def controller_addresses(settings: Settings) -> list[tuple[str, int]]:
    """Where settings say that the controller is."""
    words = [
        *settings.controller_quorum_bootstrap_servers,
        *(word.partition("@")[2] for word in settings.controller_quorum_voters),
    ]
    parts = (word.rpartition(":") for word in words)
    return [(host.strip("[]"), int(port)) for host, _, port in parts]


async def ask_cluster_id(settings: Settings, log: Any) -> str:
    """What cluster the controller is of, once it can be asked."""
    said = ""
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + settings.initial_broker_registration_timeout_ms / 1000
    while True:
        for host, port in controller_addresses(settings):
            try:
                async with dialled(host, port, f"broker-{settings.node_id}") as link:
                    request = DescribeClusterRequest(endpoint_type=_CONTROLLERS)
                    version = link.machine.choose_version(DescribeClusterRequest.API_KEY)
                    response, _ = await link.send(request, version, _ANSWER_MS_MIN)
                    return str(response.cluster_id)
            except _UNREACHABLE as error:
                text = str(error) or type(error).__name__
            if text != said:
                said = text
                log.warning("the controller cannot be asked yet", why=text)
        if loop.time() > give_up_at:
            raise ControllerUnavailableError(f"the controller cannot be asked: {said}")
        await asyncio.sleep(_AGAIN_S)


class ControllerLink:
    """A broker's way to its controller."""

    def __init__(self, node: Node, log: Any) -> None:
        settings = node.settings
        self._node = node
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._addresses = controller_addresses(settings)
        self._timeout_ms = settings.controller_socket_timeout_ms
        self._lifecycle = Lifecycle(
            node.introduction(),
            self._now_ms(),
            heartbeat_ms=settings.broker_heartbeat_interval_ms,
        )
        directory_id = parse_uuid(node.manager.identity.directory_id)
        self._follower = MetadataFollower(node, node.metadata, directory_id)
        self._queue: deque[Asked] = deque()
        self._wake = asyncio.Event()
        self._moved = asyncio.Event()
        """Something was heard from the controller."""
        self._tasks: list[asyncio.Task[None]] = []
        self._is_asking = False
        """There is a connection."""

    def _now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    # -- beginning and ending -------------------------------------------------------------------

    async def start(self) -> None:
        """Register, and read the metadata up to there; the topics that it has are opened then."""
        for what, run in (("ask", self._ask_all), ("follow", self._follow)):
            self._tasks.append(self._loop.create_task(self._keep(what, run)))
        await self._until(lambda: self._lifecycle.state is State.FENCED)
        self._node.open()
        self._node.begin()
        self._node.producer_ids.begin()

    async def be_counted(self) -> None:
        """Wait until the controller lets this broker lead, and it has read so."""
        self._lifecycle.may_count(self._now_ms())
        self._wake.set()
        await self._until(self._is_counted)

    def _is_counted(self) -> bool:
        known = self._node.image.brokers.get(self._node.node_id)
        is_this_one = known is not None and known.epoch == self._lifecycle.broker_epoch
        return is_this_one and known is not None and not known.fenced

    async def _until(self, is_so: Callable[[], bool]) -> None:
        timeout_ms = self._node.settings.initial_broker_registration_timeout_ms
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while not is_so():
                    refusal = self._lifecycle.refusal
                    if refusal in FINAL:
                        text = f"the controller does not take this broker in: {refusal.name}"
                        raise ControllerUnavailableError(text)
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            raise ControllerUnavailableError(
                f"the controller did not take this broker in within {timeout_ms} ms"
                f" (initial.broker.registration.timeout.ms), it is {self._lifecycle.state.value}"
            ) from None

    async def leave(self, timeout_ms: int) -> None:
        """Hand over what this broker leads, and be let go; no longer than this."""
        self._lifecycle.leave(self._now_ms())
        self._wake.set()
        if not self._is_asking:
            timeout_ms = min(timeout_ms, _BACK_SOON_MS)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while self._lifecycle.state is not State.GONE:
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            self._log.warning("the controller did not let this broker go in time")

    async def close(self) -> None:
        """Ask and follow no more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        queue, self._queue = self._queue, deque()
        for asked in queue:
            asked.then(None)

    async def _keep(self, what: str, run: Callable[[Link], Coroutine[Any, Any, None]]) -> None:
        """Have a connection, again and again."""
        said = ""
        client_id = f"broker-{self._node.node_id}-{what}"
        while True:
            for host, port in self._addresses:
                try:
                    async with dialled(host, port, client_id, self._wake.set) as link:
                        if said:
                            said = ""
                            self._log.info("the controller is back", controller=f"{host}:{port}")
                        await run(link)
                except (*_UNREACHABLE, FollowError, StorageError) as error:
                    text = str(error) or type(error).__name__
                    if text != said:
                        said = text
                        self._log.warning("no word from the controller", why=text)
            await asyncio.sleep(_AGAIN_S)

    # -- asking ---------------------------------------------------------------------------------

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """Send a request as soon as there is a connection."""
        self._queue.append(Asked(message, then))
        self._wake.set()

    async def _ask_all(self, link: Link) -> None:
        self._is_asking = True
        try:
            await self._ask_over(link)
        finally:
            self._is_asking = False

    async def _ask_over(self, link: Link) -> None:
        lifecycle = self._lifecycle
        while link.is_ready:
            self._wake.clear()
            while self._queue and link.is_ready:
                asked = self._queue.popleft()
                try:
                    send(link, asked, self._timeout_ms)
                except KafkaError:
                    asked.then(None)
                    raise
            now_ms = self._now_ms()
            due = lifecycle.request(now_ms, self._node.image.last_offset)
            if due is not None:
                self._send_due(link, due)
            deadline_ms = lifecycle.deadline()
            wait_s = None if deadline_ms is None else max(deadline_ms - now_ms, 0) / 1000
            try:
                async with asyncio.timeout(wait_s):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _send_due(self, link: Link, message: Message) -> None:
        timeout_ms = max(2 * self._node.settings.broker_heartbeat_interval_ms, _ANSWER_MS_MIN)
        try:
            send(link, Asked(message, self._heard), timeout_ms)
        except KafkaError:
            self._heard(None)
            raise

    def _heard(self, response: Any) -> None:
        """An answer to a registration or a heartbeat, or none."""
        lifecycle = self._lifecycle
        before, refused = lifecycle.state, lifecycle.refusal
        now_ms = self._now_ms()
        if response is None:
            lifecycle.failed(now_ms)
        else:
            lifecycle.answered(response, now_ms)
        self._node.broker_epoch = lifecycle.broker_epoch
        self._catch_up()
        if lifecycle.state is not before:
            told = {"state": lifecycle.state.value, "epoch": lifecycle.broker_epoch}
            self._log.info("the controller's view of this broker", **told)
        if lifecycle.refusal and lifecycle.refusal is not refused:
            name = ErrorCode(lifecycle.refusal).name
            self._log.warning("the controller does not register this broker yet", why=name)
        self._wake.set()
        self._moved.set()

    # -- following ------------------------------------------------------------------------------

    async def _follow(self, link: Link) -> None:
        follower = self._follower
        while True:
            request = follower.request()
            version = link.machine.choose_version(api_key_of(request))
            response, _ = await link.send(request, version, self._timeout_ms)
            try:
                follower.answered(response)
            except InconsistentMetadataError as error:
                raise FollowError(f"what the controller tells cannot be: {error}") from error
            self._catch_up()
            self._moved.set()

    def _catch_up(self) -> None:
        lifecycle = self._lifecycle
        before = lifecycle.state
        lifecycle.caught_up(self._node.image.last_offset, self._now_ms())
        if lifecycle.state is not before:
            self._wake.set()
