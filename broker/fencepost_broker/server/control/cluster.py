"""The control port of a cluster of processes: it asks the processes' own ports, and unites.

Each process has a control port on loopback with a token that only this one knows. A process that is
down or paused is not asked. When it is up again, it gets the fault rules that it has missed, and
the time of the others.
"""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Any, Final, Protocol
from urllib.parse import quote

import aiohttp
import msgspec
from yarl import URL

from fencepost_broker.faults.cluster import ClusterRules
from fencepost_broker.faults.rule import Status
from fencepost_broker.server.control.client import ControlClient
from fencepost_broker.server.control.events import EventHub, Reader
from fencepost_broker.server.control.problems import Problem, ProblemError, not_found
from fencepost_broker.server.control.routes import JSON, Asked, Route

ASK_SECONDS: Final = 20.0
"""How long a process may take for an answer."""
CLOCK_STEP_MS: Final = 1_000
"""Clocks of processes that differ by less are not moved."""
_LINE_BYTES_MAX: Final = 1 << 20
_STREAM_TIMEOUT: Final = aiohttp.ClientTimeout(total=None, sock_connect=ASK_SECONDS)


class ClusterProcess(Protocol):
    """A process of the cluster."""

    node_id: int
    label: str
    roles: tuple[str, ...]

    @property
    def state(self) -> str:
        """Whether it is up, paused, starting or down."""

    @property
    def control(self) -> str:
        """``HOST:PORT`` of its own control port."""

    def told(self) -> dict[str, Any]:
        """Return its state for users."""


class ClusterProcesses(Protocol):
    """The processes of the cluster."""

    @property
    def bootstrap(self) -> str:
        """Addresses of all brokers."""

    @property
    def members(self) -> Mapping[int, ClusterProcess]:
        """All processes, by node id."""

    async def do(self, what: str, node_id: int) -> None:
        """Start, stop, kill, pause or resume one; raises ``ProcessError``."""

    async def reset(self) -> None:
        """Go back to the state right after the start; raises ``ProcessError``."""


class RulesOfAll(Protocol):
    """The fault rules of a cluster in a program."""

    of_cluster: ClusterRules


class WholeCluster(Protocol):
    """A cluster in a program, whose state can be copied as a whole."""

    def fault_rules(self) -> RulesOfAll:
        """Return the fault rules of all brokers."""

    @property
    def snapshots(self) -> Mapping[str, Any]:
        """The snapshots that have names."""

    def snapshot(self, name: str | None = None) -> Any:
        """Return the state as it is now; raises ``NoSnapshotsError``, ``StorageError``."""

    async def restore(self, snapshot: Any) -> None:
        """Continue from a snapshot; raises ``NoSnapshotsError``, ``StorageError``."""


class GoneError(ProblemError):
    """A process has ended; its own port cannot be reached."""

    def __init__(self, label: str) -> None:
        super().__init__(
            HTTPStatus.SERVICE_UNAVAILABLE,
            f"{label} cannot be reached",
            advice="GET /v1/processes says which processes are up.",
        )


class _Listed(msgspec.Struct):
    """The fault rules of a process."""

    faults: list[Status]


@dataclass
class Numbered:
    """Held markers, or a fault of the disk, that all brokers were given (``numbered.py``)."""

    path: str
    body: bytes
    """How a broker is asked for it."""
    field: str
    """The name of its number."""
    for_started: bool
    """Whether a broker that is started again gets it, too."""
    numbers: dict[int, int]
    """Its number at each broker."""


@dataclass
class _Feeds:
    """What a reader of events is given."""

    target: str
    """What the processes are asked for."""
    with_later_ones: bool
    """Whether it also reads the events of processes that are started later."""
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    """One for each process."""


