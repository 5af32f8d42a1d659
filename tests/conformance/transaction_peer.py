"""One script of transactional requests, played over the wire to whichever broker listens.

The commands are those of ``tests/machine/coordinator/transaction/trace_player.py``, as far as a
client can give them; ``send12 a t-0`` produces one record, ``settle a`` waits until no marker is
out. Producer ids are told as A, B, C in the order in which they come up, since no two brokers give
the same ones.

``init a x32767`` uses up the epochs of an id. That is half a minute of Kafka's CPU time each, so
that a Kafka may find most of them used up in its log (``use_up_epochs``): of the records only
those of the last ones are told.
"""

from __future__ import annotations

import asyncio
import re
import time
from pathlib import Path
from typing import Any

from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import (
    LogRecord,
    RecordFamily,
    decode_record,
    encode_batch,
)
from fencepost_broker.coordinator.transaction.states import NAMES, State
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_transactions import ListTransactionsRequest
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.transaction_log import TransactionLogKey, TransactionLogValue
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import build_batch

from tests.machine.coordinator.transaction.trace_player import topics
from tests.support.broker import Client

COME_AGAIN = (
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_ENOUGH_REPLICAS,
)
PARTITIONS = 5
IN_FLIGHT = 500
_TWO_PHASE_COMMIT_FROM = 6
LAST_INITS = 3
"""So many are real ones: a coordinator remembers the epoch before, but not after it has loaded."""

Script = tuple[str, str]


async def use_up_epochs(bootstrap: str, scripts: list[Script]) -> None:
    """Write ids with nearly all of their epochs used; a Kafka knows them when it starts again."""
    async with Client(bootstrap, client_id="__admin_client") as client:  # who may write there
        await Peer(client).prepare()
        for title, script in scripts:
            for name, times in re.findall(r"^\s*init (\w+) x(\d{4,})$", script, re.MULTILINE):
                await _write_epoch(
                    client, f"{prefix_of(title)}-{name}", int(times) - 2 - LAST_INITS
                )


async def _write_epoch(client: Client, transactional_id: str, epoch: int) -> None:
    now_ms = int(time.time() * 1000)
    value = TransactionLogValue(
        producer_id=1_000_000 + abs(hash(transactional_id)) % 1_000_000,  # far from Kafka's own
        producer_epoch=epoch,
        transaction_timeout_ms=60_000,
        transaction_status=State.EMPTY,
        transaction_partitions=None,
        transaction_last_update_timestamp_ms=now_ms,
        transaction_start_timestamp_ms=-1,
    )
    record = LogRecord(TransactionLogKey(transactional_id), value, 1)
    number = partition_of(transactional_id, PARTITIONS)
    data = PartitionProduceData(number, bytes(encode_batch([record], now_ms)))
    topic = TopicProduceData(RecordFamily.TRANSACTIONS.value, partition_data=[data])
    answer = await client.ask(ProduceRequest(None, -1, 5000, [topic]), 12)
    assert not answer.responses[0].partition_responses[0].error_code


