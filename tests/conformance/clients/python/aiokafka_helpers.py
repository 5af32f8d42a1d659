"""Writing and reading through aiokafka, as its scripts need it."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import for_code

from tests.conformance.clients.python.checks import (
    GIVE_UP_SECONDS,
    MismatchError,
    Record,
    Script,
    expect,
)


@asynccontextmanager
async def admin_client(script: Script) -> AsyncIterator[Any]:
    client = AIOKafkaAdminClient(bootstrap_servers=script.bootstrap)
    await client.start()
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def producing(script: Script, **config: Any) -> AsyncIterator[Any]:
    producer = AIOKafkaProducer(bootstrap_servers=script.bootstrap, **config)
    await producer.start()
    try:
        yield producer
    finally:
        await producer.stop()


@asynccontextmanager
async def consuming(script: Script, *topics: str, **config: Any) -> AsyncIterator[Any]:
    consumer = AIOKafkaConsumer(*topics, bootstrap_servers=script.bootstrap, **config)
    await consumer.start()
    try:
        yield consumer
    finally:
        await consumer.stop()


async def create_topic(script: Script, name: str, partitions: int, **settings: str) -> None:
    """Creates it and waits until it can be used, which may be a moment later.

    Its settings are written with _ for the dots; it keeps its records however old they are.
    """
    configs = {key.replace("_", "."): value for key, value in settings.items()}
    topic = NewTopic(name, partitions, 1, topic_configs={"retention.ms": "-1", **configs})
    async with admin_client(script) as client:
        answer = await client.create_topics([topic])
        expect(answer.topic_errors[0][1], 0, f"the error code for {name}")
        await wait_until_known(client, name)
    # A broker may tell of a partition before it takes records for it: see FINDINGS.md.
    async with consuming(script) as consumer:
        await consumer.end_offsets([TopicPartition(name, number) for number in range(partitions)])


async def wait_until_known(client: Any, name: str) -> None:
    async def known() -> bool:
        (description,) = await client.describe_topics([name])
        return bool(description["error_code"] == 0)

    await eventually(known, f"{name} is known")


async def eventually(condition: Callable[[], Awaitable[bool]], what: str) -> None:
    """Asks again until it is so; for what a broker makes true a moment after its answer."""
    deadline = time.monotonic() + GIVE_UP_SECONDS
    while not await condition():
        if time.monotonic() > deadline:
            raise MismatchError(f"not within {GIVE_UP_SECONDS:.0f} s: {what}")
        await asyncio.sleep(0.02)


async def refused(wanted: type[Exception], call: Awaitable[Any]) -> None:
    """Expects this error of the call."""
    try:
        answer = await asyncio.wait_for(call, GIVE_UP_SECONDS)
    except wanted:
        return
    raise MismatchError(f"no {wanted.__name__}, but {answer}")


def expect_code(code: int, wanted: type[Exception]) -> None:
    """For the calls that put errors into their answers instead of raising them."""
    expect(for_code(code).__name__, wanted.__name__, "the error")


async def produce(
    script: Script, topic: str, records: Iterable[tuple[int, Record]], **config: Any
) -> list[Any]:
    """Writes the records to their partitions; what the broker said of each, in the same order."""
    async with producing(script, **config) as producer:
        futures = await send(producer, topic, records)
        return await asyncio.wait_for(asyncio.gather(*futures), GIVE_UP_SECONDS)


async def send(producer: Any, topic: str, records: Iterable[tuple[int, Record]]) -> list[Any]:
    return [
        await producer.send(
            topic,
            key=record.key,
            value=record.value,
            headers=list(record.headers),
            partition=partition,
            timestamp_ms=record.timestamp,
        )
        for partition, record in records
    ]


async def read(
    script: Script, topic: str, starts: Mapping[int, int | None], **config: Any
) -> dict[int, list[tuple[int, Record]]]:
    """The offsets and records of these partitions to the end; None starts at the beginning."""
    found: dict[int, list[tuple[int, Record]]] = {partition: [] for partition in starts}
    places = {partition: TopicPartition(topic, partition) for partition in starts}
    deadline = time.monotonic() + GIVE_UP_SECONDS
    async with consuming(script, fetch_max_wait_ms=10, **config) as consumer:
        consumer.assign(list(places.values()))
        for partition, start in starts.items():
            if start is not None:
                consumer.seek(places[partition], start)
        # All at once, before the consumer itself asks where to begin: see FINDINGS.md.
        from_beginning = [places[partition] for partition, start in starts.items() if start is None]
        if from_beginning:
            await consumer.seek_to_beginning(*from_beginning)
        ends = await consumer.end_offsets(list(places.values()))
        # A position moves on over the markers of transactions too, so that it reaches the end.
        while [await consumer.position(place) for place in ends] != list(ends.values()):
            for place, messages in (await consumer.getmany(timeout_ms=50)).items():
                found[place.partition] += [(one.offset, to_record(one)) for one in messages]
            if time.monotonic() > deadline:
                counts = {partition: len(records) for partition, records in found.items()}
                raise MismatchError(f"the ends {ends} are not reached; records so far: {counts}")
    return found


def to_record(message: Any) -> Record:
    return Record(message.key, message.value, tuple(message.headers), message.timestamp)
