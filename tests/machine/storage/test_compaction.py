"""Compaction: which records stay, what becomes of transactions and producers, and every crash."""

from __future__ import annotations

from typing import Any

import pytest
from fencepost_broker.storage.log import (
    Disk,
    LoadOptions,
    PartitionLog,
    StorageError,
    load_partition,
    upkeep,
)
from fencepost_broker.storage.log.compaction import Compaction, measure
from fencepost_protocol.records.batch import verify_crc
from fencepost_protocol.records.compression import Compression

from tests.machine.storage.harness import (
    FOLDER,
    NOW,
    Faults,
    append,
    base_offsets,
    batch,
    every_file,
    faulty_disk,
    keys_and_values,
    kinds,
    memory_disk,
    of_producer,
    open_log,
    read_all,
    reopen,
)

SETTINGS: dict[str, Any] = {
    "compact": True,
    "delete": False,
    "segment_bytes": 400,
    "index_interval_bytes": 100,
    "min_cleanable_dirty_ratio": 0.0,
    "delete_retention_ms": 1000,
    "file_delete_delay_ms": 0,
    "transaction_partition_verification_enable": False,
}


def compacted_log(disk: Disk | None = None, **more: Any) -> PartitionLog:
    return open_log(disk, **(SETTINGS | more))


def put(log: PartitionLog, key: str, value: str | None, **more: Any) -> int:
    encoded = None if value is None else value.encode()
    return append(log, batch([encoded], keys=[key.encode()], **more)).base_offset


def compact(log: PartitionLog, now: int = NOW) -> bool:
    """A whole run, if there is anything to do."""
    dirt = measure(log, now)
    if dirt is None:
        return False
    run = log.compaction = Compaction(log, dirt, now)
    while run.step():
        check(log)
    log.compaction = None
    log.removals.remove_due(now)
    check(log)
    return True


def check(log: PartitionLog) -> None:
    """Offsets rise, CRCs are good, every segment's index finds its batches."""
    last = -1
    for header, data in read_all(log):
        assert header.base_offset > last
        last = header.last_offset
        verify_crc(data)
        found = log.read(header.last_offset, len(data))
        assert b"".join(found.pieces or []) == data


def roll(log: PartitionLog) -> None:
    """Leave everything so far behind the active segment."""
    before = log.log_end_offset
    while log.segments.active.base_offset < before:
        put(log, "filler", "f" * 60)


def live(log: PartitionLog) -> dict[bytes, tuple[int, bytes | None]]:
    """What a consumer makes of the log: the newest value of each key."""
    found = {}
    for offset, key, value in keys_and_values(log):
        assert key is not None
        found[key] = offset, value
    return found


def test_the_newest_value_of_each_key_stays() -> None:
    log = compacted_log()
    for number in range(60):
        put(log, f"k{number % 7}", f"v{number}")
    roll(log)
    before = live(log)
    assert compact(log)
    assert live(log) == before
    offsets = [offset for offset, key, _ in keys_and_values(log) if key != b"filler"]
    assert offsets == list(range(53, 60))
    assert kinds(log) == ["compacted"]
    assert log.cleaned_up_to == log.segments.active.base_offset


def test_nothing_is_done_twice() -> None:
    log = compacted_log()
    for number in range(30):
        put(log, "k", f"v{number}")
    assert compact(log)
    assert not compact(log)
    assert not compact(reopen(log))


def test_batches_keep_the_offsets_of_what_stays() -> None:
    log = compacted_log()
    keys: list[bytes | None] = [b"a", b"b", b"a", b"c"]
    append(log, batch([b"1", b"2", b"3", b"4"], keys=keys, codec=Compression.LZ4))
    append(log, batch([b"5"], keys=[b"b"]))
    roll(log)
    compact(log)
    assert [entry[:2] for entry in keys_and_values(log)][:3] == [(2, b"a"), (3, b"c"), (4, b"b")]
    first, _ = read_all(log)[0]
    assert (first.base_offset, first.last_offset, first.record_count) == (0, 3, 2)
    assert first.codec is Compression.LZ4


