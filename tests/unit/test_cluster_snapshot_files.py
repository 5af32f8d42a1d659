"""Files of clusters' snapshots: what is written is read again, and every other file is refused."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker import ClusterSnapshot, Snapshot, SnapshotError
from fencepost_broker.server.clock import ClockPosition
from fencepost_broker.server.embedded.cluster_snapshot_file import MANIFEST
from fencepost_broker.storage.disk.memory import MemoryDisk

AT = ClockPosition(1_700_000_000_000, 5000)
LOG = "orders-0/00000000000000000000.log"
Members = dict[str, bytes]


def part(node_id: int, cluster_id: str = "abc", size: int = 2560) -> Snapshot:
    disk = MemoryDisk()
    disk.make_folder("orders-0")
    properties = f"version=1\ncluster.id={cluster_id}\nnode.id={node_id}\n"
    disk.open("meta.properties").pwrite(0, properties.encode())
    disk.open(LOG).pwrite(0, bytes(size))
    return Snapshot(disk, AT)


def saved(path: Path, **of_second: Any) -> Path:
    parts = {100: part(100), 1: part(1), 2: part(2, **of_second)}
    ClusterSnapshot(parts, [1], "stuck").save(path)
    return path


def unpacked(path: Path) -> Members:
    with tarfile.open(path) as archive:
        found = {each.name: archive.extractfile(each) for each in archive.getmembers()}
        return {name: file.read() for name, file in found.items() if file is not None}


def packed(path: Path, members: Members) -> Path:
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as archive:
        for name, data in members.items():
            header = tarfile.TarInfo(name)
            header.size = len(data)
            archive.addfile(header, io.BytesIO(data))
    return path


def test_a_snapshot_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = saved(tmp_path / "cluster")
    loaded = ClusterSnapshot.load(path)
    assert (loaded.name, list(loaded.running), list(loaded.parts)) == ("stuck", [1], [1, 2, 100])
    for node_id, each in loaded.parts.items():
        assert (each.node_id, each.at) == (node_id, AT)
        assert each.disk().read(LOG) == bytes(2560)
    assert [each.name for each in tmp_path.iterdir()] == ["cluster"]


def changed(**fields: Any) -> Callable[[Members], Members]:
    """Change the manifest."""

    def change(members: Members) -> Members:
        manifest = json.loads(members[MANIFEST]) | fields
        return members | {MANIFEST: json.dumps(manifest).encode()}

    return change


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (changed(format="zip"), "its format is 'zip', not 'fencepost-cluster-snapshot'"),
        (changed(version=2), "its format has version 2"),
        (changed(more=1), "unknown field `more`"),
        (changed(nodes=[]), "does not name each node once"),
        (changed(nodes=[1, 1, 2, 100]), "does not name each node once"),
        (changed(nodes=[-1, 1, 2, 100]), "does not name each node once"),
        (changed(nodes=[1, 2]), "something follows its last file"),
        (changed(nodes=[1, 2, 100, 101]), "damaged"),
        (changed(running=[3]), "a broker that ran and has no state"),
        (lambda members: dict(reversed(members.items())), "is where 'cluster.json' should be"),
        (
            lambda members: members | {"node-2.tar.gz": members["node-1.tar.gz"]},
            "node-2.tar.gz is of node 1",
        ),
        (lambda members: members | {"node-1.tar.gz": b"no archive"}, "damaged"),
        (
            lambda members: members | {"node-1.tar.gz": members["node-1.tar.gz"][:-30]},
            "the file is not complete",
        ),
    ],
)
def test_what_is_refused(change: Callable[[Members], Members], told: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "cluster")
    with pytest.raises(SnapshotError) as refused:
        ClusterSnapshot.load(packed(path, change(unpacked(path))))
    assert told in str(refused.value)
    assert str(path) in str(refused.value)


def test_nodes_of_different_clusters(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="are of different clusters"):
        ClusterSnapshot.load(saved(tmp_path / "cluster", cluster_id="other"))


def test_the_limit_is_for_all_nodes_together(tmp_path: Path) -> None:
    path = saved(tmp_path / "cluster", size=1 << 20)
    whole = sum(each.size_bytes for each in ClusterSnapshot.load(path).parts.values())
    ClusterSnapshot.load(path, bytes_max=whole)
    with pytest.raises(SnapshotError, match="unpacks to"):
        ClusterSnapshot.load(path, bytes_max=whole - 1)


def test_a_snapshot_of_one_broker_is_another_format(tmp_path: Path) -> None:
    path = tmp_path / "one"
    part(1).save(path)
    with pytest.raises(SnapshotError, match=r"is where 'cluster.json' should be"):
        ClusterSnapshot.load(path)
    with pytest.raises(SnapshotError, match=r"is where 'manifest.json' should be"):
        Snapshot.load(saved(tmp_path / "cluster"))
