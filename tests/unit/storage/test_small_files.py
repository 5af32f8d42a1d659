"""Names, checkpoints, indexes, epochs, settings."""

from __future__ import annotations

import pytest
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import MemoryBudget
from fencepost_broker.storage.log import CorruptFileError, EpochEnd, LogConfig
from fencepost_broker.storage.log import checkpoints as texts
from fencepost_broker.storage.log.epochs import LeaderEpochs
from fencepost_broker.storage.log.indexes import (
    AbortedEntry,
    OffsetIndex,
    TimeIndex,
    TransactionIndex,
)
from fencepost_broker.storage.log.names import (
    PartitionName,
    SegmentFile,
    deleted_folder_name,
    file_name,
    is_deleted_folder,
    parse_file_name,
    parse_folder_name,
)
from fencepost_broker.storage.log.removals import Removals
from fencepost_protocol.records.batch import TimestampType
from fencepost_protocol.records.compression import Compression

# --- names ----------------------------------------------------------------------------------------


def test_file_names() -> None:
    assert file_name(42, ".log") == "00000000000000000042.log"
    assert parse_file_name("00000000000000000042.log") == SegmentFile(42, ".log", "")
    assert parse_file_name("00000000000000000042.index.swap") == SegmentFile(42, ".index", ".swap")
    assert parse_file_name(file_name(2**63 - 1, ".txnindex", ".deleted")) == SegmentFile(
        2**63 - 1, ".txnindex", ".deleted"
    )
    for name in ("leader-epoch-checkpoint", "42.log", "0000000000000000004x.log", ""):
        assert parse_file_name(name) is None


def test_folder_names() -> None:
    assert parse_folder_name("orders-3") == PartitionName("orders", 3)
    assert parse_folder_name("my-topic.x_1-12") == PartitionName("my-topic.x_1", 12)
    assert str(PartitionName("a-b", 0)) == "a-b-0"
    for name in ("orders", "orders-", "-3", "orders-x", "orders-3.abc-delete", "orders--delete"):
        assert parse_folder_name(name) is None


def test_names_of_deleted_folders() -> None:
    name = deleted_folder_name(PartitionName("orders", 3), "ab" * 16)
    assert name == f"orders-3.{'ab' * 16}-delete"
    assert is_deleted_folder(name)
    assert not is_deleted_folder("to-delete")
    long = deleted_folder_name(PartitionName("x" * 249, 12), "ab" * 16)
    assert len(long) == 255
    assert is_deleted_folder(long)


# --- checkpoints ----------------------------------------------------------------------------------


def test_offset_checkpoints() -> None:
    offsets: dict[tuple[str, int], int] = {("a", 0): 5, ("b-c", 12): 2**40}
    data = texts.format_offsets(offsets)
    assert data == b"0\n2\na 0 5\nb-c 12 1099511627776\n"
    assert texts.parse_offsets(data, "f") == offsets
    assert texts.parse_offsets(texts.format_offsets({}), "f") == {}
    # Kafka's first start makes files that are empty until there is something to write.
    assert texts.parse_offsets(b"", "f") == {}


@pytest.mark.parametrize(
    "data",
    [
        b"1\n0\n",
        b"0\n",
        b"0\nx\n",
        b"0\n2\na 0 5\n",
        b"0\n1\na 0\n",
        b"0\n1\na 0 x\n",
        b"\xff",
    ],
)
def test_checkpoints_that_are_none(data: bytes) -> None:
    with pytest.raises(CorruptFileError, match="some/path"):
        texts.parse_offsets(data, "some/path")


def test_epoch_checkpoints() -> None:
    assert texts.format_epochs([(0, 0), (3, 17)]) == b"0\n2\n0 0\n3 17\n"
    assert texts.parse_epochs(b"0\n2\n0 0\n3 17\n", "f") == [(0, 0), (3, 17)]
    assert texts.parse_epochs(b"0\n3\n0 0\n3 17\n2 20\n", "f") == [(0, 0), (3, 17)]
    with pytest.raises(CorruptFileError):
        texts.parse_epochs(b"0\n1\nx 1\n", "f")


