"""A good request of every API, and what can be wrong with it: for test_faults_differential.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnRequest
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from fencepost_protocol.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.delete_groups import DeleteGroupsRequest
from fencepost_protocol.generated.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from fencepost_protocol.generated.describe_producers import DescribeProducersRequest, TopicRequest
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.heartbeat import HeartbeatRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from fencepost_protocol.generated.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from fencepost_protocol.generated.leave_group import LeaveGroupRequest, MemberIdentity
from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from fencepost_protocol.generated.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from fencepost_protocol.generated.sync_group import SyncGroupRequest
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from fencepost_protocol.records.writer import build_batch

NAME: Final = "a"
GROUP: Final = "g"


class Known(NamedTuple):
    """The producer of whom requests speak."""

    producer_id: int
    epoch: int


class Asked:
    """A request that is about to be sent."""

    def __init__(self, request: Any) -> None:
        self.request = request
        self.adds_offsets = False

    def set(self, path: str, value: Any) -> None:
        """Sets a field; a function is given what is there. ``*`` stands for each of a list."""
        *way, last = path.split(".")
        found = [self.request]
        for name in way:
            found = (
                [each for one in found for each in one]
                if name == "*"
                else [getattr(one, name) for one in found]
            )
        for each in found:
            setattr(each, last, value(getattr(each, last)) if callable(value) else value)


Fault = Callable[[Asked], None]


def fault(name: str, *changes: tuple[str, Any]) -> Fault:
    def wrong(asked: Asked) -> None:
        for path, value in changes:
            asked.set(path, value)

    wrong.__name__ = name
    return wrong


def offsets_are_added(asked: Asked) -> None:
    asked.adds_offsets = True


def of_producer(at: str = "") -> list[Fault]:
    return [
        fault("old epoch", (f"{at}producer_epoch", lambda epoch: epoch - 1)),
        fault("new epoch", (f"{at}producer_epoch", lambda epoch: epoch + 1)),
        fault("other producer id", (f"{at}producer_id", lambda number: number + 77)),
        fault("unknown id", (f"{at}transactional_id", "nope")),
        fault("empty id", (f"{at}transactional_id", "")),
    ]


MEMBER = [
    fault("unknown member", ("member_id", "nope")),
    fault("generation", ("generation_id", 7)),
    fault("instance", ("group_instance_id", "i")),
]
NO_GROUP = fault("no group id", ("group_id", ""))
OTHER_GROUP = fault("other group", ("group_id", "other"))


def unknown_topic(at: str = "topics.*.name") -> Fault:
    return fault("unknown topic", (at, "nope"))


def one_more(of: Callable[[], Any], at: str = "topics") -> Fault:
    return fault("one unknown topic more", (at, lambda topics: [of(), *topics]))


def txn_offsets(known: Known) -> Any:
    topic = TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, 5)])
    return TxnOffsetCommitRequest(NAME, GROUP, *known, topics=[topic])


TXN_OFFSETS = [
    unknown_topic(),
    one_more(lambda: TxnOffsetCommitRequestTopic("no", [TxnOffsetCommitRequestPartition(0, 5)])),
    fault("unknown partition", ("topics.*.partitions.*.partition_index", 7)),
    fault("large metadata", ("topics.*.partitions.*.committed_metadata", "x" * 5000)),
    *of_producer(),
    *MEMBER,
    NO_GROUP,
    fault("nothing", ("topics", [])),
]


def add_partitions(known: Known) -> Any:
    return AddPartitionsToTxnRequest(
        v3_and_below_transactional_id=NAME,
        v3_and_below_producer_id=known.producer_id,
        v3_and_below_producer_epoch=known.epoch,
        v3_and_below_topics=[AddPartitionsToTxnTopic("t", [0])],
    )


def add_batched(known: Known) -> Any:
    topics = [AddPartitionsToTxnTopic("t", [0])]
    one = AddPartitionsToTxnTransaction(NAME, *known, topics=topics)
    return AddPartitionsToTxnRequest([one])


def produce(known: Known) -> Any:
    batch = build_batch(
        [b"k"], [b"v"], [1], producer_id=known.producer_id, producer_epoch=known.epoch,
        base_sequence=0, transactional=True,
    )  # fmt: skip
    topic = TopicProduceData("t", partition_data=[PartitionProduceData(0, batch)])
    return ProduceRequest(NAME, -1, 30_000, [topic])


def offset_commit(_known: Known) -> Any:
    topic = OffsetCommitRequestTopic("t", partitions=[OffsetCommitRequestPartition(0, 5)])
    return OffsetCommitRequest(GROUP, topics=[topic])


def heartbeat_848(_known: Known) -> Any:
    return ConsumerGroupHeartbeatRequest(
        "c", "m", 0, rebalance_timeout_ms=60_000, subscribed_topic_names=["t"], topic_partitions=[]
    )


def offset_fetch(_known: Known) -> Any:
    topics = [OffsetFetchRequestTopics("t", partition_indexes=[0])]
    return OffsetFetchRequest(groups=[OffsetFetchRequestGroup(GROUP, topics=topics)])


def markers(known: Known) -> Any:
    topics = [WritableTxnMarkerTopic("t", [0])]
    return WriteTxnMarkersRequest([WritableTxnMarker(*known, False, topics, 0)])


Case = tuple[int, Callable[[Known], Any], list[Fault]]
APIS: Final[dict[str, Case]] = {
    "TxnOffsetCommit of 3": (3, txn_offsets, [offsets_are_added, *TXN_OFFSETS]),
    "TxnOffsetCommit of 4": (4, txn_offsets, [offsets_are_added, *TXN_OFFSETS]),
    "TxnOffsetCommit": (5, txn_offsets, TXN_OFFSETS),
    "AddPartitionsToTxn": (3, add_partitions, [
        unknown_topic("v3_and_below_topics.*.name"),
        one_more(lambda: AddPartitionsToTxnTopic("no", [0]), "v3_and_below_topics"),
        fault("unknown partition", ("v3_and_below_topics.*.partitions", [7])),
        fault("nothing", ("v3_and_below_topics", [])),
        *of_producer("v3_and_below_"),
    ]),
    "AddPartitionsToTxn by a broker": (5, add_batched, [
        unknown_topic("transactions.*.topics.*.name"),
        one_more(lambda: AddPartitionsToTxnTopic("no", [0]), "transactions.*.topics"),
        fault("unknown partition", ("transactions.*.topics.*.partitions", [7])),
        fault("nothing", ("transactions.*.topics", [])),
        fault("only verified", ("transactions.*.verify_only", True)),
        *of_producer("transactions.*."),
    ]),
    "AddOffsetsToTxn": (
        4, lambda known: AddOffsetsToTxnRequest(NAME, *known, GROUP), [*of_producer(), NO_GROUP]
    ),
    "EndTxn of 4": (
        4, lambda known: EndTxnRequest(NAME, *known, True), [offsets_are_added, *of_producer()]
    ),
    "EndTxn": (
        5, lambda known: EndTxnRequest(NAME, *known, True), [offsets_are_added, *of_producer()]
    ),
    "InitProducerId": (5, lambda known: InitProducerIdRequest(NAME, 60_000, *known), [
        *of_producer(),
        fault("no id", ("transactional_id", None)),
        fault("no time", ("transaction_timeout_ms", 0)),
        fault("too long", ("transaction_timeout_ms", 2**31 - 1)),
        fault("epoch alone", ("producer_id", -1)),
        fault("producer id alone", ("producer_epoch", -1)),
    ]),
    "Produce of 11": (11, produce, [
        unknown_topic("topic_data.*.name"),
        fault("unknown partition", ("topic_data.*.partition_data.*.index", 7)),
        fault("unknown id", ("transactional_id", "nope")),
        fault("empty id", ("transactional_id", "")),
        fault("no id", ("transactional_id", None)),
        fault("acks of 1", ("acks", 1)),
        fault("broken", ("topic_data.*.partition_data.*.records", lambda data: data[:-1] + b"x")),
        fault("no records", ("topic_data.*.partition_data.*.records", b"")),
    ]),
    "OffsetCommit": (9, offset_commit, [
        unknown_topic(),
        one_more(
            lambda: OffsetCommitRequestTopic("no", partitions=[OffsetCommitRequestPartition(0, 5)])
        ),
        fault("unknown partition", ("topics.*.partitions.*.partition_index", 7)),
        fault("large metadata", ("topics.*.partitions.*.committed_metadata", "x" * 5000)),
        fault("unknown member", ("member_id", "nope")),
        fault("generation", ("generation_id_or_member_epoch", 7)),
        fault("instance", ("group_instance_id", "i")),
        NO_GROUP,
        OTHER_GROUP,
    ]),
    "OffsetFetch": (9, offset_fetch, [
        unknown_topic("groups.*.topics.*.name"),
        fault("unknown partition", ("groups.*.topics.*.partition_indexes", [7])),
        fault("unknown member", ("groups.*.member_id", "nope")),
        fault("epoch", ("groups.*.member_epoch", 7)),
        fault("no group id", ("groups.*.group_id", "")),
        fault("other group", ("groups.*.group_id", "other")),
    ]),
    "OffsetDelete": (0, lambda _known: OffsetDeleteRequest(
        GROUP, [OffsetDeleteRequestTopic("t", [OffsetDeleteRequestPartition(9)])]
    ), [
        unknown_topic(),
        NO_GROUP,
        OTHER_GROUP,
        fault("nothing", ("topics", [])),
    ]),
    "JoinGroup": (9, lambda _known: JoinGroupRequest(
        "j", 10_000, 60_000, "", None, "consumer", [JoinGroupRequestProtocol("range", b"")]
    ), [
        fault("short session", ("session_timeout_ms", 1)),
        fault("long session", ("session_timeout_ms", 2**31 - 1)),
        fault("unknown member", ("member_id", "nope")),
        fault("no protocols", ("protocols", [])),
        fault("no type", ("protocol_type", "")),
        NO_GROUP,
    ]),
    "SyncGroup": (
        5, lambda _known: SyncGroupRequest(GROUP, 1, "m", None, "consumer", "range"),
        [*MEMBER, fault("no type", ("protocol_type", None)), NO_GROUP, OTHER_GROUP],
    ),
    "Heartbeat": (4, lambda _known: HeartbeatRequest(GROUP, 1, "m"), [
        *MEMBER, NO_GROUP, OTHER_GROUP,
    ]),
    "LeaveGroup": (5, lambda _known: LeaveGroupRequest(GROUP, members=[MemberIdentity("m")]), [
        fault("instance", ("members.*.group_instance_id", "i")),
        fault("nobody", ("members", [])),
        NO_GROUP,
        OTHER_GROUP,
    ]),
    "ConsumerGroupHeartbeat": (1, heartbeat_848, [
        fault("no member id", ("member_id", "")),
        fault("epoch", ("member_epoch", 7)),
        fault("odd epoch", ("member_epoch", -7)),
        fault("leaves as static", ("member_epoch", -2)),
        fault("no rebalance timeout", ("rebalance_timeout_ms", -1)),
        fault("no subscription", ("subscribed_topic_names", None)),
        fault("bad expression", ("subscribed_topic_regex", "(")),
        fault("unknown assignor", ("server_assignor", "nope")),
        fault("empty instance", ("instance_id", "")),
        fault("empty rack", ("rack_id", "")),
        fault("no partitions", ("topic_partitions", None)),
        NO_GROUP,
    ]),
    "WriteTxnMarkers": (1, markers, [
        unknown_topic("markers.*.topics.*.name"),
        one_more(lambda: WritableTxnMarkerTopic("no", [0]), "markers.*.topics"),
        fault("unknown partition", ("markers.*.topics.*.partition_indexes", [7])),
        fault("old epoch", ("markers.*.producer_epoch", lambda epoch: epoch - 1)),
        fault("old coordinator", ("markers.*.coordinator_epoch", -5)),
        fault("nothing", ("markers.*.topics", [])),
    ]),
    "DescribeTransactions": (0, lambda _known: DescribeTransactionsRequest([NAME]), [
        fault("one unknown", ("transactional_ids", lambda names: [*names, "nope"])),
        fault("one empty", ("transactional_ids", lambda names: [*names, ""])),
    ]),
    "DescribeProducers": (0, lambda _known: DescribeProducersRequest([TopicRequest("t", [0])]), [
        unknown_topic(),
        fault("unknown partition", ("topics.*.partition_indexes", [7])),
        fault("odd name", ("topics.*.name", "a/b")),
    ]),
    "DeleteRecords": (2, lambda _known: DeleteRecordsRequest(
        [DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 0)])], 1000
    ), [
        unknown_topic(),
        fault("unknown partition", ("topics.*.partitions.*.partition_index", 7)),
        fault("far offset", ("topics.*.partitions.*.offset", 1 << 40)),
        fault("odd offset", ("topics.*.partitions.*.offset", -7)),
    ]),
    "ListOffsets": (7, lambda _known: ListOffsetsRequest(
        -1, 0, [ListOffsetsTopic("t", [ListOffsetsPartition(0, -1, -1)])]
    ), [
        unknown_topic(),
        fault("unknown partition", ("topics.*.partitions.*.partition_index", 7)),
        fault("epoch", ("topics.*.partitions.*.current_leader_epoch", 7)),
        fault("odd time", ("topics.*.partitions.*.timestamp", -77)),
        fault("odd isolation", ("isolation_level", 7)),
        fault("twice", ("topics.*.partitions", lambda each: [*each, *each])),
    ]),
    "CreatePartitions": (3, lambda _known: CreatePartitionsRequest(
        [CreatePartitionsTopic("t", 3)], 1000, True
    ), [
        unknown_topic(),
        fault("fewer", ("topics.*.count", 0)),
        fault("as many", ("topics.*.count", 1)),
        fault("odd assignment", ("topics.*.assignments", [])),
        fault("twice", ("topics", lambda each: [*each, *each])),
    ]),
    "DeleteGroups": (2, lambda _known: DeleteGroupsRequest(["none"]), [
        fault("empty", ("groups_names", [""])),
        fault("twice", ("groups_names", lambda names: [*names, *names])),
    ]),
}  # fmt: skip
