"""Settings and log levels that are changed while the broker runs: what they do.

What is answered is compared with Apache Kafka in tests/conformance/test_dynamic_settings.py.
"""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker import Broker
from fencepost_broker.storage.log import LogConfig
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

from tests.support.broker import Client, RunningBroker, memory_disk, running_broker
from tests.support.config_script import BROKER, DELETE, LOGGER, SET, TOPIC, Look, outcome

pytestmark = pytest.mark.asyncio


async def change(
    client: Client, kind: int, name: str, *configs: tuple[str, int, str | None]
) -> Any:
    resource = AlterConfigsResource(kind, name, [AlterableConfig(*each) for each in configs])
    answer = (await client.ask(IncrementalAlterConfigsRequest([resource]), 1)).responses[0]
    assert answer.error_code == ErrorCode.NONE, answer.error_message


async def refused(client: Client, name: str, value: str) -> str:
    resource = AlterConfigsResource(BROKER, "1", [AlterableConfig(name, SET, value)])
    answer = (await client.ask(IncrementalAlterConfigsRequest([resource]), 1)).responses[0]
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    return str(answer.error_message)


def config_of(broker: RunningBroker, topic: str) -> LogConfig:
    return broker.server.table.by_name[topic].partitions[0].log.config


async def test_logs_go_by_them_at_once_and_after_a_restart() -> None:
    disk = memory_disk()
    async with running_broker(topics={"t": 1}, disk=disk) as broker:
        broker.create("own", 1, **{"retention.ms": "9"})
        await change(broker, BROKER, "", ("log.retention.ms", SET, "2000"))
        assert config_of(broker, "t").retention_ms == 2000
        await change(broker, BROKER, "1", ("log.retention.ms", SET, "1000"))
        await change(broker, BROKER, "", ("producer.id.expiration.ms", SET, "77"))
        assert config_of(broker, "t").retention_ms == 1000
        assert config_of(broker, "own").retention_ms == 9
        broker.create("later")
        assert config_of(broker, "later").retention_ms == 1000
    async with running_broker(disk=disk) as broker:
        config = config_of(broker, "t")
        assert (config.retention_ms, config.producer_id_expiration_ms) == (1000, 77)
        await change(broker, BROKER, "1", ("log.retention.ms", DELETE, None))
        assert config_of(broker, "t").retention_ms == 2000
        look = Look(TOPIC, "t", ("retention.ms",))
        assert (await outcome(broker.ask, look, ""))[1][0][1:3] == ("2000", 3)


async def test_limits_change_for_those_who_come() -> None:
    async with Broker() as broker, Client(broker.bootstrap) as client:
        await change(client, BROKER, "", ("max.connections", SET, "1"))
        with pytest.raises((ConnectionError, EOFError)):
            async with Client(broker.bootstrap) as another:
                await outcome(another.ask, Look(BROKER, "1", ("node.id",)), "")
        await change(client, BROKER, "", ("max.connections", DELETE, None))
        async with Client(broker.bootstrap) as another:
            await outcome(another.ask, Look(BROKER, "1", ("node.id",)), "")


async def test_what_cannot_be_changed_is_refused_with_the_reason() -> None:
    async with Broker() as broker, Client(broker.bootstrap) as client:
        assert "did you mean log.retention.ms" in await refused(client, "log.retention.mss", "5")
        assert "not here" in await refused(client, "listeners", "PLAINTEXT://:1")
        assert "while the broker runs" in await refused(client, "num.partitions", "5")
        told = await refused(client, "ssl.keystore.location", "/x")
        assert told == "ssl.keystore.location can be changed while Apache Kafka runs, but not here"


async def test_a_contradiction_with_what_is_there_is_refused() -> None:
    settings = {"log.cleaner.max.compaction.lag.ms": 100}
    async with Broker(settings=settings) as broker, Client(broker.bootstrap) as client:
        said = await refused(client, "log.cleaner.min.compaction.lag.ms", "101")
        assert "log.cleaner.max.compaction.lag.ms=100" in said


async def test_levels_of_loggers(capsys: pytest.CaptureFixture[str]) -> None:
    async with Broker(log_level="error") as broker, Client(broker.bootstrap) as client:

        async def lines() -> int:
            async with Client(broker.bootstrap) as bad:
                assert bad.streams is not None
                bad.streams[1].write(b"GET / HTTP/1.1\r\n\r\n")
                assert await bad.streams[0].read() == b""
            return capsys.readouterr().err.count("closing the connection")

        assert await lines() == 0
        await change(client, LOGGER, "1", ("connection", SET, "WARN"))
        assert await lines() == 1
        await change(client, LOGGER, "1", ("connection", DELETE, None))
        assert await lines() == 0
        await change(client, LOGGER, "1", ("root", SET, "TRACE"))
        assert await lines() == 1