def test_partition_metadata() -> None:
    data = texts.format_partition_metadata(bytes(range(16)))
    assert data == b"version: 0\ntopic_id: AAECAwQFBgcICQoLDA0ODw"
    assert texts.parse_partition_metadata(data, "f") == bytes(range(16))
    for bad in (b"", b"version: 1\ntopic_id: AAECAwQFBgcICQoLDA0ODw", b"version: 0\ntopic_id: x"):
        with pytest.raises(CorruptFileError):
            texts.parse_partition_metadata(bad, "f")


def test_properties() -> None:
    data = texts.format_properties({"version": "1", "cluster.id": "a=b"})
    assert data == b"version=1\ncluster.id=a=b\n"
    text = b"#\n#Sat Nov 21\ncluster.id=a=b\n version = 1 \n\n"
    assert texts.parse_properties(text, "f") == {"version": "1", "cluster.id": "a=b"}
    with pytest.raises(CorruptFileError, match="nonsense"):
        texts.parse_properties(b"nonsense\n", "f")


def test_the_clean_shutdown_file() -> None:
    assert texts.format_clean_shutdown(7) == b'{"version":0,"brokerEpoch":7}'
    assert texts.parse_clean_shutdown(b'{"version":0,"brokerEpoch":7}') == 7
    for data in (b"", b"{}", b"[]", b"nonsense", b'{"brokerEpoch":"x"}'):
        assert texts.parse_clean_shutdown(data) == -1


# --- indexes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", [0, 1, 300, 1000])
def test_offset_index(written: int) -> None:
    disk = MemoryDisk()
    index = OffsetIndex(disk, "i", 1000, 0)
    assert index.lookup(5000) == 0
    for number in range(1000):
        if number == written:
            index.write_out()
        index.append(1000 + number * 10 + 9, number * 50)
    for offset in range(1000, 11_100, 7):
        batch = (offset - 1000 - 9) // 10
        assert index.lookup(offset) == max(min(batch, 999), 0) * 50
    assert index.offset_from(0) == 1009
    assert index.offset_from(1) == 1019
    assert index.offset_from(999 * 50) == 10_999
    assert index.offset_from(999 * 50 + 1) is None
    for position, count in ((999 * 50, 999), (302, 7), (300, 6), (0, 0)):
        index.truncate_to_position(position)
        assert index.count == count
    index.append(1009, 0)
    index.write_out()
    assert OffsetIndex(disk, "i", 1000, index.size).lookup(1500) == 0


def test_time_index() -> None:
    index = TimeIndex(MemoryDisk(), "i", 100, 0)
    assert index.last() is None
    assert index.lookup(7) == 100
    for time, offset in ((10, 105), (20, 110), (20, 111), (15, 112), (30, 120)):
        index.append(time, offset)
    assert index.count == 3
    assert [index.lookup(time) for time in (0, 10, 11, 20, 21, 30, 31)] == [
        100,
        100,
        105,
        105,
        110,
        110,
        120,
    ]
    index.truncate_to_offset(110)
    assert index.last() == (10, 105)


def test_transaction_index() -> None:
    disk = MemoryDisk()
    index = TransactionIndex(disk, "i", 0)
    entries = [
        AbortedEntry(number, number * 10, number * 10 + 5, number * 10 + 6) for number in range(5)
    ]
    for entry in entries:
        index.append(entry)
    assert index.entries() == entries
    index.write_out()
    assert disk.open("i").size() == 34 * 5
    assert TransactionIndex(disk, "i", 34 * 5).entries() == entries
    index.truncate_to_offset(25)
    assert index.entries() == entries[:2]


def test_what_an_index_keeps_in_memory_is_bounded() -> None:
    disk = MemoryDisk()
    index = OffsetIndex(disk, "i", 0, None)
    for number in range(50_000):
        index.append(number, number)
    assert 0 < index.size - disk.open("i").size() <= 32 * 1024
    assert index.lookup(49_999) == 49_999
    full = OffsetIndex(MemoryDisk(MemoryBudget(0)), "i", 0, None)
    for number in range(50_000):
        full.append(number, number)
    assert full.lookup(49_999) == 49_999, "a disk that refuses loses nothing"


