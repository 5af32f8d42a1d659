"""Link to a controller in another process: one connection for requests, one for its log.

Requests are sent at once and answered in order; without a connection they wait. Heartbeats use the
same connection. The log has its own, since a Fetch that waits for new records would block the
requests after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from functools import partial
from typing import Any, Final

from fencepost_client.errors import KafkaError
from fencepost_client.network.link import Link
from fencepost_client.network.wake_time import wake_time
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import api_key_of
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest

from fencepost_broker.config import Settings
from fencepost_broker.config.logins import controller_listener, own_login
from fencepost_broker.controller.channel.broker_lifecycle import FINAL, BrokerLifecycle, State
from fencepost_broker.controller.channel.pending_requests import PendingRequest, PendingRequests
from fencepost_broker.controller.channel.reachability import Reachability
from fencepost_broker.controller.channel.registration import Registration
from fencepost_broker.controller.channel.standstill import LOOKS_A_SESSION, BrokerStandstill
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.metadata.log.follower import (
    WAIT_MS,
    FollowError,
    MetadataFollower,
    UnfinishedError,
)
from fencepost_broker.ports import Address, client_id_of_broker
from fencepost_broker.server.errors import BrokerFailedError
from fencepost_broker.server.links.dialing import (
    DIAL_MS,
    OutgoingRequest,
    PeerAddress,
    dialled,
    send,
)
from fencepost_broker.server.links.security import security_of
from fencepost_broker.storage.log import StorageError

TURN_S: Final = 0.02
"""Time for which decisions of the controller are applied without a pause."""
REST_S: Final = 0.001
"""Pause between turns. A bare ``sleep(0)`` allows other tasks one step only; answering a timer or a
socket takes several."""
_AGAIN_S: Final = 0.1
_FOLLOW: Final = "follow"
_AFTER_A_BUG: Final = (
    "start it again: it then reads the metadata anew; if it stops again, please report its log"
)
_BACK_SOON_MS: Final = 500
"""How long a stopping broker waits for a controller that it has lost."""
_ANSWER_MS_MIN: Final = 2000
_CONTROLLERS: Final = 2
_UNREACHABLE: Final = (KafkaError, OSError, TimeoutError)


class ControllerUnavailableError(BrokerFailedError, OSError):
    """The controller did not register or unfence this broker."""


def addresses_of_controller(settings: Settings) -> list[PeerAddress]:
    """Return the addresses of the controller in the settings."""
    security = security_of(settings, controller_listener(settings))
    words = [
        *settings.controller_quorum_bootstrap_servers,
        *(word.partition("@")[2] for word in settings.controller_quorum_voters),
    ]
    parts = (word.rpartition(":") for word in words)
    return [PeerAddress(host.strip("[]"), int(port), security) for host, _, port in parts]


async def ask_cluster_id(settings: Settings, log: Any) -> str:
    """Return the id of the controller's cluster, once it can be reached."""
    said = ""
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + settings.initial_broker_registration_timeout_ms / 1000
    while True:
        for address in addresses_of_controller(settings):
            try:
                async with dialled(address, f"broker-{settings.node_id}") as link:
                    request = DescribeClusterRequest(endpoint_type=_CONTROLLERS)
                    version = link.machine.choose_version(DescribeClusterRequest.API_KEY)
                    response, _ = await link.send(request, version, _ANSWER_MS_MIN)
                    return str(response.cluster_id)
            except _UNREACHABLE as error:
                text = str(error) or type(error).__name__
            if text != said:
                said = text
                log.warning("the controller cannot be reached yet", why=text)
        if loop.time() > give_up_at:
            raise ControllerUnavailableError(f"the controller cannot be reached: {said}")
        await asyncio.sleep(_AGAIN_S)


async def in_turns(steps: Iterator[None]) -> None:
    """Run steps; when they take long, pause so that heartbeats and clients get a turn."""
    loop = asyncio.get_running_loop()
    turn_ends = loop.time() + TURN_S
    for _ in steps:
        if loop.time() >= turn_ends:
            await asyncio.sleep(REST_S)
            turn_ends = loop.time() + TURN_S


