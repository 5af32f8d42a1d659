"""Pre-registration (KIP-609): what the manager asks, and what it refuses by itself."""

from __future__ import annotations

import pytest
from fencepost_client import (
    AuthorizationError,
    FencedError,
    GroupMetadata,
    InvalidGroupIdError,
    NetworkError,
    OffsetAndMetadata,
    ProducerFencedError,
    TopicPartition,
    UnknownTopicOrPartitionError,
    UnsupportedVersionError,
)
from fencepost_client.errors import KafkaError
from fencepost_client.producer.accumulator import Accumulator
from fencepost_client.producer.batch import Identity
from fencepost_client.producer.preregistration import Registration, offsets_partition
from fencepost_client.producer.stages import Stage
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.requests.procedures import Ask
from fencepost_protocol.errors import RETRIABLE, ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from fencepost_protocol.generated.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnTopic

from tests.machine.client.harness.transaction_manager import (
    CLASSIC,
    IMPLICIT,
    added,
    committed,
    described,
    ended,
    initialized,
)
from tests.machine.client.scripts import Script

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
OFFSETS = {TopicPartition("in", 0): OffsetAndMetadata(5)}
COUNTS = {"__consumer_offsets": 50}


def begun(registration: Registration, version: int = IMPLICIT) -> TransactionManager:
    made = TransactionManager("txn", 60_000, lambda: 0.5)
    Script([initialized()]).play(made.initialize())
    made.begin(version, registration)
    return made


@pytest.mark.parametrize("version", [CLASSIC, IMPLICIT])
def test_all_is_registered_by_one_request_of_version_3(version: int) -> None:
    made = begun(Registration([T0, T1], "g"), version)
    assert not made.may_send("t", 0), "not before it is registered"
    script = Script([added(0, 0)])
    script.play(made.add_partitions())
    assert script.asked == [
        AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="txn",
            v3_and_below_producer_id=9,
            v3_and_below_producer_epoch=0,
            v3_and_below_topics=[AddPartitionsToTxnTopic("t", [0, 1])],
            group_id="g",
        )
    ]
    assert script.versions == [3]
    assert not made.has_to_add
    assert made.may_send("t", 1)
    # Nor is the group added again.
    offsets = Script([committed()])
    offsets.play(made.send_offsets(OFFSETS, GroupMetadata("g")))


def test_a_group_alone_is_registered_by_the_request_that_can_refuse_it() -> None:
    made = begun(Registration(None, "g"))
    script = Script([AddOffsetsToTxnResponse()])
    script.play(made.add_partitions())
    assert script.asked == [AddOffsetsToTxnRequest("txn", 9, 0, "g")]
    assert made.may_send("anything", 7), "no partitions were named, so none is refused"

    refused = begun(Registration(None, "g"))
    code = ErrorCode.GROUP_AUTHORIZATION_FAILED
    with pytest.raises(AuthorizationError):
        Script([AddOffsetsToTxnResponse(0, code)]).play(refused.add_partitions())
    assert refused.stage is Stage.ABORTABLE_ERROR


def test_a_commit_names_what_was_sent_and_no_more() -> None:
    made = begun(Registration([T0, T1], "g"))
    Script([added(0, 0)]).play(made.add_partitions())
    made.sending("t", 1)
    script = Script([ended(0, 9, 1)])
    assert script.play(made.end(commit=True)) == Identity(9, 1)
    assert script.asked == [EndTxnRequest("txn", 9, 0, True, [EndTxnTopic("t", [1])])]
    assert script.versions == [5]


def test_a_commit_names_the_groups_offsets_partition() -> None:
    made = begun(Registration([T0], "billing"), CLASSIC)
    Script([added(0)]).play(made.add_partitions())
    Script([committed()]).play(made.send_offsets(OFFSETS, GroupMetadata("billing")))
    script = Script([ended()], counts=COUNTS)
    script.play(made.end(commit=True))
    (request,) = script.asked
    assert request.topics == [EndTxnTopic("__consumer_offsets", [9])]
    assert script.versions == [4]


def test_offsets_of_which_the_answer_was_lost_are_named_too() -> None:
    made = begun(Registration([T0], "billing"))
    Script([added(0)]).play(made.add_partitions())
    sending = made.send_offsets(OFFSETS, GroupMetadata("billing"))
    ask = next(sending)
    assert isinstance(ask, Ask)
    ask.build(5)
    sending.close()
    script = Script([ended(0, 9, 1)], counts=COUNTS)
    script.play(made.end(commit=True))
    assert script.asked[0].topics == [EndTxnTopic("__consumer_offsets", [9])]


def test_who_does_not_know_the_offsets_partition_names_nothing() -> None:
    made = begun(Registration([T0], "billing"))
    Script([added(0)]).play(made.add_partitions())
    Script([committed()]).play(made.send_offsets(OFFSETS, GroupMetadata("billing")))
    script = Script([ended(0, 9, 1)], counts={})
    script.play(made.end(commit=True))
    assert script.asked[0].topics is None


def test_nothing_written_is_not_the_same_as_all_of_it() -> None:
    made = begun(Registration([T0], None))
    Script([added(0)]).play(made.add_partitions())
    script = Script([ended(0, 9, 1)])
    script.play(made.end(commit=True))
    assert script.asked[0].topics == []


