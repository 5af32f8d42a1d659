"""One partition's log as a broker keeps it for idempotent producers, and the way there and back."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from fencepost_client.producer.sender import Produce, Sender
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from fencepost_protocol.records.batch import read_header
from fencepost_protocol.records.reader import iter_records

BATCHES_REMEMBERED = 5


@dataclass
class PartitionLog:
    """The values that were appended, and what is remembered of the producer."""

    values: list[bytes] = field(default_factory=list)
    bytes_max: int = 1 << 20
    sizes: list[int] = field(default_factory=list)
    """Records per batch, as they were appended."""
    epoch: int = -1
    last_sequence: int = -1
    recent: deque[tuple[int, int]] = field(default_factory=lambda: deque(maxlen=BATCHES_REMEMBERED))

    def append(self, records: bytes) -> tuple[int, int]:
        """Append a batch unless its sequence says otherwise; code and base offset."""
        header = read_header(records)
        if len(records) > self.bytes_max:
            return ErrorCode.MESSAGE_TOO_LARGE, -1
        if header.producer_epoch < self.epoch:
            return ErrorCode.INVALID_PRODUCER_EPOCH, -1
        if header.producer_epoch > self.epoch:
            # As Apache Kafka: of a producer that it does not know it takes any sequence.
            if header.base_sequence and self.epoch >= 0:
                return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
            self.epoch, self.last_sequence = header.producer_epoch, header.base_sequence - 1
            self.recent.clear()
        for sequence, offset in self.recent:
            if sequence == header.base_sequence:
                return ErrorCode.NONE, offset
        if header.base_sequence != self.last_sequence + 1:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1
        offset = len(self.values)
        self.sizes.append(header.last_sequence - header.base_sequence + 1)
        self.values += [bytes(record.value or b"") for record in iter_records(records)]
        self.last_sequence = header.last_sequence
        self.recent.append((header.base_sequence, offset))
        return ErrorCode.NONE, offset


class ModelBroker:
    """Takes requests in order; each may be lost, or its answer, or be refused for a while."""

    def __init__(self, sender: Sender) -> None:
        self.logs: dict[tuple[str, int], PartitionLog] = {}
        self.requests: deque[tuple[Produce, ProduceRequest]] = deque()
        self.answers: deque[tuple[Produce, ProduceResponse]] = deque()
        self._sender = sender

    def log(self, topic: str, partition: int) -> PartitionLog:
        return self.logs.setdefault((topic, partition), PartitionLog())

    def send(self, now_ms: int) -> None:
        """Let the sender send what it can."""
        for produce in self._sender.drain(now_ms, lambda *_: 1, lambda _: True):
            self.requests.append((produce, self._sender.request(produce)))

    def handle(self, error: int = 0, *, after_append: bool = False) -> None:
        """Carry out the oldest request; with an error, before or after it was appended."""
        produce, request = self.requests.popleft()
        topics = []
        for data in request.topic_data:
            answers = []
            for part in data.partition_data:
                code, offset = error, -1
                if not error or after_append:
                    done, offset = self.log(data.name, part.index).append(
                        bytes(part.records or b"")
                    )
                    code = done or error
                answers.append(PartitionProduceResponse(part.index, code, offset))
            topics.append(TopicProduceResponse(data.name, partition_responses=answers))
        self.answers.append((produce, ProduceResponse(topics)))

    def answer(self, now_ms: int) -> None:
        """Let the oldest answer arrive."""
        produce, response = self.answers.popleft()
        self._sender.answered(now_ms, produce, response)

    @property
    def under_way(self) -> list[Produce]:
        """What a lost connection takes with it."""
        return [produce for produce, _ in (*self.answers, *self.requests)]

    def forget_under_way(self) -> None:
        """The connection is gone, with requests and answers on it."""
        self.answers.clear()
        self.requests.clear()