class ControllerLink:
    """A broker's link to its controller."""

    def __init__(self, settings: Settings, on_failure: Callable[[str], None], log: Any) -> None:
        """``on_failure`` gets the reason why the broker cannot continue."""
        self._settings = settings
        self._on_failure = on_failure
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._addresses = addresses_of_controller(settings)
        self._timeout_ms = settings.controller_socket_timeout_ms
        # So that a black hole is noticed within the session; not less than a machine may
        # stand still that runs tests with short sessions. Kafka gives a heartbeat no longer than
        # broker.heartbeat.interval.ms, on a connection of its own: here, others would be lost too.
        half_session_ms = max(settings.broker_session_timeout_ms // 2, _ANSWER_MS_MIN)
        self._heartbeat_timeout_ms = min(self._timeout_ms, half_session_ms)
        self._fetch_timeout_ms = max(settings.controller_quorum_request_timeout_ms, 2 * WAIT_MS)
        self._reachability = Reachability()
        self._refused_ms: int | None = None
        """Since when the controller refuses this broker's registration."""
        self._outbox = PendingRequests()
        self._giving_up: asyncio.TimerHandle | None = None
        self._give_up_ms = 0
        """When that call is due."""
        self._wake = asyncio.Event()
        self._moved = asyncio.Event()
        """Set when the controller has answered, or the log has new records."""
        self._tasks: list[asyncio.Task[None]] = []
        self._standstill = BrokerStandstill(settings.broker_session_timeout_ms, self._now_ms())
        self._next_look: asyncio.TimerHandle | None = None
        self._is_asking = False
        """Whether there is a connection for requests."""
        self._failure = ""
        """Why the log is not followed any more."""

    def _now_ms(self) -> int:
        return int(self._loop.time() * 1000)

    # -- beginning and ending -------------------------------------------------------------------

    async def start(
        self,
        registration: Registration,
        addresses: Iterable[Address],
        image: MetadataImage,
        follower: MetadataFollower,
    ) -> None:
        """Register at these addresses, and read the metadata up to the registration."""
        self._registration = registration
        self._image = image
        self._follower = follower
        self._lifecycle = BrokerLifecycle(
            registration.request(addresses),
            self._now_ms(),
            heartbeat_ms=self._settings.broker_heartbeat_interval_ms,
        )
        self._look()
        for what, run, within_ms in (
            ("ask", self._ask_all, self._heartbeat_timeout_ms),
            (_FOLLOW, self._follow, self._fetch_timeout_ms),
        ):
            keep = self._keep(what, run, min(within_ms, DIAL_MS))
            self._tasks.append(self._loop.create_task(keep))
        await self._until(lambda: self._lifecycle.state is State.FENCED)

    async def wait_until_unfenced(self) -> None:
        """Wait until the controller has unfenced this broker, and this broker has read so."""
        self._lifecycle.ready_to_unfence(self._now_ms())
        self._wake.set()
        await self._until(self._is_counted)

    def _is_counted(self) -> bool:
        known = self._image.cluster.brokers.get(self._settings.node_id)
        is_this_one = known is not None and known.epoch == self._lifecycle.broker_epoch
        return is_this_one and known is not None and not known.fenced

    async def _until(self, is_so: Callable[[], bool]) -> None:
        timeout_ms = self._settings.initial_broker_registration_timeout_ms
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while not is_so():
                    if self._failure:
                        raise ControllerUnavailableError(self._failure)
                    refusal = self._lifecycle.refusal
                    if refusal in FINAL:
                        text = f"the controller does not register this broker: {refusal.name}"
                        raise ControllerUnavailableError(text + self._hint(refusal))
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            raise ControllerUnavailableError(
                f"the controller did not unfence this broker within {timeout_ms} ms"
                f" (initial.broker.registration.timeout.ms): it is {self._lifecycle.state.value}"
            ) from None

    def _hint(self, refusal: ErrorCode) -> str:
        """Return what a user can do about a refusal."""
        settings = self._settings
        login = own_login(settings, controller_listener(settings))
        if refusal is not ErrorCode.CLUSTER_AUTHORIZATION_FAILED or login is None:
            return ""
        return f"; it logs in as {login.username!r:.100}: add it to the controller's super.users"

    def is_current(self) -> bool:
        """Whether this broker can still be the leader that its metadata say it is."""
        return self._standstill.is_current(self._now_ms())

    def _look(self) -> None:
        self._standstill.count(self._now_ms())
        apart_s = self._settings.broker_session_timeout_ms / LOOKS_A_SESSION / 1000
        self._next_look = self._loop.call_later(apart_s, self._look)

    async def leave(self, timeout_ms: int) -> None:
        """Shut down under the controller's control, within this time."""
        self._lifecycle.begin_controlled_shutdown(self._now_ms())
        self._wake.set()
        if not self._is_asking:
            timeout_ms = min(timeout_ms, _BACK_SOON_MS)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while self._lifecycle.state is not State.GONE:
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            self._log.warning(
                "the controller did not finish the controlled shutdown of this broker in time"
            )

    async def close(self) -> None:
        """Close both connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for timer in (self._giving_up, self._next_look):
            if timer is not None:
                timer.cancel()
        self._outbox.close()

    async def _keep(
        self, what: str, run: Callable[[Link], Coroutine[Any, Any, None]], within_ms: int
    ) -> None:
        """Keep a connection open, and open it again when it is lost.

        A failure of the connection for requests is logged, and it is opened again. After an
        unexpected failure of the other one, a decision may be applied in part: its records are in
        the log, and the image, the partitions or the coordinators lack some of it. A broker must
        not lead with that, so it stops; its next start reads the whole log.
        """
        client_id = client_id_of_broker(self._settings.node_id, what)
        while True:
            for address in self._addresses:
                try:
                    async with dialled(
                        address, client_id, self._wake.set, within_ms=within_ms
                    ) as link:
                        self._heard_over(what)
                        await run(link)
                        self._lost("the connection was closed", what)
                except (*_UNREACHABLE, FollowError, StorageError) as error:
                    self._lost(str(error) or type(error).__name__, what)
                except UnfinishedError as error:
                    self._log.error(
                        "a decision of the controller cannot be applied", exc_info=error
                    )
                    self._end(str(error), "fix that, and start it again")
                    return
                except Exception as error:  # noqa: BLE001 (our bug must not fence it for ever)
                    self._log.error(
                        f"the link to the controller ({what}) failed: this is a bug: please report"
                        " it",
                        exc_info=error,
                    )
                    if what == _FOLLOW:
                        self._end(f"{type(error).__name__}: {error}", _AFTER_A_BUG)
                        return
            await asyncio.sleep(_AGAIN_S)

    def _end(self, why: str, what_to_do: str) -> None:
        self._failure = (
            f"broker {self._settings.node_id} stops: it could not apply a decision of the"
            f" controller ({why}); {what_to_do}"
        )
        self._on_failure(self._failure)
        self._moved.set()

    def _lost(self, why: str, what: str) -> None:
        if self._reachability.lost(self._now_ms(), what):
            self._log.warning("the controller cannot be reached", kind="controller-lost", why=why)

    def _heard_over(self, what: str) -> None:
        away_ms = self._reachability.reached(self._now_ms(), what)
        if away_ms is not None:
            self._log.info(
                "the controller can be reached again", kind="controller-back", after_ms=away_ms
            )

    # -- asking ---------------------------------------------------------------------------------

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """Send a request as soon as there is a connection."""
        self._outbox.put(PendingRequest(message, then))
        self._wake.set()

    def ask_within(
        self, limit_ms: int, message: Message, then: Callable[[Any], None]
    ) -> PendingRequest:
        """Send a request, repeatedly until it is answered or its time is over."""
        give_up_ms = self._now_ms() + limit_ms
        pending = PendingRequest(message, then, give_up_ms)
        self._outbox.put(pending)
        self._wake.set()
        self._give_up_at(give_up_ms)
        return pending

    def _give_up_at(self, deadline_ms: int | None) -> None:
        """Call ``expire`` when a request's time is over, since there may be no connection."""
        if deadline_ms is None:
            return
        if self._giving_up is not None:
            if self._give_up_ms <= deadline_ms:
                return
            self._giving_up.cancel()
        self._give_up_ms = deadline_ms
        self._giving_up = self._loop.call_at(wake_time(deadline_ms), self._give_up)

    def _give_up(self) -> None:
        self._giving_up = None
        try:
            self._outbox.expire(self._now_ms())
        finally:
            self._give_up_at(self._outbox.deadline())

    def _answered(self, pending: PendingRequest, answer: Any | None) -> None:
        self._outbox.answered(pending, answer, self._now_ms())
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
            # First: a request for which the controller closes the connection must not delay it.
            now_ms = self._now_ms()
            due = lifecycle.request(now_ms, self._image.last_offset)
            if due is not None:
                self._send_due(link, due)
            while link.is_ready and (pending := self._outbox.take()) is not None:
                assert pending.message is not None, "it was not withdrawn"
                answered = partial(self._answered, pending)
                try:
                    send(link, OutgoingRequest(pending.message, answered), self._timeout_ms)
                except KafkaError:
                    answered(None)
                    raise
            deadline_ms = lifecycle.deadline()
            wait_s = None if deadline_ms is None else max(deadline_ms - self._now_ms(), 0) / 1000
            try:
                async with asyncio.timeout(wait_s):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def _send_due(self, link: Link, message: Message) -> None:
        try:
            send(link, OutgoingRequest(message, self._heard), self._heartbeat_timeout_ms)
        except KafkaError:
            self._heard(None)
            raise

    def _heard(self, response: Any) -> None:
        """Take the answer to a registration or a heartbeat, or ``None``."""
        lifecycle = self._lifecycle
        before, refused = lifecycle.state, lifecycle.refusal
        now_ms = self._now_ms()
        if response is None:
            lifecycle.failed(now_ms)
        else:
            lifecycle.answered(response, now_ms)
        self._registration.epoch = lifecycle.broker_epoch
        self._catch_up()
        if lifecycle.state is not before:
            told = {"state": lifecycle.state.value, "epoch": lifecycle.broker_epoch}
            self._log.info("the broker's state has changed", **told)
        if lifecycle.refusal is not refused:
            self._tell_refusal(lifecycle.refusal, now_ms)
        self._wake.set()
        self._moved.set()

    def _tell_refusal(self, refusal: ErrorCode, now_ms: int) -> None:
        if not refusal:
            waited_ms = now_ms - (now_ms if self._refused_ms is None else self._refused_ms)
            self._refused_ms = None
            told = {"kind": "registered", "after_ms": waited_ms}
            self._log.info("the controller has registered this broker", **told)
            return
        if self._refused_ms is None:
            self._refused_ms = now_ms
        told = {"kind": "not-registered", "why": refusal.name}
        settings = self._settings
        if refusal is ErrorCode.DUPLICATE_BROKER_REGISTRATION:
            told["up_to_ms"] = settings.broker_session_timeout_ms
            text = (
                f"the session of the previous process of broker {self._settings.node_id} has not"
                " ended: this process waits for it (broker.session.timeout.ms)"
            )
        else:
            told["up_to_ms"] = settings.initial_broker_registration_timeout_ms
            text = "the controller does not register this broker yet: trying again"
        self._log.warning(text, **told)

    # -- following ------------------------------------------------------------------------------

    async def _follow(self, link: Link) -> None:
        follower = self._follower
        while True:
            request = follower.request()
            version = link.machine.choose_version(api_key_of(request))
            standstills = self._standstill.count(self._now_ms())
            response, _ = await link.send(request, version, self._fetch_timeout_ms)
            await in_turns(follower.answered(response))
            if follower.has_all(response):
                self._standstill.has_read(standstills)
            self._catch_up()
            self._moved.set()

    def _catch_up(self) -> None:
        lifecycle = self._lifecycle
        before = lifecycle.state
        lifecycle.caught_up(self._image.last_offset, self._now_ms())
        if lifecycle.state is not before:
            self._wake.set()
