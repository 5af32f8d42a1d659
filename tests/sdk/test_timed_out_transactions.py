"""A transaction that takes longer than its time: its producer goes on, and harms nobody else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from fencepost_client import (
    ConsumerRecord,
    Producer,
    ProducerFencedError,
    Transaction,
    TransactionTimedOutError,
    exactly_once,
)
from fencepost_client.clients.exactly_once import Handler
from fencepost_client.network.connections import Connections
from fencepost_client.producer.marker_waits import MarkerWaits
from fencepost_client.producer.stages import Stage

from tests.sdk.harness.exactly_once import consumer_of, fill, outputs, process, upper_to
from tests.sdk.harness.groups import is_over
from tests.sdk.harness.producer import create, read

pytestmark = pytest.mark.asyncio
TIMEOUT_MS = 300


@pytest.fixture(params=[1, 2, "2, added by a request"], autouse=True)
def version(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """What the client takes the cluster's transaction version for, as an older client would."""
    version = request.param
    if not isinstance(version, int):
        version = 2
        monkeypatch.setattr(MarkerWaits, "are_likely", True)
    monkeypatch.setattr(
        Connections, "feature", lambda _, name: version if name == "transaction.version" else 0
    )
    return version


async def is_aborted(bootstrap: str, transactional_id: str) -> None:
    """Return when the coordinator's patience is over and the markers are written."""
    await is_over(bootstrap, transactional_id, committed=False)


def slow_once(bootstrap: str, out: str, transactional_id: str, where: str) -> Handler:
    """A handler whose first transaction is over before it is done with it."""
    was_slow = False

    async def handler(records: Sequence[ConsumerRecord], transaction: Transaction) -> None:
        nonlocal was_slow
        await upper_to(out)(records, transaction)
        if not was_slow:
            was_slow = True
            await transaction.send(out, b"of the aborted one", partition=1)
            # Until it is written, there is no transaction that could be too old.
            await (await transaction.send(out, b"of the aborted one", partition=0))
            await is_aborted(bootstrap, transactional_id)
            if where == "records":
                await (await transaction.send(out, b"too late", partition=0))

    return handler


@pytest.mark.parametrize("where", ["records", "offsets"])
async def test_exactly_once_goes_on(bootstrap: str, topic: str, where: str) -> None:
    out = f"{topic}-out"
    await create(bootstrap, topic, 2)
    await create(bootstrap, out, 2)
    wanted = await fill(bootstrap, topic, 8)
    handler = slow_once(bootstrap, out, topic, where)
    async with consumer_of(bootstrap, topic) as consumer:
        consumer.subscribe([topic])
        producer = Producer(bootstrap, transactional_id=topic, transaction_timeout_ms=TIMEOUT_MS)
        async with exactly_once(consumer, producer, handler) as loop:
            await process(loop, 8)
            assert loop.aborted == 1
    assert await outputs(bootstrap, out) == wanted


async def test_a_commit_that_comes_too_late(bootstrap: str, topic: str) -> None:
    await create(bootstrap, topic)
    async with Producer(
        bootstrap, transactional_id=topic, transaction_timeout_ms=TIMEOUT_MS
    ) as producer:
        for late in (b"a", b"b"):
            with pytest.raises(TransactionTimedOutError):  # noqa: PT012
                async with producer.transaction() as transaction:
                    await (await transaction.send(topic, late))
                    await is_aborted(bootstrap, topic)
            async with producer.transaction() as transaction:
                await transaction.send(topic, late.upper())
    assert await read(bootstrap, topic) == [
        *(b"a", "ABORT", b"A", "COMMIT"),
        *(b"b", "ABORT", b"B", "COMMIT"),
    ]


@pytest.mark.parametrize("write_late", [False, True])
async def test_a_producer_that_has_a_successor_is_fenced_and_does_not_harm_it(
    bootstrap: str, topic: str, write_late: bool
) -> None:
    await create(bootstrap, topic)
    async with Producer(
        bootstrap, transactional_id=topic, transaction_timeout_ms=TIMEOUT_MS
    ) as old:
        old.begin()
        await old.send_and_wait(topic, b"old")
        await is_aborted(bootstrap, topic)
        async with Producer(bootstrap, transactional_id=topic) as new:
            async with new.transaction() as transaction:
                await (await transaction.send(topic, b"new"))
                if write_late:
                    await old.send(topic, b"too late")
                    with pytest.raises(ProducerFencedError):
                        await old.abort()
                else:
                    with pytest.raises(ProducerFencedError):
                        await old.commit()
            assert old.stage is Stage.FATAL
    assert await read(bootstrap, topic) == [b"old", "ABORT", b"new", "COMMIT"]
