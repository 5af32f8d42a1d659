"""A broker's files: segments with their records by schema, indexes, snapshots, checkpoints."""

from __future__ import annotations

import struct
from pathlib import PurePath
from typing import Any

import pytest
from crc32c import crc32c
from fencepost_protocol.apis import message_class
from fencepost_protocol.dissect.logfile import is_log_file, log_trees, topic_of
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.generated.index import (
    GROUP_COORDINATOR_RECORDS,
    METADATA_RECORDS,
    SHARE_COORDINATOR_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from fencepost_protocol.generated.producer_snapshot import ProducerEntry, ProducerSnapshot
from fencepost_protocol.generated.transaction_log import TransactionLogKey, TransactionLogValue
from fencepost_protocol.records.writer import BatchBuilder
from fencepost_protocol.schema import files
from fencepost_protocol.varint import write_uvarint

from tests.fuzz.fuzz_dissect import assert_covers
from tests.support.random_messages import MessageMaker, seeded

SEGMENT = "00000000000000000000.log"


def trees(folder: str, content: bytes, name: str = SEGMENT, topic: str | None = None) -> list[Node]:
    found = list(log_trees(PurePath("data", folder, name), memoryview(content), topic))
    for tree in found:
        assert_covers(tree, tree.offset, content[tree.offset : tree.end])
    assert b"".join(leaf.raw for tree in found for leaf in tree.leaves()) == content
    return found


def batch(records: list[tuple[bytes | None, bytes | None]], base_offset: int = 0) -> bytes:
    builder = BatchBuilder(1 << 24)
    for key, value in records:
        builder.append(key, value, 1_700_000_000_000)
    return bytes(builder.build(base_offset=base_offset))


def encoded(name: str, version: int, message: Any = None) -> bytes:
    message = message or MessageMaker(files.load(name), seeded(name, version)).make(version)
    out = bytearray()
    message.encode(version, out)
    assert isinstance(message, message_class(name))
    return bytes(out)


def test_which_files_are_a_brokers_and_whose_they_are() -> None:
    for name in ("0.log", "0.index", "0.timeindex", "0.txnindex", "0.snapshot", "0-1.checkpoint"):
        assert is_log_file(PurePath(name))
    assert is_log_file(PurePath("recovery-point-offset-checkpoint"))
    assert not is_log_file(PurePath("capture.pcap"))
    assert not is_log_file(PurePath("frame.bin"))
    assert topic_of(PurePath("a/my-topic-12/0.log")) == "my-topic"
    assert topic_of(PurePath("a/my-topic/0.log")) is None
    assert topic_of(PurePath("0.log")) is None


@pytest.mark.parametrize(
    ("folder", "number", "base"),
    [
        (folder, number, base)
        for folder, records in (
            ("__consumer_offsets-3", GROUP_COORDINATOR_RECORDS),
            ("__share_group_state-3", SHARE_COORDINATOR_RECORDS),
            ("__transaction_state-3", TRANSACTION_COORDINATOR_RECORDS),
        )
        for number, base in records.items()
    ],
)
def test_coordinator_records_are_opened_by_type_and_version(
    folder: str, number: int, base: str
) -> None:
    key = struct.pack(">h", number) + encoded(f"{base}Key", 0)
    versions = list(files.load(f"{base}Value").valid)
    values = [struct.pack(">h", v) + encoded(f"{base}Value", v) for v in versions]
    (tree,) = trees(folder, batch([(key, value) for value in values] + [(key, None)]))
    assert not tree.is_broken
    assert not any(node.state is State.UNREAD for node in tree.walk())
    for position, version in enumerate(versions):
        at = f"records[{position}]"
        content = tree.find(f"{at}.key", "content")
        assert content is not None
        assert content.note == base
        first = files.load(f"{base}Value").root.fields[0].attribute
        assert tree.find(f"{at}.value.version") is not None
        field = next((n for n in tree.walk() if n.path == f"{at}.value.{first}"), None)
        assert (field is not None) is (
            version in files.load(f"{base}Value").root.fields[0].versions
        )
    tombstone = tree.find(f"records[{len(versions)}].value", "content")
    assert tombstone is None


@pytest.mark.parametrize("number", list(METADATA_RECORDS))
def test_metadata_records_are_opened_by_type_and_version(number: int) -> None:
    name = METADATA_RECORDS[number]
    values = []
    for version in files.load(name).valid:
        out = bytearray()
        for part in (1, number, version):
            write_uvarint(out, part)
        values.append(bytes(out) + encoded(name, version))
    (tree,) = trees("__cluster_metadata-0", batch([(None, value) for value in values]))
    assert not tree.is_broken
    for position in range(len(values)):
        content = tree.find(f"records[{position}].value", "content")
        assert content is not None
        assert content.note == name


def test_a_transaction_log_value_in_words() -> None:
    key = struct.pack(">h", 0) + encoded("TransactionLogKey", 0, TransactionLogKey("tx"))
    message = TransactionLogValue(producer_id=7, transaction_status=2)
    value = struct.pack(">h", 1) + encoded("TransactionLogValue", 1, message)
    (tree,) = trees("anywhere", batch([(key, value)]), topic="__transaction_state")
    status = tree.find("records[0].value.transaction_status")
    assert status is not None
    assert (status.value, status.note) == (2, "PrepareCommit")
    name = tree.find("records[0].key.transactional_id", "content")
    assert name is not None
    assert name.value == "tx"


@pytest.mark.parametrize(
    ("timeout_ms", "note"), [(60_000, ""), ((1 << 31) - 1, "none: two-phase commit")]
)
def test_a_transaction_without_a_timeout_is_told_apart(timeout_ms: int, note: str) -> None:
    message = TransactionLogValue(transaction_timeout_ms=timeout_ms)
    value = struct.pack(">h", 1) + encoded("TransactionLogValue", 1, message)
    key = struct.pack(">h", 0) + encoded("TransactionLogKey", 0, TransactionLogKey("tx"))
    (tree,) = trees("anywhere", batch([(key, value)]), topic="__transaction_state")
    timeout = tree.find("records[0].value.transaction_timeout_ms")
    assert timeout is not None
    assert timeout.note == note


@pytest.mark.parametrize(
    ("folder", "key", "value", "state", "note"),
    [
        ("__consumer_offsets-0", b"\0\x63rest", b"\0\0", State.UNREAD, "record type 99"),
        ("__consumer_offsets-0", b"\0\2\0\1g", b"\0\x63", State.UNREAD, "not 99"),
        ("__consumer_offsets-0", b"\0\2\0\5g", b"\0\0", State.BROKEN, "cut short"),
        ("__consumer_offsets-0", b"\0\2\0\1g!", None, State.LEFT_OVER, "behind the end"),
        ("__cluster_metadata-0", None, b"\2\0\0", State.UNREAD, "frame version 2"),
        ("__cluster_metadata-0", None, b"\1\x63\0", State.UNREAD, "record type 99"),
        ("__transaction_state-0", b"\0", b"\0", State.BROKEN, "cut short"),
    ],
)
def test_records_that_do_not_fit_their_topic(
    folder: str, key: bytes | None, value: bytes | None, state: State, note: str
) -> None:
    (tree,) = trees(folder, batch([(key, value)]))
    odd = [node for node in tree.walk() if node.state is not State.OK]
    assert odd
    assert odd[0].state is state
    assert note in odd[0].note


def test_an_application_s_records_stay_closed() -> None:
    content = batch([(b"\0\2\0\1g", b"value")], 5) + batch([(None, b"x")], 9)
    first, second = trees("topic-0", content)
    key = first.find("records[0].key", "content")
    assert key is not None
    assert not key.children
    assert second.offset == first.length
    assert second.find("base_offset").value == 9  # type: ignore[union-attr]


def test_an_offset_index_and_its_unused_rest() -> None:
    content = struct.pack(">iiii", 4, 0, 9, 4096) + bytes(80)
    (tree,) = trees("t-0", content, "00000000000000000100.index")
    assert tree.find("[0].relative_offset").note == "offset 104"  # type: ignore[union-attr]
    assert tree.find("[1].position").value == 4096  # type: ignore[union-attr]
    last = tree.children[-1]
    assert (last.state, last.length) == (State.UNREAD, 80)


def test_time_and_transaction_indexes() -> None:
    (tree,) = trees("t-0", struct.pack(">qi", 1_700_000_000_000, 3), "0.timeindex")
    assert tree.find("[0].timestamp").note.startswith("2023-11-14")  # type: ignore[union-attr]
    (tree,) = trees("t-0", struct.pack(">hqqqq", 0, 7, 10, 20, 21) + b"odd", "0.txnindex")
    assert tree.find("[0].last_stable_offset").value == 21  # type: ignore[union-attr]
    assert tree.children[-1].state is State.LEFT_OVER


def test_a_producer_snapshot_and_its_crc() -> None:
    entries = [ProducerEntry(producer_id=5, epoch=1, timestamp=1_700_000_000_000)]
    body = encoded("ProducerSnapshot", 1, ProducerSnapshot(producer_entries=entries))[4:]
    content = b"\0\1" + crc32c(body).to_bytes(4) + body
    (tree,) = trees("t-0", content, "00000000000000000009.snapshot")
    assert tree.find("crc").note == "correct"  # type: ignore[union-attr]
    assert not tree.is_broken
    (tree,) = trees("t-0", content[:-1] + b"\1", "00000000000000000009.snapshot")
    assert tree.find("crc").state is State.BROKEN  # type: ignore[union-attr]
    (tree,) = trees("t-0", b"\0\7" + content[2:], "00000000000000000009.snapshot")
    assert tree.children[-1].note == "ProducerSnapshot has versions 1, not 7"


def test_a_checkpoint_is_lines_of_text() -> None:
    content = b"0\n2\ntopic 0 17\ntopic 1 4"
    (tree,) = trees("data", content, "recovery-point-offset-checkpoint")
    assert [(node.path, node.value) for node in tree.children] == [
        ("version", "0"), ("count", "2"), ("[0]", "topic 0 17"), ("[1]", "topic 1 4"),
    ]  # fmt: skip
