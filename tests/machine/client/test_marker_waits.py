"""Whether a producer's next transaction adds its partitions by a request."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from fencepost_client.producer.marker_waits import LONGER_MS, TRANSACTIONS, MarkerWaits
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.requests.procedures import Ask
from fencepost_protocol.errors import ErrorCode

from tests.machine.client.harness.sender import Rig
from tests.machine.client.harness.transaction_manager import (
    CLASSIC,
    IMPLICIT,
    added,
    ended,
    initialized,
)
from tests.machine.client.scripts import Script

FAST_MS, WAITED_MS = 3, 3 + LONGER_MS


def seen(*transactions: Sequence[int]) -> MarkerWaits:
    """Transactions whose Produce requests took so long."""
    waits = MarkerWaits()
    for transaction in transactions:
        waits.begin()
        for took_ms in transaction:
            waits.produced(took_ms)
    return waits


@pytest.mark.parametrize(
    ("transactions", "are_likely"),
    [
        ([], False),
        ([[FAST_MS], [FAST_MS], [WAITED_MS - 1]], False),
        ([[FAST_MS], [WAITED_MS]], True),
        # The first one has nothing before it; nor is it known what is fast.
        ([[WAITED_MS]], False),
        ([[WAITED_MS], [FAST_MS]], False),
        # A distant broker always takes this long: nothing waits for markers.
        ([[40], [40 + LONGER_MS - 1], [41]], False),
        # What comes later in a transaction does not wait for another one.
        ([[FAST_MS], [FAST_MS, WAITED_MS]], False),
        # Once it has waited, it is likely, however fast the next one is.
        ([[FAST_MS], [WAITED_MS], [FAST_MS]], True),
    ],
)
def test_a_first_request_that_takes_longer_has_waited(
    transactions: Sequence[Sequence[int]], are_likely: bool
) -> None:
    assert seen(*transactions).are_likely is are_likely


def test_what_is_added_at_once_again_and_again_waits_for_nothing() -> None:
    waits = seen([FAST_MS], [WAITED_MS])
    for _ in range(TRANSACTIONS - 1):
        waits.added(had_to_wait=False)
        assert waits.are_likely
    waits.added(had_to_wait=True)
    for _ in range(TRANSACTIONS):
        assert waits.are_likely
        waits.added(had_to_wait=False)
    assert not waits.are_likely


def test_a_produce_behind_the_request_says_nothing() -> None:
    waits = seen([FAST_MS])
    waits.begin()
    waits.added(had_to_wait=False)
    waits.produced(WAITED_MS)
    assert not waits.are_likely


def transactional() -> TransactionManager:
    made = TransactionManager("x", 60_000, lambda: 0.5)
    Script([initialized(producer_id=5)]).play(made.initialize())
    return made


def test_a_request_adds_what_is_wanted_first_and_produce_the_rest() -> None:
    manager = transactional()
    manager.marker_waits.added(had_to_wait=True)
    manager.begin(IMPLICIT)
    assert not manager.may_send("t", 0)
    assert not manager.may_send("t", 1), "the other one is not added yet"
    procedure = manager.add_partitions()
    assert isinstance(next(procedure), Ask)
    assert not manager.may_send("t", 2), "the request is under way"
    with pytest.raises(StopIteration):
        procedure.send(added(0, 0))
    assert manager.may_send("t", 0)
    assert not manager.has_to_add
    assert manager.may_send("t", 2), "the transaction is open: Produce adds it"
    assert manager.may_send("t", 3)
    script = Script([ended(0, 5, 1)])
    script.play(manager.end(commit=True))
    assert script.versions == [5], "it is of version 2 all the same"


@pytest.mark.parametrize("refusals", [0, 1])
def test_a_request_that_had_to_be_repeated_has_waited(refusals: int) -> None:
    manager = transactional()
    manager.begin(CLASSIC)
    assert not manager.may_send("t", 0)
    answers = [added(ErrorCode.CONCURRENT_TRANSACTIONS)] * refusals + [added(0)]
    Script(answers).play(manager.add_partitions())
    assert manager.marker_waits.are_likely is bool(refusals)


def test_a_sender_tells_how_long_its_requests_took() -> None:
    manager = transactional()
    rig = Rig(transaction=manager)

    def transaction(took_ms: int) -> None:
        manager.begin(IMPLICIT)
        rig.batch()
        rig.broker.send(rig.now_ms)
        rig.broker.handle()
        rig.pass_time(took_ms)
        rig.broker.answer(rig.now_ms)
        Script([ended(0, 5, 0)]).play(manager.end(commit=True))

    transaction(FAST_MS)
    assert not manager.marker_waits.are_likely
    transaction(WAITED_MS)
    assert manager.marker_waits.are_likely
