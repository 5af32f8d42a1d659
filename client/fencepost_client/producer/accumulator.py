"""``Accumulator``: open batches, one per partition, and the memory that they share.

Memory is reserved when a batch is opened, and released when its outcome is known, so that adding a
record is usually a look-up and a comparison.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from fencepost_protocol.records.batch import HEADER_SIZE

from fencepost_client.producer.batch import NOBODY, Batch, Identity
from fencepost_client.producer.partitioner import Partitioner, by_murmur2
from fencepost_client.requests.backoff import Chance

BATCH_SIZE: Final = 1 << 17
"""Eight times Java's: what a request costs here is worth that of encoding 100 records."""


@dataclass(slots=True, eq=False)
class Queue:
    """The batches of a partition, oldest first; the last one may be open."""

    topic: str
    partition: int
    waiting: deque[Batch] = field(default_factory=deque)
    open: Batch | None = None
    in_flight: list[Batch] = field(default_factory=list)
    identity: Identity = NOBODY
    next_sequence: int = 0
    is_known: bool = False
    """Whether the broker has acknowledged a batch with this producer id and epoch."""
    has_hole: bool = False
    """A batch with a sequence was given up, so later sequences may be refused."""


@dataclass(slots=True)
class TopicQueues:
    """The partitions of a topic, and the current one for records without a key."""

    queues: list[Queue]
    sticky: Queue


class Accumulator:
    """All records that are not acknowledged."""

    def __init__(
        self,
        chance: Chance,
        *,
        batch_size: int = BATCH_SIZE,
        buffer_memory: int = 32 << 20,
        partitioner: Partitioner = by_murmur2,
    ) -> None:
        self.batch_size = batch_size
        self.buffer_memory = buffer_memory
        self.reserved_bytes = 0
        self.unfinished = 0
        """Batches without an outcome."""
        self.topics: dict[str, TopicQueues] = {}
        self.active: dict[Queue, None] = {}
        """Queues with batches to send."""
        self.full = 0
        """Batches that wait and take no more records."""
        self._allowed: frozenset[tuple[str, int]] | None = None
        self._opened = 0
        self._chance = chance
        self._partitioner = partitioner

    # -- topics --------------------------------------------------------------------------------

    def set_partitions(self, topic: str, count: int) -> None:
        """Set the partition count of a topic."""
        known = self.topics.get(topic)
        if known is None:
            queues = [Queue(topic, partition) for partition in range(count)]
            self.topics[topic] = TopicQueues(queues, self._any_of(queues))
        else:
            known.queues += [Queue(topic, number) for number in range(len(known.queues), count)]

    def allow(self, partitions: frozenset[tuple[str, int]] | None) -> None:
        """Let records without a key go to these partitions only; ``None`` is all there are."""
        self._allowed = partitions
        for known in self.topics.values():
            if not self._is_allowed(known.sticky):
                known.sticky = self._any_of(known.queues)

    def _is_allowed(self, queue: Queue) -> bool:
        return self._allowed is None or (queue.topic, queue.partition) in self._allowed

    def _any_of(self, queues: list[Queue]) -> Queue:
        """One that is allowed, if there is one."""
        if self._allowed is not None:
            queues = [queue for queue in queues if self._is_allowed(queue)] or queues
        return queues[int(self._chance() * len(queues))]

    # -- records -------------------------------------------------------------------------------

    def queue_for(self, topic: str, key: bytes | None, partition: int | None) -> Queue:
        """The queue for a record of a known topic; ``IndexError`` for an unknown partition."""
        known = self.topics[topic]
        if partition is not None:
            if partition < 0:
                raise IndexError(partition)
            return known.queues[partition]
        if key is None:
            return known.sticky
        queues = known.queues
        return queues[self._partitioner(topic, key, len(queues))]

    def has_memory(self, size: int) -> bool:
        """Whether a batch for a record of this size may be opened.

        One always may: otherwise a record that is larger than the memory would wait for ever.
        """
        needed = max(self.batch_size, HEADER_SIZE + size)
        return not self.reserved_bytes or self.reserved_bytes + needed <= self.buffer_memory

    def open_batch(self, queue: Queue, size: int, now_ms: int) -> Batch:
        """Open a new batch with room for this record."""
        limit_bytes = max(self.batch_size, HEADER_SIZE + size)
        self._opened += 1
        batch = Batch(queue.topic, queue.partition, limit_bytes, now_ms, self._opened)
        self.close_batch(queue)
        queue.open = batch
        queue.waiting.append(batch)
        self.active[queue] = None
        self.reserved_bytes += limit_bytes
        self.unfinished += 1
        return batch

    def add_encoded(self, queue: Queue, encoded: bytearray, now_ms: int) -> Batch:
        """Add an encoded batch, which is sent as it is."""
        self._opened += 1
        batch = Batch.of_encoded(queue.topic, queue.partition, encoded, now_ms, self._opened)
        self.close_batch(queue)
        queue.waiting.append(batch)
        self.active[queue] = None
        self.full += 1
        self.reserved_bytes += batch.limit_bytes
        self.unfinished += 1
        return batch

    def close_batch(self, queue: Queue) -> None:
        """Close the open batch."""
        if queue.open is not None:
            queue.open = None
            self.full += 1

    def next_sticky(self, topic: str) -> Queue:
        """Change the sticky partition, because its batch is full."""
        known = self.topics[topic]
        if len(known.queues) > 1:
            others = [queue for queue in known.queues if queue is not known.sticky]
            another = self._any_of(others)
            if self._is_allowed(another):
                known.sticky = another
        return known.sticky

    # -- outcomes ------------------------------------------------------------------------------

    def taken(self, queue: Queue) -> Batch:
        """Take the oldest batch of a queue for sending."""
        batch = queue.waiting.popleft()
        if batch is queue.open:
            queue.open = None
        elif not batch.attempts:
            self.full -= 1
        if not queue.waiting:
            self.active.pop(queue, None)
        return batch

    def put_back(self, queue: Queue, batch: Batch) -> None:
        """Put back a batch that was sent, before all later ones."""
        behind = 0
        for waiting in queue.waiting:
            if waiting.order > batch.order:
                break
            behind += 1
        queue.waiting.insert(behind, batch)
        self.active[queue] = None

    def finished(self, batch: Batch) -> None:
        """Release the memory of a batch, whose outcome is known."""
        self.reserved_bytes -= batch.limit_bytes
        self.unfinished -= 1
