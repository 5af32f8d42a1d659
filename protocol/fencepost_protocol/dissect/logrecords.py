"""Opens Kafka's own records: control records, coordinator records and metadata records.

An application's records are bytes to us. These have schemas, and their keys or first bytes say
which one and which version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from construct import Int16sb

from fencepost_protocol.dissect.constructs import Part, UVarint
from fencepost_protocol.dissect.declarations import declaration
from fencepost_protocol.dissect.node import Node
from fencepost_protocol.dissect.opener import Opener
from fencepost_protocol.dissect.region import NotReadable, Reader, read_region
from fencepost_protocol.dissect.trace import Budget, Label
from fencepost_protocol.generated.index import (
    GROUP_COORDINATOR_RECORDS,
    METADATA_RECORDS,
    SHARE_COORDINATOR_RECORDS,
    TRANSACTION_COORDINATOR_RECORDS,
)
from fencepost_protocol.schema import files

CONTROL_RECORDS: Final = {
    0: ("ABORT", "EndTxnMarker"),
    1: ("COMMIT", "EndTxnMarker"),
    2: ("LEADER_CHANGE", "LeaderChangeMessage"),
    3: ("SNAPSHOT_HEADER", "SnapshotHeaderRecord"),
    4: ("SNAPSHOT_FOOTER", "SnapshotFooterRecord"),
    5: ("KRAFT_VERSION", "KRaftVersionRecord"),
    6: ("KRAFT_VOTERS", "VotersRecord"),
}
_MARKERS: Final = (0, 1)

_VERSION: Final = Part(Label("version", "field", "int16"), Int16sb)
_TYPE: Final = Part(Label("type", "field", "int16"), Int16sb)
_FRAME_VERSION: Final = Part(Label("frame_version", "field", "uvarint"), UVarint())
_RECORD_TYPE: Final = Part(Label("type", "field", "uvarint"), UVarint())
_RECORD_VERSION: Final = Part(Label("version", "field", "uvarint"), UVarint())


def opener_of(topic: str | None) -> Opener | None:
    """The function that opens records of a topic, for Kafka's internal topics."""
    return {
        "__consumer_offsets": open_group_record,
        "__transaction_state": open_transaction_record,
        "__share_group_state": open_share_record,
        "__cluster_metadata": open_metadata_record,
    }.get(topic or "")


def open_control(key: Node, value: Node, budget: Budget) -> None:
    """A record of a control batch: a transaction marker, or one of a KRaft quorum's records."""
    found: list[int] = []

    def read_key(reader: Reader) -> None:
        reader.read(_VERSION)
        found.append(reader.read(_TYPE))

    _open(key, budget, read_key)
    if not found:
        return
    kind = found[0]
    name, schema = CONTROL_RECORDS.get(kind, ("", ""))
    _note(key, name or f"control record type {kind} is not known")
    if not schema:
        return

    def read_value(reader: Reader) -> None:
        if kind in _MARKERS:
            version = reader.read(_VERSION)
        else:  # These carry their version as their first field.
            version = int.from_bytes(reader.source.content[:2], "big", signed=True)
        _read_body(reader, schema, min(version, files.load(schema).valid.highest))

    _open(value, budget, read_value)


def open_group_record(key: Node, value: Node, budget: Budget) -> None:
    """A record of ``__consumer_offsets``."""
    _open_coordinator(key, value, budget, GROUP_COORDINATOR_RECORDS)


def open_transaction_record(key: Node, value: Node, budget: Budget) -> None:
    """A record of ``__transaction_state``."""
    _open_coordinator(key, value, budget, TRANSACTION_COORDINATOR_RECORDS)


def open_share_record(key: Node, value: Node, budget: Budget) -> None:
    """A record of ``__share_group_state``."""
    _open_coordinator(key, value, budget, SHARE_COORDINATOR_RECORDS)


def _open_coordinator(key: Node, value: Node, budget: Budget, known: dict[int, str]) -> None:
    """The key opens with the record's type, the value with its version."""
    found: list[str] = []

    def read_key(reader: Reader) -> None:
        kind = reader.read(_TYPE)
        if kind not in known:
            raise NotReadable(f"record type {kind} is not known")
        found.append(known[kind])
        _read_body(reader, f"{known[kind]}Key", 0)

    def read_value(reader: Reader) -> None:
        _read_body(reader, f"{found[0]}Value", reader.read(_VERSION))

    _open(key, budget, read_key)
    if found:
        _note(key, found[0])
        _open(value, budget, read_value)


def open_metadata_record(_key: Node, value: Node, budget: Budget) -> None:
    """A record of ``__cluster_metadata``: all is in the value, after a frame of three numbers."""

    def read(reader: Reader) -> None:
        frame = reader.read(_FRAME_VERSION)
        if frame != 1:
            raise NotReadable(f"frame version {frame} is not known")
        kind = reader.read(_RECORD_TYPE)
        version = reader.read(_RECORD_VERSION)
        if kind not in METADATA_RECORDS:
            raise NotReadable(f"record type {kind} is not known")
        _note(value, METADATA_RECORDS[kind])
        _read_body(reader, METADATA_RECORDS[kind], version)

    _open(value, budget, read)


def _read_body(reader: Reader, name: str, version: int) -> None:
    valid = files.load(name).valid
    if version not in valid:
        raise NotReadable(f"{name} has versions {valid}, not {version}")
    reader.read(declaration(name, version))


def _note(field: Node, text: str) -> None:
    for child in field.children:
        if child.role == "content":
            child.note = text


def _open(field: Node, budget: Budget, read: Callable[[Reader], None]) -> None:
    """Open the content of a key or value; null and empty ones have none."""
    for child in field.children:
        if child.role == "content":
            read_region(child, child.raw, budget, read)
