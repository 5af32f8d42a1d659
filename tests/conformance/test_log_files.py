"""Apache Kafka's DumpLogSegments reads every file that we write, and finds nothing wrong with it.

Needs a Java runtime; Kafka's jars come from Maven Central (`tests/support/apache_kafka.py`).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.log import (
    LoadOptions,
    LogConfig,
    LogManager,
    PartitionLog,
    load_partition,
)
from fencepost_broker.storage.log.compaction import Compaction, measure
from fencepost_protocol.records.batch import TimestampType
from fencepost_protocol.records.compression import Compression

from tests.conformance.log_files import IDENTITY, SETTINGS, check_dump, dump, everything
from tests.machine.storage.harness import NOW, append, base_offsets, batch, fill, of_producer
from tests.support.apache_kafka import (
    KafkaUnavailableError,
    fetch,
)

pytestmark = pytest.mark.conformance

TOPIC_ID = bytes(range(16))


@pytest.fixture(scope="module", autouse=True)
def _java() -> None:
    try:
        fetch()
    except KafkaUnavailableError as error:
        pytest.skip(str(error))
    if shutil.which("java") is None:
        pytest.skip("Kafka's tools need a Java runtime")


def manager_of(folder: Path, **settings: Any) -> tuple[LogManager, PartitionLog]:
    disk = FileDisk(folder)
    config = LogConfig(**(SETTINGS | settings))
    manager = LogManager.open(disk, IDENTITY, lambda topic: config, NOW)
    return manager, manager.create("orders", 0, TOPIC_ID, config, NOW)


def test_dumped_after_a_clean_stop(tmp_path: Path) -> None:
    manager, log = manager_of(tmp_path)
    everything(log)
    manager.close(NOW)
    assert len(log.segments) > 2
    check_dump(tmp_path / "orders-0", log)


def test_dumped_after_recovery_and_truncation(tmp_path: Path) -> None:
    _, log = manager_of(tmp_path)
    everything(log)
    with (tmp_path / log.segments.active.path(".log")).open("ab") as file:
        file.write(b"torn" * 30)
    disk = FileDisk(tmp_path)
    again = load_partition(disk, "orders-0", log.config, NOW, LoadOptions(clean_stop=False))
    again.truncate_to(base_offsets(again)[2] + 7, NOW)
    fill(again, 20)
    again.close()
    check_dump(tmp_path / "orders-0", again)


def test_dumped_with_append_times_and_without_times(tmp_path: Path) -> None:
    manager, log = manager_of(
        tmp_path, message_timestamp_type=TimestampType.LOG_APPEND_TIME, preallocate=True
    )
    everything(log)
    manager.close(NOW)
    check_dump(tmp_path / "orders-0", log)
    log = load_partition(_with_folder(FileDisk(tmp_path), "plain-0"), "plain-0", LogConfig(), NOW)
    for _ in range(200):
        append(log, batch([b"x" * 100], time=-1))
    log.close()
    check_dump(tmp_path / "plain-0", log)


def _with_folder(disk: FileDisk, folder: str) -> FileDisk:
    disk.make_folder(folder)
    return disk


def test_dumped_after_compaction(tmp_path: Path) -> None:
    manager, log = manager_of(
        tmp_path, compact=True, min_cleanable_dirty_ratio=0.0, delete_retention_ms=0
    )
    for number in range(300):
        key = b"k%d" % (number % 17)
        value = None if number % 11 == 0 else b"v" * (number % 90)
        codec = list(Compression)[number % 5]
        append(log, batch([value, b"w" * 200], keys=[key, b"other"], codec=codec))
        append(log, of_producer(number, keys=[key], producer=3, txn=True))
        if number % 5 == 4:
            log.append_marker(
                3,
                0,
                committed=number % 10 == 4,
                coordinator_epoch=0,
                leader_epoch=0,
                now_ms=NOW,
                transaction_version=0,
            )
    before = log.size_in_bytes
    for now in (NOW, NOW + 1):
        dirt = measure(log, now)
        if dirt is None:
            log.cleaned_up_to = None
            dirt = measure(log, now)
        assert dirt is not None
        run = Compaction(log, dirt, now)
        while run.step():
            pass
    log.removals.remove_due(NOW * 2)
    assert log.size_in_bytes < before / 2
    manager.close(NOW)
    check_dump(tmp_path / "orders-0", log)


def test_the_tool_would_complain(tmp_path: Path) -> None:
    """It does look: a wrong index entry and a wrong byte are told."""
    manager, log = manager_of(tmp_path)
    everything(log, 30)
    manager.close(NOW)
    folder = tmp_path / "orders-0"
    path = folder / "00000000000000000000.index"
    content = bytearray(path.read_bytes())
    content[3] += 1
    path.write_bytes(content)
    assert "ismatch" in dump([path])
    path = folder / "00000000000000000000.log"
    content = bytearray(path.read_bytes())
    content[70] ^= 1
    path.write_bytes(content)
    assert "isvalid: false" in dump([path])