def test_the_time_index_knows_what_stays() -> None:
    log = compacted_log()
    keys: list[bytes | None] = [b"a", b"b"]
    append(log, batch([b"1", b"2"], keys=keys, time=[NOW, NOW + 5]))
    append(log, batch([b"3"], keys=[b"b"], time=NOW + 1))
    roll(log)
    compact(log)
    assert log.segments.first.times.last() == (NOW + 1, 2)


def test_the_active_segment_is_not_touched() -> None:
    log = compacted_log(segment_bytes=1 << 20)
    for _ in range(10):
        put(log, "k", "v")
    assert measure(log, NOW) is None


def test_small_segments_are_put_together() -> None:
    log = compacted_log()
    for number in range(60):
        put(log, f"k{number % 3}", f"v{number}")
    roll(log)
    compact(log)
    count = len(log.segments)
    put(log, "k1", "v")
    roll(log)
    compact(log)
    assert len(log.segments) == 3 < count
    assert base_offsets(log)[0] == 0
    assert all(segment.size <= 400 for segment in log.segments)


def test_how_dirty_is_dirty_enough() -> None:
    log = compacted_log(min_cleanable_dirty_ratio=0.5)
    for number in range(40):
        put(log, f"k{number}", "v")
    roll(log)
    assert compact(log)
    clean = log.segments.active.base_offset
    put(log, "k1", "w")
    roll(log)
    assert log.segments.active.base_offset > clean
    assert measure(log, NOW) is None
    for number in range(40):
        put(log, f"k{number}", "x")
    assert compact(log)


def test_a_record_that_waits_too_long_is_overdue() -> None:
    log = compacted_log(min_cleanable_dirty_ratio=0.99, max_compaction_lag_ms=5000)
    for number in range(40):
        put(log, f"k{number}", "v")
    roll(log)
    log.cleaned_up_to = base_offsets(log)[-2]
    put(log, "k1", "w")
    roll(log)
    assert measure(log, NOW + 5000) is None
    dirt = measure(log, NOW + 5001)
    assert dirt is not None
    assert dirt.is_overdue


def test_young_records_are_left_alone() -> None:
    log = compacted_log(min_compaction_lag_ms=1000)
    for number in range(12):
        put(log, "k", f"v{number}", time=NOW + number * 100)
    roll(log)
    assert measure(log, NOW) is None
    compact(log, NOW + 1600)
    kept = [offset for offset, key, _ in keys_and_values(log) if key == b"k"]
    assert kept[0] > 0
    assert kept[-1] == 11
    assert len(kept) > 1


def test_tombstones_stay_for_a_while() -> None:
    log = compacted_log()
    put(log, "a", "1")
    put(log, "b", "2")
    put(log, "a", None)
    roll(log)
    compact(log)
    assert live(log)[b"a"] == (2, None)
    header = next(header for header, _ in read_all(log) if header.base_offset == 2)
    assert header.delete_horizon_ms == NOW + 1000
    put(log, "x", "y")
    roll(log)
    compact(log, NOW + 999)
    assert live(log)[b"a"] == (2, None)
    put(log, "x", "y")
    roll(log)
    compact(log, NOW + 1000)
    assert b"a" not in live(log)
    assert live(log)[b"b"] == (1, b"2")


def test_the_last_batch_of_a_run_stays_as_a_shell() -> None:
    log = compacted_log()
    put(log, "k", "v")
    append(log, of_producer(0, keys=[b"k"], txn=True))
    append(log, of_producer(1, keys=[b"k"], txn=True))
    upkeep.roll(log, log.log_end_offset, NOW)
    marker(log, committed=False)
    log.producers.clear()
    compact(log)
    assert [(header.base_offset, header.record_count) for header, _ in read_all(log)] == [
        (0, 1),
        (2, 0),
        (3, 1),
    ]