class Cluster:
    """A cluster, as its control port controls it."""

    port: ControlClient
    """Asks this control port, once it is open."""

    def __init__(
        self, processes: ClusterProcesses, token: str, whole: WholeCluster | None = None
    ) -> None:
        """``token`` is that of the processes' own ports; ``whole`` is a cluster in a program."""
        self.processes = processes
        self._whole = whole
        self.events = EventHub()
        self.rules = (
            ClusterRules(random.Random, self._has_fired)
            if whole is None
            else whole.fault_rules().of_cluster
        )
        """The fault rules of all brokers."""
        self.numbered: dict[int, Numbered] = {}
        """Held markers and faults of the disk that all brokers were given."""
        self.next_number = itertools.count(1)
        self.changing = asyncio.Lock()
        """Held while rules are changed, so that processes never differ."""
        self._token = token
        self._session: aiohttp.ClientSession | None = None
        self._feeds: dict[Reader, _Feeds] = {}

    def begin(self, port: ControlClient) -> None:
        """Note how this control port is asked; events come from the processes."""
        self.port = port

    async def close(self) -> None:
        """End all streams and connections."""
        for reader in list(self._feeds):
            reader.close()
        if self._session is not None:
            await self._session.close()

    def carry_out(self, route: Route, asked: Asked) -> Awaitable[Any]:
        """Ask those that the route concerns, and unite their answers."""
        if asked.broker is not None:
            return self._ask_one(route, asked, asked.broker)
        if route.in_cluster is None:
            raise ProblemError(
                HTTPStatus.CONFLICT,
                "a cluster cannot do this as a whole",
                where="query",
                advice=f"Ask one broker: add ?broker={min(self.processes.members)}",
            )
        return route.in_cluster(self, route, asked)

    async def _ask_one(self, route: Route, asked: Asked, node_id: int) -> Any:
        if route.is_stream:
            return await self.open_stream(asked, [node_id])
        return await self.ask(node_id, route, asked)

    @property
    def embedded(self) -> WholeCluster:
        """The cluster in a program; raises ``ProblemError`` for processes."""
        if self._whole is None:
            raise ProblemError(
                HTTPStatus.CONFLICT,
                "a cluster of processes has no snapshots, since processes cannot be stopped in the"
                " same instant",
                advice="A cluster in a program has them: fencepost_broker.Cluster(control=PORT).",
            )
        return self._whole

    # -- processes -------------------------------------------------------------------------------

    @property
    def running(self) -> list[int]:
        """The processes that can be asked."""
        return [each.node_id for each in self.processes.members.values() if each.state == "up"]

    @property
    def running_brokers(self) -> list[int]:
        """The brokers that can be asked; raises ``ProblemError`` if there is none."""
        members = self.processes.members
        found = [each for each in self.running if "broker" in members[each].roles]
        if not found:
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "no broker of this cluster is running",
                advice="Start one: POST /v1/processes/1/start",
            )
        return found

    async def ask(self, node_id: int, route: Route, asked: Asked) -> Any:
        """Pass a request on to a process, and return its answer; raises ``ProblemError``."""
        content = await self.send(node_id, route.method, asked.target, asked.body)
        if route.response is None:
            return None
        if route.content_type != JSON:
            return content.decode()
        return msgspec.json.decode(content, type=route.response)

    async def ask_all(self, node_ids: Iterable[int], route: Route, asked: Asked) -> dict[int, Any]:
        """Pass a request on to processes at once; raises ``ProblemError`` if one refuses it.

        A process that has ended is left out.
        """
        answers = await self.try_all(node_ids, route, asked)
        for each in answers.values():
            if isinstance(each, ProblemError):
                raise each
        return answers

    async def try_all(
        self, node_ids: Iterable[int], route: Route, asked: Asked
    ) -> dict[int, Any | ProblemError]:
        """Pass a request on to processes at once; return the answer or the error of each.

        A process that has ended is left out.
        """
        ids = list(node_ids)
        answers = await asyncio.gather(
            *(self.ask(each, route, asked) for each in ids), return_exceptions=True
        )
        found: dict[int, Any | ProblemError] = {}
        for node_id, each in zip(ids, answers, strict=True):
            if isinstance(each, GoneError):
                continue
            if isinstance(each, BaseException) and not isinstance(each, ProblemError):
                raise each
            found[node_id] = each
        if not found:
            raise GoneError("all processes that were asked")
        return found

    async def send(self, node_id: int, method: str, target: str, body: bytes = b"") -> bytes:
        """Send a request to a process, and return the content; raises ``ProblemError``."""
        url, label = self._url(node_id, target)
        headers = {"Content-Type": JSON} if body else {}
        try:
            async with self._client().request(method, url, data=body or None, headers=headers) as (
                answer
            ):
                content = await answer.read()
        except TimeoutError:
            raise ProblemError(
                HTTPStatus.GATEWAY_TIMEOUT, f"{label} has not answered in {ASK_SECONDS:g} seconds"
            ) from None
        except aiohttp.ClientError:
            raise GoneError(label) from None
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise _refusal(content)
        return content

    def _url(self, node_id: int, target: str) -> tuple[URL, str]:
        """Return the URL at a process's own port, and its label."""
        members = self.processes.members
        if node_id not in members:
            raise not_found("process", str(node_id), map(str, members), where="query, $.broker")
        member = members[node_id]
        if member.state != "up":
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                f"{member.label} is {member.state}",
                advice=f"POST /v1/processes/{node_id}/"
                f"{'resume' if member.state == 'paused' else 'start'}",
            )
        return URL(f"http://{member.control}{target}", encoded=True), member.label

    def _client(self) -> aiohttp.ClientSession:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                headers={"Authorization": f"Bearer {self._token}"},
                timeout=aiohttp.ClientTimeout(total=ASK_SECONDS),
                read_bufsize=_LINE_BYTES_MAX,
                connector=aiohttp.TCPConnector(limit=0),  # streams and waits keep theirs
            )
        return self._session

    # -- fault rules -----------------------------------------------------------------------------

    async def _has_fired(self, name: str) -> bool:
        """Whether a rule has fired at a broker that runs."""
        path = f"/v1/faults/{quote(name, safe='')}"
        asked = (self.send(each, "GET", path) for each in self.running)
        answers = await asyncio.gather(*asked, return_exceptions=True)
        return any(
            isinstance(each, bytes) and msgspec.json.decode(each, type=Status).fired
            for each in answers
        )

    # -- processes that end, and are up again ----------------------------------------------------

    async def goes_down(self, node_id: int) -> None:
        """Note what the fault rules of a process have done, before it ends."""
        member = self.processes.members[node_id]
        if member.state == "up" and "broker" in member.roles:
            listed = await self.send(node_id, "GET", "/v1/faults")
            self.rules.ended(msgspec.json.decode(listed, type=_Listed).faults)

    async def came_up(self, node_id: int, *, is_started: bool) -> None:
        """Give a process what it has missed: the time, fault rules, and readers of its events."""
        others = [each for each in self.running if each != node_id]
        if others:
            await self._set_clock(node_id, others[0])
        async with self.changing:
            if "broker" in self.processes.members[node_id].roles:
                await self._set_rules(node_id)
                await self._set_numbered(node_id, is_started=is_started)
        for reader, feeds in list(self._feeds.items()):
            if feeds.with_later_ones:
                await self._feed(node_id, reader, feeds.target)

    async def _set_clock(self, node_id: int, other: int) -> None:
        """Move the clock of a process to where the others have it."""
        here = msgspec.json.decode(await self.send(node_id, "GET", "/v1/clock"))
        there = msgspec.json.decode(await self.send(other, "GET", "/v1/clock"))
        if there["manual"] and not here["manual"]:
            await self.send(node_id, "POST", "/v1/clock/pause")
        by_ms = there["now_ms"] - here["now_ms"]
        if abs(by_ms) >= CLOCK_STEP_MS:
            step = msgspec.json.encode({"ms": by_ms})
            what = "advance" if by_ms > 0 else "jump"
            await self.send(node_id, "POST", f"/v1/clock/{what}", step)
        if here["manual"] and not there["manual"]:
            await self.send(node_id, "POST", "/v1/clock/resume")

    async def _set_rules(self, node_id: int) -> None:
        """Let a process have the fault rules of the others."""
        listed = await self.send(node_id, "GET", "/v1/faults")
        names = {each.name for each in msgspec.json.decode(listed, type=_Listed).faults}
        wanted = self.rules.rules
        for name in names - wanted.keys():
            await self.send(node_id, "DELETE", f"/v1/faults/{quote(name, safe='')}")
        missing = [rule for name, rule in wanted.items() if name not in names]
        if missing:
            body = msgspec.json.encode({"fault": missing})
            await self.send(node_id, "POST", "/v1/fault-plans", body)

    async def _set_numbered(self, node_id: int, *, is_started: bool) -> None:
        """Give a broker the held markers and faults of the disk that it has missed."""
        for each in self.numbered.values():
            if is_started:
                each.numbers.pop(node_id, None)
            if node_id not in each.numbers and (each.for_started or not is_started):
                answer = await self.send(node_id, "POST", each.path, each.body)
                each.numbers[node_id] = msgspec.json.decode(answer)[each.field]

    # -- streams ---------------------------------------------------------------------------------

    async def open_stream(self, asked: Asked, node_ids: Sequence[int]) -> Reader:
        """Return a reader of the events of processes; also of later ones, if no broker is named."""
        reader = self.events.open(())
        self._feeds[reader] = _Feeds(asked.target, asked.broker is None)
        reader.on_close.append(partial(self._end_feeds, reader))
        try:
            for each in node_ids:
                await self._feed(each, reader, asked.target)
        except BaseException:
            reader.close()
            raise
        return reader

    async def _feed(self, node_id: int, reader: Reader, target: str) -> None:
        """Begin to pass on the events of a process."""
        url, label = self._url(node_id, target)
        try:
            answer = await self._client().get(url, timeout=_STREAM_TIMEOUT)
        except (aiohttp.ClientError, TimeoutError):
            raise GoneError(label) from None
        if answer.status != HTTPStatus.OK:
            raise _refusal(await answer.read())
        task = asyncio.get_running_loop().create_task(_pass_on(answer, reader))
        self._feeds[reader].tasks.append(task)

    def _end_feeds(self, reader: Reader) -> None:
        for task in self._feeds.pop(reader).tasks:
            task.cancel()


async def _pass_on(answer: aiohttp.ClientResponse, reader: Reader) -> None:
    """Give a reader the events of a process, until that ends; comments are left out."""
    event = b""
    async with answer:
        with suppress(aiohttp.ClientError, TimeoutError):
            async for line in answer.content:
                event += line
                if line == b"\n":
                    if not event.startswith(b":"):
                        reader.put(event)
                    event = b""


def _refusal(content: bytes) -> ProblemError:
    """Return the error that a process has answered."""
    problem = msgspec.json.decode(content, type=Problem)
    return ProblemError(
        HTTPStatus(problem.status),
        problem.detail,
        where=problem.where,
        advice=problem.advice,
        broker=problem.broker,
    )