class Peer:
    """A broker and what its producers know."""

    def __init__(
        self, client: Client, *, partitions: int = PARTITIONS, epochs_are_used_up: bool = False
    ) -> None:
        self.client = client
        self.epochs_are_used_up = epochs_are_used_up
        self.already_read: list[str] = []
        self.identity: dict[str, tuple[int, int]] = {}
        self.letters: dict[int, str] = {}
        self.sequences: dict[tuple[str, str], int] = {}
        self.prefix = ""
        self.read_to = [0] * partitions

    async def prepare(self) -> None:
        """Have the topics, and coordinators that are ready."""
        made = [CreatableTopic(name, 3, 1) for name in ("t", "u")]
        await self.client.ask(CreateTopicsRequest(topics=made), 5)
        await self.client.ask(MetadataRequest([MetadataRequestTopic(name="t")]), 9)
        for kind in (0, 1):
            for number in range(20):
                await self._again(FindCoordinatorRequest(f"x{number}", kind), 3)
        await self._again(InitProducerIdRequest(None, 60_000), 4)  # there are producer ids to give
        for number in range(20):  # one id for every partition, or nearly so
            await self._again(InitProducerIdRequest(f"warm-{number}", 60_000), 4)

    async def _again(self, request: Any, version: int) -> Any:
        async with asyncio.timeout(60):
            while True:
                answer = await self.client.ask(request, version)
                if answer.error_code not in COME_AGAIN:
                    return answer
                await asyncio.sleep(0.05)

    async def play(self, title: str, script: str) -> list[str]:
        """The outcome of every command."""
        self.prefix = prefix_of(title)
        self.identity.clear()
        self.letters.clear()
        self.sequences.clear()
        told = []
        for line in script.strip().splitlines():
            command, _, times = line.strip().partition(" x")
            verb, *words = command.split()
            name, version = re.fullmatch(r"([a-z]+)(\d*)", verb).groups()  # type: ignore[union-attr]
            options = dict(word.split("=", 1) for word in words if "=" in word)
            plain = [word for word in words if "=" not in word]
            count = int(times or 1)
            if count > IN_FLIGHT:
                await self._new_epochs(plain[0], count - 1)
                count = 1
            for _ in range(count):
                answer = await self.carry_out(name, plain, options, int(version or -1))
            told.append(f"{line.strip()}: {answer}")
        return told

    async def carry_out(
        self, name: str, plain: list[str], options: dict[str, str], version: int
    ) -> str:
        """The outcome of one command."""
        told: str = await getattr(self, f"_{name}")(plain, options, version)
        return told

    # -- commands -------------------------------------------------------------------------------

    async def _init(self, plain: list[str], options: dict[str, str], version: int) -> str:
        name = plain[0]
        gives_own = "own" in plain or "pid" in options or "epoch" in options
        who = self._who(name, options) if gives_own else (-1, -1)
        timeout_ms = int(options.get("timeout", 60_000))
        request = InitProducerIdRequest(
            self._id(name), timeout_ms, *who, "2pc" in plain, "keep" in plain
        )
        answer = await self.client.ask(request, 5 if version < 0 else version)
        told = self._identified(name, answer)
        if version < _TWO_PHASE_COMMIT_FROM:
            return told
        ongoing = self._letter(answer.ongoing_txn_producer_id)
        return f"{told} ongoing={ongoing}/{answer.ongoing_txn_producer_epoch}"

    async def _new_epochs(self, name: str, count: int) -> None:
        """The first ``count`` inits, many on their way at the same time: a round trip is long."""
        request = InitProducerIdRequest(self._id(name), 60_000, -1, -1)
        first = count - LAST_INITS if self.epochs_are_used_up else 0
        for number in range(first, count, IN_FLIGHT):
            requests = [request] * min(IN_FLIGHT, count - number)
            for epoch, answer in enumerate(await self.client.ask_at_once(requests, 5), number):
                assert (answer.error_code, answer.producer_epoch) == (0, epoch)
        found = await self.logged()
        own = [record for record in found if record.startswith(f"-{name} ")]
        assert len(own) == count - first
        others = [record for record in found if not record.startswith(f"-{name} ")]
        self.already_read = others + own[-LAST_INITS:]

    def _identified(self, name: str, answer: Any) -> str:
        code = ErrorCode(answer.error_code)
        if not code and answer.producer_id >= 0:
            self.identity[name] = answer.producer_id, answer.producer_epoch
            for key in [key for key in self.sequences if key[0] == name]:
                del self.sequences[key]
        return f"{code.name} {self._letter(answer.producer_id)}/{answer.producer_epoch}"

    async def _add(self, plain: list[str], options: dict[str, str], version: int) -> str:
        name, *partitions = plain
        asked = [AddPartitionsToTxnTopic(*each) for each in topics(partitions)]
        who = self._who(name, options)
        version = 3 if version < 0 else version
        if version >= 4:
            return await self._add_by_broker(name, who, asked, version, verify=False)
        request = AddPartitionsToTxnRequest([], self._id(name), *who, asked)
        answer = await self.client.ask(request, version)
        return codes(answer.results_by_topic_v3_and_below)

    async def _verify(self, plain: list[str], options: dict[str, str], version: int) -> str:
        name, *partitions = plain
        asked = [AddPartitionsToTxnTopic(*each) for each in topics(partitions)]
        who = self._who(name, options)
        return await self._add_by_broker(name, who, asked, max(version, 4), verify=True)

    async def _add_by_broker(
        self, name: str, who: tuple[int, int], asked: Any, version: int, *, verify: bool
    ) -> str:
        one = AddPartitionsToTxnTransaction(self._id(name), *who, verify, asked)
        answer = await self.client.ask(AddPartitionsToTxnRequest([one]), version)
        [result] = answer.results_by_transaction
        return f"{ErrorCode(answer.error_code).name} {codes(result.topic_results)}"

    async def _offsets(self, plain: list[str], options: dict[str, str], version: int) -> str:
        name, group = plain
        request = AddOffsetsToTxnRequest(self._id(name), *self._who(name, options), group)
        answer = await self.client.ask(request, 3 if version < 0 else version)
        return ErrorCode(answer.error_code).name

    async def _end(self, plain: list[str], options: dict[str, str], version: int) -> str:
        name, outcome = plain
        version = 5 if version < 0 else version
        who = self._who(name, options)
        request = EndTxnRequest(self._id(name), *who, outcome == "commit")
        answer = await self.client.ask(request, version)
        if version < 5:
            return ErrorCode(answer.error_code).name
        return self._identified(name, answer)

    async def _send(self, plain: list[str], options: dict[str, str], version: int) -> str:
        name, partition = plain
        [(topic, [number])] = topics([partition])
        producer_id, epoch = self._who(name, options)
        sequence = self.sequences.get((name, partition), 0)
        records = bytes(
            build_batch(
                None, [b"x"], 1000, producer_id=producer_id, producer_epoch=epoch,
                base_sequence=int(options.get("sequence", sequence)), transactional=True,
            )
        )  # fmt: skip
        data = TopicProduceData(topic, partition_data=[PartitionProduceData(number, records)])
        request = ProduceRequest(self._id(options.get("as", name)), -1, 5000, [data])
        answer = await self.client.ask(request, 12 if version < 0 else version)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        if not code:
            self.sequences[name, partition] = sequence + 1
        return code.name

    async def _settle(self, plain: list[str], options: dict[str, str], version: int) -> str:
        """Wait until no marker is outstanding, and say where that has led to."""
        async with asyncio.timeout(30):
            while True:
                told = await self._describe(plain, options, version)
                if not told.startswith("Prepare"):
                    return told
                await asyncio.sleep(0.002)

    async def _describe(self, plain: list[str], options: dict[str, str], version: int) -> str:
        answer = await self.client.ask(DescribeTransactionsRequest([self._id(plain[0])]), 0)
        [state] = answer.transaction_states
        where = sorted(f"{each.topic}-{one}" for each in state.topics for one in each.partitions)
        return (
            f"{state.transaction_state or '-'} {ErrorCode(state.error_code).name}"
            f" {self._letter(state.producer_id)}/{state.producer_epoch}"
            f" timeout={state.transaction_timeout_ms} {where}"
            f" started={state.transaction_start_time_ms >= 0}"
        )

    async def _list(self, plain: list[str], options: dict[str, str], version: int) -> str:
        request = ListTransactionsRequest(
            options["state"].split(",") if "state" in options else [],
            [],
            int(options.get("duration", -1)),
            f"{self.prefix}-{options['pattern']}" if "pattern" in options else None,
        )
        answer = await self.client.ask(request, 2)
        rows = sorted(
            f"{row.transactional_id.removeprefix(self.prefix)}={row.transaction_state}"
            for row in answer.transaction_states
            if row.transactional_id.startswith(self.prefix)
        )
        return f"{ErrorCode(answer.error_code).name} {rows} {sorted(answer.unknown_state_filters)}"

    async def _sleep(self, plain: list[str], options: dict[str, str], version: int) -> str:
        await asyncio.sleep(int(plain[0]) / 1000)
        return ""

    # -- what is in the log ---------------------------------------------------------------------

    async def logged(self) -> list[str]:
        """The records of the ids of this script, since the last time."""
        found, self.already_read = self.already_read, []
        for number, offset in enumerate(self.read_to):
            wanted = FetchPartition(number, fetch_offset=offset, partition_max_bytes=64 << 20)
            request = FetchRequest(
                max_wait_ms=0, min_bytes=0, max_bytes=64 << 20,
                topics=[FetchTopic(RecordFamily.TRANSACTIONS.value, partitions=[wanted])],
            )  # fmt: skip
            answer = await self.client.ask(request, 12)
            [data] = answer.responses[0].partitions
            assert not data.error_code
            content = memoryview(data.records or b"")
            for header, batch in split_batches(content, tolerate_partial=True):
                self.read_to[number] = header.next_offset
                for record in iter_records(batch):
                    read: Any = decode_record(RecordFamily.TRANSACTIONS, record.key, record.value)
                    if read.key.transactional_id.startswith(f"{self.prefix}-"):
                        found.append(self._record(read))
        return found

    def _record(self, record: Any) -> str:
        value = record.value
        name = record.key.transactional_id.removeprefix(self.prefix)
        if value is None:
            return f"{name} gone"
        where = value.transaction_partitions
        if where is not None:
            where = sorted(f"{each.topic}-{one}" for each in where for one in each.partition_ids)
        return (
            f"{name} {NAMES[State(value.transaction_status)]} v{record.value_version}"
            f" {self._letter(value.producer_id)}/{value.producer_epoch}"
            f" previous={self._letter(value.previous_producer_id)}"
            f" next={self._letter(value.next_producer_id)}/{value.next_producer_epoch}"
            f" client={value.client_transaction_version} {where}"
            f" timeout={value.transaction_timeout_ms}"
            f" started={value.transaction_start_timestamp_ms >= 0}"
        )

    # -- names ----------------------------------------------------------------------------------

    def _id(self, name: str) -> str:
        return "" if name == "''" else f"{self.prefix}-{name}"

    def _letter(self, producer_id: int) -> str:
        if producer_id < 0 or producer_id >= 1 << 40:
            return str(producer_id)
        return self.letters.setdefault(producer_id, chr(ord("A") + len(self.letters)))

    def _who(self, name: str, options: dict[str, str]) -> tuple[int, int]:
        producer_id, epoch = self.identity.get(name, (-1, -1))
        if "pid" in options:
            letter = options["pid"]
            known = {value: key for key, value in self.letters.items()}
            producer_id = known[letter] if letter in known else int(letter)
        given = options.get("epoch", "")
        if given.startswith("="):
            epoch = int(given[1:])
        elif given:
            epoch += int(given)
        return producer_id, epoch


def prefix_of(title: str) -> str:
    """What names of a script begin with."""
    return re.sub(r"\W+", "-", title)


def scripts_in(path: Path) -> list[tuple[str, str]]:
    """Titles and what follows them."""
    _, *parts = re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [(part.partition("\n")[0], part.partition("\n")[2]) for part in parts]


def codes(results: Any) -> str:
    """What AddPartitionsToTxn says of each partition."""
    return " ".join(
        f"{topic.name}-{each.partition_index}={ErrorCode(each.partition_error_code).name}"
        for topic in sorted(results, key=lambda topic: topic.name)
        for each in sorted(topic.results_by_partition, key=lambda each: each.partition_index)
    )
