"""Requests of many topics are carried out in parts: the same answers, and others in between."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from fencepost_broker.apis.cutting import ELEMENTS_OF_A_PART
from fencepost_broker.apis.registry import served
from fencepost_broker.apis.request import Answer
from fencepost_broker.apis.served import Handler, Served
from fencepost_broker.config import Settings
from fencepost_broker.network.large_requests import runner
from fencepost_broker.server import process
from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import api_key_of, encode_request, read_response_head
from fencepost_protocol.generated import alter_configs, create_partitions, delete_topics
from fencepost_protocol.generated import alter_partition_reassignments as moving
from fencepost_protocol.generated import describe_configs as described
from fencepost_protocol.generated import incremental_alter_configs as incremental
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from fencepost_protocol.generated.api_versions import ApiVersionsRequest
from fencepost_protocol.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.describe_groups import DescribeGroupsRequest
from fencepost_protocol.generated.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from fencepost_protocol.generated.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
)
from fencepost_protocol.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from fencepost_protocol.records.writer import build_batch

from tests.support.broker import RunningBroker, running_broker

pytestmark = pytest.mark.asyncio

TOPIC = 2
PARTS = 14
COUNT = 13 * ELEMENTS_OF_A_PART + 7
NAMES = [f"{number:05d}{'x' * 200}" for number in range(COUNT)]
"""Together they are longer than the buffer that all connections share."""
KNOWN = [NAMES[0], NAMES[ELEMENTS_OF_A_PART], NAMES[-1]]

Make = Callable[[list[str]], Message]


def moves(names: list[str]) -> Message:
    asked = [moving.ReassignableTopic(n, [moving.ReassignablePartition(0)]) for n in names]
    return moving.AlterPartitionReassignmentsRequest(topics=asked)


REQUESTS: dict[str, tuple[int, Make]] = {
    "metadata": (
        12, lambda names: MetadataRequest([MetadataRequestTopic(name=n) for n in names], False)
    ),
    "offsets": (
        7, lambda names: ListOffsetsRequest(
            -1, 0, [ListOffsetsTopic(n, [ListOffsetsPartition(0, timestamp=-1)]) for n in names]
        ),
    ),
    "epochs": (
        4, lambda names: OffsetForLeaderEpochRequest(
            -2, [OffsetForLeaderTopic(n, [OffsetForLeaderPartition(0)]) for n in names]
        ),
    ),
    "delete by name": (
        5, lambda names: delete_topics.DeleteTopicsRequest(topic_names=[f"no-{n}" for n in names])
    ),
    "delete": (
        6, lambda names: delete_topics.DeleteTopicsRequest(
            [delete_topics.DeleteTopicState(f"no-{n}") for n in names]
        ),
    ),
    "grow": (
        3, lambda names: create_partitions.CreatePartitionsRequest(
            [create_partitions.CreatePartitionsTopic(n, 3, None) for n in names],
            validate_only=True,
        ),
    ),
    "delete records": (
        2, lambda names: DeleteRecordsRequest(
            [DeleteRecordsTopic(n, [DeleteRecordsPartition(0, 0)]) for n in names]
        ),
    ),
    "describe configs": (
        4, lambda names: described.DescribeConfigsRequest(
            [described.DescribeConfigsResource(TOPIC, n, ["retention.ms"]) for n in names]
        ),
    ),
    "alter configs": (
        2, lambda names: alter_configs.AlterConfigsRequest(
            [
                alter_configs.AlterConfigsResource(
                    TOPIC, n, [alter_configs.AlterableConfig("retention.ms", "5")]
                )
                for n in names
            ]
        ),
    ),
    "alter configs incrementally": (
        1, lambda names: incremental.IncrementalAlterConfigsRequest(
            [
                incremental.AlterConfigsResource(
                    TOPIC, n, [incremental.AlterableConfig("retention.ms", 0, "5")]
                )
                for n in names
            ]
        ),
    ),
    "log dirs": (
        3, lambda names: DescribeLogDirsRequest([DescribableLogDirTopic(n, [0]) for n in names])
    ),
    "move replicas": (
        2, lambda names: AlterReplicaLogDirsRequest(
            [
                AlterReplicaLogDir(name, [AlterReplicaLogDirTopic(n, [0])])
                for name, n in zip(names, names[::-1], strict=True)
            ]
        ),
    ),
    "produce": (
        9, lambda names: ProduceRequest(
            None, -1, 1,
            [TopicProduceData(f"no-{n}", partition_data=[PartitionProduceData(0, b"")])
             for n in names],
        ),
    ),
    "markers": (
        1, lambda names: WriteTxnMarkersRequest(
            [
                WritableTxnMarker(number, 0, True, [WritableTxnMarkerTopic(f"no-{n}", [0])], 0)
                for number, n in enumerate(names)
            ]
        ),
    ),
    "describe groups": (5, lambda names: DescribeGroupsRequest(names)),
    "delete groups": (2, lambda names: DeleteGroupsRequest(names)),
    "describe consumer groups": (1, lambda names: ConsumerGroupDescribeRequest(names)),
    "describe transactions": (0, lambda names: DescribeTransactionsRequest(names)),
    "find coordinators": (4, lambda names: FindCoordinatorRequest("", 0, names)),
    "several groups' offsets": (
        8, lambda names: OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(n, topics=None) for n in names]
        ),
    ),
    "add to transactions": (
        5, lambda names: AddPartitionsToTxnRequest(
            [
                AddPartitionsToTxnTransaction(n, 1, 0, False, [AddPartitionsToTxnTopic("t", [0])])
                for n in names
            ]
        ),
    ),
    "producers": (0, lambda names: DescribeProducersRequest([TopicRequest(n, [0]) for n in names])),
    "elect": (2, lambda names: ElectLeadersRequest(0, [TopicPartitions(n, [0]) for n in names])),
    "reassign": (1, moves),
}  # fmt: skip


def decoded(request: Message, version: int, frame: bytes) -> Any:
    _, body = read_response_head(memoryview(frame), api_key_of(request), version)
    return response_class(api_key_of(request)).decode(memoryview(frame), version, body)[0]


async def exchange(broker: RunningBroker, *frames: bytes | bytearray) -> list[bytes]:
    """Send all at once; gives as many answers."""
    reader, writer = await asyncio.open_connection(broker.host, broker.port)
    try:
        writer.write(b"".join(frames))
        found = []
        for _ in frames:
            size = int.from_bytes(await reader.readexactly(4), "big")
            found.append(await reader.readexactly(size))
        return found
    finally:
        writer.close()


class Turns:
    """Counts the loop's turns, and in which of them the handler of a broker to come is called."""

    def __init__(self, patch: pytest.MonkeyPatch, key: ApiKey) -> None:
        self._loop = asyncio.get_running_loop()
        self._turn = 0
        self.called_in: list[int] = []

        def counted(settings: Settings) -> tuple[Served, ...]:
            return tuple(
                api if api.key != key else api._replace(handler=partial(self._call, api.handler))
                for api in served(settings)
            )

        patch.setattr(process, "served", counted)
        self._tick()

    def _call(self, handle: Handler, *asked: Any) -> Answer | None:
        self.called_in.append(self._turn)
        return handle(*asked)

    def _tick(self) -> None:
        self._turn += 1
        self._handle = self._loop.call_soon(self._tick)

    def stop(self) -> None:
        self._handle.cancel()


