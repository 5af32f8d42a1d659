"""Why nothing goes on: markers, requests behind them, and who holds a last stable offset."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fencepost_broker import Broker, StateClock, TopicRefusedError
from fencepost_broker.coordinator.runtime.explaining import Explaining
from fencepost_broker.coordinator.transaction.explanations import is_kept_open
from fencepost_broker.observability.explained import ExplainedTransaction
from fencepost_broker.storage.log import StorageError
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_transactions import DescribeTransactionsRequest

from tests.support.broker import Client, running_broker
from tests.wire.transaction_harness import Producer, stable_offset, until, until_state

START_MS = 1_800_000_000_000
UNVERIFIED = {"transaction.partition.verification.enable": "false"}


def found(told: ExplainedTransaction | None) -> ExplainedTransaction:
    assert told is not None
    return told


def explained(broker: Broker, name: str = "a") -> ExplainedTransaction:
    return found(broker.explain_transaction(name))


@pytest.mark.asyncio
async def test_who_holds_the_last_stable_offset_and_how_long_at_most() -> None:
    clock = StateClock(manual=True, at_ms=START_MS)
    topics = ["t:2:retention.ms=-1"]  # records are of 1970
    async with Broker(topics=topics, clock=clock) as broker, Client(broker.bootstrap) as client:
        first, second = Producer(client, "first"), Producer(client, "second")
        await first.start(timeout_ms=30_000)
        await second.start(timeout_ms=60_000)
        await first.send(number=0)
        clock.advance(seconds=10)
        await second.send(number=0)
        await second.send(number=1)
        await second.send(number=0)

        behind, alone = explained(broker, "second").partitions
        assert (behind.topic, behind.partition, behind.leader_id) == ("t", 0, 1)
        assert (behind.last_stable_offset, behind.high_watermark, behind.lag) == (0, 3, 3)
        assert behind.start_offset == 1
        holder = behind.holder
        assert holder is not None
        assert (holder.transactional_id, holder.state, holder.start_offset) == (
            "first", "Ongoing", 0,
        )  # fmt: skip
        assert (holder.producer_id, holder.producer_epoch) == (first.id, first.epoch)
        assert not holder.hangs
        assert holder.ends_in_ms == 20_000
        assert alone.holder is not None
        assert (alone.holder.transactional_id, alone.lag) == ("second", 1)
        assert alone.holder.ends_in_ms == 60_000

        clock.advance(seconds=20)  # the first one is aborted
        await until(lambda: stable_offset(client), 1)
        behind, _ = explained(broker, "second").partitions
        assert behind.holder is not None
        assert behind.holder.transactional_id == "second"
        assert explained(broker, "first").partitions == []


@pytest.mark.asyncio
async def test_a_transaction_that_ends_holds_it_until_its_marker_is_there() -> None:
    async with Broker(topics={"t": 2}) as broker, Client(broker.bootstrap) as client:
        producer = Producer(client)
        await producer.start()
        await producer.send(number=0)
        await producer.send(number=1)
        hold = broker.hold_markers(partition=1)
        await producer.end()
        await until(lambda: stable_offset(client), 2)

        found = explained(broker)
        assert [(each.partition, each.is_held) for each in found.markers or ()] == [(1, True)]
        [waiting] = found.partitions
        assert (waiting.partition, waiting.lag, waiting.start_offset) == (1, 1, 0)
        assert waiting.holder is not None
        # The partition still has the epoch of the records, the coordinator the next one (KIP-890).
        assert waiting.holder.producer_epoch == producer.epoch - 1
        assert (waiting.holder.state, waiting.holder.hangs) == ("PrepareCommit", False)
        assert waiting.holder.ends_in_ms is None

        async with Client(broker.bootstrap) as another:
            producer.client = another
            sending = asyncio.ensure_future(producer.send(number=0))
            await until(lambda: requests(broker), [("Produce", "test", True)])
            hold.release()
            assert await sending is ErrorCode.NONE
            assert explained(broker).requests == []


@pytest.mark.asyncio
async def test_the_producers_client_is_named_and_whether_it_is_there() -> None:
    async with Broker(topics={"t": 1}) as broker:
        async with Client(broker.bootstrap) as client:
            producer = Producer(client)
            await producer.start()
            await producer.send()
            told = explained(broker)
            assert told.client is not None
            assert (told.client.client_id, told.client.is_connected) == ("test", True)
            address = told.client.address
            assert address.startswith("127.0.0.1:")
            assert f"client          test at {address}, connected" in str(told)

        async def is_connected() -> bool:
            client = explained(broker).client
            return client is not None and client.is_connected

        await until(is_connected, False)
        assert f"test at {address}, its connection is CLOSED" in str(explained(broker))
        partition = broker.explain_partition("t", 0)
        assert f"held by         producer {producer.id} epoch 0 of a (Ongoing)" in str(partition)


async def requests(broker: Broker) -> list[tuple[str, str | None, bool]]:
    return [
        (each.api, each.client.client_id, each.client.is_connected)
        for each in explained(broker).requests or ()
        if each.client is not None
    ]


@pytest.mark.asyncio
async def test_a_transaction_that_nobody_will_end() -> None:
    async with (
        Broker(settings=UNVERIFIED, topics={"t": 1}) as broker,
        Client(broker.bootstrap) as client,
    ):
        producer = Producer(client)
        await producer.start()
        await producer.send(version=11)  # the coordinator never hears of this partition
        found = broker.explain_partition("t", 0)
        assert found is not None
        assert found.holder is not None
        holder = found.holder
        assert (holder.transactional_id, holder.state) == ("a", "Empty")
        assert holder.hangs
        assert holder.ends_in_ms is None

        producer.id += 1000  # nobody's
        await producer.send(version=11, base_sequence=0)
        assert broker.explain_partition("t", 1) is None
        assert broker.explain_partition("u", 0) is None


@pytest.mark.asyncio
async def test_a_partition_without_transactions_has_no_holder() -> None:
    async with Broker(topics={"t": 1}) as broker, Client(broker.bootstrap) as client:
        await client.produce("t", 0, b"x")
        found = broker.explain_partition("t", 0)
        assert found is not None
        assert (found.holder, found.lag, found.high_watermark) == (None, 0, 1)
    with pytest.raises(RuntimeError, match="not running"):
        broker.explain_partition("t", 0)
    with pytest.raises(TopicRefusedError):
        async with Broker(topics={"no good!": 1}):
            pass


@pytest.mark.asyncio
async def test_markers_that_fail_are_counted() -> None:
    async with running_broker(topics={"t": 1}) as broker:
        producer = Producer(broker)
        await producer.start()
        await producer.send()
        log = broker.server.table.by_name["t"].partitions[0].log
        log.flush_failed(StorageError("sync", "t-0", "broken"))
        await producer.end()

        def waits() -> ExplainedTransaction:
            return found(Explaining(broker.coordinators).transaction("a", broker.bootstrap))

        async def repeats() -> bool:
            return (waits().repeats or 0) > 1

        await until(repeats, True)
        [marker] = waits().markers or []
        assert marker.last_error == "KAFKA_STORAGE_ERROR"
        log.failure = None
        await until_state(broker, "CompleteCommit")
        assert waits().repeats == 0


async def described(client: Client, name: str, *, explain: bool) -> Any:
    return await client.ask(DescribeTransactionsRequest([name], explain), 0)


@pytest.mark.asyncio
async def test_over_the_wire_only_who_asks_is_told() -> None:
    clock = StateClock(manual=True, at_ms=START_MS)
    topics = ["t:2:retention.ms=-1"]  # records are of 1970
    async with Broker(topics=topics, clock=clock) as broker, Client(broker.bootstrap) as client:
        producer = Producer(client)
        await producer.start()
        await producer.send(number=0)
        hold = broker.hold_markers()
        for explain in (False, True):
            answer = await described(client, "a", explain=explain)
            assert (answer.state_time_ms == START_MS) == explain
            [state] = answer.transaction_states
            assert (state.explanation is not None) == explain
        assert state.explanation.times_out_ms == START_MS + 60_000
        assert state.explanation.expires_ms == -1
        await producer.end()
        [state] = (await described(client, "a", explain=True)).transaction_states
        [marker] = state.explanation.markers
        assert (marker.topic, marker.partition_index, marker.leader_id) == ("t", 0, 1)
        assert (marker.last_error, marker.is_held) == (0, True)
        many = DescribeTransactionsRequest(["a"] * 101, True)
        *some, last = (await client.ask(many, 0)).transaction_states
        assert all(each.explanation is not None for each in some)
        assert last.explanation is None, "an answer has its bound"
        [unknown] = (await described(client, "nobody", explain=True)).transaction_states
        assert unknown.explanation is None
        hold.release()


def test_what_a_coordinator_keeps_open() -> None:
    here = ("t", 0)

    def kept(state: str, epoch: int, open_epoch: int, partition: tuple[str, int] = here) -> bool:
        return is_kept_open(state, epoch, [partition], here, open_epoch)

    assert kept("Ongoing", 3, 3)
    assert not kept("Ongoing", 4, 3), "a later transaction of this producer will not end it"
    assert not kept("Ongoing", 3, 3, ("t", 1))
    for state in ("PrepareCommit", "PrepareAbort"):
        assert kept(state, 3, 3)
        assert kept(state, 4, 3), "the marker has the next epoch"
        assert not kept(state, 2, 3)
    for state in ("Empty", "CompleteCommit", "CompleteAbort", "Dead"):
        assert not kept(state, 3, 3)
