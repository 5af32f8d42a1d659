"""A broker inside of the test's own loop, and raw requests to it.

    async with running_broker({"num.partitions": 3}, topics={"t": 2}) as broker:
        response = await broker.ask(MetadataRequest(), 13)

Everything is kept in memory and gone afterwards.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Self

from fencepost_broker.config import Settings, Value
from fencepost_broker.controller.channel.local import LocalController
from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
from fencepost_broker.ports import Address
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.server.clock import StateClock
from fencepost_broker.server.process import BrokerProcess
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget
from fencepost_broker.storage.log import Disk
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.sasl_authenticate import SaslAuthenticateRequest
from fencepost_protocol.generated.sasl_handshake import SaslHandshakeRequest
from fencepost_protocol.records.writer import build_batch

MEMORY_BYTES = 64 << 20
ANSWER_SECONDS = 20.0
PRODUCE_VERSION = 9


def memory_disk() -> MemoryDisk:
    """A disk that brokers one after the other can have."""
    return MemoryDisk(MemoryBudget(MEMORY_BYTES))


class QuietLog:
    """Takes log lines and forgets them."""

    def info(self, event: str, **values: Any) -> None:
        """Forget a line."""

    debug = warning = error = exception = info

    def area(self, name: str) -> QuietLog:
        """The same one for all areas."""
        return self

    def bind(self, **values: Any) -> QuietLog:
        """Forget what is bound, too."""
        return self


class Client:
    """One connection to a broker, opened when it is first needed."""

    def __init__(self, bootstrap: str, client_id: str = "test") -> None:
        self._client_id = client_id
        host, _, port = bootstrap.rpartition(":")
        self._host, self._port = host.strip("[]"), int(port)
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._correlation_id = 0

    async def __aenter__(self) -> Self:
        self.streams = await asyncio.open_connection(self._host, self._port)
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.disconnect()

    async def ask(self, request: Message, version: int) -> Any:
        """Send a request, wait for the answer, check that it is whole, decode it."""
        [answer] = await self.ask_at_once([request], version)
        return answer

    async def ask_at_once(self, requests: Sequence[Message], version: int) -> list[Any]:
        """Send requests without waiting in between; a broker answers them one by one, in order."""
        if self.streams is None:
            self.streams = await asyncio.open_connection(self._host, self._port)
        reader, writer = self.streams
        first = self._correlation_id + 1
        self._correlation_id += len(requests)
        for number, request in enumerate(requests, first):
            writer.write(encode_request(request, version, number, self._client_id))
        answers = []
        for number, request in enumerate(requests, first):
            async with asyncio.timeout(ANSWER_SECONDS):
                size = struct.unpack(">i", await reader.readexactly(4))[0]
                frame = memoryview(await reader.readexactly(size))
            key = api_key_of(request)
            correlation_id, body = read_response_head(frame, key, version)
            assert correlation_id == number
            response, end = response_class(key).decode(frame, version, body)
            assert end == len(frame)
            answers.append(response)
        return answers

    async def produce(
        self, topic: str, partition: int, *values: bytes, timestamp_ms: int = 1000, **batch: Any
    ) -> int:
        """Produce one batch; gives the offset of its first record."""
        records = bytes(build_batch(None, values, timestamp_ms, **batch))
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(partition, records)])
        response = await self.ask(ProduceRequest(None, -1, 5000, [data]), PRODUCE_VERSION)
        answer = response.responses[0].partition_responses[0]
        assert not answer.error_code, answer.error_message
        return int(answer.base_offset)

    async def disconnect(self) -> None:
        """Close the connection; the next request opens another one."""
        if self.streams is not None:
            writer = self.streams[1]
            self.streams = None
            writer.close()
            await writer.wait_closed()


async def log_in(client: Client, user: str, password: str) -> None:
    """Show who it is, by PLAIN."""
    assert not (await client.ask(SaslHandshakeRequest("PLAIN"), 1)).error_code
    answer = await client.ask(SaslAuthenticateRequest(f"\0{user}\0{password}".encode()), 2)
    assert not answer.error_code, answer.error_message


class RunningBroker(Client):
    """A started broker and one connection to it."""

    def __init__(self, process: BrokerProcess, address: Address) -> None:
        super().__init__(address.bootstrap)
        self.process = process
        self.bootstrap = address.bootstrap
        self.host = address.host
        self.port = address.port

    @property
    def server(self) -> BrokerServer:
        """What is behind the socket."""
        return self.process.broker

    @property
    def node_id(self) -> int:
        """The broker's id."""
        return self.server.identity.node_id

    @property
    def coordinators(self) -> CoordinatorRuntime:
        """Its coordinators."""
        return self.server.coordinators.runtime

    @property
    def decider(self) -> LocalController:
        """The controller in its process."""
        assert isinstance(self.server.controller, LocalController)
        return self.server.controller

    def command(self, message: Message) -> Any:
        """Let the controller in its process decide."""
        return self.decider.command(message)

    def create(self, name: str, partitions: int = 1, **configs: str) -> None:
        """Create a topic with these settings, by Kafka's names."""
        given = [CreatableTopicConfig(setting, value) for setting, value in configs.items()]
        topic = CreatableTopic(name, partitions, -1, configs=given)
        answer = self.command(CreateTopicsRequest(topics=[topic])).topics[0]
        assert not answer.error_code, answer.error_message


@asynccontextmanager
async def running_broker(
    overrides: Mapping[str, Value] | None = None,
    *,
    topics: Mapping[str, int] | None = None,
    disk: Disk | None = None,
    clock: StateClock | None = None,
    log: QuietLog | None = None,
    on_step: Callable[[str], None] | None = None,
) -> AsyncIterator[RunningBroker]:
    """A broker with these settings (by Kafka's names) and topics, on a free port."""
    given = {"listeners": "PLAINTEXT://127.0.0.1:0", **(overrides or {})}
    settings = Settings().with_overrides(given)
    disk = memory_disk() if disk is None else disk
    process = BrokerProcess(settings, disk, log or QuietLog(), clock, on_step=on_step)
    addresses = await process.start()
    broker = RunningBroker(process, addresses[0])
    try:
        for name, partitions in (topics or {}).items():
            broker.create(name, partitions)
        yield broker
    finally:
        await broker.disconnect()
        await process.stop()
