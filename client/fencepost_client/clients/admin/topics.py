"""The part of ``Admin`` for topics and partitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fencepost_client.admin.partitions import (
    Election,
    ListedOffset,
    delete_records,
    elect_leaders,
    list_offsets,
)
from fencepost_client.admin.reassignments import (
    Reassignment,
    alter_partition_reassignments,
    list_partition_reassignments,
)
from fencepost_client.admin.topics import (
    CreatedTopic,
    NewPartitions,
    NewTopic,
    TopicDescription,
    TopicListing,
    create_partitions,
    create_topics,
    delete_topics,
    describe_topics,
    list_topics,
)
from fencepost_client.clients.admin.base import AdminBase
from fencepost_client.types import TopicPartition


class AdminTopics(AdminBase):
    """Topics and partitions."""

    async def create_topics(
        self, topics: Iterable[NewTopic], *, validate_only: bool = False
    ) -> dict[str, CreatedTopic]:
        """Create topics, as many as possible; raises the first error after that.

        await admin.create_topics([NewTopic("orders", 3, configs={"retention.ms": "60000"})])
        """
        return await self._run(
            create_topics(topics, self._backoff(), self._timeout_ms, validate_only=validate_only)
        )

    async def create_partitions(
        self, counts: Mapping[str, int | NewPartitions], *, validate_only: bool = False
    ) -> None:
        """Increase the number of partitions of topics.

        await admin.create_partitions({"orders": 6})
        """
        await self._run(
            create_partitions(
                counts, self._backoff(), self._timeout_ms, validate_only=validate_only
            )
        )

    async def delete_topics(self, topics: Iterable[str | bytes]) -> None:
        """Delete topics and their records, by name or by id.

        await admin.delete_topics(["orders"])
        """
        await self._run(delete_topics(topics, self._backoff(), self._timeout_ms))

    async def list_topics(self, *, include_internal: bool = False) -> dict[str, TopicListing]:
        """All topics, by name.

        names = list(await admin.list_topics())
        """
        return await self._run(list_topics(self._backoff(), include_internal=include_internal))

    async def describe_topics(
        self, names: Iterable[str] | None = None
    ) -> dict[str, TopicDescription]:
        """Describe topics, these or all.

        partitions = (await admin.describe_topics(["orders"]))["orders"].partitions
        """
        return await self._run(describe_topics(names, self._backoff()))

    # -- partitions ----------------------------------------------------------------------------

    async def list_offsets(
        self, times: Mapping[TopicPartition, int], *, read_committed: bool = False
    ) -> dict[TopicPartition, ListedOffset]:
        """The offset for a timestamp in ms, or for a special position.

        Special positions are ``EARLIEST``, ``LATEST`` (the last stable offset with
        ``read_committed``), ``MAX_TIMESTAMP``, ``EARLIEST_LOCAL``, ``LATEST_TIERED`` and
        ``EARLIEST_PENDING_UPLOAD``.

        ends = await admin.list_offsets({TopicPartition("orders", 0): LATEST})
        """
        return await self._run(
            list_offsets(times, self._backoff(), self._timeout_ms, read_committed=read_committed)
        )

    async def delete_records(
        self, before_offsets: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Delete the records before an offset (-1: all); returns the new first offsets.

        await admin.delete_records({TopicPartition("orders", 0): 1000})
        """
        return await self._run(delete_records(before_offsets, self._backoff(), self._timeout_ms))

    async def elect_leaders(
        self,
        partitions: Iterable[TopicPartition] | None = None,
        election: Election = Election.PREFERRED,
    ) -> dict[TopicPartition, bool]:
        """Elect leaders of these partitions, or of all that need one; whether each changed.

        await admin.elect_leaders([TopicPartition("orders", 0)])
        """
        return await self._run(
            elect_leaders(election, partitions, self._backoff(), self._timeout_ms)
        )

    async def alter_partition_reassignments(
        self,
        replicas: Mapping[TopicPartition, Sequence[int] | None],
        *,
        allow_replication_factor_change: bool = True,
    ) -> None:
        """Move replicas to these brokers, the preferred leader first; ``None`` cancels a move.

        It returns when the move has begun; ``list_partition_reassignments`` shows when it is done.

        await admin.alter_partition_reassignments({TopicPartition("orders", 0): [2, 3]})
        """
        await self._run(
            alter_partition_reassignments(
                replicas,
                self._backoff(),
                self._timeout_ms,
                allow_replication_factor_change=allow_replication_factor_change,
            )
        )

    async def list_partition_reassignments(
        self, partitions: Iterable[TopicPartition] | None = None
    ) -> dict[TopicPartition, Reassignment]:
        """The partitions whose replicas are moving, of these or of all.

        moving = await admin.list_partition_reassignments()
        """
        return await self._run(
            list_partition_reassignments(partitions, self._backoff(), self._timeout_ms)
        )
