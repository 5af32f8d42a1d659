"""AlterPartition of a leader: what waits goes together, and nothing is forgotten or asked twice."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fencepost_broker.metadata.image import model
from fencepost_broker.ports import ReadyList
from fencepost_broker.replication.alter_partition import (
    PARTITIONS_MAX,
    AlterPartitionManager,
    Proposed,
)
from fencepost_broker.replication.leader import LeaderState
from fencepost_broker.replication.partition import Partition
from fencepost_broker.storage.log import PartitionLog
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    AlterPartitionResponseTopicData,
)

from tests.machine.replication.harness import LAG_MS, Config, Log, placed, up

LONG_AGO_MS = -10 * LAG_MS


class Controller:
    """Answers when the test says so."""

    def __init__(self) -> None:
        self.ready = ReadyList()
        self.asked: list[AlterPartitionRequest] = []
        self._then: list[Callable[[Any], None]] = []
        self.decided: list[tuple[str, int, model.Partition | None]] = []
        self.registration = cast("Any", SimpleNamespace(node_id=1, epoch=5))
        self.proposals = AlterPartitionManager(
            self.registration, self.ready, self.ask, self._decided
        )
        self.failures: dict[int, Exception] = {}
        """What settling a partition, or asking at all (-1), runs into."""

    def ask(self, message: Any, then: Callable[[Any], None]) -> None:
        if -1 in self.failures:
            raise self.failures.pop(-1)
        self.asked.append(message)
        self._then.append(then)

    def _decided(self, proposed: Proposed, taken: model.Partition | None) -> bool:
        has_moved = proposed.state.decided(taken, 0)
        self.decided.append((proposed.partition.topic, proposed.partition.number, taken))
        if proposed.partition.number in self.failures:
            raise self.failures.pop(proposed.partition.number)
        return has_moved or bool(proposed.partition.waiters)

    def answer(self, response: AlterPartitionResponse | None) -> None:
        self._then.pop(0)(response)
        self.ready.drain()

    def take_all(self, *, but: dict[int, ErrorCode] | None = None) -> None:
        """Answer the first request: all is taken, but for some partitions."""
        refused = but or {}
        response = AlterPartitionResponse()
        for topic in self.asked[-len(self._then)].topics:
            told = []
            for each in topic.partitions:
                number = each.partition_index
                if number in refused:
                    error = refused[number]
                    told.append(AlterPartitionResponsePartitionData(number, error))
                    continue
                isr = [one.broker_id for one in each.new_isr_with_epochs]
                epoch = each.partition_epoch + 1
                told.append(
                    AlterPartitionResponsePartitionData(
                        number, leader_id=1, isr=isr, partition_epoch=epoch
                    )
                )
            response.topics.append(AlterPartitionResponseTopicData(topic.topic_id, told))
        self.answer(response)

    def names(self, at: int = -1) -> list[tuple[bytes, int]]:
        """What a request is about."""
        return [
            (topic.topic_id[:1], each.partition_index)
            for topic in self.asked[at].topics
            for each in topic.partitions
        ]


def lagging(number: int, topic: str = "t") -> Proposed:
    """A partition whose follower 3 has to be left out."""
    log = cast("PartitionLog", Log(Config()))
    partition = Partition(topic, number, log)
    state = LeaderState(1, placed(1, 2, 3), Log(Config()), LONG_AGO_MS, lag_max_ms=LAG_MS)
    state.fetched(2, 0, 0, 2, 0)
    partition.lead(state)
    proposal = state.propose(0, up(1, 2, 3))
    assert proposal is not None
    assert proposal.broker_ids == (1, 2)
    return Proposed(partition, topic.encode() * 16, state, proposal)


def test_all_that_wait_are_asked_for_at_once() -> None:
    controller = Controller()
    for each in (lagging(0), lagging(0, "u"), lagging(1)):
        controller.proposals.add(each)
    controller.proposals.send()
    assert controller.names() == [(b"t", 0), (b"t", 1), (b"u", 0)]
    request = controller.asked[0]
    assert (request.broker_id, request.broker_epoch) == (1, 5)
    controller.take_all()
    taken = [(topic, number, partition.isr) for topic, number, partition in controller.decided
             if partition is not None]  # fmt: skip
    assert taken == [("t", 0, (1, 2)), ("u", 0, (1, 2)), ("t", 1, (1, 2))]
    assert len(controller.asked) == 1


def test_what_comes_meanwhile_goes_with_the_next_one() -> None:
    controller = Controller()
    controller.proposals.add(lagging(0))
    controller.proposals.send()
    for number in (1, 2):
        controller.proposals.add(lagging(number))
        controller.proposals.send()
    assert len(controller.asked) == 1
    controller.take_all()
    assert controller.names() == [(b"t", 1), (b"t", 2)]


def test_no_request_is_about_too_many() -> None:
    controller = Controller()
    for number in range(PARTITIONS_MAX + 1):
        controller.proposals.add(lagging(number))
    controller.proposals.send()
    assert len(controller.names()) == PARTITIONS_MAX
    controller.take_all()
    assert controller.names() == [(b"t", PARTITIONS_MAX)]


def test_what_is_refused_is_told_for_that_partition() -> None:
    controller = Controller()
    refused, taken = lagging(0), lagging(1)
    controller.proposals.add(refused)
    controller.proposals.add(taken)
    controller.proposals.send()
    controller.take_all(but={0: ErrorCode.INELIGIBLE_REPLICA})
    assert [(number, each is None) for _, number, each in controller.decided] == [
        (0, True),
        (1, False),
    ]
    assert refused.state.proposal is None, "it may be proposed again"


@pytest.mark.parametrize("answer", [None, AlterPartitionResponse(0, ErrorCode.STALE_BROKER_EPOCH)])
def test_what_nobody_decided_on_is_asked_again_with_what_came_since(
    answer: AlterPartitionResponse | None,
) -> None:
    controller = Controller()
    lost = lagging(0)
    controller.proposals.add(lost)
    controller.proposals.send()
    controller.proposals.add(lagging(1))
    controller.answer(answer)
    assert lost.state.proposal is lost.proposal, "it may be decided: it counts"
    assert len(controller.asked) == 1, "not at once: it would be refused at once, too"
    controller.registration.epoch = 6
    controller.proposals.send()
    assert sorted(controller.names()) == [(b"t", 0), (b"t", 1)]
    assert controller.asked[-1].broker_epoch == 6


def test_what_the_log_tells_first_is_neither_asked_again_nor_told() -> None:
    controller = Controller()
    by_log = lagging(0)
    controller.proposals.add(by_log)
    controller.proposals.send()
    by_log.state.image_changed(placed(1, 2, epoch=1), 0)
    controller.answer(None)
    controller.proposals.send()
    assert len(controller.asked) == 1

    late = lagging(1)
    controller.proposals.add(late)
    controller.proposals.send()
    late.partition.follow()
    controller.take_all()
    assert not controller.decided


def test_a_proposal_counts_until_the_log_tells_what_the_controller_knows_better() -> None:
    """It was decided, its answer was lost, and it is asked again."""
    controller = Controller()
    decided = lagging(0)
    controller.proposals.add(decided)
    controller.proposals.send()
    controller.answer(None)
    controller.proposals.send()
    controller.take_all(but={0: ErrorCode.INVALID_UPDATE_VERSION})
    assert decided.state.proposal is decided.proposal
    assert not controller.decided
    decided.state.image_changed(placed(1, 2, epoch=1), 0)
    assert decided.state.proposal is None


class Waiter:
    """Sees what is open when it may go on, and runs into an error then."""

    def __init__(self, asked: list[Proposed]) -> None:
        self._asked = asked
        self.saw_open: list[int] = []
        self.heard = 0

    def partition_moved(self, _: Partition) -> None:
        self.heard += 1
        self.saw_open += [each.partition.number for each in self._asked if each.is_open]
        raise RuntimeError("a waiter")

    def time_is_over(self) -> None:
        """It waits on."""

    def failed(self, error: Exception) -> None:
        assert str(error) == "a waiter"


def test_what_one_runs_into_leaves_no_other_open() -> None:
    controller = Controller()
    asked = [lagging(number) for number in range(4)]
    waiter = Waiter(asked)
    for each in asked:
        each.partition.waiters.append(waiter)
        controller.proposals.add(each)
    controller.failures[1] = RuntimeError("the settling")
    controller.proposals.send()
    controller.proposals.add(lagging(9))
    with pytest.raises(RuntimeError, match="the settling"):
        controller.take_all()
    controller.ready.drain()
    for each in asked:
        each.partition.ready.drain()
    assert not any(each.is_open for each in asked)
    assert (waiter.heard, waiter.saw_open) == (3, []), "all was settled before any went on"
    assert controller.names() == [(b"t", 9)], "what waited is asked for"


def test_what_could_not_be_asked_is_asked_at_the_next_look() -> None:
    controller = Controller()
    controller.proposals.add(lagging(0))
    controller.failures[-1] = RuntimeError("the asking")
    with pytest.raises(RuntimeError):
        controller.proposals.send()
    controller.proposals.send()
    assert controller.names() == [(b"t", 0)]
