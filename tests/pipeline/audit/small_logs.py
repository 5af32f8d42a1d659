"""Small logs written by hand: a coordinator's steps, data and markers, one call each."""

from __future__ import annotations

from fencepost_pipeline.audit.coordinator_steps import State
from fencepost_protocol.generated.transaction_log import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from fencepost_protocol.records.control import build_end_txn_marker
from fencepost_protocol.records.writer import BatchBuilder

from tests.pipeline.audit.memory_logs import MemoryLogs, Place

STATE: Place = ("__transaction_state", 0)
P: Place = ("topic", 0)
TIMEOUT_MS = 60_000


class SmallLogs(MemoryLogs):
    """One transactional id, ``writer`` with producer id 7, unless a call says otherwise."""

    now_ms = 1_000_000

    def data(
        self,
        place: Place = P,
        *,
        epoch: int = 0,
        sequence: int = 0,
        count: int = 1,
        writer: int = 7,
    ) -> None:
        """A batch of a transaction."""
        builder = BatchBuilder(1 << 20)
        for _ in range(count):
            builder.append(None, b"value", self.now_ms)
        self._add(
            place,
            builder.build(
                producer_id=writer, producer_epoch=epoch, base_sequence=sequence, transactional=True
            ),
        )

    def marker(
        self, place: Place = P, *, commit: bool = True, epoch: int = 0, writer: int = 7
    ) -> None:
        """The end of a transaction in a partition."""
        self._add(
            place,
            build_end_txn_marker(
                committed=commit, producer_id=writer, producer_epoch=epoch, coordinator_epoch=0,
                timestamp_ms=self.now_ms,
            ),
        )  # fmt: skip

    def step(
        self,
        state: State,
        *places: Place,
        epoch: int = 0,
        writer: int = 7,
        name: str = "writer",
        timeout_ms: int = TIMEOUT_MS,
    ) -> None:
        """What the coordinator notes."""
        key, value = bytearray(b"\0\0"), bytearray(b"\0\1")
        TransactionLogKey(name).encode(0, key)
        TransactionLogValue(
            producer_id=writer,
            producer_epoch=epoch,
            transaction_timeout_ms=timeout_ms,
            transaction_status=int(state),
            transaction_partitions=[PartitionsSchema(t, [n]) for t, n in places],
            transaction_last_update_timestamp_ms=self.now_ms,
            transaction_start_timestamp_ms=self.now_ms,
        ).encode(1, value)
        builder = BatchBuilder(1 << 20)
        builder.append(bytes(key), bytes(value), self.now_ms)
        self._add(STATE, builder.build())

    def transaction(
        self, *places: Place, epoch: int = 0, sequence: int = 0, commit: bool = True
    ) -> None:
        """A whole one as transaction version 1 has it: the markers have the writer's epoch."""
        self.step(State.ONGOING, *places, epoch=epoch)
        for place in places:
            self.data(place, epoch=epoch, sequence=sequence)
        self.end(*places, epoch=epoch, commit=commit)

    def end(self, *places: Place, epoch: int = 0, commit: bool = True) -> None:
        """Decision, markers, completion."""
        self.step(State.PREPARE_COMMIT if commit else State.PREPARE_ABORT, *places, epoch=epoch)
        for place in places:
            self.marker(place, epoch=epoch, commit=commit)
            self.reindex(place)
        self.step(State.COMPLETE_COMMIT if commit else State.COMPLETE_ABORT, epoch=epoch)

    def _add(self, place: Place, batch: bytes | bytearray) -> None:
        self.now_ms += 10
        self.places.setdefault(place, []).append(bytes(batch))
        self.renumber(place)