def test_the_last_batch_of_an_active_producer_stays_as_a_shell() -> None:
    log = compacted_log()
    for sequence in range(4):
        append(log, of_producer(sequence, keys=[b"k"]))
    put(log, "k", "last")
    roll(log)
    before = log.describe_producers()
    compact(log)
    shells = [header for header, _ in read_all(log) if not header.record_count]
    assert [(header.base_offset, header.base_sequence) for header in shells] == [(3, 3)]
    log.close()
    for name, _ in list(every_file(log.disk)):
        if name.endswith(".snapshot"):
            log.disk.remove(f"{FOLDER}/{name}")
    again = reopen(log, clean=False, recovery_point=0)
    assert again.describe_producers() == before
    append(again, of_producer(4, keys=[b"k"]))


def marker(log: PartitionLog, *, committed: bool, producer: int = 7) -> int:
    result = log.append_marker(
        producer,
        0,
        committed=committed,
        coordinator_epoch=0,
        leader_epoch=0,
        now_ms=NOW,
        transaction_version=0,
    )
    assert not result.error
    return result.base_offset


def test_records_of_aborted_transactions_go_and_never_hide_others() -> None:
    log = compacted_log()
    put(log, "k", "committed")
    append(log, of_producer(0, keys=[b"k"], txn=True))
    append(log, of_producer(1, keys=[b"other"], txn=True))
    marker(log, committed=False)
    append(log, of_producer(0, keys=[b"z"], txn=True, producer=8))
    marker(log, committed=True, producer=8)
    roll(log)
    compact(log)
    assert live(log)[b"k"] == (0, b"committed")
    assert b"other" not in live(log)
    assert live(log)[b"z"] == (4, b"value")


def test_a_marker_goes_after_its_last_record_and_its_horizon() -> None:
    log = compacted_log()
    append(log, of_producer(0, keys=[b"k"], txn=True))
    marker(log, committed=True)
    append(log, of_producer(0, keys=[b"a"], txn=True, producer=8))
    marker(log, committed=False, producer=8)
    for producer in (7, 8):  # so that no marker or record is the producer's last
        append(log, of_producer(1, keys=[b"q%d" % producer], txn=True, producer=producer))
        marker(log, committed=True, producer=producer)
    roll(log)

    def markers(up_to: int = 4) -> list[int]:
        return [
            header.base_offset
            for header, _ in read_all(log)
            if header.is_control and header.base_offset < up_to
        ]

    def aborted() -> list[int]:
        return [
            entry.first_offset
            for segment in log.segments
            for entry in segment.transactions.entries()
        ]

    assert aborted() == [2]
    compact(log)
    assert markers() == [1, 3], "the first run still met records of both"
    assert aborted() == [2]
    put(log, "k", "newer")
    roll(log)
    compact(log)
    assert markers() == [1, 3], "nothing of the aborted one was left: it has a horizon now"
    assert aborted() == []
    put(log, "x", "y")
    roll(log)
    compact(log, NOW + 1000)
    assert markers() == [1], "the committed one has a horizon since"
    put(log, "x", "y")
    roll(log)
    compact(log, NOW + 2000)
    assert markers() == []


def test_nothing_at_or_behind_an_open_transaction_is_cleaned() -> None:
    log = compacted_log()
    for number in range(12):
        put(log, "k", f"v{number}")
    append(log, of_producer(0, keys=[b"t"], txn=True))
    for number in range(12):
        put(log, "k", f"w{number}")
    roll(log)
    compact(log)
    kept = [offset for offset, key, _ in keys_and_values(log) if key == b"k"]
    assert kept == list(range(11, 12)) + list(range(13, 25))


