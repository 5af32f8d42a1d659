"""``async with producer.transaction()``: commit at the end, abort on an exception."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Final, Protocol, Self

from fencepost_client.clients.delivery import Deliveries, Delivery
from fencepost_client.errors import (
    AbortableTransactionError,
    KafkaError,
    RequestTimedOutError,
    timed_out_instead_of,
)
from fencepost_client.types import GroupMetadata, Headers, OffsetAndMetadata, TopicPartition

LAST_ABORT_MS: Final = 10_000
"""The longest wait for an abort at the end; after it, the coordinator aborts at the timeout."""


class TransactionalProducer(Protocol):
    """What a transaction needs of its producer."""

    is_abort_given_up: bool
    """An abort got no answer, and is left to the coordinator."""

    @property
    def is_prepared(self) -> bool:
        """Whether the transaction waits for ``complete``."""

    def begin(
        self, *, partitions: Iterable[TopicPartition] | None = None, group_id: str | None = None
    ) -> None:
        """Begin a transaction."""

    async def commit(self) -> None:
        """Commit it."""

    async def abort(self) -> None:
        """Abort it."""

    async def send(
        self,
        topic: str,
        value: bytes | None = None,
        *,
        key: bytes | None = None,
        partition: int | None = None,
        headers: Headers = (),
        timestamp_ms: int | None = None,
    ) -> Delivery:
        """Send a record."""

    async def send_many(
        self,
        topic: str,
        values: Iterable[bytes | None],
        *,
        keys: Iterable[bytes | None] | None = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Deliveries:
        """Send many records."""

    async def send_offsets(
        self,
        offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
        group: GroupMetadata | None = None,
    ) -> None:
        """Commit offsets with the transaction."""


class GroupMember(Protocol):
    """What a producer needs of the consumer that it is bound to."""

    def group_metadata(self) -> GroupMetadata:
        """The identity of the consumer in its group now."""


class Transaction:
    """One transaction; see ``Producer.transaction``."""

    def __init__(
        self,
        producer: TransactionalProducer,
        partitions: Iterable[TopicPartition] | None = None,
        group_id: str | None = None,
    ) -> None:
        self._producer = producer
        self._partitions = partitions
        self._group_id = group_id
        self.send = producer.send
        self.send_many = producer.send_many
        self.send_offsets = producer.send_offsets

    async def __aenter__(self) -> Self:
        self._producer.begin(partitions=self._partitions, group_id=self._group_id)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            try:
                await self._producer.commit()
            except AbortableTransactionError:
                await self._producer.abort()
                raise
            return
        if self._producer.is_prepared:
            return  # its outcome may be decided already
        try:
            await self._producer.abort()
        except KafkaError as why:
            say_not_aborted(error, why)
        else:
            if (timed_out := timed_out_instead_of(error)) is not None:
                raise timed_out from error


def say_not_aborted(error: BaseException, why: KafkaError) -> None:
    """Add a note to the first error: the abort has failed as well."""
    error.add_note(f"The transaction could not be aborted either: {why}")


async def abort_at_last(producer: TransactionalProducer) -> None:
    """Abort, and wait at most ``LAST_ABORT_MS``. After that the coordinator has to abort.

    Raises an error in that case. The next call raises it without another wait.
    """
    if not producer.is_abort_given_up:
        try:
            async with asyncio.timeout(LAST_ABORT_MS / 1000):
                await producer.abort()
        except TimeoutError:
            producer.is_abort_given_up = True
    if producer.is_abort_given_up:
        raise RequestTimedOutError(
            f"The transaction could not be aborted within {LAST_ABORT_MS} ms: the coordinator "
            f"aborts it when it times out."
        )
