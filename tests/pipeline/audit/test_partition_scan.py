"""The scan of a partition against a plain model, row by row, and however it is cut into chunks."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from fencepost_pipeline.audit.batch_headers import rows_of
from fencepost_pipeline.audit.findings import Invariant
from fencepost_pipeline.audit.partition_scan import Scanned, scan_partition

from tests.pipeline.audit.memory_logs import BATCHES

RING = 1 << 31
Row = dict[str, Any]
WATCHED = (Invariant.OFFSETS, Invariant.GAPS, Invariant.DUPLICATES, Invariant.ZOMBIES)


def random_rows(seed: int) -> list[Row]:
    """A log that is right now and then: holes, repeats, old epochs, numbers left out."""
    chance = Random(seed)
    offset = chance.choice([0, 0, 7])
    epochs = [0] * 3
    sequences = [chance.choice([0, 0, RING - 5]) for _ in epochs]
    rows = []
    for number in range(chance.randrange(1, 60)):
        producer = chance.randrange(3)
        count = chance.randrange(1, 4)
        marker = chance.random() < 0.2
        epoch = epochs[producer]
        if chance.random() < 0.15:
            epochs[producer] = epoch = epoch + 1
            sequences[producer] = 0
        if chance.random() < 0.1:
            epoch = max(0, epoch - 1)
        if chance.random() < 0.1:
            sequences[producer] = (sequences[producer] + chance.choice([-2, 1, 4])) % RING
        if chance.random() < 0.1:
            offset += chance.randrange(1, 6)
        first = sequences[producer]
        if not marker and epoch == epochs[producer]:
            sequences[producer] = (first + count) % RING
        rows.append(
            _row(number, offset, producer, epoch, marker, 1 if marker else count, first, chance)
        )
        offset += 1 if marker else count
    return rows


def _row(
    number: int, offset: int, producer: int, epoch: int, marker: bool, count: int, first: int,
    chance: Random,
) -> Row:  # fmt: skip
    return {
        "topic": "t", "partition": 0, "segment": f"{number // 20:020}.log", "position": number,
        "size": 100, "base_offset": offset, "last_offset": offset + count - 1, "leader_epoch": 0,
        "magic": 2, "codec": "none", "timestamp_type": 0, "base_timestamp": number,
        "max_timestamp": number, "producer_id": producer, "producer_epoch": epoch,
        "base_sequence": -1 if marker else first,
        "last_sequence": -1 if marker else (first + count - 1) % RING,
        "record_count": count, "transactional": producer != 2 or marker, "control": marker,
        "control_type": chance.choice(["commit", "abort"]) if marker else None,
        "coordinator_epoch": 0 if marker else None, "crc_ok": True,
    }  # fmt: skip


def scanned(rows: list[Row], size: int) -> Scanned:
    table = pa.Table.from_pylist(rows, BATCHES)
    return scan_partition(
        "t", 0, (rows_of(table.slice(start, size)) for start in range(0, len(rows), size))
    )


def offences(found: Scanned) -> dict[Invariant, list[int]]:
    return {each: sorted(f.offset for f in found.ledger.of(each).findings) for each in WATCHED}


def model(rows: list[Row]) -> dict[Invariant, list[int]]:
    """The rules again, one row after the other."""
    wrong: dict[Invariant, list[int]] = {each: [] for each in WATCHED}
    next_offset = missing = 0
    highest: dict[int, int] = {}
    last: dict[int, tuple[int, int, int]] = {}  # by producer: epoch, next number, holes so far
    for row in rows:
        missing += row["base_offset"] - next_offset
        next_offset = row["last_offset"] + 1
        producer, epoch, offset = row["producer_id"], row["producer_epoch"], row["base_offset"]
        shown = epoch - 1 if row["control"] else epoch
        if epoch < highest.get(producer, -1):
            wrong[Invariant.ZOMBIES].append(offset)
            continue
        highest[producer] = max(highest.get(producer, -1), shown)
        if row["control"]:
            continue
        first, count = row["base_sequence"], row["record_count"]
        before = last.get(producer, (-1, 0, 0))
        expected = before[1] if before[0] == epoch else 0
        ahead = (first - expected) % RING
        if before[0] == epoch and ahead >= RING // 2:
            wrong[Invariant.DUPLICATES].append(offset)
            end = (first + count) % RING
            beyond = (end - expected) % RING
            expected = end if beyond < RING // 2 else expected
        else:
            if ahead > missing - before[2]:
                wrong[Invariant.GAPS].append(offset)
            expected = (first + count) % RING
        last[producer] = epoch, expected, missing
    return wrong


@pytest.mark.parametrize("seed", range(40))
def test_it_agrees_with_the_model_however_it_is_cut(seed: int) -> None:
    rows = random_rows(seed)
    whole = scanned(rows, len(rows))
    assert offences(whole) == model(rows)
    pieces = _by_end(whole)
    for size in (1, 3):
        part = scanned(rows, size)
        assert offences(part) == offences(whole)
        assert _by_end(part) == pieces
        assert part.summary == whole.summary


def _by_end(found: Scanned) -> list[tuple[int, ...]]:
    return sorted(zip(*(column.tolist() for column in found.pieces), strict=True))
