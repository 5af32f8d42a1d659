"""Client of a broker's tap.

    async with TapClient(host, port, api_keys=(26,)) as tap:
        async for event in tap.events():
            ...
    print(tap.seen, tap.lost)

Lost events are counted by the broker's sequence numbers, and at the end by its total.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Any, Final, Self, TypeVar

import asyncio_dgram

from fencepost_broker.observability.tap.datagrams import (
    TOPICS_MAX,
    AskStats,
    AskTopics,
    Cookie,
    Datagram,
    DatagramError,
    Event,
    Events,
    Hello,
    Leased,
    Leave,
    Left,
    Refused,
    Stats,
    Subscribe,
    Topics,
    decode,
    encode,
)

_TRIES: Final = 10
_PATIENCE_S: Final = 0.3
_WAITING_MAX: Final = 2000
"""Datagrams that wait for a slow reader; later ones are dropped."""
_RECEIVE_BUFFER_BYTES: Final = 8 << 20

Answer = TypeVar("Answer", bound=Datagram)


class TapError(Exception):
    """The broker cannot be watched; the text is one line."""


class TapClient:
    """One subscription, or only questions if ``subscribe`` is false."""

    def __init__(
        self, host: str, port: int, *, api_keys: Iterable[int] = (),
        client_ids: Iterable[str] = (), snap_bytes: int = 0, subscribe: bool = True,
    ) -> None:  # fmt: skip
        self.seen = 0
        """Number of events that have arrived."""
        self.broker: Leased | None = None
        """Description of the broker."""
        self._address = (host, port)
        self._wishes = (snap_bytes, tuple(api_keys), tuple(client_ids))
        self._wants_events = subscribe
        self._last = 0
        self._before = 0
        self._waiting: deque[Events] = deque()
        self._arrived = asyncio.Event()
        self._answers: dict[type, asyncio.Future[Any]] = {}
        self._error: TapError | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._is_over = False

    @property
    def lost(self) -> int:
        """Number of events that did not arrive."""
        return self._before + self._last - self.seen

    # -- beginning and end ---------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        *others, last = await self._addresses()
        for address in others:  # localhost may be two; a broker's tap is at one of them
            with suppress(TapError):
                await self._connect(address)
                break
        else:
            await self._connect(last)
        try:
            if self._wants_events:
                self.broker = await self._ask(self._subscription(), Leased)
                self._tasks.append(asyncio.ensure_future(self._renew(self.broker.lease_ms)))
        except BaseException:
            await self._close()
            raise
        return self

    async def _addresses(self) -> list[tuple[str, int]]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(*self._address, type=socket.SOCK_DGRAM)
        except OSError as error:
            raise TapError(f"{self._name}: {error.strerror or error}") from error
        return list(dict.fromkeys((str(each[4][0]), int(each[4][1])) for each in found))

    async def _connect(self, address: tuple[str, int]) -> None:
        """Find out whether a tap answers, and get its cookie."""
        try:
            self._stream = await asyncio_dgram.connect(address)
        except OSError as error:
            raise TapError(f"{self._name}: {error.strerror or error}") from error
        with suppress(OSError):
            buffer = _RECEIVE_BUFFER_BYTES
            self._stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        self._tasks = [asyncio.ensure_future(self._receive())]
        try:
            self._cookie = (await self._ask(Hello(), Cookie)).cookie
        except BaseException:
            await self._close()
            raise

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.leave()
        finally:
            await self._close()

    async def leave(self) -> None:
        """End the subscription; after this, ``lost`` is final."""
        if self._is_over or self._error is not None or not self._wants_events:
            return
        with suppress(TapError):
            left = await self._ask(Leave(self._cookie), Left, tries=3)
            self._last = max(self._last, left.sequence)
        self._is_over = True
        self._arrived.set()

    async def _close(self) -> None:
        self._stream.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the loop closes the socket in its next round

    # -- events --------------------------------------------------------------------------------

    async def events(self) -> AsyncIterator[Event]:
        """Yield events as they arrive, until ``leave`` is called."""
        while True:
            while self._waiting:
                for _, event in self._waiting.popleft().events:
                    yield event
                await asyncio.sleep(0)  # a slow reader must still renew its lease
            if self._error is not None:
                raise self._error
            if self._is_over:
                return
            self._arrived.clear()
            await self._arrived.wait()

    # -- questions -----------------------------------------------------------------------------

    async def topic_names(self, topic_ids: Iterable[bytes]) -> dict[bytes, str]:
        """Return the names of topics; unknown ids are left out."""
        wanted = list(topic_ids)
        names = {}
        for at in range(0, len(wanted), TOPICS_MAX):
            asked = tuple(wanted[at : at + TOPICS_MAX])
            answer = await self._ask(AskTopics(self._cookie, asked), Topics, tries=2)
            names.update({topic_id: name for topic_id, name in answer.names if name})
        return names

    async def stats(self) -> dict[str, Any]:
        """Return all counters of the broker."""
        first = await self._ask(AskStats(self._cookie, 0, 0), Stats)
        data = [first.data]
        for part in range(1, first.parts):
            answer = await self._ask(AskStats(self._cookie, first.snapshot, part), Stats)
            if (answer.snapshot, answer.part) != (first.snapshot, part):
                raise TapError(f"{self._name}: the counters arrived out of order; ask again")
            data.append(answer.data)
        made: dict[str, Any] = json.loads(b"".join(data))
        return made

    @property
    def _name(self) -> str:
        host, port = self._address
        return f"[{host}]:{port}/udp" if ":" in host else f"{host}:{port}/udp"

    def _subscription(self) -> Subscribe:
        return Subscribe(self._cookie, *self._wishes)

    async def _ask(self, question: Datagram, kind: type[Answer], *, tries: int = _TRIES) -> Answer:
        """Send a question until it is answered, since datagrams may be lost."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answers[kind] = answer
        try:
            for _ in range(tries):
                await self._say(question)
                done, _ = await asyncio.wait([answer], timeout=_PATIENCE_S)
                if done:
                    return answer.result()
        finally:
            answer.cancel()
            del self._answers[kind]
        raise TapError(f"{self._name} does not answer: {_ADVICE}")

    async def _say(self, datagram: Datagram) -> None:
        try:
            await self._stream.send(encode(datagram))
        except OSError as error:
            raise TapError(f"{self._name}: {error.strerror or error}; {_ADVICE}") from error

    # -- what arrives --------------------------------------------------------------------------

    async def _receive(self) -> None:
        while True:
            try:
                data, _ = await self._stream.recv()
                self._take(decode(data))
            except asyncio_dgram.TransportClosed:
                return
            except (OSError, DatagramError):
                continue  # no broker listens yet, or it is not an answer to us

    def _take(self, datagram: Datagram) -> None:
        if isinstance(datagram, Events):
            self._take_events(datagram)
            return
        if isinstance(datagram, Leased):
            self._renewed_s = asyncio.get_running_loop().time()
            if not datagram.sequence:  # a lease that has ended in the meantime begins again
                self._before, self._last = self._before + self._last, 0
        waiting = self._answers.get(type(datagram))
        if waiting is not None and not waiting.done():
            waiting.set_result(datagram)
        elif isinstance(datagram, Refused):
            self._fail(TapError(f"{self._name}: {datagram.reason}"))

    def _take_events(self, events: Events) -> None:
        for sequence, _ in events.events:
            self._last = max(self._last, sequence)
        if len(self._waiting) < _WAITING_MAX:
            self.seen += len(events.events)
            self._waiting.append(events)
            self._arrived.set()

    def _fail(self, error: TapError) -> None:
        self._error = error
        self._arrived.set()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(error)

    async def _renew(self, lease_ms: int) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(lease_ms / 3000)
            if loop.time() - self._renewed_s > lease_ms / 1000:
                self._fail(TapError(f"{self._name} no longer answers"))
                return
            with suppress(TapError):
                await self._say(self._subscription())


_ADVICE: Final = (
    "check that a Fencepost broker with tap.enable runs there, and that the port is the one of"
    " its first listener (or tap.port)"
)
