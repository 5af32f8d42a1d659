"""Logs of many transactional ids in which some things went wrong, made from a seed."""

from __future__ import annotations

import random

from fencepost_pipeline.audit.coordinator_steps import State
from fencepost_protocol.generated.transaction_log import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from fencepost_protocol.records.writer import BatchBuilder

from tests.pipeline.audit.memory_logs import Place
from tests.pipeline.audit.small_logs import SmallLogs

PLACES: list[Place] = [("a", 0), ("a", 1), ("b", 0), ("gone", 0)]
STATES: list[Place] = [("__transaction_state", 0), ("__transaction_state", 1)]


class RandomLogs(SmallLogs):
    """Four transactional ids write transactions of three forms, and one step in ten goes wrong."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._chance = random.Random(seed)
        self._epochs = [0] * 4
        self._sequences: dict[tuple[int, Place], int] = {}
        self.rows_at_once = self._chance.choice([3, 10_000])
        for place in [*PLACES[:3], *STATES]:
            self.places[place] = []
        for _ in range(self._chance.randrange(8, 25)):
            self._transaction(self._chance.randrange(4))
        for place in (*PLACES[:3], *STATES):
            self.renumber(place)
            if self._wrong(0.2) and self.places[place]:  # retention, or compaction
                del self.places[place][: self._chance.randrange(1, 4)]
            if self._wrong(0.2) and self.places[place]:
                del self.places[place][self._chance.randrange(len(self.places[place]))]

    def _wrong(self, chance: float = 0.05) -> bool:
        return self._chance.random() < chance

    def _transaction(self, writer: int) -> None:
        places = self._chance.sample(PLACES, self._chance.randrange(1, 4))
        if self._wrong():
            self._note(writer, self._chance.choice([State.EMPTY, State.EXPIRED]), [])
        epoch = self._epochs[writer]
        if not self._wrong():
            for count in range(1 if self._wrong(0.3) else len(places), len(places) + 1):
                self._note(writer, State.ONGOING, places[:count])
        for place in places:
            if place in self.places and not self._wrong(0.2):
                at = self._sequences.get((writer, place), 0)
                self.data(place, epoch=epoch, sequence=at, writer=writer)
                self._sequences[writer, place] = at + 1
        if not self._wrong():  # else it stays open
            self._end(writer, places)

    def _end(self, writer: int, places: list[Place]) -> None:
        is_newer = writer % 2 == 1  # transaction version 2: markers have an epoch of their own
        self._epochs[writer] += is_newer or self._wrong()
        committed = self._chance.random() < 0.7
        for _ in range(2 if self._wrong() else 1):
            if not self._wrong():
                state = State.PREPARE_COMMIT if committed else State.PREPARE_ABORT
                self._note(writer, state, places)
        for place in places:
            for _ in range(2 if self._wrong() else 1):
                if place in self.places and not self._wrong():
                    said = committed != self._wrong()
                    self.marker(place, commit=said, epoch=self._epochs[writer], writer=writer)
        if is_newer:
            for place in places:
                self._sequences[writer, place] = 0
        if self._wrong():
            return
        committed = committed != self._wrong()
        for _ in range(2 if self._wrong() else 1):
            self._note(writer, State.COMPLETE_COMMIT if committed else State.COMPLETE_ABORT, [])

    def _note(self, writer: int, state: State, places: list[Place]) -> None:
        """A record of the coordinator, of any version and with any tagged fields."""
        version = self._chance.choice([0, 1, 1])
        key, value = bytearray(b"\0\0"), bytearray([0, version])
        TransactionLogKey(f"id-{writer}").encode(0, key)
        topics = sorted({topic for topic, _ in places})
        message = TransactionLogValue(
            producer_id=writer if not self._wrong(0.02) else writer + 1,
            producer_epoch=self._epochs[writer],
            transaction_timeout_ms=60_000,
            transaction_status=max(int(state), 0),
            transaction_partitions=[
                PartitionsSchema(topic, [n for name, n in places if name == topic])
                for topic in topics
            ],
            transaction_last_update_timestamp_ms=self.now_ms,
            transaction_start_timestamp_ms=self.now_ms if not self._wrong() else -1,
        )
        if version:
            message.client_transaction_version = self._chance.choice([0, 1, 2])
            message.previous_producer_id = self._chance.choice([-1, -1, 5])
        message.encode(version, value)
        if self._wrong(0.02):
            value = value[: self._chance.randrange(len(value))]
        builder = BatchBuilder(1 << 20)
        for _ in range(2 if self._wrong() else 1):
            known = None if state is State.EXPIRED else bytes(value)
            builder.append(bytes(key) if not self._wrong(0.02) else b"\0\1x", known, self.now_ms)
        self._add(STATES[writer % 2], builder.build())

    def _add(self, place: Place, batch: bytes | bytearray) -> None:
        """Offsets come later, all at once."""
        self.now_ms += 10
        self.places[place].append(bytes(batch))
