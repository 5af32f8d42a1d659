"""Reading the partitions that are assigned to a consumer, by a group or by ``assign``.

This half of ``Consumer`` has positions and records; the other one has settings, groups and commits.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Final, TypeVar

from fencepost_client.clients.base import BaseClient
from fencepost_client.clients.fetch_loop import FetchLoop
from fencepost_client.consumer.fetcher import FetchSettings
from fencepost_client.consumer.list_offsets import EARLIEST, LATEST, list_offsets
from fencepost_client.consumer.positions import UNKNOWN, Position
from fencepost_client.consumer.record_batch import EncodedBatch, RecordBatch
from fencepost_client.errors import ConfigError, IllegalStateError, OffsetOutOfRangeError
from fencepost_client.metadata.cluster import is_legal_name
from fencepost_client.network.client_settings import ClientSettings
from fencepost_client.types import ConsumerRecord, OffsetAndMetadata, TopicPartition, whole_number

T = TypeVar("T")
_ITERATION_MS: Final = 3_000
"""How long ``async for`` waits for records before it asks for them again."""


def _no_position(where: TopicPartition) -> OffsetOutOfRangeError:
    return OffsetOutOfRangeError(
        f"{where.topic}-{where.partition} has no committed offset, and auto_offset_reset is 'none'."
    )


class PartitionReader(BaseClient):
    """The assigned partitions of a consumer, their positions and their records."""

    def __init__(
        self, settings: ClientSettings, fetch_settings: FetchSettings, max_poll_records: int
    ) -> None:
        super().__init__(settings)
        self._fetch_settings = fetch_settings
        self._max_poll_records = max_poll_records
        self._fetch_loop: FetchLoop | None = None
        self._resolving = asyncio.Lock()
        self._pending: deque[ConsumerRecord] = deque()
        """Records that ``async for`` has fetched and not returned: they do not count as read."""

    # -- what there is to read ------------------------------------------------------------------

    def assignment(self) -> set[TopicPartition]:
        """The partitions that this consumer reads."""
        return set(self._fetching().fetcher.positions)

    def _set_assignment(self, partitions: Iterable[TopicPartition]) -> None:
        loop = self._fetching()
        partitions = list(partitions)
        for where in partitions:
            if not is_legal_name(where.topic):
                raise ConfigError(f"{where.topic!r:.300} is not a topic name")
        new = loop.fetcher.assign(partitions)
        for where in {TopicPartition(r.topic, r.partition) for r in self._pending}:
            if where not in loop.fetcher.positions:
                self._drop_pending(where)
        if self._history is not None and new:
            self._history.line("assign")
        for where in new:
            self._connected().cluster.want(where.topic, self._connected().now_ms())
        loop.run_soon()

    # -- reading -------------------------------------------------------------------------------

    async def getmany(
        self, *, timeout_ms: int = 0, max_records: int | None = None
    ) -> list[ConsumerRecord]:
        """Return records that are there, or wait for the first ones; none after ``timeout_ms``.

        records = await consumer.getmany(timeout_ms=1000)
        """
        limit = self._max_poll_records if max_records is None else max_records
        if self._pending:
            return [self._pending.popleft() for _ in range(min(limit, len(self._pending)))]
        return await self._take(self._fetching().take, limit, timeout_ms)

    async def fetch_batches(
        self, *, timeout_ms: int = 0, max_records: int | None = None
    ) -> list[RecordBatch]:
        """Return whole batches as columns, without an object for each record; see ``getmany``.

            for batch in await consumer.fetch_batches(timeout_ms=1000):
                total += sum(len(value) for value in batch.values)

        The last batch is complete, so there may be more than ``max_records``.
        """
        for where, offset in self._unread().items():
            self.seek(where, offset)
        limit = self._max_poll_records if max_records is None else max_records
        return await self._take(self._fetching().take_batches, limit, timeout_ms)

    async def fetch_encoded(
        self,
        *,
        timeout_ms: int = 0,
        max_bytes: int = 8 << 20,
        until: Mapping[TopicPartition, int] | None = None,
    ) -> list[EncodedBatch]:
        """Return batches as they are in the log, for programs that decode them.

            where, end = TopicPartition("orders", 0), 1_000
            while consumer.positions()[where] < end:
                for batch in await consumer.fetch_encoded(timeout_ms=1000, until={where: end}):
                    decode(batch.data, batch.from_offset)

        Returns as soon as all positions in ``until`` are reached, if need be without a batch,
        because markers and aborted records move a position and are not returned. The last batch
        is complete, so there may be more than ``max_bytes``.
        """
        for where, offset in self._unread().items():
            self.seek(where, offset)
        take = self._fetching().take_encoded
        return await self._take(take, max_bytes, timeout_ms, until or {})

    async def _take(
        self,
        take: Callable[[int], list[T]],
        limit: int,
        timeout_ms: int,
        until: Mapping[TopicPartition, int] | None = None,
    ) -> list[T]:
        client, loop = self._connected(), self._fetching()
        deadline = client.loop.time() + timeout_ms / 1000
        with self._in_call():
            while True:
                await self._keep_up(deadline)
                found = take(limit)
                if self._history is not None:
                    self._history.polled(found, loop.fetcher.positions)
                left = deadline - client.loop.time()
                if found or left <= 0 or (until and self._has_reached(until)):
                    return found
                await loop.more(min(left, self._look_again_seconds()))
                if client.closed:
                    raise IllegalStateError("the consumer was closed")

    def _has_reached(self, until: Mapping[TopicPartition, int]) -> bool:
        positions = self._fetching().fetcher.positions
        return all(
            where in positions and positions[where].offset >= end for where, end in until.items()
        )

    def __aiter__(self) -> AsyncIterator[ConsumerRecord]:
        return self._records()

    async def _records(self) -> AsyncIterator[ConsumerRecord]:
        while True:
            await self.hold()
            while self._pending:
                # The position moves on now, and is committed when the next record is read.
                yield self._pending.popleft()

    async def hold(self) -> None:
        """Wait some time for records for ``held``."""
        self._pending.extend(await self.getmany(timeout_ms=_ITERATION_MS))

    @property
    def held(self) -> deque[ConsumerRecord]:
        """Records that iteration takes next, here or in another thread."""
        return self._pending

    def _in_call(self) -> AbstractContextManager[None]:
        """A context for the time that a call for records takes."""
        return nullcontext()

    async def _keep_up(self, until: float | None = None) -> None:
        """Do what is due before records are returned; wait for a group until a time of the loop."""
        del until
        await self._resolve()

    def _look_again_seconds(self) -> float:
        """How long a call may wait until ``_keep_up`` is due again."""
        return math.inf

    async def _committed_positions(
        self, partitions: list[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata]:
        """The committed offsets of the group in these partitions, if there is a group."""
        del partitions
        return {}

    # -- where to begin ------------------------------------------------------------------------

    async def _resolve(self) -> None:
        """Set the positions that are missing: to committed offsets, or by the reset policy."""
        positions = self._fetching().fetcher.positions
        unknown = {w: p for w, p in positions.items() if p.fetch_offset == UNKNOWN and not p.error}
        if not unknown:
            return
        async with self._resolving:
            await self._resolve_these(unknown)
        self._fetching().run_soon()

    async def _resolve_these(self, unknown: dict[TopicPartition, Position]) -> None:
        eras = {where: position.era for where, position in unknown.items()}
        fresh = [where for where, position in unknown.items() if position.reset_to is None]
        found: dict[TopicPartition, OffsetAndMetadata] = {}
        if fresh:
            found |= await self._committed_positions(fresh)
        wanted: dict[TopicPartition, int] = {}
        for where, position in unknown.items():
            if where not in found:
                reset_to = position.reset_to
                if reset_to is None:
                    reset_to = self._fetch_settings.reset_to
                if reset_to is None:
                    position.error = _no_position(where)
                else:
                    wanted[where] = reset_to
        if wanted:
            offsets = await self._offsets(wanted)
            found |= {where: OffsetAndMetadata(offset) for where, offset in offsets.items()}
        for where, offset in found.items():
            position = unknown[where]
            if position.era == eras[where]:
                position.seek(offset.offset, offset.leader_epoch)

    # -- positions -----------------------------------------------------------------------------

    def seek(
        self,
        partition: TopicPartition,
        offset: int | OffsetAndMetadata,
        *,
        until: int | None = None,
    ) -> None:
        """Read on from this offset; one with a leader epoch is checked first (KIP-320).

            consumer.seek(TopicPartition("orders", 0), 100)

        ``until`` is the end of a range: until the next ``seek``, no more records from that offset
        on are fetched than come with the last batch of the range.
        """
        known = offset if isinstance(offset, OffsetAndMetadata) else OffsetAndMetadata(offset)
        at = whole_number("the offset", known.offset)
        if self._history is not None:
            self._history.moved(partition, at)
        self._position(partition).seek(at, known.leader_epoch, until)
        self._drop_pending(partition)
        self._fetching().run_soon()

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """Read on from the first offset of these partitions, or of all assigned ones."""
        for where in partitions or self.assignment():
            self._seek_to_time(where, EARLIEST)

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Read on from the end of these partitions, or of all assigned ones."""
        for where in partitions or self.assignment():
            self._seek_to_time(where, LATEST)

    def _seek_to_time(self, where: TopicPartition, time_ms: int) -> None:
        if self._history is not None:
            self._history.moved(where)
        self._position(where).seek_to_time(time_ms)
        self._drop_pending(where)

    def pause(self, *partitions: TopicPartition) -> None:
        """Return no records of these partitions until ``resume``."""
        for where in partitions:
            unread = self.positions().get(where)
            if unread is not None and unread != self._position(where).offset:
                self.seek(where, unread)
            self._position(where).is_paused = True

    def resume(self, *partitions: TopicPartition) -> None:
        """End the pause of these partitions."""
        for where in partitions:
            self._position(where).is_paused = False
        self._fetching().run_soon()

    async def position(self, partition: TopicPartition) -> int:
        """The offset of the next record of a partition."""
        position = self._position(partition)
        await self._resolve()
        return self.positions().get(partition, position.offset)

    def _drop_pending(self, where: TopicPartition) -> None:
        self._pending = deque(r for r in self._pending if (r.topic, r.partition) != where)

    def _position(self, where: TopicPartition) -> Position:
        try:
            return self._fetching().fetcher.positions[where]
        except KeyError:
            raise IllegalStateError(f"{where} is not assigned to this consumer") from None

    def positions(self) -> dict[TopicPartition, int]:
        """All known positions, as ``commit`` and ``send_offsets`` take them."""
        positions = self._fetching().fetcher.positions
        known = {where: p.offset for where, p in positions.items() if p.offset != UNKNOWN}
        return known | self._unread()

    def lag(self) -> dict[TopicPartition, int]:
        """The number of offsets after each position, by the last answer of its broker.

            if sum(consumer.lag().values()) > 10_000:
                ...

        It counts up to the last record that this consumer may see. Partitions without an answer
        are left out.
        """
        found = {}
        for where, offset in self.positions().items():
            position = self._position(where)
            end = position.high_watermark
            if self._fetch_settings.read_committed:
                end = position.last_stable_offset
            if end != UNKNOWN:
                found[where] = max(0, end - offset)
        return found

    def topic_id(self, topic: str) -> bytes | None:
        """The id of a topic (KIP-516) in the last metadata, or ``None``.

        A topic that was deleted and created again has a new id.
        """
        return self._connected().metadata.topic_id(topic)

    def _to_commit(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """All known positions, with the leader epochs of the last records that were read."""
        positions = self._fetching().fetcher.positions
        known = {
            where: OffsetAndMetadata(position.offset, leader_epoch=position.epoch)
            for where, position in positions.items()
            if position.offset != UNKNOWN
        }
        return known | {where: OffsetAndMetadata(at) for where, at in self._unread().items()}

    def _unread(self) -> dict[TopicPartition, int]:
        """The first offsets of the records in ``held``."""
        return {TopicPartition(r.topic, r.partition): r.offset for r in reversed(self._pending)}

    # -- offsets of partitions -----------------------------------------------------------------

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """The first offset of each partition."""
        return await self._offsets(dict.fromkeys(partitions, EARLIEST))

    async def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The offset after the last record that this consumer may see, of each partition."""
        return await self._offsets(dict.fromkeys(partitions, LATEST))

    async def offsets_for_times(
        self, times_ms: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """The first offset with this timestamp or a later one; -1 if there is none."""
        return await self._offsets(times_ms)

    async def _offsets(self, wanted: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        client = self._connected()
        for topic in {where.topic for where in wanted}:
            await client.metadata.topic(topic)
        procedure = list_offsets(
            wanted,
            client.cluster.leader,
            client.backoff(),
            read_committed=self._fetch_settings.read_committed,
        )
        return await client.run(procedure)

    def _fetching(self) -> FetchLoop:
        self._connected()
        assert self._fetch_loop is not None
        return self._fetch_loop

    def _stop(self) -> None:
        if self._fetch_loop is not None:
            self._fetch_loop.stop()
