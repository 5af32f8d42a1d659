"""What a client holds while it waits: a program may have hundreds of consumers."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable

import pytest
from fencepost_client.metadata.cluster import Cluster
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.connection import Connection
from fencepost_protocol.generated.index import APIS
from fencepost_protocol.generated.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)

from tests.machine.client.harness.connection import ready, submit

PARTITIONS = 100
MADE = 20


def held_bytes(make: Callable[[], object]) -> float:
    """The bytes that stay allocated for each object after the first one."""
    gc.collect()
    tracemalloc.start()
    try:
        kept = [make()]
        before = tracemalloc.get_traced_memory()[0]
        kept += [make() for _ in range(MADE)]
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / MADE
    finally:
        tracemalloc.stop()


def waiting_connection() -> Connection:
    connection = ready(*((api_key, 0, 9) for api_key in APIS))
    connection.receive(2, submit(connection, "token"))
    return connection


def cluster(rack: str | None) -> Cluster:
    partitions = [
        MetadataResponsePartition(
            0, index, index % 3, 7, [each % 3 for each in range(index, index + 3)]
        )
        for index in range(PARTITIONS)
    ]
    brokers = [MetadataResponseBroker(each, "host", 9092, rack) for each in range(3)]
    topic = MetadataResponseTopic(0, "t", bytes(16), partitions=partitions)
    made = Cluster(Backoff(lambda: 0.5))
    made.answered(MetadataResponse(0, brokers, topics=[topic]), 0)
    return made


def test_a_connection_that_waits_has_no_buffer_and_no_table_of_its_own() -> None:
    assert held_bytes(waiting_connection) < 3_000


@pytest.mark.parametrize("rack", [None, "a"])
def test_metadata_takes_an_entry_a_partition(rack: str | None) -> None:
    entry = 70 if rack is None else 140
    assert held_bytes(lambda: cluster(rack)) < 2_000 + entry * PARTITIONS
