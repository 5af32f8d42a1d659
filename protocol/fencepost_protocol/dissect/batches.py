"""Dissects record batches: headers, checksums and records.

Everything is read here once more by declarations of its own, and only decompression and checksum
come from ``fencepost_protocol.records``: the two readers can be held against each other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from construct import Construct, Int8sb, Int16sb, Int32sb, Int32ub, Int64sb

from fencepost_protocol import limits
from fencepost_protocol.dissect.constructs import (
    Blob,
    Length,
    Part,
    Refused,
    Rest,
    Sized,
    Text,
    Zigzag,
)
from fencepost_protocol.dissect.node import Node, State
from fencepost_protocol.dissect.opener import Opener
from fencepost_protocol.dissect.region import Reader, read_region
from fencepost_protocol.dissect.trace import ELEMENT, Budget, Label
from fencepost_protocol.dissect.values import iso_time
from fencepost_protocol.exceptions import RemoteProtocolError

LOG_OVERHEAD: Final = 12
HEADER_SIZE: Final = 61
MAGIC: Final = 2
_MAGIC_OFFSET: Final = 16
_CRC_FROM: Final = 21
_LENGTH: Final = struct.Struct(">i")
_CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
_LOG_APPEND_TIME: Final = 0x08
_TRANSACTIONAL: Final = 0x10
_CONTROL: Final = 0x20
_DELETE_HORIZON: Final = 0x40
_FLAGS: Final = (
    (_LOG_APPEND_TIME, "log append time"),
    (_TRANSACTIONAL, "transactional"),
    (_CONTROL, "control"),
    (_DELETE_HORIZON, "delete horizon set"),
)


def _number(name: str, kind: str, construct: Construct, about: str) -> Part:
    return Part(Label(name, "field", kind, "", about), construct)


_HEADER: Final = (
    _number("base_offset", "int64", Int64sb, "Offset of the first record; set by the broker."),
    _number("batch_length", "int32", Int32sb, "Bytes behind this field."),
    _number(
        "partition_leader_epoch",
        "int32",
        Int32sb,
        "Epoch of the leader that appended the batch; set by the broker.",
    ),
    _number("magic", "int8", Int8sb, "Version of the record format."),
    _number("crc", "uint32", Int32ub, "CRC-32C of everything behind this field."),
    _number(
        "attributes",
        "int16",
        Int16sb,
        "Bits 0-2 codec, 3 log append time, 4 transactional, 5 control, 6 delete horizon.",
    ),
    _number(
        "last_offset_delta",
        "int32",
        Int32sb,
        "Offset of the last record when the batch was written, less the base offset.",
    ),
    _number("base_timestamp", "int64", Int64sb, "What the records' timestamps are relative to."),
    _number("max_timestamp", "int64", Int64sb, "Largest timestamp in the batch."),
    _number("producer_id", "int64", Int64sb, "The idempotent producer, or -1."),
    _number("producer_epoch", "int16", Int16sb, "The producer's epoch, or -1."),
    _number("base_sequence", "int32", Int32sb, "Sequence number of the first record, or -1."),
    _number("record_count", "int32", Int32sb, "How many records the batch holds."),
)

_LENGTH_PART: Final = Part(
    Label("", "length", "varint"), Length(Zigzag(), compact=False, nullable=False)
)
_NULLABLE_LENGTH: Final = Part(
    Label("", "length", "varint"), Length(Zigzag(), compact=False, nullable=True)
)


def _sized(name: str, length: Part, content: Text | Blob, kind: str, about: str) -> Part:
    label = Label(name, "field", kind, "", about)
    return Part(label, Sized(length, content, Label("", "content", kind, "", about)))


_RECORD: Final = Label(ELEMENT, "group", "record")
_RECORD_LENGTH: Final = _number("length", "varint", Zigzag(), "Bytes of the record behind this.")
_RECORD_FIELDS: Final = (
    _number("attributes", "int8", Int8sb, "No bit has a meaning yet."),
    _number("timestamp_delta", "varlong", Zigzag(64), "Relative to the base timestamp."),
    _number("offset_delta", "varint", Zigzag(), "Relative to the base offset."),
    _sized("key", _NULLABLE_LENGTH, Blob(), "bytes", "The record's key; a length of -1 is null."),
    _sized("value", _NULLABLE_LENGTH, Blob(), "bytes", "The value; a length of -1 is null."),
)
_HEADER_COUNT: Final = _number("header_count", "varint", Zigzag(), "How many headers follow.")
_HEADERS: Final = Label("headers", "group", "headers")
_RECORD_HEADER: Final = Label(ELEMENT, "group", "header")
_HEADER_KEY: Final = _sized("key", _LENGTH_PART, Text("replace"), "string", "The header's name.")
_HEADER_VALUE: Final = _sized("value", _NULLABLE_LENGTH, Blob(), "bytes", "The header's value.")


def open_records(
    node: Node, budget: Budget, opener: Opener | None = None, *, may_end_early: bool = True
) -> None:
    """Add the batches of a records field to its node.

    A Fetch response may end inside a batch; a Produce request may not.
    """
    content = node.raw
    end = len(content)
    pos = position = 0
    while pos < end:
        size, state, reason = measure(content, pos)
        if budget.left <= 0:
            state, reason = State.UNREAD, "too many parts (MAX_DISSECTED_PARTS)"
        elif state is State.LEFT_OVER and not may_end_early:
            state = State.BROKEN
        batch = Node(f"{node.path}[{position}]", "group", "record batch", node.offset + pos)
        node.children.append(batch)
        if state is not State.OK:
            rest = content[pos:]
            batch.role, batch.state, batch.note = "rest", state, reason
            batch.raw, batch.length = rest, len(rest)
            return
        read_batch(batch, content[pos : pos + size], budget, opener)
        pos += size
        position += 1


def batches(content: memoryview, opener: Opener | None = None) -> Iterator[Node]:
    """The batches of a log file one at a time, each a tree with the file's offsets.

    What is no batch comes last, as one node.
    """
    pos = 0
    while pos < len(content):
        size, state, reason = measure(content, pos)
        budget = Budget()
        batch = Node("", "group", "record batch", pos)
        if state is not State.OK:
            rest = content[pos:]
            yield Node("", "rest", "record batch", pos, len(rest), rest, note=reason, state=state)
            return
        read_batch(batch, content[pos : pos + size], budget, opener)
        yield batch
        pos += size


def measure(content: memoryview, pos: int) -> tuple[int, State, str]:
    """The size of the batch at ``pos``, or the reason why there is none."""
    left = len(content) - pos
    if left <= _MAGIC_OFFSET:
        return 0, State.LEFT_OVER, f"{left} bytes, not even the beginning of a batch"
    (length,) = _LENGTH.unpack_from(content, pos + 8)
    magic = content[pos + _MAGIC_OFFSET]
    if not any(content[pos : pos + HEADER_SIZE]):
        return 0, State.LEFT_OVER, "zeros: nothing has been written here"
    if magic < MAGIC:
        return 0, State.BROKEN, f"a message set of magic {magic}; Kafka 4.0 ended them (KIP-724)"
    if magic != MAGIC:
        return 0, State.BROKEN, f"no message format has the magic {magic}"
    size = LOG_OVERHEAD + length
    if size < HEADER_SIZE:
        return 0, State.BROKEN, f"a batch of {size} bytes cannot hold its header"
    if size > left:
        return 0, State.LEFT_OVER, f"a batch of {size} bytes, cut off after {left}"
    return size, State.OK, ""


def read_batch(batch: Node, content: memoryview, budget: Budget, opener: Opener | None) -> None:
    """Fill the node of a batch whose size is known."""

    def read(reader: Reader) -> None:
        for part in _HEADER:
            reader.read(part)
        if reader.source.left:
            label = Label("records", "field", "records")
            reader.read(Part(label, Rest()))

    if not read_region(batch, content, budget, read):
        return
    fields = {child.path.rpartition(".")[2]: child for child in batch.children}
    _judge_crc(fields["crc"], content)
    _name_attributes(fields["attributes"])
    for name in ("base_timestamp", "max_timestamp"):
        fields[name].note = iso_time(_int(fields[name]))
    records = fields.get("records")
    if records is not None:
        _open_batch(records, fields, budget, opener)


def _int(node: Node) -> int:
    assert isinstance(node.value, int)
    return node.value


def _judge_crc(node: Node, content: memoryview) -> None:
    from fencepost_protocol.crc import crc32c

    computed = crc32c(content[_CRC_FROM:])
    if computed == _int(node):
        node.note = "correct"
        return
    node.state = State.BROKEN
    node.note = f"{_int(node):#010x} is wrong: the bytes behind it have {computed:#010x}"


def _name_attributes(node: Node) -> None:
    attributes = _int(node)
    names = [name for bit, name in _FLAGS if attributes & bit]
    codec = attributes & 0x07
    if codec:
        known = codec < len(_CODECS)
        names.insert(0, _CODECS[codec] if known else f"compression type {codec} does not exist")
        if not known:
            node.state = State.BROKEN
    if attributes & ~0x7F:
        names.append("unknown bits")
    node.note = ", ".join(names)


def _open_batch(
    records: Node, fields: dict[str, Node], budget: Budget, opener: Opener | None
) -> None:
    """Open the records of a batch, after decompression if needed."""
    codec = _int(fields["attributes"]) & 0x07
    root = records
    if codec >= len(_CODECS):
        return
    if codec:
        from fencepost_protocol.records.compression import Compression, decompress

        records.type = f"{_CODECS[codec]}-compressed records"
        try:
            content = memoryview(decompress(Compression(codec), records.raw))
        except RemoteProtocolError as error:
            records.state, records.note = State.BROKEN, error.reason
            return
        records.note = f"{len(content)} bytes when decompressed"
        root = Node(records.path, "group", "decompressed records", 0, len(content), content)
        records.inner = root
    _read_records(root, fields, budget)
    if _int(fields["attributes"]) & _CONTROL:
        from fencepost_protocol.dissect.logrecords import open_control

        opener = open_control
    for record in root.children:
        if record.type == "record" and record.role == "group":
            _explain_record(record, fields, budget, opener)


def _read_records(root: Node, fields: dict[str, Node], budget: Budget) -> None:
    count = _int(fields["record_count"])

    def read(reader: Reader) -> None:
        for position in range(count):
            with reader.group(_RECORD, position):
                _read_record(reader)
        if count < 0 or reader.source.left:
            raise Refused(f"{reader.source.left} bytes behind the {count} records of the batch")

    read_region(root, root.raw, budget, read)


def _read_record(reader: Reader) -> None:
    source = reader.source
    size = reader.read(_RECORD_LENGTH)
    if not 0 <= size <= source.left:
        raise Refused(f"a record of {size} bytes, {source.left} are left")
    outer = source.narrow(size)
    for part in _RECORD_FIELDS:
        reader.read(part)
    count = reader.read(_HEADER_COUNT)
    if not 0 <= count <= min(source.left, limits.MAX_RECORD_HEADERS):
        raise Refused(f"{count} headers in {source.left} bytes")
    if count:
        with reader.group(_HEADERS):
            for position in range(count):
                with reader.group(_RECORD_HEADER, position):
                    reader.read(_HEADER_KEY)
                    reader.read(_HEADER_VALUE)
    if source.left:
        raise Refused(f"{source.left} of the record's {size} bytes are left over")
    source.widen(outer)


def _explain_record(
    record: Node, fields: dict[str, Node], budget: Budget, opener: Opener | None
) -> None:
    """Say what the deltas come to, and open key and value where their format is known."""
    parts = {child.path.rpartition(".")[2]: child for child in record.children}
    if "offset_delta" in parts:
        offset = _int(fields["base_offset"]) + _int(parts["offset_delta"])
        record.note = parts["offset_delta"].note = f"offset {offset}"
    if "timestamp_delta" in parts:
        time = _int(fields["base_timestamp"]) + _int(parts["timestamp_delta"])
        if _int(fields["attributes"]) & _LOG_APPEND_TIME:
            time = _int(fields["max_timestamp"])
        parts["timestamp_delta"].note = iso_time(time)
    if opener is not None and "header_count" in parts:
        opener(parts["key"], parts["value"], budget)
