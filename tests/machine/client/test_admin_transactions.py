"""Transactions by scripted answers: listed, described, fenced; what hangs is found and ended."""

from __future__ import annotations

import pytest
from fencepost_broker.coordinator.transaction.explanations import is_kept_open
from fencepost_client import (
    FatalError,
    HangingTransaction,
    KafkaError,
    ProducerIdentity,
    TopicPartition,
    TransactionKeptOpenError,
    TransactionMarker,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from fencepost_client.admin.hanging import abort_transaction, find_hanging, keeps_open
from fencepost_client.admin.transactions import (
    TransactionDescription,
    TransactionFilters,
    describe_producers,
    describe_transactions,
    fence_producers,
    list_transactions,
)
from fencepost_client.requests.procedures import Ask, NodeId
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_producers import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from fencepost_protocol.generated.describe_transactions import (
    DescribeTransactionsResponse,
    ExplainedClient,
    Explanation,
    TopicData,
    TransactionState,
    WaitingMarker,
    WaitingRequest,
)
from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.init_producer_id import InitProducerIdResponse
from fencepost_protocol.generated.list_transactions import ListTransactionsResponse
from fencepost_protocol.generated.list_transactions import TransactionState as Listed
from fencepost_protocol.generated.write_txn_markers import (
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersResponse,
)

from tests.machine.client.admin_answers import ONE, ZERO, backoff, brokers, coordinators, leaders
from tests.machine.client.scripts import Reply, Script

PRODUCER, EPOCH = 7, 3
NOW_MS = 1_000_000


def listed(*names: str) -> ListTransactionsResponse:
    states = [Listed(name, PRODUCER, "Ongoing") for name in names]
    return ListTransactionsResponse(transaction_states=states)


def test_transactions_of_all_coordinators_are_listed() -> None:
    filters = TransactionFilters(["Ongoing"], [7], 5, "x.*")
    script = Script([brokers(1, 2), brokers(1, 2), listed("b", "c"), listed("a", "c")])
    found = script.play(list_transactions(filters, backoff()))
    assert [(each.transactional_id, each.coordinator_id) for each in found] == [
        ("a", 2),
        ("b", 1),
        ("c", 2),
    ]
    request = script.asked[-1]
    assert (request.duration_filter, request.transactional_id_pattern) == (5, "x.*")
    for version, what in ((0, "duration"), (1, "pattern")):
        with pytest.raises(UnsupportedVersionError, match=what):
            # FindCoordinator and Metadata are old, too, which changes nothing here.
            Script([brokers(1), brokers(1)], version_max=version).play(
                list_transactions(filters, backoff())
            )


def test_a_state_that_does_not_exist_finds_nothing_and_says_so() -> None:
    answer = ListTransactionsResponse(unknown_state_filters=["Ongoin"])
    with pytest.raises(FatalError, match="not know the state Ongoin"):
        Script([brokers(1), brokers(1), answer]).play(
            list_transactions(TransactionFilters(["Ongoin"]), backoff())
        )


def described(state: str = "Ongoing", state_time_ms: int = -1) -> DescribeTransactionsResponse:
    told = TransactionState(0, "x", state, 60_000, 1000, PRODUCER, EPOCH, [TopicData("t", [1, 0])])
    return DescribeTransactionsResponse(transaction_states=[told], state_time_ms=state_time_ms)


def test_a_transaction_is_described_by_its_coordinator() -> None:
    script = Script([coordinators({"x": 2}), described()])
    found = script.play(describe_transactions(["x"], NOW_MS, backoff()))["x"]
    assert (found.coordinator_id, found.partitions) == (2, (ZERO, ONE))
    assert (found.started_ms, found.duration_ms) == (1000, NOW_MS - 1000)
    assert found.explanation is None
    idle = described()
    idle.transaction_states[0].transaction_start_time_ms = -1
    found = Script([coordinators({"x": 2}), idle]).play(
        describe_transactions(["x"], NOW_MS, backoff())
    )["x"]
    assert (found.started_ms, found.duration_ms) == (None, None)


def test_what_only_a_fencepost_tells() -> None:
    answer = described(state_time_ms=5000)
    markers = [WaitingMarker("t", 0, 1, 56, True), WaitingMarker("t", 1)]
    client, gone = ExplainedClient("c", "h:7", True), ExplainedClient(None, "h:8", False)
    requests = [WaitingRequest(ApiKey.PRODUCE, client), WaitingRequest()]
    explanation = Explanation(4000, -1, 9000, 2, markers, requests, gone, 7, 3)
    answer.transaction_states[0].explanation = explanation
    found = Script([coordinators({"x": 2}), answer]).play(
        describe_transactions(["x"], NOW_MS, backoff())
    )["x"]
    assert (found.now_ms, found.duration_ms) == (5000, 4000)
    told = found.explanation
    assert told is not None
    assert (told.updated_ms, told.times_out_ms, told.expires_ms, told.repeats) == (
        4000,
        None,
        9000,
        2,
    )
    assert told.markers == (
        (ZERO, 1, "KAFKA_STORAGE_ERROR", True),
        (ONE, None, None, False),
    )
    produce, unknown = told.requests
    assert produce == ("Produce", ("c", "h:7", True))
    assert unknown == ("a request", None)
    assert told.client == (None, "h:8", False)
    assert told.kept_by == (7, 3)


def producers(*parts: int, code: int = 0, offset: int = 10) -> DescribeProducersResponse:
    state = ProducerState(PRODUCER, EPOCH, 0, 1000, -1, offset)
    told = [PartitionResponse(number, code, active_producers=[state]) for number in parts]
    return DescribeProducersResponse(topics=[TopicResponse("t", told)])


def test_producers_are_described_by_leaders_or_by_one_replica() -> None:
    script = Script([leaders(1, 2), producers(0), producers(1)])
    found = script.play(describe_producers([ZERO, ONE], None, backoff()))
    (producer,) = found[ONE]
    assert (producer.coordinator_epoch, producer.last_sequence) == (None, 0)
    assert (producer.last_timestamp_ms, producer.start_offset) == (1000, 10)
    script = Script([brokers(1, 2), producers(0)])
    script.play(describe_producers([ZERO], 2, backoff()))
    assert [step.to for step in script.steps if isinstance(step, Ask)][-1] == NodeId(2)
    with pytest.raises(KafkaError, match="NOT_LEADER_OR_FOLLOWER"):
        Script([brokers(1, 2), producers(0, code=6)]).play(describe_producers([ZERO], 2, backoff()))


def test_producers_are_fenced_one_by_one() -> None:
    script = Script(
        [
            coordinators({"x": 1, "y": 1}),
            InitProducerIdResponse(error_code=ErrorCode.CONCURRENT_TRANSACTIONS),
            InitProducerIdResponse(producer_id=8, producer_epoch=1),
            coordinators({"x": 1}),
            InitProducerIdResponse(producer_id=7, producer_epoch=4),
        ]
    )
    found = script.play(fence_producers(["x", "y"], 5, backoff()))
    assert found == {"x": ProducerIdentity(7, 4), "y": ProducerIdentity(8, 1)}
    fences = [request for request in script.asked if hasattr(request, "transactional_id")]
    assert [request.transactional_id for request in fences] == ["x", "y", "x"]
    assert fences[0].transaction_timeout_ms == 5


# -- what hangs -----------------------------------------------------------------------------------


def owner(state: str, epoch: int, *partitions: TopicPartition) -> TransactionDescription:
    return TransactionDescription(1, "x", PRODUCER, epoch, state, 60_000, 0, 0, partitions)


@pytest.mark.parametrize(
    ("state", "epoch", "partition", "kept"),
    [
        ("Ongoing", EPOCH, ZERO, True),
        ("Ongoing", EPOCH + 1, ZERO, False),
        ("Ongoing", EPOCH, ONE, False),
        ("PrepareCommit", EPOCH, ZERO, True),
        ("PrepareAbort", EPOCH + 1, ZERO, True),
        ("PrepareAbort", EPOCH - 1, ZERO, False),
        ("CompleteAbort", EPOCH, ZERO, False),
        ("Empty", EPOCH, ZERO, False),
    ],
)
def test_whether_a_coordinator_will_end_it(
    state: str, epoch: int, partition: TopicPartition, kept: bool
) -> None:
    assert keeps_open(owner(state, epoch, ZERO), partition, EPOCH) is kept
    assert not keeps_open(None, partition, EPOCH)
    # The broker, which cannot ask the client, has the same rule.
    assert is_kept_open(state, epoch, [ZERO], partition, EPOCH) is kept


CLOCK = DescribeTransactionsResponse(state_time_ms=NOW_MS)
OWNER: list[Reply] = [brokers(1), brokers(1), listed("x"), coordinators({"x": 1})]


def hanging_of(*replies: Reply, older_than_ms: int = 900_000) -> list[HangingTransaction]:
    script = Script(replies)
    return script.play(find_hanging(None, None, older_than_ms, 0, backoff()))


def test_what_its_coordinator_has_ended_hangs() -> None:
    (found,) = hanging_of(
        leaders(1, -1), CLOCK, leaders(1), producers(0), *OWNER, described("CompleteAbort"),
        leaders(1), producers(0),
    )  # fmt: skip
    assert (found.partition, found.producer_id, found.start_offset) == (ZERO, PRODUCER, 10)
    assert (found.duration_ms, found.transactional_id) == (NOW_MS - 1000, "x")
    assert found.marker == TransactionMarker(ZERO, PRODUCER, EPOCH, 0)


def test_what_nobody_owns_hangs() -> None:
    gone = DescribeTransactionsResponse(
        transaction_states=[TransactionState(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, "x")]
    )
    (found,) = hanging_of(
        leaders(1), CLOCK, leaders(1), producers(0), *OWNER, gone, leaders(1), producers(0)
    )
    assert found.transactional_id is None


def test_what_is_young_or_kept_open_or_over_does_not_hang() -> None:
    assert hanging_of(leaders(1), CLOCK, leaders(1), producers(0), older_than_ms=NOW_MS) == []
    assert hanging_of(leaders(1), CLOCK, leaders(1), producers(0), *OWNER, described()) == []
    over: list[Reply] = [leaders(1), producers(0, offset=-1)]
    assert hanging_of(leaders(1), CLOCK, *over) == []
    begun: list[Reply] = [leaders(1), CLOCK, leaders(1), producers(0), *OWNER, described("Empty")]
    assert hanging_of(*begun, *over) == [], "its marker arrived between the questions"
    later: list[Reply] = [leaders(1), producers(0, offset=20)]
    assert hanging_of(*begun, *later) == [], "the next one began between the questions"


def test_partitions_that_are_named_have_to_be_there() -> None:
    with pytest.raises(UnknownTopicOrPartitionError):
        Script([CLOCK, *[leaders(1)] * 5]).play(
            find_hanging([ONE], None, 900_000, NOW_MS, backoff())
        )
    gone: list[Reply] = [leaders(1, 1), CLOCK, leaders(1, 1), producers(0), *[leaders(1)] * 4]
    hanging_of(*gone, *OWNER, described())  # what is deleted meanwhile is left out


def test_replicas_of_one_broker_are_looked_at() -> None:
    metadata = leaders(1, 2)
    metadata.topics[0].partitions[1].replica_nodes = [2, 3]
    script = Script(
        [metadata, DescribeTransactionsResponse(), brokers(1, 2, 3), producers(1, offset=-1)]
    )
    assert script.play(find_hanging(None, 3, 0, NOW_MS, backoff())) == []
    assert script.asked[-1].topics[0].partition_indexes == [1]


def written() -> WriteTxnMarkersResponse:
    topic = WritableTxnMarkerTopicResult("t", [WritableTxnMarkerPartitionResult(0)])
    return WriteTxnMarkersResponse([WritableTxnMarkerResult(PRODUCER, [topic])])


def test_a_marker_is_written_where_no_coordinator_will_write_one() -> None:
    marker = TransactionMarker(ZERO, PRODUCER, EPOCH, 5)
    script = Script([*OWNER, described("CompleteAbort"), leaders(1), written()])
    script.play(abort_transaction(marker, 0, backoff(), force=False))
    (sent,) = script.asked[-1].markers
    assert (sent.producer_id, sent.producer_epoch, sent.coordinator_epoch) == (PRODUCER, EPOCH, 5)
    assert (sent.transaction_result, sent.transaction_version) == (False, 0)
    with pytest.raises(TransactionKeptOpenError, match="'x' is Ongoing"):
        Script([*OWNER, described()]).play(abort_transaction(marker, 0, backoff(), force=False))
    Script([leaders(1), written()]).play(abort_transaction(marker, 0, backoff(), force=True))
