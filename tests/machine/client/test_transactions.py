"""The transaction manager, by scripted answers of its coordinators."""

from __future__ import annotations

import pytest
from fencepost_client import (
    AbortableTransactionError,
    CommitFailedError,
    FatalError,
    FencedInstanceIdError,
    GroupMetadata,
    IllegalStateError,
    NetworkError,
    ProducerFencedError,
    UnsupportedVersionError,
)
from fencepost_client.errors import KafkaError, error_of
from fencepost_client.producer.batch import Identity
from fencepost_client.producer.stages import Stage
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.requests.procedures import Moved, Pause
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
)
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
)

from tests.machine.client.harness.transaction_manager import (
    CLASSIC,
    IMPLICIT,
    MEMBER,
    OFFSETS,
    added,
    committed,
    described,
    ended,
    initialized,
    manager,
)
from tests.machine.client.scripts import Script


def test_initialising_waits_for_the_coordinator_and_for_the_transaction_before() -> None:
    made = TransactionManager("txn", 60_000, lambda: 0.5)
    script = Script(
        [
            NetworkError(),
            initialized(ErrorCode.NOT_COORDINATOR),
            initialized(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
            initialized(ErrorCode.CONCURRENT_TRANSACTIONS),
            initialized(epoch=3),
        ]
    )
    assert script.play(made.initialize()) == Identity(9, 3)
    assert made.stage is Stage.READY
    assert script.count(Moved) == 2
    assert script.count(Pause) == 4
    assert script.asked[-1] == InitProducerIdRequest("txn", 60_000, -1, -1)


def test_a_refused_id_is_fatal() -> None:
    made = TransactionManager("txn", 60_000, lambda: 0.5)
    code = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    with pytest.raises(FatalError):
        Script([initialized(code)]).play(made.initialize())
    assert made.stage is Stage.FATAL
    with pytest.raises(FatalError):
        made.begin(IMPLICIT)


def test_version_2_ends_with_the_next_epoch_and_nothing_else() -> None:
    made = manager()
    script = Script([ended(0, 9, 1)])
    assert script.play(made.end(commit=True)) == Identity(9, 1)
    assert script.asked == [EndTxnRequest("txn", 9, 0, committed=True)]
    assert script.versions == [5]
    made.begin(IMPLICIT)
    assert made.may_send("t", 0)


def test_classic_keeps_its_epoch_and_speaks_the_classic_versions() -> None:
    made = manager(CLASSIC)
    script = Script([ended()])
    assert script.play(made.end(commit=True)) == Identity(9, 0)
    assert script.versions == [4]
    made.begin(CLASSIC)
    assert not made.may_send("t", 0), "each transaction adds its partitions itself"


def test_a_transaction_without_anything_in_it_is_not_ended_at_the_coordinator() -> None:
    made = TransactionManager("txn", 60_000, lambda: 0.5)
    Script([initialized()]).play(made.initialize())
    made.begin(IMPLICIT)
    assert Script([]).play(made.end(commit=True)) == Identity(9, 0)
    assert made.stage is Stage.READY


def test_adding_waits_while_the_transaction_before_is_completed() -> None:
    made = TransactionManager("txn", 60_000, lambda: 0.5)
    Script([initialized()]).play(made.initialize())
    made.begin(CLASSIC)
    made.may_send("t", 0)
    made.may_send("t", 1)
    busy = added(ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.CONCURRENT_TRANSACTIONS)
    script = Script([busy, added(0, 0)])
    script.play(made.add_partitions())
    assert script.versions == [3, 3]
    assert not made.wanted
    assert made.may_send("t", 1)


def test_one_partition_that_cannot_be_added_decides() -> None:
    made = TransactionManager("txn", 60_000, lambda: 0.5)
    Script([initialized()]).play(made.initialize())
    made.begin(CLASSIC)
    made.may_send("t", 0)
    not_attempted = ErrorCode.OPERATION_NOT_ATTEMPTED
    with pytest.raises(KafkaError) as caught:
        Script([added(not_attempted, ErrorCode.TOPIC_AUTHORIZATION_FAILED)]).play(
            made.add_partitions()
        )
    assert caught.value.code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert made.stage is Stage.ABORTABLE_ERROR


def test_offsets_name_the_member() -> None:
    made = manager()
    script = Script([committed()])
    script.play(made.send_offsets(OFFSETS, MEMBER))
    (request,) = script.asked
    assert isinstance(request, TxnOffsetCommitRequest)
    assert (request.generation_id, request.member_id, request.group_instance_id) == (
        4,
        "member-1",
        "instance-1",
    )
    assert request.topics[0].partitions[0].committed_offset == 5
    assert script.versions == [5]


def test_classic_offsets_add_the_group_once() -> None:
    made = manager(CLASSIC)
    first = Script([AddOffsetsToTxnResponse(), committed()])
    first.play(made.send_offsets(OFFSETS, MEMBER))
    assert isinstance(first.asked[0], AddOffsetsToTxnRequest)
    assert first.versions[1] == 4
    second = Script([committed()])
    second.play(made.send_offsets(OFFSETS, MEMBER))


def test_group_metadata_needs_a_broker_that_knows_of_it() -> None:
    with pytest.raises(UnsupportedVersionError, match=r"2\.5"):
        Script([committed()], version_max=2).play(manager().send_offsets(OFFSETS, MEMBER))


def test_a_coordinator_that_is_older_than_the_transaction_version_has_the_group_added() -> None:
    made = manager()
    alone = Script([AddOffsetsToTxnResponse(), committed()], version_max=2)
    alone.play(made.send_offsets(OFFSETS, GroupMetadata("g")))
    assert isinstance(alone.asked[0], AddOffsetsToTxnRequest)
    assert alone.versions == [2, 2]
    again = Script([committed()], version_max=2)
    again.play(made.send_offsets(OFFSETS, GroupMetadata("g")))


@pytest.mark.parametrize(
    ("code", "error", "stage"),
    [
        (ErrorCode.ILLEGAL_GENERATION, CommitFailedError, Stage.ABORTABLE_ERROR),
        (ErrorCode.UNKNOWN_MEMBER_ID, CommitFailedError, Stage.ABORTABLE_ERROR),
        (ErrorCode.STALE_MEMBER_EPOCH, CommitFailedError, Stage.ABORTABLE_ERROR),
        (ErrorCode.FENCED_INSTANCE_ID, FencedInstanceIdError, Stage.ABORTABLE_ERROR),
        (ErrorCode.GROUP_AUTHORIZATION_FAILED, FatalError, Stage.ABORTABLE_ERROR),
        (ErrorCode.TRANSACTION_ABORTABLE, AbortableTransactionError, Stage.ABORTABLE_ERROR),
        (ErrorCode.INVALID_PRODUCER_EPOCH, ProducerFencedError, Stage.FATAL),
        (ErrorCode.PRODUCER_FENCED, ProducerFencedError, Stage.FATAL),
        (ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, FatalError, Stage.FATAL),
    ],
)
def test_refused_offsets(code: int, error: type[KafkaError], stage: Stage) -> None:
    made = manager()
    looked_up = [described("Ongoing", 1)] if error is ProducerFencedError else []
    with pytest.raises(error) as caught:
        Script([committed(code), *looked_up]).play(made.send_offsets(OFFSETS, MEMBER))
    assert caught.value.code == code
    assert made.stage is stage
    if stage is Stage.ABORTABLE_ERROR:
        with pytest.raises(AbortableTransactionError):
            made.check_in_transaction()
        with pytest.raises(AbortableTransactionError):
            Script([]).play(made.end(commit=True))
        assert Script([ended(0, 9, 1)]).play(made.end(commit=False)) == Identity(9, 1)
        made.begin(IMPLICIT)


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.CONCURRENT_TRANSACTIONS,
    ],
)
def test_what_passes_is_waited_for(code: int) -> None:
    made = manager()
    Script([committed(code), committed()]).play(made.send_offsets(OFFSETS, MEMBER))
    Script([ended(code), NetworkError(), ended(0, 9, 1)]).play(made.end(commit=True))
    assert made.identity == Identity(9, 1)


