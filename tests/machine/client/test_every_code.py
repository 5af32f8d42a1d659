"""Every error code, as the answer to every request that goes step by step.

What the client does is decided by the code's kind in ``schemas/errors.json``: what may pass is
asked for again, with a pause in between and, where the kind is *refresh*, of somebody who is looked
up anew; anything else is raised as the class that says what to do. ``Exchange.differs`` names each
code that is another matter for one request. Codes that the protocol does not have yet are refused
like all others. No answer ends in anything else: no crash, no tight loop, no waiting for nothing.

The Admin's requests are in test_admin_codes.py, Produce, Fetch and Metadata in test_data_codes.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import pytest
from fencepost_client import CommitFailedError, KafkaError, ProducerFencedError, TopicPartition
from fencepost_client.consumer.list_offsets import list_offsets
from fencepost_client.errors import FatalError, FencedError, error_of
from fencepost_client.producer.batch import Identity
from fencepost_client.producer.producer_ids import identity_of_nobody, was_ended_by_timeout
from fencepost_client.producer.response_codes import worst_of_offsets, worst_of_partitions
from fencepost_client.producer.stages import Stage
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.requests.procedures import (
    GROUP,
    Ask,
    Coordinator,
    Moved,
    Pause,
    Procedure,
    find_coordinator,
)
from fencepost_protocol.apis import Message
from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.generated.add_offsets_to_txn import AddOffsetsToTxnResponse
from fencepost_protocol.generated.find_coordinator import FindCoordinatorResponse
from fencepost_protocol.generated.heartbeat import HeartbeatResponse
from fencepost_protocol.generated.leave_group import LeaveGroupResponse
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)

from tests.machine.client.admin_answers import coordinators
from tests.machine.client.harness.classic_member import joined, synced
from tests.machine.client.harness.classic_member import member as classic_member
from tests.machine.client.harness.classic_member import stable as classic_stable
from tests.machine.client.harness.codes import CODES
from tests.machine.client.harness.committed_offsets import backoff, commit, fetch, fetched
from tests.machine.client.harness.committed_offsets import committed as offsets_committed
from tests.machine.client.harness.kip848_member import joined as kip848_joined
from tests.machine.client.harness.kip848_member import refused
from tests.machine.client.harness.kip848_member import told as kip848_told
from tests.machine.client.harness.list_offsets import listed
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

AGAIN, MOVED, DONE = "asked again", "asked again, looked up anew", "done"
Outcome: TypeAlias = str | type[KafkaError]
Differing: TypeAlias = Mapping[int, Outcome]


def by_kind(code: int) -> Outcome:
    """What the schema says of a code."""
    if code == ErrorCode.NONE:
        return DONE
    if code in RETRIABLE:
        return MOVED if KINDS[code] == "refresh" else AGAIN
    return type(error_of(code))


@dataclass
class Exchange:
    """Something that asks, and an answer that has a code for it."""

    start: Callable[[], tuple[Any, Procedure[Any]]]
    """The machine, as it is before it asks, and what it does."""
    reply: Callable[[int], Message]
    differs: Differing = field(default_factory=dict)
    before: Sequence[Message] = ()
    """Answers that come before each attempt."""
    after: Sequence[Message] = ()
    """Answers that come once it is done."""
    doubted: frozenset[int] = frozenset()
    """Codes of which the coordinator is asked whether the transaction's time was over."""

    def outcome(self, code: int) -> Outcome:
        return self.differs.get(code, by_kind(code))

    def answers(self, code: int) -> list[Message]:
        return [*self.before, self.reply(code)]


def alone(procedure: Callable[[], Procedure[Any]]) -> Callable[[], tuple[Any, Procedure[Any]]]:
    """An exchange without a machine."""
    return lambda: (None, procedure())


# -- a transactional producer ------------------------------------------------------------------

FENCED: Final[Differing] = {
    ErrorCode.INVALID_PRODUCER_EPOCH: ProducerFencedError,
    ErrorCode.PRODUCER_FENCED: ProducerFencedError,
}
DOUBTED: Final = frozenset({*FENCED, ErrorCode.INVALID_TXN_STATE})
STILL_OPEN: Final = described("Ongoing", 0)
OUT_OF_THE_GROUP: Final[Differing] = dict.fromkeys(
    (ErrorCode.ILLEGAL_GENERATION, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.STALE_MEMBER_EPOCH),
    CommitFailedError,
)
ABORT_IS_ENOUGH: Final = {
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.FENCED_INSTANCE_ID,
}
"""These end the transaction and not the producer, though what is wrong will not pass."""


def new_producer() -> TransactionManager:
    return TransactionManager("txn", 60_000, lambda: 0.5)


def initializing() -> tuple[Any, Procedure[Any]]:
    made = new_producer()
    return made, made.initialize()


def adding() -> tuple[Any, Procedure[Any]]:
    made = new_producer()
    Script([initialized()]).play(made.initialize())
    made.begin(CLASSIC)
    assert not made.may_send("t", 0)
    return made, made.add_partitions()


