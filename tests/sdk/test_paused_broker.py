"""A broker that is paused is connected to and says nothing: others are asked what became of it.

No time limit of a client's own ends here, so whatever goes on goes on because the cluster says that
another broker leads by now.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from typing import Any

import pytest
import pytest_asyncio
from fencepost_client import (
    LATEST,
    Admin,
    Consumer,
    NetworkError,
    Producer,
    RequestTimedOutError,
    TopicPartition,
)
from fencepost_client.network.client_settings import ClientSettings, read_bootstrap
from fencepost_client.network.endpoint import Endpoint
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.requests import connection
from fencepost_protocol.generated.index import ApiKey

from tests.support.fronts import Front, two_fronts
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
PATIENCE_SECONDS = 60.0
HOUR_MS = 3_600_000
WHERE = TopicPartition("t", 0)
Fronts = tuple[Front, Front]


@pytest_asyncio.fixture
async def fronts(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Fronts]:
    monkeypatch.setattr(connection, "SILENCE_MS", 50)
    async with two_fronts() as both:
        yield both


def producer_of(front: Front, **options: Any) -> Producer:
    return Producer(
        front.address,
        linger_ms=0,
        request_timeout_ms=HOUR_MS,
        delivery_timeout_ms=2 * HOUR_MS,
        max_block_ms=HOUR_MS,
        **options,
    )


def consumer_of(front: Front, **options: Any) -> Consumer:
    return Consumer(
        front.address,
        auto_offset_reset="earliest",
        request_timeout_ms=HOUR_MS,
        default_api_timeout_ms=HOUR_MS,
        **options,
    )


async def in_time(what: Awaitable[Any]) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await what


async def is_asked(front: Front, api_key: ApiKey) -> None:
    """Wait until such a request came there, from now on."""
    count = front.asked.count(api_key)
    await until(lambda: front.asked.count(api_key) > count)


async def values(front: Front, **options: Any) -> list[bytes | None]:
    """Everything in the log."""
    async with consumer_of(front, **options) as consumer:
        consumer.assign([WHERE])
        end = (await consumer.end_offsets([WHERE]))[WHERE]
        found: list[bytes | None] = []
        while consumer.positions().get(WHERE, 0) < end:
            found += [record.value for record in await consumer.getmany(timeout_ms=100)]
        return found


@pytest.mark.parametrize("was_written", [True, False])
async def test_what_an_idempotent_producer_sent_goes_to_the_next_leader(
    fronts: Fronts, *, was_written: bool
) -> None:
    paused, other = fronts
    async with producer_of(paused) as producer:
        await producer.send_and_wait("t", b"0", partition=0)
        paused.pause(has_read=was_written)
        sending = asyncio.create_task(producer.send_and_wait("t", b"1", partition=0))
        await is_asked(paused, ApiKey.PRODUCE)
        other.alone()
        assert (await in_time(sending)).offset == 1
        await in_time(producer.send_and_wait("t", b"2", partition=0))
        assert await in_time(values(other)) == [b"0", b"1", b"2"]


async def test_a_leader_that_is_none_any_more_need_not_be_fenced(fronts: Fronts) -> None:
    paused, other = fronts
    async with producer_of(paused) as producer:
        await producer.send_and_wait("t", b"0", partition=0)
        paused.pause()
        sending = asyncio.create_task(producer.send_and_wait("t", b"1", partition=0))
        await is_asked(paused, ApiKey.PRODUCE)
        other.lead()
        assert (await in_time(sending)).offset == 1


@pytest.mark.parametrize("was_read", [True, False])
async def test_a_transaction_is_committed_by_the_next_coordinator(
    fronts: Fronts, *, was_read: bool
) -> None:
    paused, other = fronts
    async with producer_of(paused, transactional_id="x", transaction_timeout_ms=600_000) as writer:
        writer.begin()
        await writer.send("t", b"0", partition=0)
        await writer.flush()
        paused.pause(has_read=was_read)
        committing = asyncio.create_task(writer.commit())
        await is_asked(paused, ApiKey.END_TXN)
        other.alone()
        await in_time(committing)
        async with writer.transaction() as transaction:
            await transaction.send("t", b"1", partition=0)
    found = await in_time(values(other, isolation_level="read_committed"))
    assert found == [b"0", b"1"]


async def test_a_consumer_reads_on_from_the_next_leader(fronts: Fronts) -> None:
    paused, other = fronts
    async with consumer_of(paused) as consumer, producer_of(other) as producer:
        consumer.assign([WHERE])
        await producer.send_and_wait("t", b"0", partition=0)
        assert [each.value for each in await consumer.getmany(timeout_ms=HOUR_MS)] == [b"0"]
        paused.pause()
        reading = asyncio.create_task(consumer.getmany(timeout_ms=HOUR_MS))
        await is_asked(paused, ApiKey.FETCH)
        other.alone()
        await in_time(producer.send_and_wait("t", b"1", partition=0))
        assert [each.value for each in await in_time(reading)] == [b"1"]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
async def test_a_member_goes_on_with_the_next_coordinator(fronts: Fronts, protocol: str) -> None:
    paused, other = fronts
    async with consumer_of(paused, group_id="g", group_protocol=protocol) as consumer:
        consumer.subscribe(["t"])
        while not consumer.assignment():
            await consumer.getmany(timeout_ms=50)
        paused.pause()
        committing = asyncio.create_task(consumer.commit({WHERE: 0}))
        await is_asked(paused, ApiKey.OFFSET_COMMIT)
        other.alone()
        await in_time(committing)
        assert (await in_time(consumer.committed([WHERE])))[WHERE].offset == 0


async def test_who_joins_a_group_does_so_at_the_next_coordinator(
    fronts: Fronts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost_client.network.network_client._MAY_WAIT_MS", 50)
    paused, other = fronts
    async with consumer_of(paused, group_id="g") as consumer:
        await in_time(consumer.committed([WHERE]))
        paused.pause()
        consumer.subscribe(["t"])
        joining = asyncio.create_task(consumer.block_on_rebalance(HOUR_MS))
        await is_asked(paused, ApiKey.JOIN_GROUP)
        other.alone()
        await in_time(joining)
        assert consumer.assignment() == {WHERE}


async def test_a_leader_that_is_cut_off_is_not_asked_who_leads(fronts: Fronts) -> None:
    """It says that nobody confirmed what was sent, and still takes itself for the leader."""
    cut_off, other = fronts
    async with producer_of(cut_off) as producer:
        await producer.send_and_wait("t", b"0", partition=0)
        cut_off.cut_off()
        other.alone()
        assert (await in_time(producer.send_and_wait("t", b"1", partition=0))).offset == 1
    assert await in_time(values(other)) == [b"0", b"1"]


async def test_a_coordinator_that_is_cut_off_is_not_asked_who_it_is(fronts: Fronts) -> None:
    cut_off, other = fronts
    async with consumer_of(cut_off, group_id="g") as consumer:
        consumer.assign([WHERE])
        await in_time(consumer.commit({WHERE: 0}))
        cut_off.cut_off()
        other.alone()
        await in_time(consumer.commit({WHERE: 1}))
        assert ApiKey.OFFSET_COMMIT in other.asked


def client_of(*fronts: Front) -> NetworkClient:
    bootstrap = read_bootstrap(",".join(each.address for each in fronts))
    return NetworkClient(
        ClientSettings(
            bootstrap,
            request_timeout_ms=HOUR_MS,
            api_timeout_ms=HOUR_MS,
            connect_timeout_ms=HOUR_MS,
        )
    )


async def test_a_client_starts_with_whoever_answers(fronts: Fronts) -> None:
    paused, other = fronts
    paused.pause()
    client = client_of(paused, other)
    try:
        await in_time(client.start())
        # The paused one is still named: what anybody can answer is asked of the other.
        await in_time(client.metadata.topic("t"))
    finally:
        await client.close()


async def test_nobody_waits_for_a_connection_to_a_broker_that_is_fenced(
    fronts: Fronts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "NEGOTIATION_TIMEOUT_MS", HOUR_MS)
    paused, other = fronts
    client = client_of(other)
    try:
        await in_time(client.start())
        paused.pause()
        dialling = asyncio.create_task(client.when_connected(paused.node_id))
        await is_asked(paused, ApiKey.API_VERSIONS)
        other.alone()
        with pytest.raises(NetworkError, match="no longer a broker of the cluster"):
            await in_time(dialling)
    finally:
        await client.close()


async def test_nothing_is_kept_of_attempts_to_reach_those_who_are_gone(fronts: Fronts) -> None:
    _, other = fronts
    client = client_of(other)
    try:
        await in_time(client.start())
        with pytest.raises(NetworkError):
            await in_time(client.connections.link(Endpoint("127.0.0.1", 1)))
        assert client.connections.reconnects
        client.cluster.deserted["127.0.0.1", 1] = None
        client.connections.close_useless()
        assert not client.connections.reconnects
    finally:
        await client.close()


async def test_an_attempt_that_never_began_cancels_nobody_who_waits_for_it(fronts: Fronts) -> None:
    paused, other = fronts
    client = client_of(other)
    endpoint = Endpoint("127.0.0.1", paused.port)
    try:
        await in_time(client.start())
        waiting = asyncio.create_task(client.connections.link(endpoint))
        await asyncio.sleep(0)
        assert endpoint in client.connections.connecting
        client.cluster.deserted[endpoint.address] = None
        client.connections.close_useless()
        with pytest.raises(NetworkError, match="no longer a broker of the cluster"):
            await in_time(waiting)
    finally:
        await client.close()


async def test_an_answer_that_does_not_come_names_the_broker_and_what_to_look_at(
    fronts: Fronts,
) -> None:
    paused, _ = fronts
    async with Admin(paused.address, default_api_timeout_ms=2000) as admin:
        await admin.list_offsets({WHERE: LATEST})
        paused.pause()
        with pytest.raises(RequestTimedOutError) as caught:
            await admin.list_offsets({WHERE: LATEST})
    told = str(caught.value)
    assert f"{paused.address} has not answered LIST_OFFSETS for " in told
    assert "s; the cluster counts it, broker " in told
    assert "as alive: it may be paused or overloaded. See whether" in told
