"""Record batches are opened, in step with the reader that brokers and clients use."""

from __future__ import annotations

import pytest
from fencepost_protocol.dissect.batches import batches, open_records
from fencepost_protocol.dissect.logfile import batch_trees
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.trace import Budget
from fencepost_protocol.generated.leader_change_message import LeaderChangeMessage, Voter
from fencepost_protocol.records.batch import TimestampType, renew_crc
from fencepost_protocol.records.compression import Compression
from fencepost_protocol.records.control import (
    ControlType,
    build_control_batch,
    build_end_txn_marker,
)
from fencepost_protocol.records.reader import iter_records
from fencepost_protocol.records.writer import BatchBuilder

from tests.fuzz.fuzz_dissect import assert_covers

TIME = 1_700_000_000_000
RECORDS = [
    (b"key", b"value", TIME, [("name", b"text"), ("none", None), ("", b"")]),
    (None, None, TIME + 5, []),
    (b"", bytes(range(256)), TIME - 60_000, []),
]


def built(**options: object) -> bytes:
    builder = BatchBuilder()
    for key, value, timestamp, headers in RECORDS:
        builder.append(key, value, timestamp, headers)
    return bytes(builder.build(**options))  # type: ignore[arg-type]


def one(content: bytes, topic: str | None = None) -> Node:
    (tree,) = batch_trees(memoryview(content), topic)
    assert_covers(tree, 0, content)
    return tree


def held(tree: Node, path: str, role: str = "content") -> object:
    node = tree.find(path, role)
    if node is None or node.value is None:
        return None
    return bytes(node.value) if isinstance(node.value, memoryview) else node.value


def note(tree: Node, path: str) -> str:
    node = tree.find(path)
    assert node is not None, path
    return node.note


@pytest.mark.parametrize("codec", list(Compression))
def test_records_are_those_that_the_reader_finds(codec: Compression) -> None:
    content = built(codec=codec, base_offset=40, producer_id=3, producer_epoch=1, base_sequence=9)
    tree = one(content)
    assert not tree.is_broken
    assert note(tree, "crc") == "correct"
    assert note(tree, "attributes") == (codec.name.lower() if codec else "")
    for position, record in enumerate(iter_records(content)):
        at = f"records[{position}]"
        assert note(tree, f"{at}.offset_delta") == f"offset {record.offset}"
        for part in ("key", "value"):
            expected = getattr(record, part)
            assert (held(tree, f"{at}.{part}") or b"") == (expected or b"")
            length = tree.find(f"{at}.{part}", "length")
            assert length is not None
            assert (length.value is None) is (expected is None)
        for number, (key, value) in enumerate(record.headers):
            assert (held(tree, f"{at}.headers[{number}].key") or "") == key
            assert (held(tree, f"{at}.headers[{number}].value") or b"") == (value or b"")
    assert note(tree, "records[2].timestamp_delta") == "2023-11-14T22:12:20.000Z"


def test_decompressed_records_have_offsets_of_their_own() -> None:
    tree = one(built(codec=Compression.GZIP))
    records = tree.find("records")
    assert records is not None
    assert not records.children
    assert records.inner is not None
    assert records.inner.offset == 0
    assert records.inner.type == "decompressed records"


def test_log_append_time_is_every_records_time() -> None:
    content = built(timestamp_type=TimestampType.LOG_APPEND_TIME, log_append_time_ms=TIME + 9)
    tree = one(content)
    assert note(tree, "attributes") == "log append time"
    assert note(tree, "records[0].timestamp_delta") == "2023-11-14T22:13:20.009Z"


def test_a_wrong_crc_is_told_and_the_records_are_shown_all_the_same() -> None:
    content = bytearray(built())
    content[-1] ^= 2  # the last record's header count
    tree = one(bytes(content))
    crc = tree.find("crc")
    assert crc is not None
    assert crc.state is State.BROKEN
    assert f"{int.from_bytes(content[17:21]):#010x} is wrong" in crc.note
    assert held(tree, "records[0].key") == b"key"
    last = list(tree.leaves())[-1]
    assert (last.role, last.state) == ("rest", State.BROKEN)


def test_several_batches_and_an_end_in_the_middle_of_one() -> None:
    batch = built()
    content = batch * 3 + batch[:50]
    trees = list(batches(memoryview(content)))
    assert [tree.offset for tree in trees] == [0, len(batch), 2 * len(batch), 3 * len(batch)]
    assert [tree.state for tree in trees] == [State.OK] * 3 + [State.LEFT_OVER]
    assert trees[3].note == f"a batch of {len(batch)} bytes, cut off after 50"
    assert b"".join(leaf.raw for tree in trees for leaf in tree.leaves()) == content


