"""The transaction coordinator against a naive model, in random order, with restarts.

The model knows one id at a time by what a producer may count on: who it is now, what is open, how
it ends. The harness checks with every step that the log alone brings back the live state.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fencepost_broker.coordinator.effects import Reply
from fencepost_broker.coordinator.transaction.commands import (
    AddPartitions,
    EndTxn,
    GiveUp,
    InitProducerId,
    MarkersWritten,
    Outcome,
    SendMarkers,
    VerifyPartitions,
)
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.end_txn import EndTxnRequest
from fencepost_protocol.generated.init_producer_id import InitProducerIdRequest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.machine.coordinator.transaction.harness import Coordinator, Partition

IDS = st.sampled_from(["a", "b"])
PARTITIONS = st.lists(
    st.tuples(st.sampled_from(["t", "u"]), st.integers(0, 2)), min_size=1, max_size=4
)
TIMEOUT_MS = 1000
NONE = ErrorCode.NONE


@dataclass
class Known:
    """One id as the model knows it."""

    pid: int
    epoch: int
    partitions: set[Partition] = field(default_factory=set)
    opened_ms: int | None = None
    ending: str | None = None
    ended: str | None = None
    """How the last transaction ended, and whether its end took an epoch."""
    end_bumped: bool = False
    asked_from: int | None = None
    """The epoch that an InitProducerId may give again."""


class Transactions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.coordinator = Coordinator()
        self.model: dict[str, Known] = {}
        self.sends: dict[str, SendMarkers] = {}
        self.old_sends: list[SendMarkers] = []
        self.parked: dict[str, list[InitProducerId | AddPartitions]] = {"a": [], "b": []}
        self.given: set[tuple[int, int]] = set()

    # -- what is asked --------------------------------------------------------------------------

    @rule(name=IDS, own=st.sampled_from([None, 0, -1, 1]))
    def initialize(self, name: str, own: int | None) -> None:
        known = self.model.get(name)
        pid, epoch = (-1, -1)
        if own is not None and known is not None and known.epoch + own >= 0:
            pid, epoch = known.pid, known.epoch + own
        request = InitProducerIdRequest(name, TIMEOUT_MS, pid, epoch)
        command = InitProducerId(request, 5, object())
        answer = self.coordinator.ask(command)
        if known is not None and known.opened_ms is not None:
            self.prepare(known, "abort", bumps=True, fence=True)
        if known is not None and known.ending:
            assert answer is None
            self.parked[name].append(command)
            return
        self.expect_initialized(name, command, answer)

    def expect_initialized(self, name: str, command: InitProducerId, answer: object) -> None:
        known, request = self.model.get(name), command.request
        assert answer is not None
        code, pid, epoch = (
            getattr(answer, each) for each in ("error_code", "producer_id", "producer_epoch")
        )
        if known is None:
            assert code == NONE
            assert epoch == 0
            self.model[name] = Known(pid, 0)
        elif request.producer_epoch in (-1, known.epoch):
            assert (code, pid, epoch) == (NONE, known.pid, known.epoch + 1)
            asked = None if request.producer_epoch == -1 else known.epoch
            self.model[name] = Known(pid, epoch, asked_from=asked)
        elif request.producer_epoch == known.asked_from:
            assert (code, pid, epoch) == (NONE, known.pid, known.epoch)
            self.model[name] = Known(pid, epoch, asked_from=known.asked_from)
            return
        else:
            assert code == ErrorCode.PRODUCER_FENCED
            return
        assert (pid, epoch) not in self.given
        self.given.add((pid, epoch))

    @precondition(lambda self: self.model)
    @rule(
        name=IDS,
        partitions=PARTITIONS,
        late=st.sampled_from([0, 0, 0, -1]),
        version=st.sampled_from([3, 4]),
    )
    def add(self, name: str, partitions: list[Partition], late: int, version: int) -> None:
        known = self.model.get(name)
        if known is None:
            return
        topics = [(topic, (number,)) for topic, number in partitions]
        command = AddPartitions(name, known.pid, known.epoch + late, topics, version, object())
        answer = self.coordinator.ask(command)
        if known.ending:
            assert answer is None
            self.parked[name].append(command)
        else:
            self.expect_added(known, command, answer)

    def expect_added(self, known: Known, command: AddPartitions, answer: object) -> None:
        if command.producer_epoch != known.epoch:
            assert answer == Outcome(ErrorCode.PRODUCER_FENCED)
            return
        assert answer == Outcome(NONE)
        if known.opened_ms is None:
            known.opened_ms = self.coordinator.now_ms
            known.ended = None
        known.partitions |= {(topic, number) for topic, (number,) in command.topics}

    @precondition(lambda self: self.model)
    @rule(name=IDS, partition=PARTITIONS)
    def verify(self, name: str, partition: list[Partition]) -> None:
        known = self.model.get(name)
        if known is None:
            return
        topics = [(topic, (number,)) for topic, number in partition]
        answer = self.coordinator.ask(VerifyPartitions(name, known.pid, known.epoch, topics))
        if known.ending:
            assert answer.error is ErrorCode.CONCURRENT_TRANSACTIONS
            return
        for each in partition:
            expected = NONE if each in known.partitions else ErrorCode.TRANSACTION_ABORTABLE
            assert answer.of(*each) is expected

    @precondition(lambda self: self.model)
    @rule(
        name=IDS,
        outcome=st.sampled_from(["commit", "abort"]),
        version=st.sampled_from([4, 5]),
        late=st.sampled_from([0, 0, 0, -1]),
    )
    def end(self, name: str, outcome: str, version: int, late: int) -> None:
        known = self.model.get(name)
        if known is None:
            return
        request = EndTxnRequest(name, known.pid, known.epoch + late, outcome == "commit")
        answer = self.coordinator.ask(EndTxn(request, version))
        code = ErrorCode(answer.error_code)
        if known.ending and (version == 5 or not late):
            assert code is ErrorCode.CONCURRENT_TRANSACTIONS
        elif late and not (version == 5 and known.ended):
            assert code is ErrorCode.PRODUCER_FENCED
        elif late or (version == 4 and known.opened_ms is None):
            # The same end again, or the end of nothing.
            assert code is (NONE if known.ended == outcome else ErrorCode.INVALID_TXN_STATE)
            if code is NONE and version == 5:
                assert (answer.producer_id, answer.producer_epoch) == (known.pid, known.epoch)
        elif known.opened_ms is None and outcome == "commit":
            assert code is ErrorCode.INVALID_TXN_STATE
        else:
            assert code is NONE
            self.prepare(known, outcome, bumps=version == 5)
            if version == 5:
                assert (answer.producer_id, answer.producer_epoch) == (known.pid, known.epoch)

    def prepare(self, known: Known, outcome: str, *, bumps: bool, fence: bool = False) -> None:
        if bumps:
            known.asked_from = known.epoch
            known.epoch += 1
            self.given.add((known.pid, known.epoch))
        known.opened_ms = None
        known.ending = outcome if known.partitions else None
        known.ended = None if known.partitions else outcome

    # -- what happens ---------------------------------------------------------------------------

    @rule(
        name=IDS,
        some=st.integers(1, 3),
        error=st.sampled_from([NONE, NONE, ErrorCode.NOT_LEADER_OR_FOLLOWER]),
    )
    def acknowledge(self, name: str, some: int, error: ErrorCode) -> None:
        send = self.sends.get(name)
        if send is None:
            return
        outcomes = [(*each, error) for each in list(send.pending)[:some]]
        done = not error and len(outcomes) == len(send.pending)
        self.coordinator.ask(MarkersWritten(send, outcomes))
        if not done:
            return
        known = self.model[name]
        known.ended, known.ending = known.ending, None
        known.partitions = set()
        self.old_sends.append(self.sends.pop(name))
        replies = {
            id(each.token): each.answer for each in self.coordinator.news if isinstance(each, Reply)
        }
        for command in self.parked[name]:
            answer = replies.pop(id(command.token), None)
            known = self.model[name]
            if known.ending:
                assert answer is None
            elif isinstance(command, AddPartitions):
                self.expect_added(known, command, answer)
            elif known.opened_ms is not None:
                assert answer is None
                self.prepare(known, "abort", bumps=True, fence=True)
            else:
                self.expect_initialized(name, command, answer)
        assert not replies
        transaction = self.coordinator.machine._transactions[name]
        self.parked[name] = list(transaction.parked)

    @precondition(lambda self: self.old_sends)
    @rule(index=st.integers(0, 100))
    def acknowledge_again(self, index: int) -> None:
        """An answer that comes late changes nothing."""
        send = self.old_sends[index % len(self.old_sends)]
        before = len(self.coordinator.log)
        outcomes = [(topic, number, NONE) for topic in "tu" for number in range(3)]
        self.coordinator.ask(MarkersWritten(send, outcomes))
        assert len(self.coordinator.log) == before

    @rule(name=IDS)
    def give_up(self, name: str) -> None:
        if not self.parked[name]:
            return
        command = self.parked[name].pop(0)
        self.coordinator.ask(GiveUp(name, command.token))
        [reply] = [each for each in self.coordinator.news if isinstance(each, Reply)]
        assert reply.token is command.token

    @rule(milliseconds=st.sampled_from([1, 400, 1000]))
    def let_time_pass(self, milliseconds: int) -> None:
        self.coordinator.wait(milliseconds)
        for known in self.model.values():
            opened_ms = known.opened_ms
            if opened_ms is not None and opened_ms + TIMEOUT_MS <= self.coordinator.now_ms:
                self.prepare(known, "abort", bumps=True, fence=True)

    @rule()
    def restart(self) -> None:
        self.old_sends += self.sends.values()
        self.sends.clear()
        self.coordinator.restart()
        self.parked = {"a": [], "b": []}
        for name, known in self.model.items():
            # What a retry needs is not in the log: take it from there, as the machine has it now.
            last = self.coordinator.machine._transactions[name].last_epoch
            assert last in (-1, known.asked_from)
            known.asked_from = None if last == -1 else last

    # -- what always holds ----------------------------------------------------------------------

    @invariant()
    def every_end_sends_its_markers(self) -> None:
        for news in self.coordinator.news:
            if isinstance(news, SendMarkers):
                known = self.model[news.transactional_id]
                assert news.is_commit == (known.ending == "commit")
                assert (news.producer_id, news.producer_epoch) == (known.pid, known.epoch)
                assert set(news.pending) == known.partitions
                self.sends[news.transactional_id] = news
        self.coordinator.news.clear()
        for name, known in self.model.items():
            assert (name in self.sends) == (known.ending is not None)

    @invariant()
    def the_next_deadline_is_that_of_the_oldest_open_transaction(self) -> None:
        due = [
            known.opened_ms + TIMEOUT_MS
            for known in self.model.values()
            if known.opened_ms is not None
        ]
        not_before = self.coordinator.machine.not_due_before()
        deadline = self.coordinator.machine.deadline()
        if due:
            assert deadline == min(due)
        if deadline is not None:
            assert not_before is not None, "nobody would wake the machine"
            assert not_before <= deadline, "it would be woken too late"


TestTransactions = Transactions.TestCase
TestTransactions.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