def sending_offsets(version: int) -> tuple[Any, Procedure[Any]]:
    made = manager(version)
    return made, made.send_offsets(OFFSETS, MEMBER)


def ending(*, commit: bool) -> tuple[Any, Procedure[Any]]:
    made = manager()
    return made, made.end(commit=commit)


OF_TRANSACTIONS: Final = {
    "InitProducerId": Exchange(initializing, lambda code: initialized(code), FENCED),
    "AddPartitionsToTxn": Exchange(adding, added, FENCED, doubted=DOUBTED),
    "AddOffsetsToTxn": Exchange(
        lambda: sending_offsets(CLASSIC), lambda code: AddOffsetsToTxnResponse(0, code),
        FENCED, after=[committed()], doubted=DOUBTED,
    ),
    "TxnOffsetCommit": Exchange(
        lambda: sending_offsets(IMPLICIT), committed, {**FENCED, **OUT_OF_THE_GROUP},
        doubted=DOUBTED,
    ),
    "EndTxn, commit": Exchange(
        lambda: ending(commit=True), lambda code: ended(code, 9, 1), FENCED, doubted=DOUBTED
    ),
    "EndTxn, abort": Exchange(
        lambda: ending(commit=False), lambda code: ended(code, 9, 1), FENCED, doubted=DOUBTED
    ),
}  # fmt: skip


def is_the_end(name: str, code: int, error: KafkaError) -> bool:
    """Whether a producer is of no use after this."""
    if name in {"InitProducerId", "EndTxn, abort"} or isinstance(error, ProducerFencedError):
        return True  # without an identity, or with a transaction that cannot be ended
    return isinstance(error, FatalError | FencedError) and code not in ABORT_IS_ENOUGH


@pytest.mark.parametrize("name", OF_TRANSACTIONS)
def test_a_transaction_that_is_refused_can_be_aborted_or_its_producer_says_that_it_is_over(
    name: str,
) -> None:
    exchange = OF_TRANSACTIONS[name]
    for code in CODES:
        outcome = exchange.outcome(code)
        if isinstance(outcome, str):
            continue
        made, procedure = exchange.start()
        with pytest.raises(outcome) as raised:
            Script(refusal(exchange, code)).play(procedure)
        assert (made.stage is Stage.FATAL) == is_the_end(name, code, raised.value), code
        if made.stage is Stage.FATAL:
            with pytest.raises(outcome):
                made.begin(IMPLICIT)
            continue
        Script([ended(0, 9, 1)]).play(made.end(commit=False))
        made.begin(IMPLICIT)


# -- members of groups, and what needs no machine ----------------------------------------------

WAITS: Final[Differing] = dict.fromkeys(
    (
        ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.MEMBER_ID_REQUIRED,
    ),
    AGAIN,
)  # fmt: skip
"""The rebalance is joined anew."""
NOT_COMMITTED: Final[Differing] = {
    **OUT_OF_THE_GROUP,
    ErrorCode.REBALANCE_IN_PROGRESS: CommitFailedError,
}


def joining() -> tuple[Any, Procedure[Any]]:
    made = classic_member()
    return made, made.join(frozenset())


def found(code: int) -> FindCoordinatorResponse:
    return coordinators({"g": 1}, {"g": code})


ZERO: Final = TopicPartition("t", 0)
OTHERS: Final = {
    "InitProducerId of nobody": Exchange(
        alone(lambda: identity_of_nobody(60_000, backoff())), lambda code: initialized(code)
    ),
    "DescribeTransactions": Exchange(
        alone(lambda: was_ended_by_timeout("txn", Identity(9, 0), backoff())),
        lambda code: described("Ongoing", 0, code=code),
        dict.fromkeys(set(CODES) - RETRIABLE, DONE),  # then it was not the time
    ),
    "FindCoordinator": Exchange(
        alone(lambda: find_coordinator(Coordinator(GROUP, "g"), backoff())), found
    ),
    "FindCoordinator, before v4": Exchange(
        alone(lambda: find_coordinator(Coordinator(GROUP, "g"), backoff())),
        lambda code: FindCoordinatorResponse(0, code, None, 1, "h", 1),
    ),
    "JoinGroup": Exchange(
        joining, lambda code: joined(code),
        WAITS, after=[synced()],
    ),
    "SyncGroup": Exchange(joining, lambda code: synced(code), WAITS, before=[joined()]),
    "OffsetCommit": Exchange(alone(commit), offsets_committed, NOT_COMMITTED),
    "OffsetFetch, a partition": Exchange(
        alone(fetch), lambda code: fetched((5, code)), NOT_COMMITTED
    ),
    "OffsetFetch, the group": Exchange(
        alone(fetch), lambda code: fetched((5, 0), code=code), NOT_COMMITTED
    ),
    "ListOffsets": Exchange(
        alone(lambda: list_offsets({ZERO: -1}, lambda *_: 1, backoff(), read_committed=False)),
        lambda code: listed((0, code, 5)),
    ),
}  # fmt: skip
ALL: Final = OF_TRANSACTIONS | OTHERS


