"""Log directories of any size, to measure the audit with.

They hold what a clean broker would have written: transactional batches, sequences without gaps, a
marker for every ten batches, a coordinator's log that knows every transaction, and notes of
producer-id blocks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from fencepost_protocol.crc import crc32c
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord
from fencepost_protocol.generated.transaction_log import (
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from fencepost_protocol.records.batch import HEADER_SIZE
from fencepost_protocol.records.control import build_end_txn_marker
from fencepost_protocol.records.writer import BatchBuilder
from fencepost_protocol.varint import write_uvarint

PARTITIONS: Final = 8
BATCH_BYTES: Final = 16_384
BATCHES_A_TRANSACTION: Final = 10
SEGMENT_BYTES: Final = 1 << 30
ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT = 1, 2, 4
START_MS: Final = 1_767_225_600_000
_patch = struct.Struct(">qqhi")


def write_logs(
    folder: Path,
    total_bytes: int,
    record_bytes: int,
    batch_bytes: int = BATCH_BYTES,
    batches_a_transaction: int = BATCHES_A_TRANSACTION,
) -> int:
    """Write about so many bytes of log; gives how many records they hold."""
    template, count = _template(record_bytes, batch_bytes)
    per_transaction = batches_a_transaction * len(template)
    rounds = max(total_bytes // (per_transaction * PARTITIONS), 1)
    for partition in range(PARTITIONS):
        batches = _partition(template, count, partition, rounds, batches_a_transaction)
        _Log(folder / f"bench-{partition}").write(batches)
    _Log(folder / "__transaction_state-0").write(_coordinator(rounds))
    _Log(folder / "__cluster_metadata-0").write(iter([_notes()]))
    return rounds * PARTITIONS * batches_a_transaction * count


class _Log:
    """Appends batches to a partition's segments, each as long as a broker would make it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._folder = folder

    def write(self, batches: Iterator[bytes | bytearray]) -> None:
        file, left = None, 0
        for batch in batches:
            if left < len(batch):
                if file is not None:
                    file.close()
                (offset,) = struct.unpack_from(">q", batch)
                file = (self._folder / f"{offset:020}.log").open("wb", buffering=1 << 20)
                left = SEGMENT_BYTES
            assert file is not None
            file.write(batch)
            left -= len(batch)
        if file is not None:
            file.close()


def _template(record_bytes: int, batch_bytes: int) -> tuple[bytearray, int]:
    builder = BatchBuilder(batch_bytes)
    value = bytes(i * 31 & 0xFF for i in range(record_bytes))
    count = 0
    while builder.size_in_bytes + record_bytes + 20 < batch_bytes:
        builder.append(None, value, START_MS)
        count += 1
    return builder.build(
        producer_id=0, producer_epoch=0, base_sequence=0, transactional=True
    ), count


def _partition(
    template: bytearray, count: int, partition: int, rounds: int, batches_a_transaction: int
) -> Iterator[bytes | bytearray]:
    """One producer's transactions, in a partition of its own."""
    offset = sequence = 0
    for number in range(rounds):
        now = START_MS + number * 10
        for _ in range(batches_a_transaction):
            struct.pack_into(">q", template, 0, offset)
            _patch.pack_into(template, 35, now, partition, 0, sequence & 0x7FFF_FFFF)
            struct.pack_into(">I", template, 17, crc32c(memoryview(template)[21:]))
            yield template
            offset += count
            sequence += count
        yield build_end_txn_marker(
            committed=True, producer_id=partition, producer_epoch=0, coordinator_epoch=0,
            timestamp_ms=now + 5, base_offset=offset,
        )  # fmt: skip
        offset += 1


def _coordinator(rounds: int) -> Iterator[bytearray]:
    offset = 0
    for number in range(rounds):
        for status, delay in ((ONGOING, 0), (PREPARE_COMMIT, 4), (COMPLETE_COMMIT, 6)):
            builder = BatchBuilder(1 << 20)
            for partition in range(PARTITIONS):
                now = START_MS + number * 10
                builder.append(*_step(partition, status, now), now + delay)
            yield builder.build(base_offset=offset)
            offset += PARTITIONS


def _step(partition: int, status: int, now: int) -> tuple[bytes, bytes]:
    key, value = bytearray(b"\0\0"), bytearray(b"\0\1")
    TransactionLogKey(f"bench-{partition}").encode(0, key)
    TransactionLogValue(
        producer_id=partition,
        producer_epoch=0,
        transaction_timeout_ms=60_000,
        transaction_status=status,
        transaction_partitions=[PartitionsSchema("bench", [partition])],
        transaction_last_update_timestamp_ms=now,
        transaction_start_timestamp_ms=now,
    ).encode(1, value)
    return bytes(key), bytes(value)


def _notes() -> bytearray:
    value = bytearray()
    for number in (1, ProducerIdsRecord.RECORD_TYPE, 0):
        write_uvarint(value, number)
    ProducerIdsRecord(1, 1, 1000).encode(0, value)
    builder = BatchBuilder(1 << 20)
    builder.append(None, bytes(value), START_MS)
    return builder.build()


assert HEADER_SIZE == 61  # the places that are patched above
