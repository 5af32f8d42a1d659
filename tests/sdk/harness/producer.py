"""Topics for producers, and what is in a log in the end."""

from __future__ import annotations

from typing import Any

from fencepost_protocol.generated.create_topics import CreatableTopic, CreateTopicsRequest
from fencepost_protocol.generated.fetch import FetchPartition, FetchRequest, FetchTopic
from fencepost_protocol.records.batch import split_batches
from fencepost_protocol.records.control import read_control_record
from fencepost_protocol.records.reader import iter_records

from tests.support.broker import Client


async def create(bootstrap: str, topic: str, partitions: int = 1) -> None:
    async with Client(bootstrap) as client:
        wanted = CreateTopicsRequest([CreatableTopic(topic, partitions, 1)], 10_000)
        assert not (await client.ask(wanted, 5)).topics[0].error_code


async def read(
    bootstrap: str, topic: str, partition: int = 0, *, until_ended: bool = True
) -> list[Any]:
    """Everything that is in the log: values, and the types of markers.

    Apache Kafka answers EndTxn before its markers are written: they are waited for.
    """
    found: list[Any] = []
    async with Client(bootstrap) as client:
        part = FetchPartition(partition, fetch_offset=0, partition_max_bytes=16 << 20)
        while True:
            wanted = FetchRequest(
                max_wait_ms=100,
                isolation_level=int(until_ended),  # read_committed: up to what is decided
                topics=[FetchTopic(topic, partitions=[part])],
            )
            answer = (await client.ask(wanted, 11)).responses[0].partitions[0]
            assert not answer.error_code
            undecided = until_ended and answer.last_stable_offset < answer.high_watermark
            if not answer.records and not undecided:
                return found
            for header, batch in split_batches(answer.records):
                part.fetch_offset = header.next_offset
                if header.is_control:
                    found.append(read_control_record(batch).type.name)
                else:
                    found += [
                        record.value and bytes(record.value) for record in iter_records(batch)
                    ]
