"""Apache Kafka goes on with transactions from our log, and we go on with those from its."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from fencepost_broker.coordinator.records import LogRecord, RecordFamily, decode_record
from fencepost_broker.coordinator.transaction import commands as c
from fencepost_broker.coordinator.transaction.ports import TransactionSettings
from fencepost_broker.coordinator.transaction.states import State
from fencepost_broker.metadata.decision import Decision
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.transaction_log import TransactionLogKey, TransactionLogValue
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records

from tests.conformance.transaction_peer import Peer
from tests.machine.coordinator.transaction.harness import Coordinator
from tests.support.apache_kafka import ApacheKafka
from tests.support.broker import Client

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

LAST_EPOCH = 32766
NAMES = ("empty", "ongoing", "committing", "aborting", "rotating", "committed", "aborted")


@pytest.fixture
def kafka() -> Iterator[ApacheKafka]:
    with ApacheKafka({"transaction.state.log.num.partitions": "1"}) as running:
        yield running


class Ours:
    """Our machine, with one id in every state."""

    def __init__(self) -> None:
        self.coordinator = Coordinator(TransactionSettings())
        self.coordinator.now_ms = int(time.time() * 1000)
        self.sends: dict[str, c.SendMarkers] = {}
        who = {}
        for name in NAMES:
            made = self._ask(c.InitProducerId(InitProducerIdRequest(name, 600_000), 5))
            who[name] = made.producer_id, made.producer_epoch
        who["rotating"] = who["rotating"][0], LAST_EPOCH
        self._log_empty("rotating", who["rotating"][0])
        for name in NAMES[1:]:
            self._ask(c.AddPartitions(name, *who[name], [("t", [0, 1])], 4))
        for name in NAMES[2:]:
            commits = name in ("committing", "rotating", "committed")
            self._ask(c.EndTxn(EndTxnRequest(name, *who[name], commits), 5))
        for name in ("committed", "aborted"):
            self._acknowledge(self.sends.pop(name))

    def _ask(self, command: Any) -> Any:
        answer = self.coordinator.ask(command)
        assert not (answer.error if isinstance(answer, c.Outcome) else answer.error_code)
        sends = [each for each in self.coordinator.news if isinstance(each, c.SendMarkers)]
        self.sends |= {each.transactional_id: each for each in sends}
        return answer

    def _acknowledge(self, send: c.SendMarkers) -> None:
        outcomes = [(*each, ErrorCode.NONE) for each in send.pending]
        self.coordinator.ask(c.MarkersWritten(send, outcomes))

    def _log_empty(self, name: str, producer_id: int) -> None:
        """As it is after very many transactions."""
        value = TransactionLogValue(
            producer_id=producer_id,
            previous_producer_id=producer_id,
            next_producer_id=-1,
            producer_epoch=LAST_EPOCH,
            next_producer_epoch=-1,
            transaction_timeout_ms=600_000,
            transaction_status=State.EMPTY,
            transaction_partitions=None,
            transaction_last_update_timestamp_ms=self.coordinator.now_ms,
            transaction_start_timestamp_ms=-1,
            client_transaction_version=2,
        )
        record = LogRecord(TransactionLogKey(name), value, 1)
        self.coordinator.carry_out(Decision[None](records=(record,)))

    def content(self) -> bytes:
        """The log as it would be in a file."""
        content, offset = bytearray(), 0
        for batch in self.coordinator.log:
            copy = bytearray(batch)
            copy[:8] = offset.to_bytes(8, "big")
            content += copy
            [(header, _)] = split_batches(memoryview(batch))
            offset += header.record_count
        return bytes(content)

    def finish(self) -> None:
        """Acknowledge whatever is outstanding."""
        while self.sends:
            self._acknowledge(self.sends.popitem()[1])

    def told(self, *names: str) -> list[Any]:
        return [self.coordinator.ask(c.DescribeTransaction(name)) for name in names]


async def when_ready(client: Client) -> None:
    async with asyncio.timeout(60):
        while True:
            answer = await client.ask(DescribeTransactionsRequest(["nobody"]), 0)
            if answer.transaction_states[0].error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
                return
            await asyncio.sleep(0.1)


async def described(client: Client, *names: str) -> list[Any]:
    """What Kafka says, once it has no marker left to write."""
    async with asyncio.timeout(60):
        while True:
            answer = await client.ask(DescribeTransactionsRequest(list(names)), 0)
            states = answer.transaction_states
            if not any(state.transaction_state.startswith("Prepare") for state in states):
                for state in states:
                    state.topics.sort(key=lambda each: each.topic)
                    for topic in state.topics:
                        topic.partitions.sort()
                return sorted(states, key=lambda state: names.index(state.transactional_id))
            await asyncio.sleep(0.05)


def test_kafka_goes_on_with_ours(kafka: ApacheKafka) -> None:
    async def prepare() -> None:
        async with Client(kafka.bootstrap) as client:
            await client.ask(CreateTopicsRequest(topics=[CreatableTopic("t", 2, 1)]), 5)
            await client.ask(FindCoordinatorRequest("x", 1), 3)
            await when_ready(client)

    async def outcome() -> list[Any]:
        async with Client(kafka.bootstrap) as client:
            await when_ready(client)
            return await described(client, *NAMES)

    asyncio.run(prepare())
    kafka.stop()
    ours = Ours()
    log = kafka.data_dir / "__transaction_state-0"
    for path in log.iterdir():
        if path.name != "partition.metadata":
            path.unlink()
    file = log / f"{0:020}.log"
    file.write_bytes(ours.content())
    tool = "org.apache.kafka.tools.DumpLogSegments"
    dumped = kafka.run_tool(tool, "--transaction-log-decoder", "--files", file)
    assert dumped.count("| offset: ") == sum(
        len(list(iter_records(batch))) for batch in ours.coordinator.log
    )
    kafka.start()
    states = asyncio.run(outcome())
    ours.finish()
    assert states == ours.told(*NAMES)
    assert [state.transaction_state for state in states] == [
        "Empty", "Ongoing", "CompleteCommit", "CompleteAbort", "CompleteCommit",
        "CompleteCommit", "CompleteAbort",
    ]  # fmt: skip


SCRIPT = """
init empty
init ongoing
add ongoing t-0 t-1
offsets ongoing g
init committed
send12 committed t-0
end5 committed commit
settle committed
init aborted
add aborted t-1
end4 aborted abort
settle aborted
init rotated x32767
send12 rotated t-0
end5 rotated abort
settle rotated
init fenced
add fenced u-0
init fenced
settle fenced
"""


def test_we_go_on_with_kafkas(kafka: ApacheKafka) -> None:
    async def play() -> list[Any]:
        async with Client(kafka.bootstrap) as client:
            peer = Peer(client, partitions=1)
            await peer.prepare()
            await peer.play("takeover", SCRIPT)
            left = ("empty", "ongoing", "committed", "aborted", "rotated", "fenced")
            return await described(client, *[f"takeover-{each}" for each in left])

    expected = asyncio.run(play())
    kafka.stop()
    ours = Coordinator()
    ours.check_every_step = False  # its log is in files
    for path in sorted((kafka.data_dir / "__transaction_state-0").glob("*.log")):
        for _, batch in split_batches(memoryview(path.read_bytes()), tolerate_partial=True):
            for record in iter_records(batch):
                ours.machine.replay(
                    decode_record(RecordFamily.TRANSACTIONS, record.key, record.value)
                )
    names = [state.transactional_id for state in expected]
    assert [ours.ask(c.DescribeTransaction(name)) for name in names] == expected
    assert [state.transaction_state for state in expected] == [
        "Empty", "Ongoing", "CompleteCommit", "CompleteAbort", "CompleteAbort", "CompleteAbort",
    ]  # fmt: skip
