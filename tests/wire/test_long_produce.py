"""A Produce whose batches take long: others have their turns, and its answer is the same."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_broker.apis.produce import carrying_out
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.metadata import MetadataRequest
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from fencepost_protocol.records.compression import Compression, compress
from fencepost_protocol.records.writer import build_batch

from tests.hostile.batch_harness import SMALLEST, with_body
from tests.support.broker import Client, running_broker
from tests.support.compiled import pure_only

pytestmark = pytest.mark.asyncio
NOW = 1_700_000_000_000
TOPICS = {"a": 3, "b": 40}


def batch(value: bytes) -> bytes:
    return bytes(build_batch(None, [value], NOW))


def request(acks: int = -1) -> ProduceRequest:
    """Good and bad batches, partitions that are there and that are not, of three topics."""
    a = [PartitionProduceData(number, batch(b"a")) for number in (0, 1, 2, 3)]
    b = [PartitionProduceData(number, batch(b"b")) for number in range(40)]
    b[7].records = batch(b"b")[:-1] + b"\x7f"
    none = [PartitionProduceData(0, batch(b"c"))]
    topics = [
        TopicProduceData(name, partition_data=data)
        for name, data in (("a", a), ("none", none), ("b", b))
    ]
    return ProduceRequest(None, acks, 1000, topics)


def told(answer: ProduceResponse) -> list[tuple[str, list[tuple[int, int, int]]]]:
    return [
        (
            each.name,
            [(part.index, part.error_code, part.base_offset) for part in each.partition_responses],
        )
        for each in answer.responses
    ]


@pytest.fixture
def _in_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying_out, "_FIRST_TURN_NS", -1)
    monkeypatch.setattr(carrying_out, "_TURN_NS", -1)


async def test_a_topic_without_partitions_is_not_in_the_answer() -> None:
    topics = [
        TopicProduceData("a", partition_data=[PartitionProduceData(1, batch(b"a"))]),
        TopicProduceData("b"),
    ]
    async with running_broker(topics=TOPICS) as broker:
        answer = await broker.ask(ProduceRequest(None, -1, 1000, topics), 12)
    assert told(answer) == [("a", [(1, ErrorCode.NONE, 0)])]


@pytest.mark.parametrize("copies", [2, 5_000])  # so many are cut into parts
@pytest.mark.parametrize("turn_ns", [-1, 10_000_000])
async def test_a_partition_that_is_named_again_takes_its_last_batch(
    monkeypatch: pytest.MonkeyPatch, copies: int, turn_ns: int
) -> None:
    monkeypatch.setattr(carrying_out, "_FIRST_TURN_NS", turn_ns)
    first, last = (PartitionProduceData(0, batch(value)) for value in (b"first", b"last"))
    other = PartitionProduceData(1, batch(b"other"))
    topics = [
        TopicProduceData("a", partition_data=[first, other] * copies),
        TopicProduceData("none", partition_data=[first] * copies),
        TopicProduceData("a", partition_data=[last] * copies),
    ]
    async with running_broker(topics=TOPICS) as broker:
        answer = told(await broker.ask(ProduceRequest(None, -1, 1000, topics), 12))
        logs = [each.log for each in broker.process.broker.table.by_name["a"].partitions]
        found = b"".join(logs[0].read(0, 1 << 20).pieces or [])
    assert answer == [
        ("a", [(0, ErrorCode.NONE, 0), (1, ErrorCode.NONE, 0)]),
        ("none", [(0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, -1)]),
    ]
    assert b"last" in found
    assert [each.log_end_offset for each in logs] == [1, 1, 0]


async def test_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running_broker(topics=TOPICS) as broker:
        at_once = told(await broker.ask(request(), 12))
    monkeypatch.setattr(carrying_out, "_FIRST_TURN_NS", -1)
    monkeypatch.setattr(carrying_out, "_TURN_NS", -1)
    async with running_broker(topics=TOPICS) as broker:
        in_turns = told(await broker.ask(request(), 12))
        assert in_turns == at_once
        codes = {code for _, parts in in_turns for _, code, _ in parts}
        assert codes == {
            ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.CORRUPT_MESSAGE,
        }  # fmt: skip
        ends = [
            each.log.log_end_offset for each in broker.process.broker.table.by_name["b"].partitions
        ]
        assert ends == [0 if number == 7 else 1 for number in range(40)]


@pure_only("fencepost_broker.apis.produce.carrying_out")
@pytest.mark.usefixtures("_in_turns")
async def test_others_are_answered_in_between_and_its_own_client_after_it() -> None:
    async with (
        running_broker(topics=TOPICS) as broker,
        Client(f"{broker.host}:{broker.port}") as slow,
        Client(f"{broker.host}:{broker.port}") as quick,
    ):
        await quick.ask(MetadataRequest(), 12)
        await slow.ask(MetadataRequest(), 12)
        order: list[str] = []

        async def ask(name: str, client: Client, *requests: object) -> None:
            for each in requests:
                await client.ask(each, 12)  # type: ignore[arg-type]
            order.append(name)

        await asyncio.gather(ask("slow", slow, request()), ask("quick", quick, MetadataRequest()))
        assert order == ["quick", "slow"]
        answers = await slow.ask_at_once([request(), request()], 12)
        firsts = [told(each)[0][1][0] for each in answers]
        assert firsts == [(0, 0, 1), (0, 0, 2)], "requests of a connection stay in order"


@pytest.mark.usefixtures("_in_turns")
async def test_without_an_answer_an_error_closes_the_connection() -> None:
    async with (
        running_broker(topics=TOPICS) as broker,
        Client(f"{broker.host}:{broker.port}") as client,
    ):
        with pytest.raises(asyncio.IncompleteReadError):
            await client.ask(request(acks=0), 12)


async def test_many_small_bombs_are_not_carried_out_in_one_turn() -> None:
    """172 bytes of 149,000 records each, which took 12 s of everybody's time by thousands."""
    bomb = with_body(compress(Compression.ZSTD, SMALLEST * 149_000), Compression.ZSTD, 149_000)
    data = [PartitionProduceData(number, bomb) for number in range(40)]
    message = ProduceRequest(None, -1, 1000, [TopicProduceData("b", partition_data=data)])
    async with (
        running_broker(topics=TOPICS) as broker,
        Client(f"{broker.host}:{broker.port}") as attacker,
        Client(f"{broker.host}:{broker.port}") as client,
    ):
        await client.ask(MetadataRequest(), 12)
        await attacker.ask(MetadataRequest(), 12)
        attack = asyncio.ensure_future(attacker.ask(message, 12))
        answered = 0
        while not attack.done():
            await client.ask(MetadataRequest(), 12)
            answered += 1
        [topic] = attack.result().responses
        assert {each.error_code for each in topic.partition_responses} == {ErrorCode.NONE}
        assert answered > 5, "others have turns between its batches"
