"""A connection and a producer that send exactly what a scenario says, and retry nothing."""

from __future__ import annotations

import asyncio
import secrets
import struct
from typing import Any, Final, Self

from fencepost_client.errors import AuthenticationError
from fencepost_client.requests.sasl import Login, authenticate
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.records.writer import build_batch

from fencepost_broker.server.scenarios.scenario import AnyBroker

TOPIC: Final = "orders"
TRANSACTIONAL_ID: Final = "payments"
GROUPS: Final = 0
TRANSACTIONS: Final = 1
LATEST: Final = -1
_ANSWER_S: Final = 30.0
_TRANSACTION_TIMEOUT_MS: Final = 60_000
_PRODUCE_TIMEOUT_MS: Final = 5_000
_DESCRIBE, _FETCH, _FIND, _INIT, _LIST, _METADATA, _SASL = 0, 11, 3, 5, 7, 9, 1
"""Versions of requests that are the same in all scenarios."""


class Connection:
    """One connection to a broker."""

    def __init__(self, broker: AnyBroker) -> None:
        self._broker = broker
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._sent = 0

    async def __aenter__(self) -> Self:
        host, _, port = self._broker.bootstrap.rpartition(":")
        self._streams = await asyncio.open_connection(host.strip("[]"), int(port))
        return self

    async def __aexit__(self, *exception: object) -> None:
        if self._streams is not None:
            self._streams[1].close()

    async def ask(self, request: Message, version: int) -> Any:
        """Return the answer; raises ``EOFError`` if the broker closes the connection instead."""
        assert self._streams is not None
        reader, writer = self._streams
        self._sent += 1
        writer.write(encode_request(request, version, self._sent, "scenario"))
        async with asyncio.timeout(_ANSWER_S):
            size = struct.unpack(">i", await reader.readexactly(4))[0]
            frame = memoryview(await reader.readexactly(size))
        key = api_key_of(request)
        _, body = read_response_head(frame, key, version)
        return response_class(key).decode(frame, version, body)[0]

    async def log_in(self, mechanism: str, user: str, password: str) -> str:
        """Log in; return the error by its name, or NONE."""
        login = Login(mechanism, user, password, lambda: secrets.token_urlsafe(24))
        steps = authenticate(login, "the broker", lambda _: _SASL, {ApiKey.SASL_HANDSHAKE})
        try:
            answer = None
            while True:
                answer = await self.ask(*steps.send(answer))
        except StopIteration:
            return ErrorCode.NONE.name
        except AuthenticationError as error:
            return ErrorCode(error.code).name

    async def find_coordinator(self, name: str, kind: int) -> None:
        """Let the broker create the coordinator's topic, and load it."""
        await self.ask(FindCoordinatorRequest(name, kind), _FIND)

    async def partition(self) -> Any:
        """Return what Metadata say of the partition: leader, leader epoch, replicas in sync."""
        request = MetadataRequest([MetadataRequestTopic(name=TOPIC)])
        answer = await self.ask(request, _METADATA)
        return answer.topics[0].partitions[0]

    async def fetch(self, offset: int, leader_epoch: int = -1) -> str:
        """Read at an offset; return the error by its name, or NONE."""
        wanted = FetchPartition(0, fetch_offset=offset, current_leader_epoch=leader_epoch)
        request = FetchRequest(topics=[FetchTopic(TOPIC, partitions=[wanted])])
        answer = await self.ask(request, _FETCH)
        return ErrorCode(answer.responses[0].partitions[0].error_code).name

    async def end_offset(self, *, committed: bool = False) -> int:
        """Return the end of the topic, or how far readers of committed records get."""
        wanted = ListOffsetsTopic(TOPIC, [ListOffsetsPartition(0, timestamp=LATEST)])
        answer = await self.ask(ListOffsetsRequest(-1, int(committed), [wanted]), _LIST)
        return int(answer.topics[0].partitions[0].offset)

    async def offsets(self) -> dict[str, int | str]:
        """Return both ends as facts."""
        return {
            "last_stable_offset": await self.end_offset(committed=True),
            "end_offset": await self.end_offset(),
        }

    async def produce(
        self,
        value: bytes,
        transactional_id: str | None = None,
        version: int = 11,
        key: bytes | None = None,
        **batch: Any,
    ) -> str:
        """Send one record; return the error by its name, or NONE."""
        answer = await self.produce_answer(value, transactional_id, version, key, **batch)
        return ErrorCode(answer.responses[0].partition_responses[0].error_code).name

    async def produce_answer(
        self,
        value: bytes,
        transactional_id: str | None = None,
        version: int = 11,
        key: bytes | None = None,
        **batch: Any,
    ) -> Any:
        """Send one record; return the answer."""
        records = bytes(build_batch([key], [value], self._broker.clock.now_ms(), **batch))
        data = TopicProduceData(TOPIC, partition_data=[PartitionProduceData(0, records)])
        request = ProduceRequest(transactional_id, -1, _PRODUCE_TIMEOUT_MS, [data])
        return await self.ask(request, version)

    async def transaction_state(self) -> str:
        """Return the state of the producer's transaction, by Kafka's name."""
        answer = await self.ask(DescribeTransactionsRequest([TRANSACTIONAL_ID]), _DESCRIBE)
        return str(answer.transaction_states[0].transaction_state)