def test_a_run_ends_when_it_knows_as_many_keys_as_it_may() -> None:
    log = compacted_log(cleaner_keys_max=5)
    for number in range(40):
        put(log, f"k{number % 10}", f"v{number}")
    roll(log)
    before = live(log)
    runs = 0
    while compact(log):
        runs += 1
        assert live(log) == before
        assert runs < 30
    assert runs > 1


def test_keys_of_any_length() -> None:
    log = compacted_log(segment_bytes=2000)
    for length in (0, 1, 24, 25, 26, 300):
        for value in ("old", "new"):
            put(log, "x" * length, value)
    roll(log)
    compact(log)
    assert {key: value for key, (_, value) in live(log).items() if key != b"filler"} == {
        b"x" * length: b"new" for length in (0, 1, 24, 25, 26, 300)
    }


def is_compacting(log: PartitionLog) -> bool:
    return log.compaction is not None


@pytest.mark.parametrize("change", ["truncate", "retention"])
def test_a_run_is_given_up_when_the_log_changes_under_it(change: str) -> None:
    log = compacted_log()
    for number in range(60):
        put(log, f"k{number % 7}", f"v{number}")
    roll(log)
    before = read_all(log)
    dirt = measure(log, NOW)
    assert dirt is not None
    log.compaction = Compaction(log, dirt, NOW)
    assert log.compaction.step()
    if change == "truncate":
        log.truncate_to(30, NOW)
        expected = before[:30]
    else:
        log.delete_records(30)
        log.apply_retention(NOW)
        expected = [entry for entry in before if entry[0].base_offset >= 30]
    assert not is_compacting(log)
    assert read_all(log) == expected
    assert not any(".cleaned" in name for name, _ in every_file(log.disk))
    compact(log)


def filled(log: PartitionLog) -> None:
    for number in range(30):
        put(log, f"k{number % 4}", f"v{number}")
        if number % 6 == 0:
            append(log, of_producer(number // 6, keys=[b"t"], txn=True))
            marker(log, committed=number % 12 == 0)
    put(log, "gone", None)
    roll(log)


@pytest.mark.parametrize("clean", [True, False])
def test_a_crash_at_any_moment_of_a_run_loses_nothing(clean: bool) -> None:
    """Any operation may be the last one: the next start finds the old log or the new one."""
    plain = compacted_log()
    filled(plain)
    expected = live(plain)
    producers = plain.describe_producers()
    compact(plain)
    number = 0
    writes = frozenset({"write", "replace", "truncate", "rename", "remove", "sync", "read"})
    while True:
        faults = Faults(lasting=True, only=writes)
        disk = faulty_disk(memory_disk(), faults)
        log = compacted_log(disk)
        filled(log)
        faults.countdown = number
        dirt = measure(log, NOW)
        failed = False
        if dirt is not None:
            run = Compaction(log, dirt, NOW)
            try:
                while run.step():
                    pass
            except StorageError:
                failed = True
            log.removals.remove_due(NOW)
        hit = faults.failed > 0
        faults.countdown = None
        if clean and not failed:
            log.close()
        again = load_partition(
            disk.disk,
            FOLDER,
            log.config,
            NOW,
            LoadOptions(clean_stop=False),
        )
        assert {key: found for key, found in live(again).items() if key != b"t"} == {
            key: found for key, found in expected.items() if key != b"t"
        }
        assert live(again)[b"t"][0] in {expected[b"t"][0], live(plain)[b"t"][0]}
        assert again.log_end_offset == plain.log_end_offset
        assert again.describe_producers() == producers
        again.cleaned_up_to = None
        compact(again)
        assert live(again) == live(plain)
        if not hit:
            break
        number += 1
    assert number > 10


def test_what_was_read_before_stays() -> None:
    log = compacted_log()
    filled(log)
    kept = log.read(0, 1 << 20)
    content = b"".join(kept.pieces or [])
    compact(log)
    assert b"".join(kept.pieces or []) == content
    assert log.size_in_bytes < len(content)
