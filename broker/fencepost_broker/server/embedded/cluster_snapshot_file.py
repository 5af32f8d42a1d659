"""Snapshots of clusters in files: an archive of the nodes' own snapshot files.

    cluster.json            which nodes it has, and which brokers ran
    node-100.tar.gz         the file of each node, in the manifest's order

So ``tar -xzf`` unpacks a snapshot of each node. A stranger's file is read with the same care as
that of one broker.
"""

from __future__ import annotations

import gzip
import tarfile
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import msgspec

from fencepost_broker.server.embedded.snapshot import Snapshot
from fencepost_broker.server.embedded.snapshot_file import (
    MANIFEST_BYTES_MAX,
    Archive,
    SnapshotError,
    check_beginning,
    header_of,
    read_from,
    refusing,
)

FORMAT: Final = "fencepost-cluster-snapshot"
VERSION: Final = 1
MANIFEST: Final = "cluster.json"
NODES_MAX: Final = 1_000
_STORED: Final = 0
"""The level of compression: the nodes' files are compressed already."""
_SPOOLED_BYTES: Final = 16 << 20


class ClusterManifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the snapshot of a cluster is of."""

    format: str = FORMAT
    version: int = VERSION
    name: str
    nodes: list[int]
    running: list[int]
    """The brokers that ran."""


def write(path: Path, parts: Mapping[int, Snapshot], running: Collection[int], name: str) -> None:
    """Write a cluster's file; an older one of this name is replaced once it is complete."""
    manifest = ClusterManifest(name=name, nodes=sorted(parts), running=sorted(running))
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    unfinished = path.with_name(f"{path.name}.tmp")
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            gzip.open(unfinished, "wb", compresslevel=_STORED) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as archive,
        ):
            seconds = min(each.at.now_ms for each in parts.values()) // 1000
            whole = Path(folder) / MANIFEST
            whole.write_bytes(text)
            names = [whole]
            for node_id in manifest.nodes:
                names.append(Path(folder) / _name(node_id))
                parts[node_id].save(names[-1])
            for each in names:
                with each.open("rb") as source:
                    archive.addfile(header_of(each.name, each.stat().st_size, seconds), source)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read(path: Path, bytes_max: int) -> tuple[ClusterManifest, dict[int, Snapshot]]:
    """Read a cluster's file; raises ``SnapshotError`` for any other, and for a damaged one."""
    with path.open("rb") as packed, refusing(path):
        archive = Archive(packed)
        text = archive.take(MANIFEST, MANIFEST_BYTES_MAX)
        check_beginning(text, FORMAT)
        manifest = msgspec.json.decode(text, type=ClusterManifest)
        _check(manifest)
        parts: dict[int, Snapshot] = {}
        for node_id in manifest.nodes:
            left = bytes_max - sum(each.size_bytes for each in parts.values())
            parts[node_id] = _part(archive, node_id, left)
        archive.finish()
        if len({each.cluster_id for each in parts.values()}) > 1:
            raise SnapshotError("its nodes are of different clusters")
        return manifest, parts


def _check(manifest: ClusterManifest) -> None:
    nodes = set(manifest.nodes)
    if not 0 < len(manifest.nodes) == len(nodes) <= NODES_MAX or min(nodes) < 0:
        raise SnapshotError("its manifest does not name each node once")
    if not nodes.issuperset(manifest.running):
        raise SnapshotError("its manifest has a broker that ran and has no state")


def _part(archive: Archive, node_id: int, bytes_max: int) -> Snapshot:
    size = archive.begin(_name(node_id))
    if not 0 <= size <= bytes_max:
        raise SnapshotError(f"{_name(node_id)} has {size} bytes; {bytes_max} are left of the limit")
    with tempfile.SpooledTemporaryFile(_SPOOLED_BYTES) as spooled:
        for block in archive.content(size):
            spooled.write(block)
        spooled.seek(0)
        part = Snapshot.read(*read_from(spooled, bytes_max))
    if part.node_id != node_id:
        raise SnapshotError(f"{_name(node_id)} is of node {part.node_id}")
    return part


def _name(node_id: int) -> str:
    return f"node-{node_id}.tar.gz"
