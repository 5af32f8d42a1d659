"""A sender with an accumulator, whose requests a test answers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from fencepost_client.errors import (
    KafkaError,
    NetworkError,
)
from fencepost_client.producer.accumulator import Accumulator
from fencepost_client.producer.batch import RECORD_OVERHEAD_MAX, Batch, Identity
from fencepost_client.producer.sender import Sender
from fencepost_client.producer.sender_settings import SenderSettings
from fencepost_client.producer.transaction_manager import TransactionManager
from fencepost_protocol.errors import ErrorCode
from hypothesis import strategies as st

from tests.machine.client.model_broker import ModelBroker

TIMEOUT_MS = 40_000
LATER_MS = 2_000
"""Behind every back-off."""


class Rig:
    """A sender, an accumulator with one topic, and a broker."""

    def __init__(
        self,
        partitions: int = 1,
        linger_ms: int = 0,
        transaction: TransactionManager | None = None,
    ) -> None:
        chance = random.Random(7).random
        self.now_ms = 1000
        self.finished: list[Batch] = []
        self.accumulator = Accumulator(chance, batch_size=100)
        self.accumulator.set_partitions("t", partitions)
        settings = SenderSettings(linger_ms=linger_ms, delivery_timeout_ms=TIMEOUT_MS)
        if transaction is not None:
            settings.transactional_id = transaction.transactional_id
        self.sender = Sender(self.accumulator, settings, chance, self.finished.append, transaction)
        self.sender.identity = Identity(5, 0)
        self.broker = ModelBroker(self.sender)
        self.batches: list[Batch] = []
        self.numbers: dict[Batch, list[int]] = {}
        self.sent = 0

    def batch(self, partition: int = 0, records: int = 1) -> Batch:
        """A batch with the next numbers as its records."""
        queue = self.accumulator.queue_for("t", None, partition)
        batch = self.accumulator.open_batch(queue, RECORD_OVERHEAD_MAX + 3, self.now_ms)
        for _ in range(records):
            batch.append(None, b"%d" % self.sent, self.now_ms, ())
            self.numbers.setdefault(batch, []).append(self.sent)
            self.sent += 1
        self.batches.append(batch)
        return batch

    def lose(self) -> None:
        """The connection goes."""
        lost = self.broker.under_way
        self.broker.forget_under_way()
        for produce in lost:
            self.sender.failed(self.now_ms, produce, NetworkError())

    def take(self, step: str) -> None:
        """One of ``STEPS``."""
        broker = self.broker
        now: dict[str, Callable[[], object]] = {
            "batch": lambda: self.batch(0, 2),
            "other": lambda: self.batch(1),
            "send": lambda: broker.send(self.now_ms),
            "lose": self.lose,
            "time": lambda: self.pass_time(300),
            "long": lambda: self.pass_time(15_000),
        }
        if broker.requests:
            code = ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND
            now["handle"] = broker.handle
            now["refuse"] = lambda: broker.handle(ErrorCode.NOT_ENOUGH_REPLICAS)
            now["too large"] = lambda: broker.handle(ErrorCode.MESSAGE_TOO_LARGE)
            now["half"] = lambda: broker.handle(code, after_append=True)
        if broker.answers:
            now["answer"] = lambda: broker.answer(self.now_ms)
        now.get(step, lambda: None)()

    def pass_time(self, ms: int) -> None:
        self.now_ms += ms

    def settle(self) -> None:
        """From here on all is well."""
        for _ in range(200):
            self.now_ms += LATER_MS
            self.broker.send(self.now_ms)
            while self.broker.requests:
                self.broker.handle()
            while self.broker.answers:
                self.broker.answer(self.now_ms)
            if not self.accumulator.unfinished:
                return
        pytest.fail("it does not come to an end")

    def values(self, partition: int = 0) -> list[int]:
        return [int(value) for value in self.broker.log("t", partition).values]

    def errors(self) -> list[KafkaError | None]:
        return [batch.error for batch in self.batches]


def acquainted(linger_ms: int = 0) -> Rig:
    """A rig whose broker knows the producer: 0 is written."""
    rig = Rig(linger_ms=linger_ms)
    rig.batch()
    rig.settle()
    return rig


STEPS = st.lists(
    st.sampled_from(
        [
            "batch",
            "batch",
            "batch",
            "other",
            "send",
            "send",
            "handle",
            "handle",
            "refuse",
            "too large",
            "half",
            "answer",
            "answer",
            "lose",
            "time",
            "long",
        ]
    ),
    max_size=80,
)
