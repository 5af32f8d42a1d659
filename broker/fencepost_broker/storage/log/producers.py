"""What a partition knows of its producers: sequences, epochs, open transactions.

An idempotent producer numbers its records; the partition remembers, per producer id, the epoch and
the last five batches. From that it tells a repeat (answered with the first copy's offsets) from a
gap (OUT_OF_ORDER_SEQUENCE_NUMBER) and from a zombie (INVALID_PRODUCER_EPOCH). A transactional batch
opens a transaction here; a marker, written by a coordinator, ends it. The first offset of the
oldest transaction that is open, or ended by a marker that is not replicated yet, bounds the last
stable offset.

::

    admit_data / admit_marker    look, change nothing; a refusal says why
    note_data / note_marker      the batch is in the log now
    snapshot, load               the same in a file, so that a start need not read the whole log

Between the verification of a transaction with its coordinator (KIP-890) and the append that waited
for it, an abort marker may have passed. So verifying makes a guard that only one append, of this
very verification, can use: a marker or an append takes it away.

Sequence numbers wrap: after 2147483647 comes 0.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fencepost_protocol.crc import crc32c
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.exceptions import ProtocolError
from fencepost_protocol.generated.producer_snapshot import ProducerEntry as SnapshotEntry
from fencepost_protocol.generated.producer_snapshot import ProducerSnapshot
from fencepost_protocol.records.batch import (
    MAX_SEQUENCE,
    NO_PRODUCER_EPOCH,
    NO_SEQUENCE,
    TRANSACTIONAL_FLAG,
    RawHeader,
)

from fencepost_broker.storage.log.disk import CorruptFileError
from fencepost_broker.storage.log.indexes import AbortedEntry
from fencepost_broker.storage.log.results import Origin, ProducerDescription

_CLIENT: Final = Origin.CLIENT
_REMEMBERED_BATCHES: Final = 5
_SNAPSHOT_VERSION: Final = 1
_SNAPSHOT_HEAD: Final = 6
"""Version (i16) and CRC (u32): what the CRC does not cover."""
NONE: Final = -1
TV_2: Final = 2


class BatchTrace(NamedTuple):
    """What is remembered of a batch, to recognise a repeat."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int


class Refusal(NamedTuple):
    """Why a batch does not go into the log."""

    error: ErrorCode
    message: str


class VerificationGuard:
    """One verification of a transaction; equal to itself only."""

    __slots__ = ()


class _Verification:
    __slots__ = ("epoch", "guard", "lowest_sequence", "since_ms", "supports_epoch_bump")

    def __init__(
        self, epoch: int, lowest_sequence: int, since_ms: int, *, supports_epoch_bump: bool
    ) -> None:
        self.guard = VerificationGuard()
        self.epoch = epoch
        self.lowest_sequence = lowest_sequence
        self.since_ms = since_ms
        self.supports_epoch_bump = supports_epoch_bump


