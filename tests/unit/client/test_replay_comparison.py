"""Answers are compared field by field, with ids mapped one to one."""

from __future__ import annotations

from typing import Any

from fencepost_client.recordings.comparison import Comparison, FieldDifference, is_sooner, may_pass
from fencepost_client.recordings.hidden import is_hidden
from fencepost_client.recordings.ids import Ids, Kind
from fencepost_client.recordings.misdirected import learn_epochs
from fencepost_client.recordings.requests import translate, with_producers
from fencepost_client.recordings.streams import FetchComparison
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse
from fencepost_protocol.generated.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdResponse
from fencepost_protocol.generated.join_group import JoinGroupResponse, JoinGroupResponseMember
from fencepost_protocol.generated.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from fencepost_protocol.generated.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from fencepost_protocol.generated.produce import (
    LeaderIdAndEpoch,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from fencepost_protocol.records.batch import crc_is_valid, read_header
from fencepost_protocol.records.writer import BatchBuilder

NOT_LEADER = ErrorCode.NOT_LEADER_OR_FOLLOWER
ORDERS, OTHERS = bytes(15) + b"\1", bytes(15) + b"\2"


class Replayed:
    """A replay so far."""

    def __init__(self) -> None:
        self.ids = Ids()
        self.comparison = Comparison(self.ids)

    def compare(self, recorded: Any, got: Any, version: int | None = None) -> list[str]:
        return [str(each.path) for each in self.found(recorded, got, version)]

    def found(self, recorded: Any, got: Any, version: int | None = None) -> list[FieldDifference]:
        newest = type(recorded).MAX_VERSION if version is None else version
        return self.comparison.compare(type(recorded).NAME, newest, recorded, got, "g")


def metadata(topic_id: bytes, node: int = 1, port: int = 9092, epoch: int = 0) -> MetadataResponse:
    partition = MetadataResponsePartition(
        leader_id=node, leader_epoch=epoch, replica_nodes=[node], isr_nodes=[node]
    )
    return MetadataResponse(
        cluster_id=f"cluster {node}",
        brokers=[MetadataResponseBroker(node, "localhost", port)],
        topics=[MetadataResponseTopic(name="orders", topic_id=topic_id, partitions=[partition])],
    )


def produced(offset: int, topic_id: bytes = ORDERS, error: int = 0) -> ProduceResponse:
    partition = PartitionProduceResponse(error_code=error, base_offset=offset)
    topic = TopicProduceResponse(topic_id=topic_id, partition_responses=[partition])
    return ProduceResponse([topic])


def test_ids_stand_for_one_other_each_but_brokers_may_be_any() -> None:
    replay = Replayed()
    assert replay.compare(metadata(ORDERS), metadata(OTHERS, 7, 19092, 3)) == []
    assert replay.ids.to_target(Kind.UUID, None, ORDERS) == OTHERS
    assert replay.compare(metadata(ORDERS), metadata(ORDERS, 7)) == [
        "topics[orders].topic_id",
        "topics[orders].partitions[0].leader_epoch",
    ]


def test_two_ids_cannot_stand_for_the_same() -> None:
    ids = Ids()
    assert ids.match(Kind.PRODUCER, None, 5, 1)
    assert not ids.match(Kind.PRODUCER, None, 6, 1)
    assert not ids.match(Kind.PRODUCER, None, 5, 2)
    assert not ids.match(Kind.PRODUCER, None, -1, 2)
    assert ids.match(Kind.PRODUCER, None, 6, 2)


def test_several_epochs_of_leaders_stand_for_one_of_the_target() -> None:
    ids, place = Ids(), ("orders", 0)
    assert ids.match(Kind.LEADER_EPOCH, place, 0, 5)
    assert not ids.leaders_changed(place)
    assert ids.match(Kind.LEADER_EPOCH, place, 1, 5)
    assert ids.leaders_changed(place)
    assert not ids.match(Kind.LEADER_EPOCH, place, 1, 6)
    assert ids.to_target(Kind.LEADER_EPOCH, place, 2) == 2, "a client may have made it up"
    leader = LeaderIdAndEpoch(1, 2)
    partition = PartitionProduceResponse(error_code=NOT_LEADER, current_leader=leader)
    refused = ProduceResponse([TopicProduceResponse("orders", partition_responses=[partition])])
    learn_epochs(ApiKey.PRODUCE, refused, ids)
    assert ids.to_target(Kind.LEADER_EPOCH, place, 2) == 5


def test_the_end_of_an_epoch_may_be_later_where_only_one_broker_leads() -> None:
    replay = Replayed()

    def ended(epoch: int, end: int) -> OffsetForLeaderEpochResponse:
        told = EpochEndOffset(partition=0, leader_epoch=epoch, end_offset=end)
        return OffsetForLeaderEpochResponse(0, [OffsetForLeaderTopicResult("orders", [told])])

    assert replay.compare(ended(1, 4), ended(0, 4)) == []
    assert replay.compare(ended(1, 4), ended(0, 6)) == ["topics[orders].partitions[0].end_offset"]
    assert replay.compare(ended(2, 4), ended(0, 6)) == []
    assert replay.compare(ended(1, 4), ended(0, 6)) == []
    assert replay.compare(ended(1, 4), ended(0, 3)) == ["topics[orders].partitions[0].end_offset"]


def test_a_fenced_epoch_is_no_difference_where_nothing_is_fenced() -> None:
    assert is_sooner([FieldDifference("x", "", "", (ErrorCode.FENCED_LEADER_EPOCH, 0))])
    assert not is_sooner([FieldDifference("x", "", "", (0, ErrorCode.FENCED_LEADER_EPOCH))])


def test_epochs_belong_to_a_producer() -> None:
    replay = Replayed()
    first, second = InitProducerIdResponse(producer_id=5), InitProducerIdResponse(producer_id=6)
    assert replay.compare(first, InitProducerIdResponse(producer_id=1, producer_epoch=3)) == []
    assert replay.compare(second, InitProducerIdResponse(producer_id=2)) == []
    ended = EndTxnResponse(producer_id=5, producer_epoch=1)
    assert replay.compare(ended, EndTxnResponse(producer_id=1, producer_epoch=3)) == [
        "producer_epoch"
    ]
    request = EndTxnRequest("id", 5, 0)
    translate("EndTxnRequest", 5, request, replay.ids)
    assert (request.producer_id, request.producer_epoch) == (1, 3)


def test_an_error_hides_what_follows_from_it() -> None:
    found = Replayed().found(InitProducerIdResponse(producer_id=5), InitProducerIdResponse(0, 51))
    assert [each[:3] for each in found] == [("error_code", "NONE", "CONCURRENT_TRANSACTIONS")]
    assert may_pass(found)
    assert not is_sooner(found)
    sooner = Replayed().found(InitProducerIdResponse(0, 51), InitProducerIdResponse(producer_id=5))
    assert is_sooner(sooner)
    assert not may_pass(sooner)
    missing = Replayed().found(produced(-1, error=3), produced(0))
    assert not is_sooner(missing)


def test_lists_are_compared_by_key_whatever_their_order() -> None:
    replay = Replayed()
    first, second = (
        MetadataResponseTopic(name=name, topic_id=topic_id)
        for name, topic_id in (("a", ORDERS), ("b", OTHERS))
    )
    assert replay.compare(
        MetadataResponse(topics=[first, second]), MetadataResponse(topics=[second, first])
    ) == []  # fmt: skip
    less = replay.found(MetadataResponse(topics=[first, second]), MetadataResponse(topics=[second]))
    assert [each[:3] for each in less] == [("topics[a]", "present", "absent")]
    more = replay.found(MetadataResponse(), MetadataResponse(topics=[first]))
    assert [each[:3] for each in more] == [("topics[a]", "absent", "present")]


def test_members_are_told_apart_by_their_own_ids() -> None:
    def joined(generation: int, *members: str) -> JoinGroupResponse:
        return JoinGroupResponse(
            generation_id=generation, leader=members[0], member_id=members[0],
            members=[JoinGroupResponseMember(each, metadata=b"m") for each in members],
        )  # fmt: skip

    replay = Replayed()
    assert replay.compare(joined(1, "r-1", "r-2"), joined(4, "t-1", "t-2")) == []
    request = SyncGroupRequest(
        "g", 1, "r-1", assignments=[SyncGroupRequestAssignment("r-2", b"all")]
    )
    translate("SyncGroupRequest", 5, request, replay.ids)
    assert (request.generation_id, request.member_id) == (4, "t-1")
    assert request.assignments[0].member_id == "t-2"
    assert replay.compare(joined(1, "r-1"), joined(1, "t-1")) == ["generation_id"]


def test_offsets_are_relative_to_the_first_produce() -> None:
    replay = Replayed()
    assert replay.compare(produced(10), produced(3)) == []
    assert replay.compare(produced(11), produced(4)) == []
    [wrong] = replay.found(produced(12), produced(6))
    assert wrong[:3] == ("responses[AAAAAAAAAAAAAAAAAAAAAQ].partition_responses[0].base_offset",
                         "12 (-7)", "6")  # fmt: skip


def test_a_first_produce_that_fails_shifts_nothing() -> None:
    replay = Replayed()
    assert replay.compare(produced(0), produced(-1, error=10)) != []
    assert replay.compare(produced(1), produced(0)) != []


def batch(first: int, *values: bytes, producer_id: int = -1, epoch: int = -1) -> bytes:
    builder = BatchBuilder()
    for value in values:
        builder.append(None, value, 1)
    return bytes(
        builder.build(
            base_offset=first, producer_id=producer_id, producer_epoch=epoch, base_sequence=0
        )
    )


def fetched(records: bytes, error: int = 0) -> FetchResponse:
    partition = PartitionData(partition_index=0, error_code=error, records=records)
    return FetchResponse(responses=[FetchableTopicResponse("orders", partitions=[partition])])


def fetching(records: bytes, offset: int = 0) -> FetchComparison:
    request = FetchRequest(topics=[FetchTopic("orders", partitions=[FetchPartition(0)])])
    request.topics[0].partitions[0].fetch_offset = offset
    return FetchComparison(Ids(), request, fetched(records))


def test_records_are_compared_whatever_batches_they_are_in() -> None:
    compared = fetching(batch(0, b"a", b"b", b"c"))
    [missing] = compared.add(fetched(batch(0, b"a", b"b")))
    assert missing.path == "responses[orders].partitions[0].records[2]"
    assert compared.first_missing == {("orders", 0): 2}
    assert compared.add(fetched(batch(2, b"c", b"d"))) == []
    assert compared.first_missing == {}


def test_another_record_is_told_by_its_offset() -> None:
    [other] = fetching(batch(0, b"a", b"b", b"c"), 1).add(fetched(batch(0, b"?", b"x", b"y")))
    assert other.path == "responses[orders].partitions[0].records[1]"
    assert "b'b'" in other.recorded
    assert "b'x'" in other.got
    assert other.got.endswith("(and 1 more)")


def test_records_that_cannot_be_read_are_no_equal_ones() -> None:
    assert fetching(batch(0, b"a")).add(fetched(b"\xff" * 70)) != []


def test_an_error_of_a_partition_is_told() -> None:
    [error] = fetching(batch(0, b"a")).add(fetched(b"", error=1))
    assert error[:3] == (
        "responses[orders].partitions[0].error_code", "NONE", "OFFSET_OUT_OF_RANGE"
    )  # fmt: skip


def test_batches_get_the_targets_producer_and_a_new_checksum() -> None:
    ids = Ids()
    ids.match(Kind.PRODUCER, None, 5, 9)
    ids.match(Kind.PRODUCER_EPOCH, 5, 1, 2)
    both = batch(0, b"a", producer_id=5, epoch=1) + batch(0, b"b")
    new = with_producers(both, ids)
    header = read_header(new)
    assert (header.producer_id, header.producer_epoch) == (9, 2)
    assert crc_is_valid(memoryview(new)[: header.size_in_bytes])
    assert bytes(new[header.size_in_bytes :]) == both[header.size_in_bytes :]


def test_a_batch_with_a_wrong_checksum_is_sent_as_it_is() -> None:
    ids = Ids()
    ids.match(Kind.PRODUCER, None, 5, 9)
    broken = bytearray(batch(0, b"a", producer_id=5, epoch=1))
    broken[-1] ^= 1
    assert with_producers(broken, ids) == broken


def test_settings_whose_values_are_hidden_are_not_sent() -> None:
    def request(value: str) -> IncrementalAlterConfigsRequest:
        config = AlterableConfig("ssl.key.password", 0, value)
        return IncrementalAlterConfigsRequest([AlterConfigsResource(4, "", [config])])

    assert is_hidden(ApiKey.INCREMENTAL_ALTER_CONFIGS, request("\0\0\0"))
    assert not is_hidden(ApiKey.INCREMENTAL_ALTER_CONFIGS, request("7"))
    assert is_hidden(ApiKey.SASL_AUTHENTICATE, None)
    assert not is_hidden(ApiKey.FETCH, None)
