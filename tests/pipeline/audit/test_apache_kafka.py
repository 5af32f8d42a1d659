"""The audit of Apache Kafka's own log directories."""

from __future__ import annotations

import asyncio

import pytest
from fencepost_client import Producer
from fencepost_client.clients.admin import Admin
from fencepost_pipeline.audit.audit_run import Audit, Wishes, audit
from fencepost_pipeline.audit.checks.consume_transform_produce import Transform
from fencepost_pipeline.audit.data_directories import DataDirectory
from fencepost_pipeline.audit.findings import Invariant, Status

from tests.pipeline.audit.harness import alone, failing
from tests.pipeline.audit.traffic import GROUP, INVOICES, ORDERS, PAIRS, make_topics, make_traffic
from tests.support.apache_kafka import ApacheKafka
from tests.support.waiting import asked_until

pytestmark = [pytest.mark.conformance, pytest.mark.slow]

WISHES = Wishes(transform=Transform(GROUP, ORDERS, INVOICES))
BY_COORDINATOR = {
    Invariant.UNMARKED, Invariant.ORPHANS, Invariant.ATOMIC, Invariant.HANGING, Invariant.STABLE,
    Invariant.BLOCKS, Invariant.OUTPUTS, Invariant.CONSUMED,
}  # fmt: skip


def audited(kafka: ApacheKafka, wishes: Wishes = WISHES) -> Audit:
    return audit(DataDirectory([kafka.data_dir]), wishes)


@pytest.mark.parametrize("version", ["1", "2"])
def test_what_apache_kafka_writes_is_clean(version: str) -> None:
    """Under both transaction versions: commits and aborts, an exactly-once program, fences.

    A transaction that a crash leaves open is just open, until its time is over.
    """
    settings = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "200"}
    arguments = ["--feature", f"transaction.version={version}"]
    with ApacheKafka(settings, format_arguments=arguments) as kafka:
        asyncio.run(_traffic(kafka.bootstrap))
        kafka.kill()
        found = audited(kafka)
        assert failing(found) == {}
        looked = {v.invariant: v.checked for v in found.verdicts if v.status is Status.HOLDS}
        assert all(looked[invariant] > 0 for invariant in BY_COORDINATOR), looked
        outcomes = found.transactions["outcome"].to_pylist()
        assert outcomes.count("open") == 1
        assert outcomes.count("abort") == 4
        assert found.history is not None
        late = Wishes(now_ms=found.history.last_time + 3_600_000)
        (text,) = alone(audited(kafka, late), Invariant.HANGING)
        assert f"it holds back {PAIRS}-0" in text


async def _traffic(bootstrap: str) -> None:
    await make_topics(bootstrap)
    await make_traffic(bootstrap)
    await _fence(bootstrap)
    await _time_out(bootstrap)
    await _crash(await _begun(bootstrap, "open-1", partition=0))


async def _begun(
    bootstrap: str, transactional_id: str, partition: int, timeout_ms: int = 60_000
) -> Producer:
    """A producer in the middle of a transaction."""
    producer = Producer(
        bootstrap, transactional_id=transactional_id, transaction_timeout_ms=timeout_ms
    )
    await producer.start()
    producer.begin()
    await (await producer.send(PAIRS, b"unfinished", partition=partition))
    return producer


async def _crash(producer: Producer) -> None:
    """Whoever crashes ends nothing; close() would abort what is open."""
    assert producer._client is not None
    assert producer._sender_loop is not None
    await producer._client.close()
    producer._sender_loop.stop()


async def _fence(bootstrap: str) -> None:
    """A second instance ends the first one's transaction; the markers carry the epoch above."""
    first = await _begun(bootstrap, "fenced-1", partition=0)
    second = Producer(bootstrap, transactional_id="fenced-1")
    async with second, second.transaction() as transaction:
        await transaction.send(PAIRS, b"of the second", partition=0)
    await _crash(first)


async def _time_out(bootstrap: str) -> None:
    """The coordinator ends a transaction, and fences its producer by that."""
    await _crash(await _begun(bootstrap, "slow-1", partition=1, timeout_ms=1_000))
    async with Admin(bootstrap) as admin:

        async def is_over() -> bool:
            described = await admin.describe_transactions(["slow-1"])
            return described["slow-1"].state == "CompleteAbort"

        await asked_until(is_over)
