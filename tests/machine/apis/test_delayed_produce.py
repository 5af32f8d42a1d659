"""Batches that wait for the in-sync replicas."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from fencepost_broker.apis.produce.delayed_produce import DelayedProduce, outcome, settle
from fencepost_broker.storage.log import AppendResult
from fencepost_protocol.errors import ErrorCode

EPOCH = 4


class APartition(SimpleNamespace):
    """A leader whose followers have everything below ``high_watermark``."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __init__(self, high_watermark: int, **values: Any) -> None:
        log = SimpleNamespace(high_watermark=high_watermark)
        self.replication = SimpleNamespace(has_too_few=False)
        super().__init__(log=log, leads=True, leader_epoch=EPOCH, waiters=[], **values)


class Setting:
    """A clock with one timer, and a connection."""

    def __init__(self) -> None:
        self.timers: list[Any] = []
        self.done = 0
        self.lose: Callable[[], None] | None = None
        peer = SimpleNamespace(on_loss=self._on_loss)
        self.request: Any = SimpleNamespace(peer=peer)
        self.context: Any = SimpleNamespace(clock=SimpleNamespace(call_later=self._call_later))

    def _on_loss(self, call: Callable[[], None]) -> None:
        self.lose = call

    def _call_later(self, delay_ms: int, call: Callable[[], None]) -> Any:
        self.timers.append(call)
        return SimpleNamespace(cancel=self.timers.clear)

    def _finish(self) -> None:
        self.done += 1

    def wait(self, *batches: tuple[Any, AppendResult, int]) -> DelayedProduce:
        delayed = DelayedProduce(self.request, batches, self._finish)
        delayed.begin(self.context, 100)
        return delayed


def batch(partition: Any) -> tuple[Any, AppendResult, int]:
    return partition, AppendResult(base_offset=7, last_offset=9), EPOCH


def too_few(partition: Any) -> None:
    partition.replication.has_too_few = True


def another_epoch(partition: Any) -> None:
    partition.leader_epoch = EPOCH + 1


def follows(partition: Any) -> None:
    partition.leads = False


@pytest.mark.parametrize(
    ("high_watermark", "happens", "error"),
    [
        (9, None, None),
        (9, too_few, None),
        (10, None, ErrorCode.NONE),
        (10, too_few, ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND),
        (10, another_epoch, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (10, follows, ErrorCode.NOT_LEADER_OR_FOLLOWER),
        (9, follows, ErrorCode.NOT_LEADER_OR_FOLLOWER),
    ],
)
def test_the_outcome_of_a_batch(
    high_watermark: int, happens: Callable[[Any], None] | None, error: ErrorCode | None
) -> None:
    asked = batch(APartition(high_watermark))
    if happens is not None:
        happens(asked[0])
    assert outcome(*asked) == error
    assert not asked[1].error, "asking changes nothing"
    assert settle([asked]) == ([asked] if error is None else [])
    assert asked[1].error == (error or ErrorCode.NONE)


def test_it_waits_until_the_last_partition_has_moved() -> None:
    setting = Setting()
    first, second = batch(APartition(9)), batch(APartition(9))
    delayed = setting.wait(first, second)
    first[0].log.high_watermark = 10
    delayed.partition_moved(first[0])
    assert (first[0].waiters, second[0].waiters, setting.done) == ([], [delayed], 0)
    too_few(second[0])
    second[0].log.high_watermark = 10
    delayed.partition_moved(second[0])
    assert (second[0].waiters, setting.done, setting.timers) == ([], 1, [])
    assert first[1].error == ErrorCode.NONE
    assert second[1].error == ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def test_at_the_timeout_only_batches_without_an_outcome_have_timed_out() -> None:
    setting = Setting()
    late, led_by_another = batch(APartition(9)), batch(APartition(9))
    setting.wait(late, led_by_another)
    another_epoch(led_by_another[0])
    (timer,) = setting.timers
    timer()
    assert setting.done == 1
    assert late[1].error == ErrorCode.REQUEST_TIMED_OUT
    assert led_by_another[1].error == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert not late[0].waiters
    assert not led_by_another[0].waiters


def test_it_does_not_wait_for_a_client_that_has_gone() -> None:
    setting = Setting()
    asked = batch(APartition(9))
    setting.wait(asked)
    assert setting.lose is not None
    setting.lose()
    assert (asked[0].waiters, setting.timers, setting.done) == ([], [], 0)
