"""What a leader makes of its followers' fetches: the high watermark, and who is in sync."""

from __future__ import annotations

import pytest
from fencepost_broker.replication.leader import LeaderState, Proposal
from hypothesis import given
from hypothesis import strategies as st

from tests.machine.replication.harness import LAG_MS, Config, Log, placed, up


class Leader:
    """A leader with a clock that is moved by hand."""

    def __init__(self, *isr: int, end: int = 0, min_in_sync: int = 1) -> None:
        self.now_ms = 1_000_000
        self.log = Log(Config(min_in_sync), end)
        self.brokers = up(1, 2, 3)
        self.state = LeaderState(
            1, placed(*isr), self.log, self.now_ms, lag_max_ms=LAG_MS, is_up=self.is_up
        )
        self.state.advance(self.now_ms)

    def is_up(self, broker_id: int) -> bool:
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.is_active

    def append(self, count: int = 1) -> None:
        self.log.log_end_offset += count
        self.state.advance(self.now_ms)

    def fetch(self, broker_id: int, offset: int) -> None:
        self.state.fetched(broker_id, offset, 0, self.brokers[broker_id].epoch, self.now_ms)

    def propose(self) -> Proposal | None:
        return self.state.propose(self.now_ms, self.brokers)

    def proposed(self) -> tuple[int, ...] | None:
        proposal = self.propose()
        return None if proposal is None else proposal.broker_ids

    def decide(self, *isr: int) -> None:
        self.state.decided(
            placed(*isr, epoch=self.state.partition.partition_epoch + 1), self.now_ms
        )

    @property
    def high_watermark(self) -> int:
        return self.log.high_watermark


def test_alone_in_sync_everything_is_replicated_at_once() -> None:
    leader = Leader(1)
    leader.append(5)
    assert leader.high_watermark == 5


def test_the_slowest_of_those_in_sync_counts() -> None:
    leader = Leader(1, 2, 3)
    leader.append(5)
    assert leader.high_watermark == 0
    leader.fetch(2, 5)
    assert leader.high_watermark == 0
    leader.fetch(3, 3)
    assert leader.high_watermark == 3
    leader.fetch(3, 5)
    assert leader.high_watermark == 5


def test_the_high_watermark_does_not_go_back_with_a_follower_that_does() -> None:
    leader = Leader(1, 2)
    leader.append(5)
    leader.fetch(2, 5)
    leader.fetch(2, 1)
    assert leader.high_watermark == 5


def test_who_is_nearer_to_a_consumer() -> None:
    leader = Leader(1, 2, 3)
    racks = {1: "a", 2: "b", 3: "b"}
    brokers = {each: leader.brokers[each]._replace(rack=racks[each]) for each in racks}
    leader.append(5)

    def nearer(rack: str, offset: int = 0) -> int | None:
        return leader.state.nearer(rack, offset, brokers)

    assert nearer("b") is None, "nobody has fetched yet"
    leader.fetch(2, 3)
    leader.fetch(3, 4)
    assert nearer("b") == 3, "the one that has most"
    leader.fetch(2, 4)
    assert nearer("b") == 2
    assert nearer("a") is None, "the leader is there itself"
    assert nearer("c") is None
    assert nearer("b", 4) == 2
    assert nearer("b", 5) is None, "none of them has come so far"
    leader.state.followers[2].log_start_offset = 1
    assert nearer("b", 0) == 3
    brokers[3] = brokers[3]._replace(fenced=True)
    assert nearer("b", 0) is None
    brokers[3] = brokers[3]._replace(fenced=False)
    leader.decide(1, 2)
    assert nearer("b", 0) is None, "who is not in sync may never have it"


def test_who_is_not_in_sync_holds_up_nobody() -> None:
    leader = Leader(1, 2)
    leader.append(5)
    leader.fetch(3, 0)
    leader.fetch(2, 5)
    assert leader.high_watermark == 5


def test_who_has_reached_the_high_watermark_is_proposed_and_waited_for() -> None:
    leader = Leader(1)
    leader.append(5)
    leader.fetch(2, 4)
    assert leader.proposed() is None
    leader.fetch(2, 5)
    leader.append()
    # It joins in a moment: were it left behind now, it would have to catch up for ever.
    assert leader.high_watermark == 5
    assert leader.proposed() == (1, 2)
    leader.decide(1, 2)
    assert leader.high_watermark == 5
    leader.fetch(2, 6)
    assert leader.high_watermark == 6


def test_one_proposal_at_a_time_and_its_replicas_count_until_it_is_decided() -> None:
    leader = Leader(1)
    leader.fetch(2, 0)
    proposal = leader.propose()
    assert proposal is not None
    assert [(each.broker_id, each.broker_epoch) for each in proposal.isr] == [(1, 1), (2, 2)]
    leader.fetch(3, 0)
    assert leader.propose() is None
    leader.now_ms += 2 * LAG_MS
    leader.append(3)
    assert leader.high_watermark == 0
    leader.state.decided(None, leader.now_ms)  # refused, or nobody answered
    assert leader.high_watermark == 3


def test_a_follower_that_stays_behind_is_left_out_in_time() -> None:
    leader = Leader(1, 2, 3)
    leader.append(5)
    leader.fetch(2, 5)
    leader.now_ms += LAG_MS
    assert leader.propose() is None
    leader.now_ms += 1
    assert leader.proposed() == (1, 2)
    assert leader.high_watermark == 0, "both sets count until it is decided"
    leader.decide(1, 2)
    assert leader.high_watermark == 5


