"""When a leader need not read a partition for a follower that has all of it, and when it has to."""

from __future__ import annotations

from fencepost_broker.apis.fetch.followers import Quiet
from fencepost_broker.metadata.image.model import Partition
from fencepost_broker.replication.leader import LeaderState
from fencepost_broker.replication.partition import Partition as Led

from tests.machine.storage.harness import fill, open_log

FOLLOWER, EPOCH, NOW = 2, 7, 1_000_000


def placed(*isr: int, replicas: tuple[int, ...] = (1, 2), epoch: int = 0) -> Partition:
    return Partition(0, replicas, isr, 1, 0, epoch, (bytes(16),) * len(replicas))


class One:
    """A partition that is quiet for its follower."""

    def __init__(self) -> None:
        log = open_log()
        fill(log, 3)
        self.state = LeaderState(1, placed(1, 2), log, NOW, lag_max_ms=30_000)
        self.led = Led("t", 0, log)
        self.led.lead(self.state)
        self.fetch(3)
        follower = self.state.followers[FOLLOWER]
        self.quiet = Quiet(self.led, FOLLOWER, self.state, follower, log, 0, 3, 3, 0)
        assert self.lasts()

    def fetch(self, offset: int) -> None:
        self.state.fetched(FOLLOWER, offset, 0, EPOCH, NOW)

    def lasts(self) -> bool:
        return self.quiet.lasts(EPOCH, NOW)


def test_what_is_appended_ends_it() -> None:
    one = One()
    fill(one.led.log, 1)
    assert not one.lasts()


def test_a_follower_that_is_not_in_sync_any_more_is_looked_at() -> None:
    """It was fenced and is back, with the epoch that it had: who looks proposes it."""
    one = One()
    one.state.image_changed(placed(1, epoch=1), NOW)
    assert not one.lasts()


def test_a_follower_that_was_removed_and_added_again_is_another_one() -> None:
    one = One()
    one.state.image_changed(placed(1, replicas=(1,), epoch=1), NOW)
    one.state.image_changed(placed(1, 2, epoch=2), NOW)
    assert not one.lasts()


def test_a_fetch_that_comes_late_from_an_old_connection_is_corrected() -> None:
    one = One()
    one.fetch(1)
    assert not one.lasts()
