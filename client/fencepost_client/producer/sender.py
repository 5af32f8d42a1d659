"""``Sender``: which batches are sent when, in which order, and what their answers mean.

Sequences (KIP-98). A batch gets its sequence when it is first sent, and keeps it in every retry, so
that the broker can distinguish a retry from a loss. Up to five requests are under way to a broker,
which remembers the last five batches of a producer and partition.

The first batch of a partition is sent alone. A broker that does not know a producer accepts any
sequence, so if it refused the first batch, it would accept the second, and never the first again
(KAFKA-15591).

A batch that failed with a retriable error goes back to the front of its queue. The queue then waits
for all later batches under way: these are refused with OUT_OF_ORDER_SEQUENCE_NUMBER, or written
after all. Then they are sent again unchanged, one by one.

The hard case is a hole: a batch with a sequence that is given up, because it timed out or the
broker refuses it for good. Later batches can be written only if the lost batch was written, which
the client does not know. So they are sent with their old sequences. Only if the broker refuses
these for certain do they get new ones, from 0 in the producer's next epoch. Epochs are counted per
partition, as brokers compare them. *Rejected:* a new epoch at once, as in Kafka's producer: a batch
that was written, and whose answer was lost, would be written again.

In a transaction the epoch comes from the coordinator, and a failed batch leaves only the abort.
Waiting batches of all partitions then fail at once, and those under way when their answers say that
they cannot be written. Kafka's producer sends the latter again with new sequences, to be aborted.

::

    answer                                      batch
    none, or a retriable code                   back to the queue, same number
    OUT_OF_ORDER_SEQUENCE, there is a hole      back to the queue, refused for certain;
                                                in a transaction it fails
    OUT_OF_ORDER_SEQUENCE, something before it  back to the queue, same number
    OUT_OF_ORDER_SEQUENCE, nothing before it    fails: the broker has lost records
    UNKNOWN_PRODUCER_ID, INVALID_PRODUCER_EPOCH back to the queue, refused for certain
    too large, with more than one record        back in halves, under the same numbers
    DUPLICATE_SEQUENCE_NUMBER                   done, offset unknown
    anything else                               fails
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.generated.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from fencepost_protocol.primitives import ZERO_UUID
from fencepost_protocol.records.batch import add_to_sequence

from fencepost_client.errors import (
    DeliveryTimedOutError,
    KafkaError,
    RetriableError,
    producer_error,
)
from fencepost_client.producer.accumulator import Accumulator, Queue
from fencepost_client.producer.batch import NO_OFFSET, NOBODY, Batch, Identity
from fencepost_client.producer.marker_waits import MarkerWaits
from fencepost_client.producer.sender_settings import SenderSettings
from fencepost_client.requests.backoff import Backoff, Chance

EPOCH_MAX: Final = 0x7FFF
_REFUSED: Final = {ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.INVALID_PRODUCER_EPOCH}
_NOT_WRITTEN: Final = {
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
    ErrorCode.UNKNOWN_TOPIC_ID,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
}
"""Answers after which a batch is certainly not in the log because of this attempt."""
_NOT_REPLICATED: Final = {
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
}
"""What a leader answers, too, that nobody can tell that another one leads by now."""
_TOO_LARGE: Final = {ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE}


class TransactionPart(Protocol):
    """What the sender needs of a transaction."""

    marker_waits: MarkerWaits
    """Told how long each Produce took."""

    def may_send(self, topic: str, partition: int) -> bool:
        """Whether the partition belongs to the transaction; if not, it is added."""

    def sending(self, topic: str, partition: int) -> None:
        """A batch for the partition leaves."""

    def batch_failed(self, error: KafkaError) -> None:
        """A batch of the transaction will never be written."""

    def refusal(self) -> KafkaError | None:
        """Why nothing that is sent from now on can be committed."""


@dataclass(slots=True)
class Produce:
    """A Produce request with at most one batch of each partition."""

    node_id: int
    sent_ms: int
    batches: list[tuple[Queue, Batch]]
    topics: dict[bytes, str] = field(default_factory=dict)
    """By which id it names which topic (from version 13 on)."""


class Sender:
    """Decides about batches, between the accumulator and the connections."""

    def __init__(
        self,
        accumulator: Accumulator,
        settings: SenderSettings,
        chance: Chance,
        finished: Callable[[Batch], None],
        transaction: TransactionPart | None = None,
    ) -> None:
        self.identity: Identity | None = None if settings.idempotent else NOBODY
        """The producer id and epoch; without them nothing is sent."""
        self.flushing = 0
        """The number of callers that wait for all batches: batches do not linger then."""
        self.wake_at_ms: int | None = None
        """When ``drain`` finds something to do without anything else happening."""
        self.wants_metadata = False
        """Set when a leader is missing or has moved."""
        self.doubted: set[int] = set()
        """Leaders that may be cut off: others should be asked whether they still lead."""
        self._accumulator = accumulator
        self._settings = settings
        self._chance = chance
        self._finished = finished
        self._transaction = transaction
        self._in_flight: dict[int, int] = {}
        self._under_way: dict[Batch, Queue] = {}
        self._expiry_ms: int | None = None
        """When the first of what is under way may be out of time; never too late."""

    # -- what to send --------------------------------------------------------------------------

    def drain(
        self,
        now_ms: int,
        leader_of: Callable[[str, int], int | None],
        is_ready: Callable[[int], bool],
    ) -> list[Produce]:
        """Take the batches that can be sent now, in requests."""
        self.wake_at_ms = None
        self._expire_under_way(now_ms)
        if self._transaction is not None and (refusal := self._transaction.refusal()) is not None:
            self.drop_waiting(refusal)
        if self.identity is None:
            return []
        made: dict[int, Produce] = {}
        sizes: dict[int, int] = {}
        for queue in list(self._accumulator.active):
            if not self._is_due(queue, now_ms):
                continue
            node_id = leader_of(queue.topic, queue.partition)
            if node_id is None:
                self.wants_metadata = True
                continue
            if self._in_flight.get(node_id, 0) >= self._settings.in_flight_max:
                continue
            if not is_ready(node_id):
                continue
            size = sizes.get(node_id, 0) + queue.waiting[0].size_bytes
            if node_id in made and size > self._settings.request_bytes_max:
                self._wake(now_ms)
                continue
            if not self._has_number(queue):
                continue
            sizes[node_id] = size
            batch = self._accumulator.taken(queue)
            batch.attempts += 1
            queue.in_flight.append(batch)
            self._goes(queue, batch)
            if self._transaction is not None:
                self._transaction.sending(queue.topic, queue.partition)
            made.setdefault(node_id, Produce(node_id, now_ms, [])).batches.append((queue, batch))
            if queue.waiting:
                self._wake(now_ms)
        for node_id in made:
            self._in_flight[node_id] = self._in_flight.get(node_id, 0) + 1
        return list(made.values())

    def _is_due(self, queue: Queue, now_ms: int) -> bool:
        batch = queue.waiting[0]
        expires_ms = batch.created_ms + self._settings.delivery_timeout_ms
        if now_ms >= expires_ms:
            self._expire(queue, now_ms)
            if not queue.waiting:
                return False
            return self._is_due(queue, now_ms)
        self._wake(expires_ms)
        if batch.attempts:
            # Repetitions go when everything after them is back, and one by one.
            if queue.in_flight:
                return False
            if now_ms < batch.retry_at_ms:
                self._wake(batch.retry_at_ms)
                return False
        elif queue.in_flight and queue.in_flight[0].attempts > 1:
            return False
        elif batch is queue.open and not self.flushing:
            lingers_until_ms = batch.created_ms + self._settings.linger_ms
            if now_ms < lingers_until_ms:
                self._wake(lingers_until_ms)
                return False
        if queue.in_flight and not queue.is_known and self._settings.idempotent:
            return False
        if self._transaction is not None:
            return self._transaction.may_send(queue.topic, queue.partition)
        return True

    def _wake(self, at_ms: int) -> None:
        if self.wake_at_ms is None or at_ms < self.wake_at_ms:
            self.wake_at_ms = at_ms

    def _has_number(self, queue: Queue) -> bool:
        """Number the oldest batch, unless it has a number or there is none to have."""
        assert self.identity is not None
        if not self._settings.idempotent:
            return True
        batch = queue.waiting[0]
        is_numbered = batch.attempts > 0 and not batch.is_rejected
        if not is_numbered and not queue.in_flight:
            if queue.identity.producer_id != self.identity.producer_id or (
                self._transaction is not None and queue.identity != self.identity
            ):
                self._begin(queue, self.identity)
            elif queue.has_hole:
                if self._transaction is not None:
                    return False  # the transaction is being aborted
                if queue.identity.epoch == EPOCH_MAX:
                    self.identity = None  # epochs are used up: a new producer id
                    return False
                self._begin(queue, Identity(queue.identity.producer_id, queue.identity.epoch + 1))
        elif not is_numbered and queue.has_hole:
            return False
        if not batch.attempts or batch.is_rejected:
            batch.number(queue.identity, queue.next_sequence)
            queue.next_sequence = add_to_sequence(queue.next_sequence, batch.record_count)
        return True

    def _begin(self, queue: Queue, identity: Identity) -> None:
        """Start with sequence 0; what is numbered already was refused for certain."""
        queue.identity = identity
        queue.next_sequence = 0
        queue.has_hole = False
        queue.is_known = False
        for batch in queue.waiting:
            if batch.attempts:
                batch.is_rejected = True

    def request(
        self, produce: Produce, topic_ids: Mapping[str, bytes] | None = None
    ) -> ProduceRequest:
        """The request for these batches; with ids it can go in version 13."""
        ids = topic_ids or {}
        produce.topics = {topic_id: name for name, topic_id in ids.items()}
        settings = self._settings
        topics: dict[str, TopicProduceData] = {}
        for _, batch in produce.batches:
            records = batch.encode(
                settings.compression, transactional=settings.transactional_id is not None
            )
            topic = topics.get(batch.topic)
            if topic is None:
                topic_id = ids.get(batch.topic, ZERO_UUID)
                topic = topics[batch.topic] = TopicProduceData(batch.topic, topic_id)
            topic.partition_data.append(PartitionProduceData(batch.partition, records))
        return ProduceRequest(
            settings.transactional_id,
            settings.acks,
            settings.request_timeout_ms,
            list(topics.values()),
        )

    @property
    def requests_under_way(self) -> int:
        """How many requests have no answer; their batches may have their outcome all the same."""
        return sum(self._in_flight.values())

    def _goes(self, queue: Queue, batch: Batch) -> None:
        self._under_way[batch] = queue
        expiry_ms = batch.created_ms + self._settings.delivery_timeout_ms
        if self._expiry_ms is None or expiry_ms < self._expiry_ms:
            self._expiry_ms = expiry_ms
        self._wake(self._expiry_ms)

    # -- what came of it -----------------------------------------------------------------------

    def answered(self, now_ms: int, produce: Produce, response: ProduceResponse | None) -> None:
        """The broker's answer; ``None`` when ``acks=0`` asked for none."""
        self._in_flight[produce.node_id] -= 1
        if self._transaction is not None:
            self._transaction.marker_waits.produced(now_ms - produce.sent_ms)
        answers: dict[tuple[str, int], PartitionProduceResponse] = {}
        if response is not None:
            for topic in response.responses:
                name = topic.name or produce.topics.get(topic.topic_id, "")
                for answer in topic.partition_responses:
                    answers[name, answer.index] = answer
        for queue, batch in self._back(produce):
            found = answers.get((batch.topic, batch.partition))
            if response is None:
                self._finish(batch, NO_OFFSET, -1, None)
            elif found is None:
                self._failed(now_ms, queue, batch, producer_error(ErrorCode.UNKNOWN_SERVER_ERROR))
            else:
                self._take(now_ms, produce.node_id, queue, batch, found)

    def failed(self, now_ms: int, produce: Produce, error: KafkaError) -> None:
        """Take the error of a request without an answer, whose batches may be written."""
        self._in_flight[produce.node_id] -= 1
        self._doubt(produce.node_id)
        for queue, batch in self._back(produce):
            if isinstance(error, RetriableError):
                self._repeat(now_ms, queue, batch, error)
            else:
                self._failed(now_ms, queue, batch, error)

    def _doubt(self, node_id: int) -> None:
        self.wants_metadata = True
        self.doubted.add(node_id)

    def _back(self, produce: Produce) -> list[tuple[Queue, Batch]]:
        """What is under way no more; what was given up meanwhile has its outcome."""
        for queue, batch in produce.batches:
            queue.in_flight.remove(batch)
            self._under_way.pop(batch, None)
        return [(queue, batch) for queue, batch in produce.batches if not batch.done]

    def _take(
        self,
        now_ms: int,
        node_id: int,
        queue: Queue,
        batch: Batch,
        answer: PartitionProduceResponse,
    ) -> None:
        code = answer.error_code
        if code == ErrorCode.NONE:
            queue.is_known = True
            if queue.has_hole and batch.base_sequence >= 0:
                queue.has_hole = False  # what was given up had been written after all
            self._finish(batch, answer.base_offset, answer.log_append_time_ms, None)
            return
        if code == ErrorCode.DUPLICATE_SEQUENCE_NUMBER:
            self._finish(batch, NO_OFFSET, -1, None)
            return
        error = producer_error(
            code, answer.error_message, state=f"sending to {batch.topic}-{batch.partition}"
        )
        if code in RETRIABLE:
            if code in _NOT_REPLICATED:
                self._doubt(node_id)
            self.wants_metadata |= KINDS[code] == "refresh"
            self._repeat(now_ms, queue, batch, error)
        elif code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and (
            queue.has_hole or self._has_earlier(queue, batch)
        ):
            if queue.has_hole and self._transaction is not None:
                self._failed(now_ms, queue, batch, self._transaction.refusal() or error)
                return
            batch.is_rejected = queue.has_hole
            self._repeat(now_ms, queue, batch, error)
        elif code in _TOO_LARGE and batch.record_count > 1 and not batch.in_doubt:
            # In doubt, halves of what is written already would be taken for something new.
            for half in batch.split():
                self._accumulator.put_back(queue, half)
        elif code in _REFUSED and self._transaction is None and self._settings.idempotent:
            queue.has_hole = True
            batch.is_rejected = True
            self._repeat(now_ms, queue, batch, error)
        else:
            self._failed(now_ms, queue, batch, error)

    def _has_earlier(self, queue: Queue, batch: Batch) -> bool:
        """Whether a batch before this one is not settled."""
        pending = [*queue.in_flight, *(other for other in queue.waiting if other.attempts)]
        return any(other.order < batch.order for other in pending)

    def _repeat(self, now_ms: int, queue: Queue, batch: Batch, error: KafkaError) -> None:
        if now_ms >= batch.created_ms + self._settings.delivery_timeout_ms:
            self._time_out(now_ms, queue, batch, error)
            return
        batch.in_doubt |= error.code not in _NOT_WRITTEN
        batch.last_error = error
        settings = self._settings
        backoff = Backoff(
            self._chance,
            settings.retry_backoff_ms,
            settings.retry_backoff_max_ms,
            batch.attempts - 1,
        )
        batch.retry_at_ms = now_ms + backoff.next_ms()
        self._accumulator.put_back(queue, batch)

    def _failed(self, now_ms: int, queue: Queue, batch: Batch, error: KafkaError) -> None:
        del now_ms
        if batch.attempts and self._settings.idempotent:
            queue.has_hole = True
        self._finish(batch, NO_OFFSET, -1, error)
        if self._transaction is not None:
            self._transaction.batch_failed(error)

    def _finish(
        self, batch: Batch, base_offset: int, log_append_time_ms: int, error: KafkaError | None
    ) -> None:
        batch.finish(base_offset, log_append_time_ms, error)
        if batch.whole is not None:
            if not batch.whole.part_finished(batch):
                return
            batch = batch.whole
        self._accumulator.finished(batch)
        self._finished(batch)

    # -- giving up -----------------------------------------------------------------------------

    def _expire(self, queue: Queue, now_ms: int) -> None:
        while queue.waiting:
            batch = queue.waiting[0]
            if now_ms < batch.created_ms + self._settings.delivery_timeout_ms:
                return
            self._accumulator.taken(queue)
            self._time_out(now_ms, queue, batch, batch.last_error)

    def _expire_under_way(self, now_ms: int) -> None:
        """Give up what is not answered in time: its request may have been sent just before."""
        if self._expiry_ms is None:
            return
        if now_ms >= self._expiry_ms:
            timeout_ms = self._settings.delivery_timeout_ms
            for batch, queue in list(self._under_way.items()):
                if now_ms >= batch.created_ms + timeout_ms:
                    del self._under_way[batch]
                    self._time_out(now_ms, queue, batch, batch.last_error)
            self._expiry_ms = min(
                (batch.created_ms + timeout_ms for batch in self._under_way), default=None
            )
        if self._expiry_ms is not None:
            self._wake(self._expiry_ms)

    def _time_out(self, now_ms: int, queue: Queue, batch: Batch, last: KafkaError | None) -> None:
        why = f" The last answer was {last.name}." if last is not None else ""
        error = DeliveryTimedOutError(
            f"{batch.record_count} records for {batch.topic}-{batch.partition} were not "
            f"acknowledged within {self._settings.delivery_timeout_ms} ms "
            f"({batch.attempts} attempts).{why}"
        )
        error.__cause__ = last
        self._failed(now_ms, queue, batch, error)

    def drop_waiting(self, error: KafkaError) -> None:
        """Fail all batches that wait to be sent."""
        for queue in list(self._accumulator.active):
            while queue.waiting:
                batch = self._accumulator.taken(queue)
                if batch.attempts:
                    queue.has_hole = True
                self._finish(batch, NO_OFFSET, -1, error)

    def begin_epoch(self, identity: Identity) -> None:
        """Use a new epoch, in which every partition starts with sequence 0."""
        self.identity = identity
        for topic in self._accumulator.topics.values():
            for queue in topic.queues:
                queue.has_hole = False