class TransactionalProducer:
    """A producer of transactions of version 1, or of version 2 (KIP-890)."""

    def __init__(self, connection: Connection, version: int = 2) -> None:
        self.connection = connection
        self.id, self.epoch = -1, -1
        self._version = version
        self._sequence = 0

    async def start(self, connection: Connection | None = None) -> str:
        """Get a producer id; by another connection, the producer has forgotten that it asked."""
        asked = connection or self.connection
        await asked.find_coordinator(TRANSACTIONAL_ID, TRANSACTIONS)
        request = InitProducerIdRequest(TRANSACTIONAL_ID, _TRANSACTION_TIMEOUT_MS, -1, -1)
        answer = await asked.ask(request, _INIT)
        code = ErrorCode(answer.error_code)
        if connection is None and not code:
            self.id, self.epoch, self._sequence = answer.producer_id, answer.producer_epoch, 0
        return code.name

    async def add(self) -> str:
        """Add the partition to the transaction, as producers of version 1 do before they send."""
        topics = [AddPartitionsToTxnTopic(TOPIC, [0])]
        request = AddPartitionsToTxnRequest([], TRANSACTIONAL_ID, self.id, self.epoch, topics)
        answer = await self.connection.ask(request, 3)
        [topic] = answer.results_by_topic_v3_and_below
        return ErrorCode(topic.results_by_partition[0].partition_error_code).name

    async def send(self, value: bytes, connection: Connection | None = None) -> str:
        """Send a record in a transaction, which it begins if there is none.

        By another connection, the record does not begin one: its partition was added before.
        """
        if connection is None and self._version == 1 and (code := await self.add()) != "NONE":
            return code
        code = await (connection or self.connection).produce(
            value, TRANSACTIONAL_ID, 12 if self._version > 1 else 11,
            producer_id=self.id, producer_epoch=self.epoch, base_sequence=self._sequence,
            transactional=True,
        )  # fmt: skip
        self._sequence += code == "NONE"
        return code

    async def end(self, *, commit: bool, connection: Connection | None = None) -> str:
        """Commit or abort; by another connection, the producer has forgotten that it asked."""
        request = EndTxnRequest(TRANSACTIONAL_ID, self.id, self.epoch, commit)
        asked = connection or self.connection
        answer = await asked.ask(request, 5 if self._version > 1 else 4)
        code = ErrorCode(answer.error_code)
        if connection is None and not code and self._version > 1:
            self.id, self.epoch, self._sequence = answer.producer_id, answer.producer_epoch, 0
        return code.name

    async def until_complete(self) -> None:
        """Wait for the markers of a transaction that was ended."""
        async with asyncio.timeout(_ANSWER_S):
            while not (await self.connection.transaction_state()).startswith("Complete"):
                pass
