"""The small text files of a data directory, as Apache Kafka 4.3 writes them.

A checkpoint is a version (0), a count and one line per entry. ``meta.properties`` is a Java
properties file, the clean-shutdown file a line of JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from fencepost_protocol.primitives import parse_uuid, uuid_text

from fencepost_broker.storage.log.disk import CorruptFileError, Disk
from fencepost_broker.storage.log.names import META_PROPERTIES, PartitionName

_VERSION = "0"


def _format(lines: Iterable[str]) -> bytes:
    entries = list(lines)
    return "".join(f"{line}\n" for line in (_VERSION, str(len(entries)), *entries)).encode()


def _parse(data: bytes, path: str, fields: int) -> list[list[str]]:
    try:
        lines = data.decode().splitlines()
        version, count = lines[0].strip(), int(lines[1])
    except (UnicodeDecodeError, IndexError, ValueError) as error:
        raise CorruptFileError(path, f"it is not a checkpoint: {error}") from error
    if version != _VERSION:
        raise CorruptFileError(path, f"its version is {version!r}")
    rows = [line.split() for line in lines[2:] if line.strip()]
    if len(rows) != count or any(len(row) != fields for row in rows):
        raise CorruptFileError(path, f"it does not have the {count} entries that it announces")
    return rows


def format_offsets(offsets: Mapping[tuple[str, int], int]) -> bytes:
    """Write a checkpoint of offsets by partition."""
    return _format([f"{topic} {number} {offset}" for (topic, number), offset in offsets.items()])


def parse_offsets(data: bytes, path: str) -> dict[PartitionName, int]:
    """Read a checkpoint of offsets by partition; Kafka makes one empty and fills it later."""
    if not data:
        return {}
    try:
        return {
            PartitionName(topic, int(partition)): int(offset)
            for topic, partition, offset in _parse(data, path, 3)
        }
    except ValueError as error:
        raise CorruptFileError(path, str(error)) from error


def format_epochs(entries: Iterable[tuple[int, int]]) -> bytes:
    """Write a ``leader-epoch-checkpoint``."""
    return _format(f"{epoch} {start_offset}" for epoch, start_offset in entries)


def parse_epochs(data: bytes, path: str) -> list[tuple[int, int]]:
    """Read a ``leader-epoch-checkpoint``; entries that do not rise are left out."""
    try:
        rows = [(int(epoch), int(start)) for epoch, start in _parse(data, path, 2)]
    except ValueError as error:
        raise CorruptFileError(path, str(error)) from error
    rising: list[tuple[int, int]] = []
    for epoch, start in rows:
        if not rising or (epoch > rising[-1][0] and start > rising[-1][1]):
            rising.append((epoch, start))
    return rising


def format_partition_metadata(topic_id: bytes) -> bytes:
    """Write a ``partition.metadata``."""
    return f"version: 0\ntopic_id: {uuid_text(topic_id)}".encode()


def parse_partition_metadata(data: bytes, path: str) -> bytes:
    """Read the topic id out of a ``partition.metadata``."""
    try:
        fields = dict(line.split(": ", 1) for line in data.decode().splitlines() if line.strip())
        if fields["version"].strip() != _VERSION:
            raise CorruptFileError(path, f"its version is {fields['version']!r}")
        return parse_uuid(fields["topic_id"].strip())
    except (ValueError, KeyError) as error:
        raise CorruptFileError(path, f"it has no topic id: {error}") from error


def format_properties(properties: Mapping[str, str]) -> bytes:
    """Write a properties file of plain names and values."""
    return "".join(f"{name}={value}\n" for name, value in properties.items()).encode()


def parse_properties(data: bytes, path: str) -> dict[str, str]:
    """Read a properties file of plain names and values."""
    properties = {}
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise CorruptFileError(path, f"it is no text: {error}") from error
    for line in text.splitlines():
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        name, equals, value = stripped.partition("=")
        if not equals:
            raise CorruptFileError(path, f"{stripped!r} is not a name and a value")
        properties[name.strip()] = value.strip()
    return properties


def format_clean_shutdown(broker_epoch: int) -> bytes:
    """Write the file that says that all logs were closed."""
    return json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":")).encode()


def parse_clean_shutdown(data: bytes) -> int:
    """Read the broker epoch from that file; -1 if it has none, since only its existence counts."""
    try:
        content = json.loads(data)
    except ValueError:
        return -1
    epoch = content.get("brokerEpoch", -1) if isinstance(content, dict) else -1
    return epoch if isinstance(epoch, int) else -1


def cluster_id_of(disk: Disk) -> str | None:
    """The cluster that a data directory belongs to already."""
    data = disk.read(META_PROPERTIES)
    if data is None:
        return None
    return parse_properties(data, f"{disk.name}/{META_PROPERTIES}").get("cluster.id")
