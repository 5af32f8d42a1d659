"""The driver's calls: begin, commit and abort.

Spark calls each in another process, without an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from fencepost_client.errors import KafkaError
from fencepost_client.network.network_client import NetworkClient
from fencepost_client.producer.shared_transaction import OpenTransaction, SharedTransactionManager
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_client.requests.procedures import Procedure

from fencepost_pipeline.sink import commit_protocol as protocol
from fencepost_pipeline.sink.commit_protocol import Begun
from fencepost_pipeline.sink.connections import connected
from fencepost_pipeline.sink.marker import Marker
from fencepost_pipeline.sink.settings import SinkSettings

T = TypeVar("T")


def begin(settings: SinkSettings) -> Begun:
    """Fence earlier drivers, abort their transaction, and read the marker."""

    def of(client: NetworkClient) -> Procedure[Begun]:
        manager = TransactionManager(
            settings.transactional_id, settings.transaction_timeout_ms, client.settings.chance
        )
        return protocol.begin(
            manager,
            settings.place,
            lambda: client.connections.feature("transaction.version"),
            client.backoff,
        )

    return run(settings, of)


def commit(settings: SinkSettings, transaction: OpenTransaction, marker: Marker | None) -> None:
    """Commit a transaction, with its marker."""

    def of(client: NetworkClient) -> Procedure[None]:
        manager = SharedTransactionManager(transaction, client.settings.chance)
        return protocol.commit(manager, settings.place, marker, client.backoff)

    run(settings, of)


def abort(settings: SinkSettings, transaction: OpenTransaction) -> KafkaError | None:
    """Abort a transaction, unless it has ended; returns the error in that case."""
    return run(
        settings,
        lambda client: protocol.abort(
            SharedTransactionManager(transaction, client.settings.chance)
        ),
    )


def partition_count(settings: SinkSettings, topic: str) -> int:
    """The number of partitions of a topic."""

    async def counted(client: NetworkClient) -> int:
        return (await client.metadata.topic(topic)).partition_count

    return _called(settings, counted)


def run(settings: SinkSettings, procedure_of: Callable[[NetworkClient], Procedure[T]]) -> T:
    """Run a procedure."""

    async def running(client: NetworkClient) -> T:
        return await client.run(procedure_of(client))

    return _called(settings, running)


def _called(settings: SinkSettings, work: Callable[[NetworkClient], Coroutine[Any, Any, T]]) -> T:
    with connected(settings) as here:
        return here.portal.call(work, here.client)