def carry_out_whole(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(runner.LargeRequests, "takes", lambda *_: False)


@pytest.fixture(autouse=True)
def one_part_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "TURN_NS", 0)


@pytest.mark.parametrize("label", REQUESTS)
async def test_the_answer_is_that_to_the_whole(label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    version, make = REQUESTS[label]
    request = make(NAMES)
    frame = encode_request(request, version, 77, "c")
    turns = Turns(monkeypatch, ApiKey(api_key_of(request)))
    async with running_broker(topics=dict.fromkeys(KNOWN, 1)) as broker:
        [in_parts] = await exchange(broker, frame)
        turns.stop()
        assert len(set(turns.called_in)) == len(turns.called_in)
        assert len(turns.called_in) == PARTS or label == "produce"
        carry_out_whole(monkeypatch)
        [whole] = await exchange(broker, frame)
    assert in_parts[:4] == whole[:4] == (77).to_bytes(4, "big")
    if label == "metadata":  # each part has first what is there, then what is not
        answers = [decoded(request, version, each) for each in (in_parts, whole)]
        for answer in answers:
            answer.topics.sort(key=lambda topic: topic.name)
        assert answers[0] == answers[1]
        assert len(answers[0].topics) == COUNT
    else:
        assert in_parts == whole


INNER: dict[str, tuple[int, Message]] = {
    "offsets": (
        7, ListOffsetsRequest(
            -1, 0,
            [ListOffsetsTopic("t", [ListOffsetsPartition(n, timestamp=-1) for n in range(1_700)]),
             ListOffsetsTopic("no", [ListOffsetsPartition(n, timestamp=-1) for n in range(9)])],
        ),
    ),
    "offsets, some repeated": (
        7, ListOffsetsRequest(
            -1, 0,
            [ListOffsetsTopic(
                "t", [ListOffsetsPartition(max(n, 777), timestamp=-1) for n in range(1_700)]
            )],
        ),
    ),
    "epochs": (
        4, OffsetForLeaderEpochRequest(
            -2,
            [OffsetForLeaderTopic(t, [OffsetForLeaderPartition(n) for n in range(900)])
             for t in ("t", "no", "t")],
        ),
    ),
    "delete records, some repeated": (
        2, DeleteRecordsRequest(
            [
                DeleteRecordsTopic(
                    "t", [DeleteRecordsPartition(n % 900, n % 2) for n in range(2_000)]
                )
            ]
        ),
    ),
    "producers": (0, DescribeProducersRequest([TopicRequest("t", list(range(5_000)))])),
    "elect": (2, ElectLeadersRequest(0, [TopicPartitions("t", list(range(5_000)))])),
    "markers": (
        1, WriteTxnMarkersRequest(
            [WritableTxnMarker(
                1, 0, True,
                [WritableTxnMarkerTopic("no", list(range(30_000))),
                 WritableTxnMarkerTopic("so", list(range(40_000)))], 0,
            )]
        ),
    ),
    "move replicas": (
        2, AlterReplicaLogDirsRequest(
            [AlterReplicaLogDir("d", [AlterReplicaLogDirTopic("t", list(range(5_000)))])]
        ),
    ),
    "produce": (
        8, ProduceRequest(
            None, -1, 1,
            [TopicProduceData(
                "no", partition_data=[PartitionProduceData(n, b"") for n in range(40_000)]
            )],
        ),
    ),
}  # fmt: skip
"""Few topics of many partitions."""


@pytest.mark.parametrize("label", INNER)
async def test_partitions_of_one_topic_are_cut_as_well(
    label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    version, request = INNER[label]
    frame = encode_request(request, version, 77, "c")
    turns = Turns(monkeypatch, ApiKey(api_key_of(request)))
    async with running_broker(topics={"t": 2}) as broker:
        [in_parts] = await exchange(broker, frame)
        turns.stop()
        assert len(set(turns.called_in)) > 8 or label == "produce"
        carry_out_whole(monkeypatch)
        [whole] = await exchange(broker, frame)
    answers = [decoded(request, version, each) for each in (in_parts, whole)]
    if "repeated" in label:
        for answer in answers:
            found = [each for topic in answer.topics for each in topic.partitions]
            answer.topics = sorted(found, key=lambda each: int(each.partition_index))
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("label", "version"),
    [("grow", 3), ("delete", 6), ("delete by name", 5), ("alter configs incrementally", 1)],
)
async def test_what_a_request_repeats_is_refused_wherever_it_stands(
    label: str, version: int
) -> None:
    make = REQUESTS[label][1]
    request = make([*NAMES, *NAMES[:3]])
    async with running_broker(topics=dict.fromkeys(KNOWN, 1)) as broker:
        [frame] = await exchange(broker, encode_request(request, version, 1, "c"))
    answer: Any = decoded(request, version, frame)
    results = getattr(answer, "results", None) or answer.responses
    assert sorted(
        {name_of(each).removeprefix("no-") for each in results if each.error_code == 42}
    ) == (sorted(NAMES[:3]))
    assert len({name_of(each) for each in results}) == COUNT


def name_of(result: Any) -> str:
    return str(getattr(result, "resource_name", None) or result.name)


async def test_a_produce_is_appended_in_parts_and_its_failure_told_at_the_end() -> None:
    batch = bytes(build_batch(None, [b"v"], 1_000))
    name, count = "t" * 240, 1_000
    entries = [PartitionProduceData(number, batch) for number in range(count)]
    topics = [TopicProduceData(name, partition_data=[each]) for each in entries]
    async with running_broker(topics={name: count}) as broker:
        request = ProduceRequest(None, -1, 1, topics)
        [frame] = await exchange(broker, encode_request(request, 9, 1, "c"))
        [topic] = decoded(request, 9, frame).responses
        found = [(each.index, each.base_offset) for each in topic.partition_responses]
        assert found == [(number, 0) for number in range(count)]
        entries[0].index = count  # with acks 0: the connection tells of it
        with pytest.raises(asyncio.IncompleteReadError):
            await exchange(broker, encode_request(ProduceRequest(None, 0, 1, topics), 9, 1, "c"))
        logs = [each.log for each in broker.server.table.by_name[name].partitions]
        assert [each.log_end_offset for each in logs] == [1] + [2] * (count - 1)
        silent = encode_request(ProduceRequest(None, 0, 1, topics[1:]), 9, 1, "c")
        behind = encode_request(ApiVersionsRequest(), 0, 2, "c")
        reader, writer = await asyncio.open_connection(broker.host, broker.port)
        writer.write(silent + behind)
        assert (await reader.readexactly(8))[4:] == (2).to_bytes(4, "big")
        writer.close()
        assert [each.log_end_offset for each in logs] == [1] + [3] * (count - 1)


async def test_a_transactional_batch_without_an_id_refuses_all_of_a_large_produce() -> None:
    batch = bytes(build_batch(None, [b"v"], 1_000))
    of_transaction = bytes(
        build_batch(None, [b"v"], 1_000, transactional=True, producer_id=1, producer_epoch=0,
                    base_sequence=0)
    )  # fmt: skip
    entries = [PartitionProduceData(0, batch) for _ in range(5_000)]
    entries.append(PartitionProduceData(0, of_transaction))
    request = ProduceRequest(None, -1, 1, [TopicProduceData("t", partition_data=entries)])
    async with running_broker(topics={"t": 1}) as broker:
        [frame] = await exchange(broker, encode_request(request, 9, 1, "c"))
        assert broker.server.table.by_name["t"].partitions[0].log.log_end_offset == 0
    [topic] = decoded(request, 9, frame).responses
    assert [each.error_code for each in topic.partition_responses] == [53]


async def test_errors_of_large_requests_are_counted_once() -> None:
    version, make = REQUESTS["offsets"]
    async with running_broker() as broker:
        await exchange(broker, encode_request(make(NAMES), version, 1, "c"))
        assert broker.process.stats()["errors"] == {"UNKNOWN_TOPIC_OR_PARTITION": COUNT}


async def test_garbage_is_looked_for_again_when_it_is_over() -> None:
    version, make = REQUESTS["offsets"]
    async with running_broker() as broker:
        await exchange(broker, encode_request(make(NAMES), version, 1, "c"))
    assert gc.isenabled()


async def test_what_is_behind_it_is_answered_behind_it() -> None:
    version, make = REQUESTS["offsets"]
    large = [encode_request(make(NAMES), version, number, "c") for number in (1, 3)]
    small = [encode_request(ApiVersionsRequest(), 0, number, "c") for number in (2, 4)]
    async with running_broker() as broker:
        answers = await exchange(broker, large[0], small[0], large[1], small[1])
        assert [int.from_bytes(each[:4], "big") for each in answers] == [1, 2, 3, 4]
        assert broker.process.stats()["connections"]["parked_requests"] == 0


@pytest.mark.parametrize(("count", "created"), [(COUNT, COUNT), (10_500, 0)])
async def test_what_a_request_creates_is_bounded_as_a_whole(count: int, created: int) -> None:
    names = [f"n{number:05d}{'x' * 200}" for number in range(count)]
    request = MetadataRequest([MetadataRequestTopic(name=name) for name in names], True)
    async with running_broker() as broker:
        [frame] = await exchange(broker, encode_request(request, 12, 1, "c"))
        answer = decoded(request, 12, frame)
        assert {topic.error_code for topic in answer.topics} == {3}
        assert len(broker.server.image.topics.by_name) == created


async def test_one_that_is_cut_off_inside_closes_its_connection_alone() -> None:
    version, make = REQUESTS["offsets"]
    frame = encode_request(make(NAMES), version, 1, "c")[:-5]
    frame[:4] = (len(frame) - 4).to_bytes(4, "big")
    async with running_broker(topics={"t": 1}) as broker:
        with pytest.raises(asyncio.IncompleteReadError):
            await exchange(broker, frame)
        assert await broker.produce("t", 0, b"v") == 0
        assert broker.process.socket_server.parked_count == 0


async def test_nothing_is_done_for_a_client_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    version, make = REQUESTS["offsets"]
    start = runner.LargeRequests.start
    gone: asyncio.Future[runner.LargeRequests] = asyncio.get_running_loop().create_future()

    def lost_at_once(large: runner.LargeRequests, context: Any, request: Any, *how: Any) -> None:
        request.peer.transport.abort()  # first: the thread may be done before the next line
        start(large, context, request, *how)
        asyncio.get_running_loop().call_soon(gone.set_result, large)

    monkeypatch.setattr(runner.LargeRequests, "start", lost_at_once)
    turns = Turns(monkeypatch, ApiKey.LIST_OFFSETS)
    async with running_broker(topics={"t": 1}) as broker:
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError)):
            await exchange(broker, encode_request(make(NAMES), version, 1, "c"))
        await (await gone).close()  # what the thread was given is done
        turns.stop()
        assert not turns.called_in
        assert broker.process.socket_server.parked_count == 0
        assert await broker.produce("t", 0, b"v") == 0