def test_whoever_follows_a_busy_leader_keeps_up_though_it_never_has_all() -> None:
    leader = Leader(1, 2)
    for _ in range(10):
        end = leader.log.log_end_offset
        leader.append(10)
        leader.fetch(2, end)
        leader.now_ms += LAG_MS // 2
    assert leader.propose() is None


def test_nobody_is_late_while_there_is_nothing_to_fetch() -> None:
    leader = Leader(1, 2)
    leader.append()
    leader.fetch(2, 1)
    leader.now_ms += 100 * LAG_MS
    assert leader.propose() is None


def test_a_fenced_broker_or_another_incarnation_is_not_proposed() -> None:
    leader = Leader(1)
    leader.fetch(2, 0)
    leader.brokers[2] = leader.brokers[2]._replace(fenced=True)
    assert leader.propose() is None
    leader.brokers |= up(2, epoch=50)
    assert leader.propose() is None
    leader.fetch(2, 0)
    assert leader.proposed() == (1, 2)


def test_a_follower_needs_something_of_this_epoch() -> None:
    leader = Leader(1, end=7)
    assert leader.high_watermark == 7
    leader.log.high_watermark = 4  # what the leader knew when it was a follower
    leader.fetch(2, 5)
    assert leader.propose() is None
    leader.fetch(2, 7)
    assert leader.proposed() == (1, 2)


def test_with_too_few_in_sync_nothing_more_is_shown() -> None:
    leader = Leader(1, 2, min_in_sync=2)
    leader.append(2)
    leader.fetch(2, 2)
    assert leader.high_watermark == 2
    leader.now_ms += LAG_MS + 1
    leader.append()
    assert leader.proposed() == (1,)
    leader.decide(1)
    assert leader.high_watermark == 2


def test_another_leader_epoch_begins_anew() -> None:
    leader = Leader(1, 2)
    leader.append(3)
    leader.fetch(2, 3)
    leader.append()
    leader.state.image_changed(placed(1, 2, leader_epoch=2, epoch=1), leader.now_ms)
    assert leader.state.followers[2].log_end_offset == -1
    assert leader.high_watermark == 3
    leader.fetch(2, 4)
    assert leader.high_watermark == 4


def test_old_news_of_the_image_is_passed_over() -> None:
    leader = Leader(1)
    leader.fetch(2, 0)
    leader.propose()
    leader.decide(1, 2)
    leader.state.image_changed(placed(1), leader.now_ms)
    assert leader.state.partition.isr == (1, 2)


@pytest.mark.parametrize("replicas", [(1, 2), (1, 2, 4)])
def test_replicas_come_and_go(replicas: tuple[int, ...]) -> None:
    leader = Leader(1, 2)
    leader.append()
    leader.fetch(2, 1)
    changed = placed(1, 2, epoch=1)._replace(replicas=replicas)
    leader.state.image_changed(changed, leader.now_ms)
    assert set(leader.state.followers) == set(replicas) - {1}
    assert leader.state.followers[2].log_end_offset == 1


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 5)),
        st.tuples(st.just("fetch"), st.sampled_from([2, 3])),
        st.tuples(st.just("wait"), st.integers(1, LAG_MS)),
        st.tuples(st.just("propose"), st.booleans()),
    ),
    max_size=60,
)


@given(STEPS)
def test_whoever_is_in_sync_has_all_that_was_ever_shown(steps: list[tuple[str, int]]) -> None:
    """The promise of the high watermark, whatever becomes of proposals: in sync, none lacks it."""
    leader = Leader(1, 2, 3)
    has = {2: 0, 3: 0}
    for step, argument in steps:
        if step == "append":
            leader.append(argument)
        elif step == "fetch":
            leader.fetch(argument, has[argument])
            has[argument] = leader.log.log_end_offset  # what the answer brings
        elif step == "wait":
            leader.now_ms += argument
        elif (proposal := leader.propose()) is not None:
            if argument:
                leader.decide(*proposal.broker_ids)
            else:
                leader.state.decided(None, leader.now_ms)
        shown = leader.high_watermark
        assert all(has[each] >= shown for each in leader.state.partition.isr if each != 1)
        if leader.state.is_settled:
            later_ms = leader.now_ms + 10 * LAG_MS
            assert not leader.state.advance(later_ms)
            assert leader.state.propose(later_ms, leader.brokers) is None


def test_what_time_can_change_is_not_settled() -> None:
    leader = Leader(1, 2, end=1)
    settled = [leader.state.is_settled]  # nobody has fetched
    leader.fetch(2, 1)
    leader.fetch(3, 1)
    settled.append(leader.state.is_settled)  # one may come to be in sync
    assert leader.proposed() is not None
    leader.decide(1, 2, 3)
    settled.append(leader.state.is_settled)
    leader.append()
    settled.append(leader.state.is_settled)
    assert settled == [False, False, True, False]


def test_nobody_waits_for_a_broker_that_is_down() -> None:
    """It was in sync a moment ago, keeps up by the clock, and was taken out by the controller."""
    leader = Leader(1, 2)
    leader.fetch(2, 0)
    leader.append()
    assert leader.log.high_watermark == 0
    leader.state.image_changed(placed(1, epoch=1), leader.now_ms)
    assert leader.log.high_watermark == 0, "it is about to join, as far as can be known"
    del leader.brokers[2]
    assert leader.state.advance(leader.now_ms)
    assert leader.log.high_watermark == 1