class Producer:
    """One producer id in one partition."""

    __slots__ = ("batches", "coordinator_epoch", "epoch", "last_timestamp", "transaction_start")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.coordinator_epoch = NONE
        self.last_timestamp = NONE
        self.transaction_start = NONE
        """First offset of the open transaction, or -1."""
        self.batches: tuple[BatchTrace, ...] = ()
        """The last five, oldest first."""

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record, -1 when there is none in this epoch."""
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        """The offset of the last record in this epoch, or -1."""
        return self.batches[-1].last_offset if self.batches else NONE


class ProducerState:
    """The producers of one partition."""

    __slots__ = ("ongoing", "producers", "unreplicated", "verifications")

    def __init__(self) -> None:
        self.producers: dict[int, Producer] = {}
        self.ongoing: dict[int, int] = {}
        """Open transactions: producer id by first offset, in the order of offsets."""
        self.unreplicated: dict[int, int] = {}
        """First offset to marker offset of ended transactions above the high watermark."""
        self.verifications: dict[int, _Verification] = {}

    # --- data ---------------------------------------------------------------------------------

    def find_duplicate(
        self, producer_id: int, epoch: int, base_sequence: int, last_offset_delta: int
    ) -> BatchTrace | None:
        """Return the remembered batch that has exactly this range, if there is one."""
        producer = self.producers.get(producer_id)
        if producer is None or producer.epoch != epoch:
            return None
        last_sequence = (base_sequence + last_offset_delta) & MAX_SEQUENCE
        for batch in producer.batches:
            if batch[0] == last_sequence and batch[2] == last_offset_delta:
                return batch
        return None

    def admit_data(
        self,
        producer_id: int,
        epoch: int,
        base_sequence: int,
        *,
        transactional: bool,
        origin: Origin,
        guard: VerificationGuard | None,
        verify: bool,
    ) -> Refusal | None:
        """Say why a batch cannot be appended; ``None`` when it can."""
        producer = self.producers.get(producer_id)
        verification = self.verifications.get(producer_id) if self.verifications else None
        if producer is None:
            if transactional and verify and not _is_guarded(verification, guard):
                return _unverified(producer_id)
            if verification is None or origin is not Origin.CLIENT:
                return None
            return _check_verified_sequence(producer_id, base_sequence, verification, known=False)
        current = producer.epoch
        if epoch < current:
            return Refusal(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"producer {producer_id} has epoch {current} here, the batch has {epoch}",
            )
        if transactional:
            ongoing = producer.transaction_start >= 0 and current == epoch
            if verify and not ongoing and not _is_guarded(verification, guard):
                return _unverified(producer_id)
        if origin is _CLIENT:
            if verification is not None:
                refusal = _check_verified_sequence(
                    producer_id, base_sequence, verification, known=bool(producer.batches)
                )
                if refusal is not None:
                    return refusal
            if epoch != current:
                if base_sequence and current != NO_PRODUCER_EPOCH:
                    return Refusal(
                        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                        f"producer {producer_id} begins its epoch {epoch} (after {current}) with "
                        f"sequence {base_sequence} instead of 0",
                    )
            else:
                batches = producer.batches
                last_sequence = batches[-1][0] if batches else NO_SEQUENCE
                if base_sequence != (last_sequence + 1) & MAX_SEQUENCE:
                    return Refusal(
                        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                        f"producer {producer_id} sends sequence {base_sequence}, its last one here "
                        f"is {last_sequence}",
                    )
        if producer.transaction_start >= 0 and not transactional:
            return Refusal(
                ErrorCode.INVALID_TXN_STATE,
                f"producer {producer_id} has a transaction open here, the batch is not part of it",
            )
        return None

    def note_data(self, header: RawHeader, first_offset: int) -> None:
        """Remember a batch that is in the log now, from ``first_offset`` on."""
        _, _, _, _, _, attributes, delta, _, timestamp, producer_id, epoch, sequence, _ = header
        producer = self.producers.get(producer_id)
        if producer is None:
            producer = self.producers[producer_id] = Producer(epoch)
        last_sequence = (sequence + delta) & MAX_SEQUENCE if sequence >= 0 else NO_SEQUENCE
        trace = BatchTrace(last_sequence, first_offset + delta, delta, timestamp)
        if producer.epoch != epoch:
            producer.epoch = epoch
            producer.batches = (trace,)
        else:
            producer.batches = (*producer.batches[1 - _REMEMBERED_BATCHES :], trace)
        producer.last_timestamp = timestamp
        if attributes & TRANSACTIONAL_FLAG:
            if producer.transaction_start < 0:
                producer.transaction_start = first_offset
                self.ongoing[first_offset] = producer_id
            if self.verifications:
                self.verifications.pop(producer_id, None)

    # --- transactions -------------------------------------------------------------------------

    def admit_marker(
        self, producer_id: int, epoch: int, coordinator_epoch: int, transaction_version: int
    ) -> Refusal | None:
        """Say why a marker cannot be appended; ``None`` when it can.

        A transaction of version 2 ends with a marker of a higher epoch than its records have; the
        same epoch is a late repeat, which does no harm unless the next transaction is open.
        """
        producer = self.producers.get(producer_id)
        if producer is None:
            return None
        current = producer.epoch
        if epoch < current or (
            transaction_version >= TV_2 and epoch == current and producer.transaction_start >= 0
        ):
            return Refusal(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"a marker of epoch {epoch} for producer {producer_id}, whose epoch here is "
                f"{current} (transaction version {transaction_version})",
            )
        if producer.coordinator_epoch > coordinator_epoch:
            return Refusal(
                ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                f"a marker for producer {producer_id} from coordinator epoch {coordinator_epoch}; "
                f"one of {producer.coordinator_epoch} was here before",
            )
        return None

    def note_marker(
        self,
        producer_id: int,
        epoch: int,
        coordinator_epoch: int,
        offset: int,
        timestamp: int,
        *,
        committed: bool,
    ) -> AbortedEntry | None:
        """End the producer's transaction; return its entry for the index if it was aborted."""
        producer = self.producers.get(producer_id)
        if producer is None:
            producer = self.producers[producer_id] = Producer(epoch)
        start = producer.transaction_start
        if producer.epoch != epoch:
            producer.epoch = epoch
            producer.batches = ()
        producer.coordinator_epoch = coordinator_epoch
        producer.transaction_start = NONE
        producer.last_timestamp = timestamp
        if self.verifications:
            self.verifications.pop(producer_id, None)
        if start < 0:
            return None
        self.ongoing.pop(start, None)
        self.unreplicated[start] = offset
        if committed:
            return None
        stable = next(iter(self.ongoing), offset + 1)
        return AbortedEntry(producer_id, start, offset, stable)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the oldest transaction begins that is open or not known to be replicated."""
        first = next(iter(self.ongoing), None)
        if self.unreplicated:
            ended = min(self.unreplicated)
            return ended if first is None else min(first, ended)
        return first

    def forget_replicated(self, high_watermark: int) -> None:
        """Forget the ended transactions whose markers are below the high watermark."""
        for start, marker_offset in list(self.unreplicated.items()):
            if marker_offset < high_watermark:
                del self.unreplicated[start]

    def has_ongoing_transaction(self, producer_id: int, epoch: int) -> bool:
        """Whether the producer has a transaction open here, in this epoch."""
        producer = self.producers.get(producer_id)
        return producer is not None and producer.transaction_start >= 0 and producer.epoch == epoch

    def is_fenced(self, producer_id: int, epoch: int) -> bool:
        """Whether a newer epoch of the producer has written here, or ended a transaction."""
        producer = self.producers.get(producer_id)
        return producer is not None and epoch < producer.epoch

    def start_verification(
        self,
        producer_id: int,
        epoch: int,
        sequence: int,
        *,
        supports_epoch_bump: bool,
        now_ms: int,
    ) -> VerificationGuard | None:
        """Return the guard that the append needs; ``None`` if the transaction is open already."""
        if self.has_ongoing_transaction(producer_id, epoch):
            return None
        entry = self.verifications.get(producer_id)
        if entry is None:
            entry = self.verifications[producer_id] = _Verification(
                epoch, sequence, now_ms, supports_epoch_bump=supports_epoch_bump
            )
        elif epoch > entry.epoch:
            entry.epoch, entry.lowest_sequence = epoch, sequence
        elif epoch == entry.epoch and sequence < entry.lowest_sequence:
            entry.lowest_sequence = sequence
        return entry.guard

    def is_verified(self, producer_id: int, epoch: int, guard: VerificationGuard | None) -> bool:
        """Whether the guard, or an open transaction of this epoch, lets a batch be appended."""
        return self.has_ongoing_transaction(producer_id, epoch) or _is_guarded(
            self.verifications.get(producer_id), guard
        )

    # --- keeping ------------------------------------------------------------------------------

    def remove_expired(self, now_ms: int, expiration_ms: int) -> int:
        """Forget the producers that wrote nothing for so long; return how many."""
        expired = [
            producer_id
            for producer_id, producer in self.producers.items()
            if producer.transaction_start < 0 and now_ms - producer.last_timestamp >= expiration_ms
        ]
        for producer_id in expired:
            del self.producers[producer_id]
        for producer_id, entry in list(self.verifications.items()):
            if now_ms - entry.since_ms >= expiration_ms:
                del self.verifications[producer_id]
        return len(expired)

    def forget(self, producer_id: int) -> bool:
        """Forget a producer as if it had expired; return whether it had no open transaction."""
        producer = self.producers.get(producer_id)
        if producer is None or producer.transaction_start >= 0:
            return False
        del self.producers[producer_id]
        self.verifications.pop(producer_id, None)
        return True

    def describe(self) -> list[ProducerDescription]:
        """What DescribeProducers shows."""
        return [
            ProducerDescription(
                producer_id,
                producer.epoch,
                producer.last_sequence,
                producer.last_timestamp,
                producer.coordinator_epoch,
                producer.transaction_start,
            )
            for producer_id, producer in self.producers.items()
        ]

    def snapshot(self) -> bytearray:
        """Make the content of a ``.snapshot`` file.

        Apache Kafka writes the last batch of each producer and refuses, after a restart, a repeat
        of those before it. Ours writes all five, the last one last: a reader that keeps one entry
        of each producer, as Kafka does, ends up with the right one.
        """
        entries = []
        for producer_id, producer in self.producers.items():
            last_timestamp = producer.last_timestamp
            entries += [
                SnapshotEntry(
                    producer_id,
                    producer.epoch,
                    batch.last_sequence,
                    batch.last_offset,
                    batch.offset_delta,
                    # Not later than the last one's, or Kafka might find only that one expired.
                    min(batch.timestamp, last_timestamp),
                    producer.coordinator_epoch,
                    NONE,
                )
                for batch in producer.batches[:-1]
            ]
            last = producer.batches[-1] if producer.batches else BatchTrace(NO_SEQUENCE, NONE, 0, 0)
            entries.append(
                SnapshotEntry(
                    producer_id,
                    producer.epoch,
                    last.last_sequence,
                    last.last_offset,
                    last.offset_delta,
                    last_timestamp,
                    producer.coordinator_epoch,
                    producer.transaction_start,
                )
            )
        out = bytearray(_SNAPSHOT_VERSION.to_bytes(2, "big"))
        ProducerSnapshot(0, entries).encode(_SNAPSHOT_VERSION, out)
        crc = crc32c(memoryview(out)[_SNAPSHOT_HEAD:])
        out[2:_SNAPSHOT_HEAD] = crc.to_bytes(4, "big")
        return out

    def load(self, data: bytes, path: str) -> None:
        """Replace everything by the content of a ``.snapshot`` file."""
        if len(data) < _SNAPSHOT_HEAD or data[:2] != _SNAPSHOT_VERSION.to_bytes(2, "big"):
            raise CorruptFileError(path, "it is not a producer snapshot of version 1")
        try:
            snapshot, end = ProducerSnapshot.decode(memoryview(data), _SNAPSHOT_VERSION, 2)
        except ProtocolError as error:
            raise CorruptFileError(path, str(error)) from error
        if snapshot.crc != crc32c(data[_SNAPSHOT_HEAD:]) or end != len(data):
            raise CorruptFileError(path, "its CRC does not match its content")
        self.clear()
        open_transactions = []
        for entry in snapshot.producer_entries:
            producer = self.producers.get(entry.producer_id)
            if producer is None or producer.epoch != entry.epoch:
                producer = self.producers[entry.producer_id] = Producer(entry.epoch)
            producer.coordinator_epoch = entry.coordinator_epoch
            producer.last_timestamp = entry.timestamp
            if entry.last_offset >= 0:
                batch = BatchTrace(
                    entry.last_sequence, entry.last_offset, entry.offset_delta, entry.timestamp
                )
                producer.batches = (*producer.batches[1 - _REMEMBERED_BATCHES :], batch)
            if entry.current_txn_first_offset >= 0:
                producer.transaction_start = entry.current_txn_first_offset
                open_transactions.append((entry.current_txn_first_offset, entry.producer_id))
        self.ongoing = dict(sorted(open_transactions))

    def clear(self) -> None:
        """Forget everything."""
        self.producers.clear()
        self.ongoing.clear()
        self.unreplicated.clear()
        self.verifications.clear()


def _is_guarded(verification: _Verification | None, guard: VerificationGuard | None) -> bool:
    return verification is not None and guard is verification.guard


def _unverified(producer_id: int) -> Refusal:
    return Refusal(
        ErrorCode.INVALID_TXN_STATE,
        f"producer {producer_id} has no transaction open here and none was verified",
    )


def _check_verified_sequence(
    producer_id: int, base_sequence: int, verification: _Verification, *, known: bool
) -> Refusal | None:
    """Hold back a batch that overtook the first one of its transaction while that was verified."""
    if verification.supports_epoch_bump and base_sequence and not known:
        return Refusal(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {producer_id} is new here and begins with sequence {base_sequence}",
        )
    if base_sequence > verification.lowest_sequence:
        return Refusal(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"producer {producer_id} sends sequence {base_sequence} before "
            f"{verification.lowest_sequence}, which it sent first",
        )
    return None
