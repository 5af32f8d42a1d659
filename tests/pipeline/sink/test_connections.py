"""Connections that a worker keeps from batch to batch, whatever happens in between."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from fencepost_client.blocking import Admin
from fencepost_client.network.network_client import NetworkClient
from fencepost_pipeline.sink import connections, driver
from fencepost_pipeline.sink.connections import connected
from fencepost_pipeline.sink.marker import Batch
from fencepost_pipeline.sink.task_writer import Attempt, write

from tests.pipeline.sink.brokers import Running
from tests.pipeline.sink.lives import QUERY, Spark, rows
from tests.support.apache_kafka import free_ports
from tests.support.up import Up


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    connections.close()
    threads = {each.name for each in threading.enumerate()}
    assert "fencepost-client" not in threads, "the loop has ended with its last connections"


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Up]:
    (port,) = free_ports(1)
    with Up("--data-dir", str(tmp_path), "--port", str(port)) as up:
        yield up


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[NetworkClient]:
    """All clients that were made."""
    all_of_them: list[NetworkClient] = []
    start = NetworkClient.start

    async def noted(client: NetworkClient) -> None:
        all_of_them.append(client)
        await start(client)

    monkeypatch.setattr(NetworkClient, "start", noted)
    return all_of_them


def batches(count: int) -> list[list[pa.RecordBatch]]:
    """Batches of two tasks."""
    return [[rows([f"{each}-{task}"], task) for task in range(2)] for each in range(count)]


def values_of(count: int, first: int = 0) -> Counter[bytes | None]:
    return Counter(f"{each}-{task}".encode() for each in range(first, count) for task in range(2))


def test_a_worker_connects_once_and_a_program_each_time(
    broker: Up, made: list[NetworkClient]
) -> None:
    cluster = Running(broker)
    cluster.create("t")
    made.clear()
    Spark(cluster.settings("t", "program"), batches(2)).live()
    assert [client.closed for client in made] == [True] * 8, "a begin, two tasks and a commit each"
    connections.keep()
    made.clear()
    Spark(cluster.settings("t", "worker"), batches(3)).live()
    assert [client.closed for client in made] == [False]
    assert cluster.values("t") == values_of(2) + values_of(3)


def test_a_broker_that_was_restarted_is_connected_to_again(broker: Up) -> None:
    cluster = Running(broker)
    cluster.create("t")
    connections.keep()
    query = Spark(cluster.settings("t", "x"), batches(1))
    query.live()
    broker.kill()
    broker.start()
    query.batches = batches(3)
    query.live()
    assert cluster.values("t") == values_of(3)


def test_a_topic_that_was_made_anew_between_batches_is_no_error(broker: Up) -> None:
    cluster = Running(broker)
    cluster.create("t")
    connections.keep()
    query = Spark(cluster.settings("t", "x"), batches(1))
    query.live()
    with Admin(cluster.bootstrap) as admin:
        admin.delete_topics(["t"])
    cluster.create("t", 3)
    query.batches = batches(2)
    query.live()
    assert cluster.values("t") == values_of(2, first=1)


def test_other_settings_get_connections_of_their_own(broker: Up, made: list[NetworkClient]) -> None:
    settings = Running(broker).settings("t", "x")
    others = Running(broker).settings("t", "x", api_timeout_ms=50_000)
    connections.keep()
    for each in (settings, settings, others, settings):
        with connected(each):
            pass
    assert [client.closed for client in made] == [True, True, False]


def test_after_an_error_nothing_is_kept(broker: Up, made: list[NetworkClient]) -> None:
    cluster = Running(broker)
    cluster.create("t")
    settings = cluster.settings("t", "x")
    connections.keep()
    made.clear()
    begun = driver.begin(settings)
    report = write(iter([rows(["a"], 7)]), begun, settings, Attempt(0, batch=Batch(0, QUERY)))
    assert report.error is not None
    assert "partition 7" in report.error
    assert [client.closed for client in made] == [True]


def test_connections_are_not_kept_for_long(
    broker: Up, made: list[NetworkClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = Running(broker)
    cluster.create("t")
    connections.keep()
    made.clear()
    monkeypatch.setattr(connections, "_KEPT_MS", -1)
    Spark(cluster.settings("t", "worker"), batches(1)).live()
    assert [client.closed for client in made] == [True] * 3 + [False], "each use makes its own"
    assert cluster.values("t") == values_of(1)
