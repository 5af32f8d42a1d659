"""Transactions that follow at once: each waits for the markers of the one before."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_client import Producer, RequestMetrics
from fencepost_client.producer.marker_waits import MarkerWaits
from fencepost_protocol.generated.index import ApiKey

from tests.sdk.harness.producer import create, read

pytestmark = pytest.mark.asyncio
TRANSACTIONS = 40


@pytest.mark.parametrize("by_a_request", [False, True])
async def test_each_partition_is_added_and_each_transaction_ends(
    bootstrap: str, topic: str, monkeypatch: pytest.MonkeyPatch, *, by_a_request: bool
) -> None:
    monkeypatch.setattr(MarkerWaits, "are_likely", by_a_request)
    await create(bootstrap, topic, 3)
    wanted: list[list[Any]] = [[], [], []]
    metrics = RequestMetrics()
    async with Producer(
        bootstrap, transactional_id=topic, linger_ms=0, metrics=metrics
    ) as producer:
        for number in range(TRANSACTIONS):
            value, end = b"%d" % number, "ABORT" if number % 3 == 0 else "COMMIT"
            producer.begin()
            first = number % 3
            await (await producer.send(topic, value, partition=first))
            # The transaction is open by now; this one it gets from Produce.
            second = (number + 1) % 3
            await (await producer.send(topic, value, partition=second))
            await (producer.abort() if end == "ABORT" else producer.commit())
            wanted[first] += [value, end]
            wanted[second] += [value, end]
    asked = metrics.of(ApiKey.ADD_PARTITIONS_TO_TXN).times_us.count
    assert asked >= TRANSACTIONS if by_a_request else not asked
    assert [await read(bootstrap, topic, partition) for partition in range(3)] == wanted
