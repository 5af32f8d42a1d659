"""What can be asked of partitions: deleting records, epochs, producers, sizes on disk."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget
from fencepost_broker.storage.log import StorageError
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from fencepost_protocol.generated.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

from tests.support.broker import MEMORY_BYTES, RunningBroker, running_broker

pytestmark = pytest.mark.asyncio

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
OUT_OF_RANGE = ErrorCode.OFFSET_OUT_OF_RANGE


# -- DeleteRecords -------------------------------------------------------------------------------


async def deleted(
    broker: RunningBroker, topic: str, *partitions: tuple[int, int], version: int = 2
) -> list[tuple[int, int]]:
    asked = DeleteRecordsTopic(topic, [DeleteRecordsPartition(*each) for each in partitions])
    response = await broker.ask(DeleteRecordsRequest([asked], 5000), version)
    (answer,) = response.topics
    assert [each.partition_index for each in answer.partitions] == [each[0] for each in partitions]
    return [(each.error_code, each.low_watermark) for each in answer.partitions]


@pytest.mark.parametrize("version", [0, 1, 2])
async def test_records_are_deleted(version: int) -> None:
    async with running_broker(topics={"t": 2}) as broker:
        for _ in range(4):
            await broker.produce("t", 0, b"x")
        for offset, answer in [
            (2, (0, 2)),
            (1, (0, 2)),
            (5, (OUT_OF_RANGE, -1)),
            (-2, (OUT_OF_RANGE, -1)),
            (-1, (0, 4)),
        ]:
            assert await deleted(broker, "t", (0, offset), version=version) == [answer]
        answers = await deleted(broker, "t", (1, -1), (9, 0), version=version)
        assert answers == [(0, 0), (UNKNOWN, -1)]
        assert await deleted(broker, "missing", (0, 0), version=version) == [(UNKNOWN, -1)]
        assert (await broker.ask(DeleteRecordsRequest(), version)).topics == []


async def test_deleted_records_are_not_fetched() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        for _ in range(3):
            await broker.produce("t", 0, b"x")
        assert await deleted(broker, "t", (0, 2)) == [(0, 2)]
        for offset, code in [(1, OUT_OF_RANGE), (2, ErrorCode.NONE)]:
            partition = FetchPartition(0, fetch_offset=offset, partition_max_bytes=1000)
            request = FetchRequest(topics=[FetchTopic("t", partitions=[partition])])
            response = await broker.ask(request, 12)
            assert response.responses[0].partitions[0].error_code == code


@pytest.mark.parametrize(
    ("policy", "code"), [("compact", ErrorCode.POLICY_VIOLATION), ("compact,delete", 0), ("", 0)]
)
async def test_a_compacted_topic_keeps_its_records(policy: str, code: int) -> None:
    async with running_broker() as broker:
        broker.create("t", 1, **{"cleanup.policy": policy})
        assert await deleted(broker, "t", (0, -1)) == [(code, -1 if code else 0)]


async def test_a_coordinators_topic_keeps_its_records() -> None:
    async with running_broker(topics={"__consumer_offsets": 1}) as broker:
        answer = await deleted(broker, "__consumer_offsets", (0, -1))
        assert answer == [(ErrorCode.INVALID_TOPIC_EXCEPTION, -1)]


# -- OffsetForLeaderEpoch ------------------------------------------------------------------------


async def ends(
    broker: RunningBroker, version: int, *partitions: tuple[int, int, int]
) -> list[tuple[int, int, int]]:
    asked = OffsetForLeaderTopic("t", [OffsetForLeaderPartition(*each) for each in partitions])
    response = await broker.ask(OffsetForLeaderEpochRequest(-1, [asked]), version)
    answers = response.topics[0].partitions
    assert [each.partition for each in answers] == [each[0] for each in partitions]
    return [(each.error_code, each.leader_epoch, each.end_offset) for each in answers]


@pytest.mark.parametrize("version", [2, 3, 4])
async def test_where_an_epoch_ends(version: int) -> None:
    async with running_broker(topics={"t": 2}) as broker:
        await broker.produce("t", 0, b"x", b"y")
        asked = [(0, -1, 0), (0, 0, 0), (0, -1, 5), (0, -1, -1), (1, -1, 0), (7, -1, 0)]
        nothing = (0, -1, -1)
        expected = [(0, 0, 2), (0, 0, 2), nothing, nothing, (0, 0, 0), (UNKNOWN, -1, -1)]
        assert await ends(broker, version, *asked) == expected
        assert await ends(broker, version, (0, 1, 0), (0, -2, 0)) == [
            (ErrorCode.UNKNOWN_LEADER_EPOCH, -1, -1),
            (ErrorCode.FENCED_LEADER_EPOCH, -1, -1),
        ]


async def test_a_restart_begins_an_epoch() -> None:
    disk = MemoryDisk(MemoryBudget(MEMORY_BYTES))
    async with running_broker(topics={"t": 1}, disk=disk) as broker:
        await broker.produce("t", 0, b"x", b"y")
    async with running_broker(disk=disk) as broker:
        epoch = broker.server.table.by_name["t"].partitions[0].leader_epoch
        assert epoch > 0
        assert await ends(broker, 4, (0, epoch, epoch)) == [(0, epoch, 2)]
        await broker.produce("t", 0, b"z")
        assert await ends(broker, 4, (0, epoch, 0), (0, epoch, epoch)) == [
            (0, 0, 2),
            (0, epoch, 3),
        ]


# -- DescribeProducers ---------------------------------------------------------------------------


async def test_producers_are_described() -> None:
    async with running_broker(topics={"t": 2}) as broker:
        given = await broker.ask(InitProducerIdRequest(None, 1000), 4)
        await broker.produce(
            "t", 1, b"x", b"y", producer_id=given.producer_id, producer_epoch=0, base_sequence=0
        )
        topics = [TopicRequest("t", [0, 1, 9]), TopicRequest("missing", [0])]
        response = await broker.ask(DescribeProducersRequest(topics), 0)
        told = [
            [
                (
                    each.error_code,
                    [
                        (
                            state.producer_id,
                            state.producer_epoch,
                            state.last_sequence,
                            state.last_timestamp,
                            state.coordinator_epoch,
                            state.current_txn_start_offset,
                        )
                        for state in each.active_producers
                    ],
                )
                for each in topic.partitions
            ]
            for topic in response.topics
        ]
        states = [(given.producer_id, 0, 1, 1000, -1, -1)]
        assert told == [[(0, []), (0, states), (UNKNOWN, [])], [(UNKNOWN, [])]]


# -- DescribeLogDirs, AlterReplicaLogDirs --------------------------------------------------------


def directory(response: Any) -> tuple[int, dict[str, dict[int, int]]]:
    (result,) = response.results
    sizes = {
        topic.name: {each.partition_index: each.partition_size for each in topic.partitions}
        for topic in result.topics
    }
    return result.error_code, sizes


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
async def test_the_log_directory(version: int) -> None:
    async with running_broker(topics={"t": 2, "u": 1}) as broker:
        await broker.produce("t", 0, b"x")
        size = broker.server.table.by_name["t"].partitions[0].log.size_in_bytes
        assert size > 61
        named = [DescribableLogDirTopic("t", [0, 9]), DescribableLogDirTopic("missing", [0])]
        response = await broker.ask(DescribeLogDirsRequest(named), version)
        assert response.error_code == 0
        assert directory(response) == (0, {"t": {0: size}})
        everything = await broker.ask(DescribeLogDirsRequest(None), version)
        assert directory(everything) == (0, {"t": {0: size, 1: 0}, "u": {0: 0}})
        nothing = await broker.ask(DescribeLogDirsRequest([]), version)
        assert directory(nothing) == (0, {})
        (result,) = response.results
        assert result.log_dir == broker.server.log_manager.disk.name
        assert (0 < result.usable_bytes <= result.total_bytes) == (version >= 4)
        assert not result.is_cordoned


class BrokenDisk(MemoryDisk):
    """Cannot say how full it is."""

    def usage(self) -> Any:
        raise StorageError("look at", self.name, "it is gone")


async def test_a_broken_directory_says_so() -> None:
    disk = BrokenDisk(MemoryBudget(MEMORY_BYTES))
    async with running_broker(topics={"t": 1}, disk=disk) as broker:
        response = await broker.ask(DescribeLogDirsRequest(None), 4)
        assert directory(response) == (ErrorCode.KAFKA_STORAGE_ERROR, {})


@pytest.mark.parametrize("version", [1, 2])
async def test_replicas_stay_where_they_are(version: int) -> None:
    async with running_broker(topics={"t": 1}) as broker:
        here = broker.server.log_manager.disk.name
        topics = [AlterReplicaLogDirTopic("t", [0, 9]), AlterReplicaLogDirTopic("missing", [0])]
        gone = ErrorCode.LOG_DIR_NOT_FOUND
        for paths, expected in (
            ([here], [[0, UNKNOWN], [UNKNOWN]]),
            ([here, "/nowhere"], [[gone, gone], [gone]]),
        ):
            asked = [AlterReplicaLogDir(path, topics) for path in paths]
            response = await broker.ask(AlterReplicaLogDirsRequest(asked), version)
            codes = [[each.error_code for each in topic.partitions] for topic in response.results]
            assert codes == expected


async def test_a_partition_named_twice_is_answered_once() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        await broker.produce("t", 0, b"a", b"b")
        ends = ListOffsetsPartition(0, -1, -1)
        for listed in ([ListOffsetsTopic("t", [ends, ends])], [ListOffsetsTopic("t", [ends])] * 2):
            response = await broker.ask(ListOffsetsRequest(-1, 0, listed), 9)
            (found,) = response.topics[0].partitions
            assert len(response.topics) == 1
            assert found.error_code == ErrorCode.INVALID_REQUEST
        first, second = DeleteRecordsPartition(0, 9), DeleteRecordsPartition(0, 1)
        deleted = [DeleteRecordsTopic("t", [first]), DeleteRecordsTopic("t", [second])]
        response = await broker.ask(DeleteRecordsRequest(deleted, 1000), 2)
        (result,) = response.topics[0].partitions
        assert len(response.topics) == 1
        assert (result.error_code, result.low_watermark) == (0, 1)


async def test_a_time_that_a_version_does_not_know_is_told_before_anything_else() -> None:
    async with running_broker() as broker:
        listed = [ListOffsetsTopic("nope", [ListOffsetsPartition(0, -1, -3)])]
        for version, code in ((6, ErrorCode.UNSUPPORTED_VERSION), (7, UNKNOWN)):
            response = await broker.ask(ListOffsetsRequest(-1, 0, listed), version)
            assert response.topics[0].partitions[0].error_code == code


async def test_words_about_producers_are_for_topics_alone() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        asked = [TopicRequest(name, [7]) for name in ("t", "nope", "a b")]
        response = await broker.ask(DescribeProducersRequest(asked), 0)
        answers = [each.partitions[0] for each in response.topics]
        assert [(each.error_code, each.error_message) for each in answers] == [
            (UNKNOWN, None),
            (UNKNOWN, "there is no topic nope"),
            (
                ErrorCode.INVALID_TOPIC_EXCEPTION,
                "'a b' has ' ' in it: a topic's name is made of a-z, A-Z, 0-9, . _ and -",
            ),
        ]
