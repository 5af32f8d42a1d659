"""Producers of others with the same methods: aiokafka and librdkafka."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Self

import confluent_kafka
from aiokafka import AIOKafkaProducer

from tests.support.waiting import until
from tests.wire.scenario_harness import READ_S

SILENT = logging.getLogger("silent")
SILENT.addHandler(logging.NullHandler())
SILENT.propagate = False


class Aiokafka:
    """A producer of aiokafka."""

    def __init__(self, bootstrap: str, **settings: Any) -> None:
        names = {name.replace(".", "_"): value for name, value in settings.items()}
        self.producer = AIOKafkaProducer(bootstrap_servers=bootstrap, **names)

    async def __aenter__(self) -> Self:
        await self.producer.start()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.producer.stop()

    async def begin(self) -> None:
        await self.producer.begin_transaction()

    async def send(self, value: bytes = b"paid") -> None:
        await self.producer.send_and_wait("orders", value)

    async def commit(self) -> None:
        await self.producer.commit_transaction()


class Librdkafka:
    """A producer of librdkafka."""

    def __init__(self, bootstrap: str, **settings: Any) -> None:
        names = {name.replace("_", "."): value for name, value in settings.items()}
        self._is_transactional = "transactional_id" in settings
        self.producer = confluent_kafka.Producer(
            {"bootstrap.servers": bootstrap, "logger": SILENT, **names}
        )

    async def __aenter__(self) -> Self:
        if self._is_transactional:
            await asyncio.to_thread(self.producer.init_transactions, READ_S)
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.producer.purge()
        del self.producer

    async def begin(self) -> None:
        self.producer.begin_transaction()

    async def send(self, value: bytes = b"paid") -> None:
        told: list[Any] = []
        self.producer.produce("orders", value, on_delivery=lambda error, _: told.append(error))
        await until(lambda: (self.producer.poll(0), told)[1])
        if told[0] is not None:
            raise confluent_kafka.KafkaException(told[0])

    async def commit(self) -> None:
        await asyncio.to_thread(self.producer.commit_transaction, READ_S)


Client = type[Aiokafka] | type[Librdkafka]
CLIENTS: list[Client] = [Aiokafka, Librdkafka]
