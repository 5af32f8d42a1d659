"""The steps of transactions in logs, as a broker tells them."""

from __future__ import annotations

import pytest
from fencepost_broker import StateClock, crash_at
from fencepost_broker.coordinator.runtime.steps import STEPS
from fencepost_broker.operations import (
    ExpireTransactionalId,
    LoadCoordinator,
    TimeOutTransaction,
    UnloadCoordinator,
)
from fencepost_broker.server.operations import perform
from fencepost_protocol.generated.find_coordinator import FindCoordinatorRequest
from fencepost_protocol.generated.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)

from tests.support.broker import running_broker
from tests.wire.transaction_harness import GROUPS, NONE, Producer, until_state

ONE_PARTITION = {"offsets.topic.num.partitions": 1}


def both(*names: str) -> list[str]:
    return [f"{name}.{when}" for name in names for when in ("before", "after")]


def offsets_of(producer: Producer) -> TxnOffsetCommitRequest:
    topic = TxnOffsetCommitRequestTopic("t", [TxnOffsetCommitRequestPartition(0, 5)])
    return TxnOffsetCommitRequest("a", "g", producer.id, producer.epoch, topics=[topic])


@pytest.mark.asyncio
async def test_each_step_of_a_transaction_is_told_in_order() -> None:
    told: list[str] = []
    async with running_broker(
        ONE_PARTITION, topics={"t": 2}, clock=StateClock(manual=True), on_step=told.append
    ) as broker:
        await broker.ask(FindCoordinatorRequest("g", GROUPS), 2)
        producer = Producer(broker)
        await producer.start()
        assert await producer.send() is NONE
        assert await producer.send(number=1) is NONE
        offsets = await broker.ask(offsets_of(producer), 5)
        assert offsets.topics[0].partitions[0].error_code == NONE
        assert await producer.end() is NONE
        await until_state(broker, "CompleteCommit")
        added = both("transaction.Ongoing")
        markers = both("marker.t-0", "marker.t-1", "marker.__consumer_offsets-0")
        assert told == [
            *both("transaction.Empty"),
            *added * 3,
            *both("offsets", "transaction.PrepareCommit"),
            *markers,
            *both("transaction.CompleteCommit"),
        ]
        del told[:]
        assert await producer.send() is NONE
        await perform(broker.server, UnloadCoordinator(transactional_id="a"))
        await perform(broker.server, LoadCoordinator(transactional_id="a"))
        await perform(broker.server, TimeOutTransaction(transactional_id="a"))
        await until_state(broker, "CompleteAbort")
        await perform(broker.server, ExpireTransactionalId(transactional_id="a"))
        ended = both("transaction.PrepareAbort", "marker.t-0", "transaction.CompleteAbort")
        assert told == [*added, *ended, *both("transaction.Dead")]


def test_the_steps_are_those_of_all_states_that_are_logged() -> None:
    states = ["Empty", "Ongoing", "PrepareCommit", "PrepareAbort", "CompleteCommit"]
    names = [f"transaction.{each}" for each in (*states, "CompleteAbort", "Dead")]
    assert list(STEPS) == both(*names, "offsets")


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("transaction.PrepareComit.before", "did you mean transaction.PrepareCommit.before?"),
        ("marker.t-0.between", r"did you mean marker\.\*\.before"),
        ("x", "steps are transaction.Empty.before, "),
    ],
)
def test_a_step_that_is_not_there_is_refused(step: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        crash_at(step)


@pytest.mark.parametrize("step", ["transaction.*.before", "marker.t-*.after", "offsets.before"])
def test_a_step_may_be_a_pattern(step: str) -> None:
    crash_at(step)("transaction.Empty.after")
