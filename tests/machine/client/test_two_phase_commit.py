"""A producer of a two-phase commit (KIP-939), by scripted answers of its coordinator."""

from __future__ import annotations

import pytest
from fencepost_client import (
    IllegalStateError,
    NetworkError,
    PreparedTxnState,
    UnsupportedVersionError,
)
from fencepost_client.errors import KafkaError
from fencepost_client.producer.batch import Identity
from fencepost_client.producer.stages import Stage
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.init_producer_id import (
    InitProducerIdRequest,
    InitProducerIdResponse,
)

from tests.machine.client.harness.transaction_manager import (
    IMPLICIT,
    described,
    ended,
    initialized,
)
from tests.machine.client.scripts import Script

KEPT = InitProducerIdResponse(0, 0, 9, 4, 9, 3)


def unstarted(*, keeps: bool = False) -> TransactionManager:
    return TransactionManager("txn", None, lambda: 0.5, can_prepare=True, keeps_prepared=keeps)


def started(answer: InitProducerIdResponse, *, keeps: bool = False) -> TransactionManager:
    made = unstarted(keeps=keeps)
    Script([answer]).play(made.initialize())
    made.version = IMPLICIT
    return made


def test_states_are_text_as_javas_are() -> None:
    state = PreparedTxnState(9, 3)
    assert str(state) == "9:3"
    assert PreparedTxnState.parse("9:3") == state
    assert PreparedTxnState.parse("") == PreparedTxnState()
    assert str(PreparedTxnState()) == ""
    assert state.has_transaction
    assert not PreparedTxnState().has_transaction


@pytest.mark.parametrize("text", ["9", "9:3:1", "a:b", "-1:0", "9:-1", ":"])
def test_other_texts_are_not_states(text: str) -> None:
    with pytest.raises(ValueError, match=f"{text}' "):
        PreparedTxnState.parse(text)


def test_the_broker_is_told_that_the_transactions_have_no_timeout() -> None:
    script = Script([initialized()])
    script.play(unstarted().initialize())
    assert script.asked == [InitProducerIdRequest("txn", 60_000, -1, -1, enable2_pc=True)]
    assert script.versions == [6]


@pytest.mark.parametrize("keeps", [False, True])
def test_a_broker_without_it_is_refused(keeps: bool) -> None:
    made = TransactionManager("txn", None, lambda: 0.5, can_prepare=not keeps, keeps_prepared=keeps)
    with pytest.raises(UnsupportedVersionError, match="unstable"):
        Script([], version_max=5).play(made.initialize())


@pytest.mark.parametrize("commit", [False, True])
def test_a_prepared_transaction_can_only_be_ended(commit: bool) -> None:
    made = started(initialized(epoch=3))
    made.begin(IMPLICIT)
    assert made.may_send("t", 0)
    assert made.prepare() == PreparedTxnState(9, 3)
    assert (made.stage, made.prepared) == (Stage.PREPARED, PreparedTxnState(9, 3))
    for forbidden in (made.check_in_transaction, made.prepare, lambda: made.begin(IMPLICIT)):
        with pytest.raises(IllegalStateError):
            forbidden()
    script = Script([ended(0, 9, 4)])
    assert script.play(made.end(commit=commit)) == Identity(9, 4)
    assert script.asked == [EndTxnRequest("txn", 9, 3, committed=commit)]
    assert (made.stage, made.prepared) == (Stage.READY, None)


def test_without_a_transaction_nothing_can_be_prepared() -> None:
    with pytest.raises(IllegalStateError):
        started(initialized()).prepare()


@pytest.mark.parametrize("commit", [False, True])
def test_the_transaction_of_a_predecessor_is_ended_with_the_epoch_of_its_own(commit: bool) -> None:
    made = started(KEPT, keeps=True)
    assert (made.stage, made.prepared) == (Stage.PREPARED, PreparedTxnState(9, 3))
    assert made.identity == Identity(9, 4)
    with pytest.raises(IllegalStateError):
        made.begin(IMPLICIT)
    script = Script([NetworkError(), ended(ErrorCode.CONCURRENT_TRANSACTIONS), ended(0, 9, 5)])
    assert script.play(made.end(commit=commit)) == Identity(9, 5)
    assert script.asked == [EndTxnRequest("txn", 9, 4, committed=commit)] * 3
    assert script.versions == [5, 5, 5]
    made.begin(IMPLICIT)
    assert Script([]).play(made.end(commit=True)) == Identity(9, 5), "nothing is left of it"


def test_a_kept_transaction_that_cannot_be_ended_is_an_error() -> None:
    made = started(KEPT, keeps=True)
    answers: list[Message | KafkaError] = [
        ended(ErrorCode.INVALID_TXN_STATE),
        described("CompleteAbort", epoch=8),
    ]
    with pytest.raises(KafkaError, match="INVALID_TXN_STATE"):
        Script(answers).play(made.end(commit=True))


def test_without_a_transaction_to_keep_the_producer_is_ready() -> None:
    made = started(initialized(), keeps=True)
    assert (made.stage, made.prepared) == (Stage.READY, PreparedTxnState())
    made.begin(IMPLICIT)
    assert made.prepared is None
