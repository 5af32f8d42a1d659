"""The part of ``Admin`` for transactions and producers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final

from fencepost_client.admin.hanging import (
    HangingTransaction,
    TransactionMarker,
    abort_transaction,
    all_producers,
    find_hanging,
)
from fencepost_client.admin.transactions import (
    ProducerDescription,
    ProducerIdentity,
    TransactionDescription,
    TransactionFilters,
    TransactionListing,
    describe_producers,
    describe_transactions,
    fence_producers,
    list_transactions,
)
from fencepost_client.clients.admin.base import AdminBase
from fencepost_client.types import TopicPartition

_OLDER_THAN_MS: Final = 900_000
"""The default of transaction.max.timeout.ms."""


class AdminTransactions(AdminBase):
    """Transactions and producers (KIP-664)."""

    async def list_transactions(
        self,
        *,
        states: Sequence[str] = (),
        producer_ids: Sequence[int] = (),
        longer_than_ms: int | None = None,
        pattern: str | None = None,
    ) -> list[TransactionListing]:
        """The transactional ids of the cluster that match all filters.

        for each in await admin.list_transactions(states=["Ongoing"], longer_than_ms=60_000):
            print(each.transactional_id)
        """
        filters = TransactionFilters(states, producer_ids, longer_than_ms, pattern)
        return await self._run(list_transactions(filters, self._backoff()))

    async def describe_transactions(
        self, transactional_ids: Iterable[str]
    ) -> dict[str, TransactionDescription]:
        """Describe transactions by their transactional ids.

        print((await admin.describe_transactions(["billing-1"]))["billing-1"].partitions)
        """
        return await self._run(describe_transactions(transactional_ids, _now_ms(), self._backoff()))

    async def describe_producers(
        self, partitions: Iterable[TopicPartition] | None = None, *, broker_id: int | None = None
    ) -> dict[TopicPartition, tuple[ProducerDescription, ...]]:
        """The active producers of partitions, by the leaders or by the given broker.

        for producer in (await admin.describe_producers([partition]))[partition]:
            print(producer.producer_id, producer.start_offset)
        """
        if partitions is None:
            return await self._run(all_producers(broker_id, self._backoff()))
        return await self._run(describe_producers(partitions, broker_id, self._backoff()))

    async def fence_producers(
        self, transactional_ids: Iterable[str]
    ) -> dict[str, ProducerIdentity]:
        """Fence the producers of ids and abort their transactions; returns the new identities.

        await admin.fence_producers(["billing-1"])
        """
        return await self._run(
            fence_producers(transactional_ids, self._timeout_ms, self._backoff())
        )

    async def force_terminate_transaction(self, transactional_id: str) -> None:
        """Abort the open transaction of an id and fence its producer, as ``fence_producers`` does.

        It is meant for a prepared transaction that no producer will complete (KIP-939).

        await admin.force_terminate_transaction("billing-1")
        """
        await self.fence_producers([transactional_id])

    async def find_hanging_transactions(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        *,
        broker_id: int | None = None,
        older_than_ms: int = _OLDER_THAN_MS,
    ) -> list[HangingTransaction]:
        """Open transactions in these partitions, or in all, that no coordinator will end.

        It leaves out transactions that are younger than ``older_than_ms``, which should be the
        cluster's transaction.max.timeout.ms. With a broker, it looks at the replicas there.

        for hanging in await admin.find_hanging_transactions():
            await admin.abort_transaction(hanging.marker)
        """
        return await self._run(
            find_hanging(partitions, broker_id, older_than_ms, _now_ms(), self._backoff())
        )

    async def abort_transaction(self, marker: TransactionMarker, *, force: bool = False) -> None:
        """End a hanging transaction in a partition, with an abort marker.

        Raises ``TransactionKeptOpenError`` if a coordinator will end the transaction, which could
        then be committed in other partitions. ``force`` writes the marker all the same.

        await admin.abort_transaction(hanging.marker)
        """
        await self._run(abort_transaction(marker, _now_ms(), self._backoff(), force=force))


def _now_ms() -> int:
    """The clock of this machine, for brokers that do not report theirs."""
    return int(time.time() * 1000)
