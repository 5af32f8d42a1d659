"""Scenarios of disks and certificates: what unmodified clients notice of them."""

from __future__ import annotations

import asyncio
import logging
import ssl

import confluent_kafka
import pytest
from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaConnectionError
from fencepost_broker import Broker, DiskFull
from fencepost_broker.server.scenarios.expired_certificate import AUTHORITY, TlsEnd
from fencepost_broker.server.scenarios.wire import Connection

from tests.support.waiting import until

WAIT_S = 30.0
SILENT = logging.getLogger("silent")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False


def librdkafka(bootstrap: str, errors: list[str], **settings: str) -> confluent_kafka.Producer:
    """A producer that tells its errors."""
    config = {name.replace("_", "."): value for name, value in settings.items()}
    return confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap,
            "error_cb": lambda error: errors.append(error.str()),
            "logger": SILENT,
            **config,
        }
    )


async def is_flushed(producer: confluent_kafka.Producer) -> bool:
    return int(await asyncio.to_thread(producer.flush, WAIT_S)) == 0


# -- a full disk -----------------------------------------------------------------------------------


async def end_offset(broker: Broker) -> int:
    async with Connection(broker) as connection:
        return await connection.end_offset()


@pytest.mark.asyncio
async def test_aiokafka_sends_again_until_there_is_room() -> None:
    async with (
        Broker(topics={"orders": 1}, log_level="error") as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap) as producer,
    ):
        full = broker.disk.add(DiskFull(topic="orders"))
        sent = await producer.send("orders", b"paid")
        await until(lambda: full.fired > 1)
        assert not sent.done()
        full.remove()
        assert (await sent).offset == 0
        assert await end_offset(broker) == 1


@pytest.mark.asyncio
async def test_librdkafka_sends_again_until_there_is_room() -> None:
    async with Broker(topics={"orders": 1}, log_level="error") as broker:
        full = broker.disk.add(DiskFull(topic="orders"))
        producer = librdkafka(broker.bootstrap, [])
        producer.produce("orders", b"paid")
        await until(lambda: full.fired > 1)
        assert len(producer) == 1
        full.remove()
        assert await is_flushed(producer)
        assert await end_offset(broker) == 1


# -- a certificate that expires --------------------------------------------------------------------


@pytest.mark.asyncio
async def test_aiokafka_notices_an_expired_certificate_when_it_connects() -> None:
    async with Broker(topics={"orders": 1}) as broker, TlsEnd(broker) as end:

        def producer() -> AIOKafkaProducer:
            return AIOKafkaProducer(
                bootstrap_servers=end.bootstrap,
                security_protocol="SSL",
                ssl_context=ssl.create_default_context(cadata=AUTHORITY),
            )

        async with producer() as connected:
            await connected.send_and_wait("orders", b"before")
            end.expire()
            await connected.send_and_wait("orders", b"connected")
            new = producer()
            with pytest.raises(KafkaConnectionError):
                await new.start()
            await new.stop()
            end.renew()
            async with producer() as renewed:
                await renewed.send_and_wait("orders", b"renewed")


@pytest.mark.asyncio
async def test_librdkafka_notices_an_expired_certificate_when_it_connects() -> None:
    tls = {"security_protocol": "SSL", "ssl_ca_pem": AUTHORITY}
    async with Broker(topics={"orders": 1}) as broker, TlsEnd(broker) as end:
        errors: list[str] = []
        connected = librdkafka(end.bootstrap, errors, **tls)
        connected.produce("orders", b"before")
        assert await is_flushed(connected)
        end.expire()
        connected.produce("orders", b"connected")
        assert await is_flushed(connected)
        assert errors == []

        new = librdkafka(end.bootstrap, errors, **tls)
        new.produce("orders", b"new")
        await until(
            lambda: new.poll(0) or any("certificate has expired" in each for each in errors)
        )
        assert len(new) == 1
        end.renew()
        assert await is_flushed(new)
        assert await end_offset(broker) == 3