def test_an_abort_and_an_ordinary_commit_name_nothing() -> None:
    made = begun(Registration([T0], None))
    Script([added(0)]).play(made.add_partitions())
    made.sending("t", 0)
    script = Script([ended(0, 9, 1)])
    script.play(made.end(commit=False))
    assert script.asked[0].topics is None
    made.begin(IMPLICIT)
    assert made.may_send("t", 5)
    made.sending("t", 5)
    ordinary = Script([ended(0, 9, 2)])
    ordinary.play(made.end(commit=True))
    assert ordinary.asked[0].topics is None


def test_what_is_outside_is_refused_and_the_transaction_goes_on() -> None:
    registration = Registration([T0], "g")
    with pytest.raises(UnknownTopicOrPartitionError, match="t-1"):
        registration.check_partition("t", 1)
    with pytest.raises(UnknownTopicOrPartitionError, match="'other'"):
        registration.check_topic("other")
    made = begun(registration)
    Script([added(0)]).play(made.add_partitions())
    with pytest.raises(InvalidGroupIdError, match="'g'"):
        Script([]).play(made.send_offsets(OFFSETS, GroupMetadata("other")))
    assert made.stage is Stage.IN_TRANSACTION
    with pytest.raises(InvalidGroupIdError):
        Registration(None, "")


@pytest.mark.parametrize(
    ("code", "error", "stage"),
    [
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, AuthorizationError, Stage.ABORTABLE_ERROR),
        (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, AuthorizationError, Stage.FATAL),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, KafkaError, Stage.FATAL),
        (ErrorCode.UNSUPPORTED_VERSION, UnsupportedVersionError, Stage.FATAL),
    ],
)
def test_a_refused_registration(code: int, error: type[KafkaError], stage: Stage) -> None:
    made = begun(Registration([T0, T1], None))
    with pytest.raises(error):
        Script([added(0, code)]).play(made.add_partitions())
    assert made.stage is stage


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ErrorCode.INVALID_PRODUCER_EPOCH, ProducerFencedError),
        (ErrorCode.PRODUCER_FENCED, ProducerFencedError),
        (ErrorCode.INVALID_TXN_STATE, FencedError),
    ],
)
def test_a_registration_of_somebody_else_now(code: int, error: type[KafkaError]) -> None:
    made = begun(Registration([T0, T1], None))
    with pytest.raises(error):
        Script([added(0, code), described("Ongoing", 1)]).play(made.add_partitions())
    assert made.stage is Stage.FATAL


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ],
)
def test_a_registration_that_has_to_wait(code: int) -> None:
    assert code in RETRIABLE
    made = begun(Registration([T0, T1], "g"))
    script = Script([NetworkError(), added(code, ErrorCode.OPERATION_NOT_ATTEMPTED), added(0, 0)])
    script.play(made.add_partitions())
    assert made.may_send("t", 1)
    assert script.asked[0] == script.asked[-1]


def test_a_registration_without_an_answer_is_aborted_at_the_coordinator() -> None:
    """It may have begun there, and would hold the next transaction up until its time is over."""
    made = begun(Registration([T0], None), CLASSIC)
    adding = made.add_partitions()
    next(adding)
    adding.close()
    script = Script([ended()])
    script.play(made.end(commit=False))
    assert script.asked == [EndTxnRequest("txn", 9, 0, False)]
    assert not made.has_to_add

    made.begin(CLASSIC, Registration([T0], None))
    adding = made.add_partitions()
    next(adding)
    adding.close()
    Script([ended(ErrorCode.INVALID_TXN_STATE)]).play(made.end(commit=False))
    assert made.stage is Stage.READY, "it never got there"


def test_the_next_transaction_is_not_restricted_by_the_last() -> None:
    made = begun(Registration([T0], "g"))
    Script([added(0)]).play(made.add_partitions())
    Script([ended(0, 9, 1)]).play(made.end(commit=True))
    made.begin(IMPLICIT)
    assert not made.has_to_add
    assert made.may_send("t", 1)
    Script([committed()]).play(made.send_offsets(OFFSETS, GroupMetadata("other")))


def test_records_without_a_key_stay_among_what_is_registered() -> None:
    chance = iter([0.0, 0.99, 0.5, 0.1, 0.7] * 20)
    accumulator = Accumulator(lambda: next(chance))
    accumulator.set_partitions("t", 6)
    allowed = frozenset({TopicPartition("t", 2), TopicPartition("t", 4)})
    accumulator.allow(allowed)
    used = {accumulator.queue_for("t", None, None).partition}
    used |= {accumulator.next_sticky("t").partition for _ in range(20)}
    assert used == {2, 4}
    accumulator.allow(frozenset({T1}))
    assert {accumulator.next_sticky("t").partition for _ in range(5)} == {1}
    accumulator.allow(None)
    assert len({accumulator.next_sticky("t").partition for _ in range(20)}) > 2


@pytest.mark.parametrize(
    ("group_id", "partition"),
    # By Java: Utils.abs(group.hashCode()) % 50; the last one's hash is Integer.MIN_VALUE.
    [("", 0), ("billing", 9), ("ä", 28), ("\N{GRINNING FACE}", 49), ("polygenelubricants", 0)],
)
def test_a_groups_offsets_partition(group_id: str, partition: int) -> None:
    assert offsets_partition(group_id, 50) == partition
