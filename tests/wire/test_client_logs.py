"""What the client tells ``logging``, and that it costs nothing for each record."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_client import Admin, Consumer, Producer
from fencepost_client.errors import FencedError, KafkaError, ProducerFencedError
from fencepost_client.types import TopicPartition
from fencepost_protocol.generated.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntityData,
    AlterClientQuotasRequestEntryData,
    OpData,
)

from tests.support.broker import Client
from tests.support.waiting import until

pytestmark = pytest.mark.asyncio
EXTRA = {"peer", "group_id", "transactional_id", "throttle_ms", "pause_ms"}


def told(caplog: pytest.LogCaptureFixture, area: str, text: str) -> list[logging.LogRecord]:
    return [
        each
        for each in caplog.records
        if each.name == f"fencepost_client.{area}" and text in each.getMessage()
    ]


@pytest.fixture(autouse=True)
def _all_levels(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "fencepost_client")


async def test_connections_that_come_and_go(caplog: pytest.LogCaptureFixture) -> None:
    async with Broker(topics={"t": 1}) as broker:
        async with Admin(broker.bootstrap) as admin:
            await admin.list_topics()
        [connected] = told(caplog, "connection", f"connected to {broker.bootstrap}")[:1]
        assert vars(connected)["peer"] == broker.bootstrap
        assert not [each for each in caplog.records if each.levelno >= logging.WARNING]
        async with Producer(broker.bootstrap) as producer:
            await producer.send_and_wait("t", b"x")
            await broker.stop()
            await until(lambda: bool(told(caplog, "connection", "disconnected from")))
            await until(lambda: bool(told(caplog, "connection", "connection refused")))
            await broker.start()
            await producer.send_and_wait("t", b"y")


async def test_a_host_that_nobody_knows_is_told_at_once_and_not_all_the_time(
    caplog: pytest.LogCaptureFixture,
) -> None:
    admin = Admin("no-such-host.invalid:9092", default_api_timeout_ms=2000, retry_backoff_max_ms=50)
    starting = asyncio.ensure_future(admin.start())
    await until(lambda: bool(told(caplog, "connection", "could not be resolved")))
    assert not starting.done(), "it is told before the time is over"
    with pytest.raises(KafkaError):
        await starting
    [line] = told(caplog, "connection", "could not be resolved")
    assert line.levelno == logging.WARNING
    assert vars(line)["peer"] == "no-such-host.invalid:9092"


async def test_rebalances(caplog: pytest.LogCaptureFixture) -> None:
    async with Broker(topics={"t": 2}) as broker:
        for protocol in ("classic", "consumer"):
            caplog.clear()
            settings: dict[str, Any] = {"group_id": protocol, "group_protocol": protocol}
            async with Consumer(broker.bootstrap, **settings) as consumer:
                consumer.subscribe(["t"])
                while not consumer.assignment():
                    await consumer.getmany(timeout_ms=50)
            [got] = told(caplog, "group", f"group {protocol}: got t-0, t-1")
            assert vars(got)["partitions"] == ["t-0", "t-1"]
            assert vars(got)["group_id"] == protocol


async def test_a_producer_that_is_fenced(caplog: pytest.LogCaptureFixture) -> None:
    async with Broker(topics={"t": 1}) as broker:
        first = Producer(broker.bootstrap, transactional_id="x")
        await first.start()
        [known] = told(caplog, "transaction", "x is producer")
        assert vars(known)["epoch"] == 0
        first.begin()
        async with Producer(broker.bootstrap, transactional_id="x"):
            with pytest.raises(FencedError):
                await first.send_and_wait("t", b"x")
        with pytest.raises(ProducerFencedError):
            await first.close()
        *_, fenced = told(caplog, "transaction", "ended by a fatal error")
        assert fenced.levelno == logging.WARNING
        assert vars(fenced)["transactional_id"] == "x"


async def test_throttling(caplog: pytest.LogCaptureFixture) -> None:
    async with Broker(topics={"t": 1}) as broker, Client(broker.bootstrap) as client:
        entity = [AlterClientQuotasRequestEntityData("client-id", None)]
        entry = AlterClientQuotasRequestEntryData(entity, [OpData("producer_byte_rate", 10_000.0)])
        answer = await client.ask(AlterClientQuotasRequest([entry]), 1)
        assert not answer.entries[0].error_code
        async with Producer(broker.bootstrap) as producer:
            while not told(caplog, "throttle", "throttles this client"):
                await producer.send_and_wait("t", b"x" * 20_000)
        line, *_ = told(caplog, "throttle", "throttles this client")
        assert vars(line)["throttle_ms"] > 0


async def test_records_and_batches_cost_no_line(caplog: pytest.LogCaptureFixture) -> None:
    async with Broker(topics={"t": 1}) as broker, Producer(broker.bootstrap) as producer:
        await producer.send_and_wait("t", b"first")
        before = len(caplog.records)
        for _ in range(50):
            await producer.send_and_wait("t", b"x" * 100)
        async with Consumer(broker.bootstrap, auto_offset_reset="earliest") as consumer:
            consumer.assign([TopicPartition("t", 0)])
            connecting = len(caplog.records)
            seen = 0
            while seen < 51:
                seen += len(await consumer.getmany(timeout_ms=500))
            assert len(caplog.records) - connecting <= 2, "connections alone are told"
        assert connecting - before <= 2
    warned = [each for each in caplog.records if each.levelno >= logging.WARNING]
    assert not warned, "clients that are closed, with a Fetch under way, are nothing to warn of"


async def test_a_producer_that_is_dropped_with_records_in_it_warns() -> None:
    async with Broker(topics={"t": 1}) as broker:
        producer = Producer(broker.bootstrap, linger_ms=60_000, delivery_timeout_ms=200_000)
        await producer.start()
        for _ in range(3):
            await producer.send("t", b"x")
        client = producer._client
        kept = [producer]
        del producer
        with pytest.warns(ResourceWarning, match="a Producer was deleted .* 3 records were not"):
            kept.clear()
        assert client is not None
        await client.close()


async def test_without_a_handler_nothing_is_written() -> None:
    program = (
        "import asyncio, fencepost_client as f\n"
        "async def main():\n"
        "    try:\n"
        "        await f.Admin('127.0.0.1:1', default_api_timeout_ms=200).start()\n"
        "    except f.KafkaError: pass\n"
        "asyncio.run(main())\n"
    )
    ran = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