@pytest.mark.parametrize("code", [ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.PRODUCER_FENCED])
def test_a_commit_of_a_fenced_producer_is_the_end_of_it(code: int) -> None:
    made = manager()
    with pytest.raises(ProducerFencedError):
        Script([ended(code), described("Empty", 2)]).play(made.end(commit=True))
    with pytest.raises(ProducerFencedError):
        made.check_in_transaction()


def test_a_commit_that_was_not_answered_can_only_be_committed_again() -> None:
    made = manager()
    unanswered = made.end(commit=True)
    next(unanswered)
    unanswered.close()  # what a time-out or a cancellation does
    with pytest.raises(IllegalStateError):
        Script([]).play(made.end(commit=False))
    Script([ended(0, 9, 1)]).play(made.end(commit=True))
    assert made.stage is Stage.READY


def test_what_was_not_added_is_not_added_behind_the_abort() -> None:
    made = manager(CLASSIC)
    assert not made.may_send("t", 7)
    Script([ended()]).play(made.end(commit=False))
    assert not made.wanted


def test_a_failed_record_leaves_only_the_abort() -> None:
    made = manager()
    made.batch_failed(error_of(ErrorCode.MESSAGE_TOO_LARGE))
    with pytest.raises(AbortableTransactionError, match="MESSAGE_TOO_LARGE"):
        made.check_in_transaction()
    Script([ended(0, 9, 1)]).play(made.end(commit=False))