@pytest.mark.parametrize(("early", "state"), [(True, State.LEFT_OVER), (False, State.BROKEN)])
def test_a_request_must_not_end_in_the_middle_of_a_batch(early: bool, state: State) -> None:
    content = memoryview(built()[:-1])
    field = Node("records", "content", "records", 7, len(content), content)
    open_records(field, Budget(), may_end_early=early)
    assert_covers(field, 7, content)
    assert [child.state for child in field.children] == [state]


@pytest.mark.parametrize(
    ("content", "state", "reason"),
    [
        (bytes(16) + b"\1" + bytes(60), State.BROKEN, "KIP-724"),
        (bytes(16) + b"\3" + bytes(60), State.BROKEN, "no message format"),
        (bytes(11) + b"\5" + bytes(4) + b"\2" + bytes(60), State.BROKEN, "cannot hold its header"),
        (bytes(100), State.LEFT_OVER, "zeros"),
        (bytes(10), State.LEFT_OVER, "not even the beginning"),
    ],
)
def test_what_is_no_batch(content: bytes, state: State, reason: str) -> None:
    tree = one(content)
    assert tree.state is state
    assert reason in tree.note


@pytest.mark.parametrize(
    ("offset", "value", "reason"),
    [
        (57, b"\0\0\0\4", "1 byte wanted, 0 left"),
        (57, b"\0\0\0\2", "behind the 2 records of the batch"),
        (57, b"\xff\xff\xff\xff", "behind the -1 records"),
        (61, b"\xfe\x7f", "a record of 8191 bytes"),
        (61, b"\x01", "a record of -1 bytes"),
        (65, b"\x7e", "63 bytes wanted"),
    ],
)
def test_records_that_do_not_fit_their_batch(offset: int, value: bytes, reason: str) -> None:
    content = bytearray(built())
    content[offset : offset + len(value)] = value
    renew_crc(content)
    tree = one(bytes(content))
    assert tree.is_broken
    assert any(reason in node.note for node in tree.walk()), [n.note for n in tree.walk()]


def test_compressed_bytes_that_do_not_decompress_are_broken() -> None:
    content = bytearray(built(codec=Compression.GZIP))
    content[80] ^= 0xFF
    renew_crc(content)
    records = one(bytes(content)).find("records")
    assert records is not None
    assert records.state is State.BROKEN
    assert "gzip" in records.note


def test_a_codec_that_does_not_exist_is_broken() -> None:
    content = bytearray(built())
    content[22] |= 7
    renew_crc(content)
    assert note(one(bytes(content)), "attributes") == "compression type 7 does not exist"


@pytest.mark.parametrize(("committed", "name"), [(True, "COMMIT"), (False, "ABORT")])
def test_transaction_markers(committed: bool, name: str) -> None:
    content = build_end_txn_marker(
        committed=committed,
        producer_id=1,
        producer_epoch=2,
        coordinator_epoch=77,
        timestamp_ms=TIME,
    )
    tree = one(bytes(content))
    assert note(tree, "attributes") == "transactional, control"
    key = tree.find("records[0].key", "content")
    assert key is not None
    assert key.note == name
    assert held(tree, "records[0].value.coordinator_epoch", "field") == 77


def test_a_marker_of_a_later_version_is_read_as_far_as_we_know_it() -> None:
    builder = BatchBuilder()
    builder.append(b"\0\1\0\1", b"\0\1" + (77).to_bytes(4) + b"new", TIME)
    tree = one(bytes(builder.build(control=True, transactional=True)))
    assert held(tree, "records[0].value.coordinator_epoch", "field") == 77
    rest = [node for node in tree.walk() if node.state is State.LEFT_OVER]
    assert [bytes(node.raw) for node in rest] == [b"new"]
    assert not tree.is_broken


def test_the_control_records_of_a_quorum() -> None:
    message = LeaderChangeMessage(version=1, leader_id=5, voters=[Voter(voter_id=5)])
    value = bytearray()
    message.encode(1, value)
    unknown = (b"\0\0\0\x63", b"later")
    batch = build_control_batch([(ControlType.LEADER_CHANGE, bytes(value))], TIME)
    tree = one(bytes(batch))
    assert held(tree, "records[0].value.leader_id", "field") == 5
    assert held(tree, "records[0].value.voters[0].voter_directory_id", "field") == bytes(16)
    builder = BatchBuilder()
    builder.append(*unknown, TIME)
    tree = one(bytes(builder.build(control=True)))
    key = tree.find("records[0].key", "content")
    assert key is not None
    assert key.note == "control record type 99 is not known"
    assert not tree.is_broken