def refusal(exchange: Exchange, code: int) -> list[Message]:
    return [*exchange.answers(code), *([STILL_OPEN] if code in exchange.doubted else [])]


@pytest.mark.parametrize("name", ALL)
def test_what_may_pass_is_asked_again_with_a_pause_and_the_rest_is_raised(name: str) -> None:
    exchange = ALL[name]
    well = [*exchange.answers(0), *exchange.after]
    for code in CODES:
        outcome = exchange.outcome(code)
        _, procedure = exchange.start()
        if outcome == DONE:
            Script([*exchange.answers(code), *exchange.after]).play(procedure)
        elif isinstance(outcome, str):
            script = Script([*exchange.answers(code) * 3, *well])
            script.play(procedure)
            assert script.count(Pause) >= 2, f"{code}: again and again at once"
            if outcome == MOVED:
                asked = next(step for step in reversed(script.steps) if isinstance(step, Ask))
                assert script.count(Moved) >= 3, f"{code}: nobody is looked up, as for {asked.to}"
        else:
            with pytest.raises(KafkaError) as raised:
                Script(refusal(exchange, code)).play(procedure)
            assert (type(raised.value), raised.value.code) == (outcome, code)
            assert raised.value.state, f"{code}: while doing what?"
            assert raised.value.hint, f"{code}: what to do about it?"


@pytest.mark.parametrize("worst", [worst_of_partitions, worst_of_offsets])
def test_of_two_codes_the_one_that_will_not_pass_decides(worst: Callable[[Any], int]) -> None:
    says_nothing = {ErrorCode.NONE, ErrorCode.OPERATION_NOT_ATTEMPTED}
    for first in CODES:
        for second in CODES:
            pair = (first, second)
            code = worst(answer_of_two(worst, *pair))
            if lasting := [each for each in pair if each not in RETRIABLE | says_nothing]:
                assert code == lasting[0]
            elif passing := [each for each in pair if each in RETRIABLE]:
                assert code in passing
            else:
                assert bool(code) == any(pair)


def answer_of_two(worst: Callable[[Any], int], first: int, second: int) -> Message:
    if worst is worst_of_partitions:
        return added(first, second)
    parts = [TxnOffsetCommitResponsePartition(n, code) for n, code in enumerate((first, second))]
    return TxnOffsetCommitResponse(topics=[TxnOffsetCommitResponseTopic("in", parts)])


# -- what is asked once: heartbeats and farewells -----------------------------------------------

GONE_ON: Final = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}
FENCED_OUT: Final = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH}


def test_after_each_heartbeat_a_classic_member_stays_joins_or_says_why_not() -> None:
    for code in CODES:
        made = classic_stable()
        procedure = made.heartbeat()
        script = Script([HeartbeatResponse(0, code)])
        if code in RETRIABLE | GONE_ON | {ErrorCode.NONE, ErrorCode.REBALANCE_IN_PROGRESS}:
            script.play(procedure)
            joins = code in GONE_ON | {ErrorCode.REBALANCE_IN_PROGRESS}
            assert made.is_stable == (not joins), code
        else:
            with pytest.raises(KafkaError) as raised:
                script.play(procedure)
            assert type(raised.value) is type(error_of(code))
            assert not made.is_stable
        if not made.is_stable:
            Script([joined(), synced()]).play(made.join(frozenset()))
            assert made.metadata().generation_id == 3, "it can come back"


def test_after_each_heartbeat_a_member_of_a_consumer_group_stays_joins_or_says_why_not() -> None:
    for code in CODES:
        made = kip848_joined()
        epoch = made.epoch
        script = Script([refused(code) if code else kip848_told()])
        if code in RETRIABLE | FENCED_OUT | {ErrorCode.NONE}:
            wait_ms = script.play(made.heartbeat())
            assert (made.epoch == epoch) == (code not in FENCED_OUT), code
            assert wait_ms > 0 or code in FENCED_OUT, f"{code}: again at once"
        else:
            with pytest.raises(KafkaError) as raised:
                script.play(made.heartbeat())
            assert type(raised.value) is type(error_of(code))
            assert (raised.value.message, made.epoch) == ("why", 0)
        if code in RETRIABLE and KINDS[code] == "refresh":
            assert script.count(Moved), code
        if made.has_to_give_up:
            assert made.change() is not None
            made.owns(frozenset())
        Script([kip848_told()]).play(made.heartbeat())
        assert made.has_joined


def test_a_farewell_is_said_once_whatever_the_answer() -> None:
    for code in CODES:
        classic = classic_stable()
        Script([LeaveGroupResponse(0, code)]).play(classic.leave())
        modern = kip848_joined()
        Script([refused(code)]).play(modern.leave())
        assert not modern.has_joined