@pytest.mark.parametrize(
    ("code", "stage"),
    [
        (ErrorCode.INVALID_RECORD, Stage.ABORTABLE_ERROR),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, Stage.ABORTABLE_ERROR),
        (ErrorCode.INVALID_PRODUCER_ID_MAPPING, Stage.FATAL),
        (ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, Stage.FATAL),
    ],
)
def test_what_a_leader_refuses_ends_the_transaction_and_rarely_the_producer(
    code: int, stage: Stage
) -> None:
    made = manager()
    made.batch_failed(error_of(code))
    assert made.stage is stage


def test_broken_sequences_of_a_classic_transaction_get_a_new_epoch() -> None:
    made = manager(CLASSIC)
    made.batch_failed(error_of(ErrorCode.MESSAGE_TOO_LARGE))
    script = Script([ended(), initialized(epoch=1)])
    assert script.play(made.end(commit=False)) == Identity(9, 1)
    assert script.asked[1] == InitProducerIdRequest("txn", 60_000, 9, 0)


def test_an_epoch_that_a_leader_refuses_is_settled_by_the_abort() -> None:
    made = manager()
    made.batch_failed(error_of(ErrorCode.INVALID_PRODUCER_EPOCH))
    assert made.stage is Stage.ABORTABLE_ERROR
    with pytest.raises(ProducerFencedError):
        Script([ended(ErrorCode.PRODUCER_FENCED), described("Ongoing", 2)]).play(
            made.end(commit=False)
        )


def test_calls_in_the_wrong_order_change_nothing() -> None:
    made = TransactionManager("txn", 60_000, lambda: 0.5)
    with pytest.raises(IllegalStateError, match="not initialised"):
        made.begin(IMPLICIT)
    Script([initialized()]).play(made.initialize())
    with pytest.raises(IllegalStateError, match="not in a transaction"):
        Script([]).play(made.end(commit=True))
    with pytest.raises(IllegalStateError, match="begin a transaction"):
        made.check_in_transaction()
    made.begin(IMPLICIT)
    with pytest.raises(IllegalStateError, match="in a transaction"):
        made.begin(IMPLICIT)
    assert made.stage is Stage.IN_TRANSACTION