def test_an_index_that_is_shorter_than_it_was_is_corrupt() -> None:
    disk = MemoryDisk()
    index = OffsetIndex(disk, "i", 0, 0)
    for number in range(100):
        index.append(number, number)
    index.write_out()
    disk.open("i").truncate(80)
    with pytest.raises(CorruptFileError, match="ends before"):
        index.lookup(50)


# --- leader epochs --------------------------------------------------------------------------------


def test_assigning_epochs() -> None:
    epochs = LeaderEpochs()
    assert epochs.latest == -1
    assert epochs.assign(2, 0)
    assert not epochs.assign(2, 5)
    assert epochs.assign(4, 10)
    assert epochs.assign(5, 10)
    assert epochs.entries() == [(2, 0), (5, 10)]
    assert epochs.assign(3, 7)
    assert epochs.entries() == [(2, 0), (3, 7)]
    assert not epochs.assign(-1, 20)


def test_cutting_epochs() -> None:
    epochs = LeaderEpochs([(1, 0), (3, 10), (7, 20)])
    assert not epochs.truncate_from_end(21)
    assert epochs.truncate_from_end(20)
    assert epochs.entries() == [(1, 0), (3, 10)]
    assert epochs.truncate_from_start(12)
    assert epochs.entries() == [(3, 12)]
    assert not epochs.truncate_from_start(5)
    assert epochs.epoch_of(11) == -1
    assert epochs.epoch_of(12) == 3
    assert LeaderEpochs().end_of(0, 5) == EpochEnd(-1, -1)


# --- settings -------------------------------------------------------------------------------------


def test_defaults_are_kafkas() -> None:
    config = LogConfig()
    assert (config.segment_bytes, config.max_message_bytes) == (1073741824, 1048588)
    assert (config.delete, config.compact) == (True, False)
    assert config.compression_type is None


def test_settings_by_kafkas_names() -> None:
    config = LogConfig.from_settings(
        {
            "segment.bytes": 1000,
            "retention.ms": -1,
            "cleanup.policy": "compact, delete",
            "compression.type": "zstd",
            "compression.zstd.level": 7,
            "compression.gzip.level": 3,
            "message.timestamp.type": "LogAppendTime",
            "min.insync.replicas": 2,
            "unclean.leader.election.enable": True,
        }
    )
    assert config == LogConfig(
        segment_bytes=1000,
        retention_ms=-1,
        min_insync_replicas=2,
        compact=True,
        compression_type=Compression.ZSTD,
        compression_level=7,
        message_timestamp_type=TimestampType.LOG_APPEND_TIME,
    )
    assert LogConfig.from_settings({"compression.type": "producer"}) == LogConfig()
    assert LogConfig.from_settings({"cleanup.policy": "compact"}).delete is False
    sizes = {"segment.bytes": 1 << 20, "internal.segment.bytes": 100}
    assert LogConfig.from_settings(sizes).segment_bytes == 100
    assert (
        LogConfig.from_settings(sizes | {"internal.segment.bytes": None}).segment_bytes == 1 << 20
    )


# --- removals -------------------------------------------------------------------------------------


def test_files_go_in_the_order_of_their_times() -> None:
    disk = MemoryDisk()
    removals = Removals(disk)
    for name, due in (("late", 30), ("early", 10), ("soon", 20)):
        disk.write(name, b"x", durable=False)
        removals.add(due, [name])
    disk.make_folder("f")
    removals.add_folder(20, "f")
    assert removals.due_ms == 10
    removals.remove_due(20)
    assert [entry.name for entry in disk.list_folder("")] == ["late"]
    assert (removals.due_ms, len(removals)) == (30, 1)


def test_what_nobody_else_reads_goes_at_once() -> None:
    disk = MemoryDisk()
    removals = Removals(disk, at_once=True)
    disk.write("f", b"x", durable=False)
    removals.add(30, ["f"])
    removals.remove_due(20)
    assert disk.list_folder("") == []
