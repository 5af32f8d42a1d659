"""Two addresses of one broker that a client takes for two brokers; each can be paused.

    async with two_fronts() as (paused, other):
        paused.pause()          # as by SIGSTOP: it is connected to, and says nothing
        other.alone()           # from now on Metadata names this one only, as the leader of all
        paused.cut_off()        # it goes on as if nothing had happened, and nobody confirms it

What Metadata and FindCoordinator answer is changed on the way, so one real broker stands behind
both, and what a client sent twice shows in its log.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from fencepost_broker import Broker
from fencepost_protocol.apis import response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import encode_response, read_request_head, read_response_head
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import MetadataResponseBroker

_CUT_OFF: Final = {
    ApiKey.PRODUCE: ErrorCode.REQUEST_TIMED_OUT,
    ApiKey.OFFSET_COMMIT: ErrorCode.COORDINATOR_NOT_AVAILABLE,
}
"""What a broker answers whose followers follow another one."""


class Picture:
    """What both say of the cluster, or one that is cut off."""

    def __init__(self, named: Iterable[Front] = (), leader: Front | None = None) -> None:
        self.named = list(named)
        self.leader = leader
        """Of all partitions and groups."""

    def show(self, answer: Any, api_key: int) -> None:
        """Change an answer of the broker's."""
        assert self.leader is not None
        leader = self.leader
        if api_key == ApiKey.METADATA:
            answer.brokers = [
                MetadataResponseBroker(each.node_id, "127.0.0.1", each.port) for each in self.named
            ]
            answer.controller_id = leader.node_id
            for topic in answer.topics:
                for partition in topic.partitions:
                    partition.leader_id = leader.node_id
        else:
            for found in answer.coordinators or [answer]:
                found.node_id, found.host, found.port = leader.node_id, "127.0.0.1", leader.port


class Front:
    """One of the addresses."""

    def __init__(self, node_id: int, picture: Picture) -> None:
        self.node_id = node_id
        self.port = 0
        self.broker_port = 0
        self.asked: list[int] = []
        """The kinds of the requests that came here."""
        self._picture = picture
        self._is_cut_off = False
        self._swallows = False
        self._runs = asyncio.Event()
        self._runs.set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def address(self) -> str:
        """For ``bootstrap_servers``."""
        return f"127.0.0.1:{self.port}"

    def pause(self, *, has_read: bool = False) -> None:
        """Answer nothing any more; with ``has_read`` what comes is carried out all the same."""
        self._swallows = has_read
        self._runs.clear()

    def cut_off(self) -> None:
        """Hear nothing of the cluster any more, and answer clients all the same."""
        self._picture = Picture(self._picture.named, self._picture.leader)
        self._is_cut_off = True

    def lead(self) -> None:
        """Lead everything from now on."""
        self._picture.leader = self

    def alone(self) -> None:
        """Be the only one that is named, because the other one is fenced."""
        self.lead()
        self._picture.named = [self]

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Listen."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self._picture.named.append(self)
        try:
            yield
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks)
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        ours, theirs = await asyncio.open_connection("127.0.0.1", self.broker_port)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                frame = await _frame(reader)
                api_key, version, _, _, _ = read_request_head(memoryview(frame))
                self.asked.append(api_key)
                if not self._swallows:
                    await self._runs.wait()
                theirs.write(len(frame).to_bytes(4) + frame)
                answer = await _frame(ours)
                await self._runs.wait()
                is_refused = self._is_cut_off and api_key in _CUT_OFF
                if is_refused or api_key in (ApiKey.METADATA, ApiKey.FIND_COORDINATOR):
                    answer = self._changed(answer, api_key, version)
                writer.write(len(answer).to_bytes(4) + answer)
        theirs.transport.abort()
        writer.transport.abort()

    def _changed(self, frame: bytes, api_key: int, version: int) -> bytes:
        correlation_id, body = read_response_head(memoryview(frame), api_key, version)
        answer, _ = response_class(api_key).decode(memoryview(frame), version, body)
        if api_key in _CUT_OFF:
            _refuse(answer, api_key)
        else:
            self._picture.show(answer, api_key)
        return bytes(encode_response(answer, version, correlation_id))[4:]


def _refuse(answer: Any, api_key: int) -> None:
    """It is in the log of this one, and nowhere else."""
    for topic in answer.responses if api_key == ApiKey.PRODUCE else answer.topics:
        for part in topic.partition_responses if api_key == ApiKey.PRODUCE else topic.partitions:
            part.error_code = _CUT_OFF[ApiKey(api_key)]


async def _frame(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(4)))


@asynccontextmanager
async def two_fronts() -> AsyncIterator[tuple[Front, Front]]:
    """The first of them leads."""
    picture = Picture()
    first, second = Front(1, picture), Front(2, picture)
    async with Broker(topics={"t": 1}) as broker, first.open(), second.open():
        first.broker_port = second.broker_port = broker.settings.endpoints[0].port
        first.lead()
        yield first, second
