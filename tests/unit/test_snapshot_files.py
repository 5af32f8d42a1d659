"""Files of snapshots: what is written is read again, and every other file is refused."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fencepost_broker import Snapshot, SnapshotError
from fencepost_broker.server.clock import ClockPosition
from fencepost_broker.server.embedded.snapshot_file import DATA, MANIFEST, VERSION
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import CHUNK_SIZE
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

AT = ClockPosition(1_700_000_000_000, 5000)
LONG = "t" * 240
FILES = {
    "meta.properties": b"version=1\ncluster.id=abc\nnode.id=7\n",
    "orders-0/00000000000000000000.log": bytes(range(256)) * 10,
    "orders-0/00000000000000000000.index": b"",
    f"{LONG}-0/00000000000000000000.log": b"long",
}
FOLDERS = ("orders-0", "empty-3", f"{LONG}-0")


def a_disk(files: dict[str, bytes] = FILES) -> MemoryDisk:
    disk = MemoryDisk()
    for folder in FOLDERS:
        disk.make_folder(folder)
    for path, data in files.items():
        disk.open(path).pwrite(0, data)
    return disk


def content(snapshot: Snapshot) -> tuple[dict[str, bytes], set[str]]:
    disk = snapshot.disk()
    files = {path: bytes(disk.read(path) or b"") for path, _ in disk.walk()}
    return files, {each.name for each in disk.list_folder("") if each.is_folder}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "it.snapshot"
    Snapshot(a_disk(), AT, "broken").save(path)
    return path


def unpacked(path: Path) -> list[tuple[str, bytes]]:
    """The names and contents of an archive."""
    with tarfile.open(path) as archive:
        members = archive.getmembers()
        files = [archive.extractfile(each) for each in members]
        return [(each.name, file.read()) for each, file in zip(members, files, strict=True) if file]


def packed(path: Path, members: list[tuple[Any, bytes]], **header: Any) -> Path:
    """Write an archive; a name may be a whole header."""
    with tarfile.open(path, "w:gz", format=tarfile.GNU_FORMAT) as archive:
        for name, data in members:
            made = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            made.size = len(data)
            archive.addfile(made, io.BytesIO(data))
    return path


def test_a_snapshot_is_read_as_it_was_written(saved: Path) -> None:
    read = Snapshot.load(saved)
    assert content(read) == (FILES, set(FOLDERS))
    assert (read.at, read.name, read.node_id, read.cluster_id) == (AT, "broken", 7, "abc")
    assert [each.name for each in saved.parent.iterdir()] == ["it.snapshot"]


def test_any_tar_shows_the_data_directory(saved: Path) -> None:
    found = dict(unpacked(saved))
    manifest = json.loads(found.pop(MANIFEST))
    assert found == {DATA + path: data for path, data in FILES.items()}
    assert (manifest["format"], manifest["version"]) == ("fencepost-snapshot", VERSION)


def test_files_of_many_chunks(tmp_path: Path) -> None:
    data = bytes(range(251)) * (3 * CHUNK_SIZE // 251)
    Snapshot(a_disk({"orders-0/a.log": data}), AT).save(tmp_path / "s")
    read = Snapshot.load(tmp_path / "s")
    assert content(read)[0] == {"orders-0/a.log": data}
    assert read.size_bytes == len(data)


def test_a_file_that_is_too_large_for_its_reader(saved: Path) -> None:
    size = sum(map(len, FILES.values()))
    assert Snapshot.load(saved, bytes_max=size).size_bytes == size
    with pytest.raises(SnapshotError, match=rf"unpacks to {size} bytes.* bytes_max={size}"):
        Snapshot.load(saved, bytes_max=size - 1)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Snapshot.load(tmp_path / "nothing")


@pytest.mark.parametrize(
    "data",
    [b"", b"hello", gzip.compress(b""), gzip.compress(b"x" * 5000)],
    ids=["empty", "text", "empty archive", "archive of text"],
)
def test_what_is_no_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "s").write_bytes(data)
    with pytest.raises(SnapshotError, match=r"no snapshot of Fencepost|not complete"):
        Snapshot.load(tmp_path / "s")


def changed_manifest(saved: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    members = unpacked(saved)
    manifest = json.loads(members[0][1])
    change(manifest)
    return packed(saved, [(MANIFEST, json.dumps(manifest).encode()), *members[1:]])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda m: m.update(format="other"), "its format is 'other'"),
        (lambda m: m.update(version=VERSION + 1, new=1), f"version {VERSION + 1}, and Fencepost"),
        (lambda m: m.update(version=0), "has version 0"),
        (lambda m: m.pop("format"), "missing required field `format`"),
        (lambda m: m.update(unknown=1), "unknown field `unknown`"),
        (lambda m: m.update(node_id="7"), "Expected `int`"),
        (lambda m: m["folders"].append("../out"), "no path of a file in a data directory"),
        (lambda m: m["folders"].append(".."), "no path of a file in a data directory"),
        (lambda m: m["folders"].append("a/b"), "inside of another"),
        (lambda m: m["folders"].append("orders-0"), "a path twice"),
        (lambda m: m["files"].append(m["files"][0]), "a path twice"),
        (lambda m: m["folders"].remove("orders-0"), "no folder for 'orders-0/"),
        (lambda m: m["files"][0].update(path="/etc/passwd"), "no path of a file"),
        (lambda m: m["files"][0].update(path="orders-0/../../x"), "no path of a file"),
        (lambda m: m["files"][0].update(path="c:\\x"), "no path of a file"),
        (lambda m: m["files"][0].update(path=""), "no path of a file"),
        (lambda m: m["files"][0].update(path="other"), "should be"),
        (lambda m: m["files"][0].update(size=-1), "has -1 bytes"),
        (lambda m: m["files"][0].update(size=1 << 60), "unpacks to"),
        (lambda m: m["files"][0].update(size=m["files"][0]["size"] + 1), "should have"),
        (lambda m: m["files"][0].update(sha256="0" * 64), "its SHA-256 is not"),
        (lambda m: m["files"].pop(), "something follows"),
    ],
)
def test_manifests_that_are_refused(
    saved: Path, change: Callable[[dict[str, Any]], object], told: str
) -> None:
    with pytest.raises(SnapshotError, match=told):
        Snapshot.load(changed_manifest(saved, change))


def test_archives_that_are_refused(saved: Path) -> None:
    first, *rest = members = unpacked(saved)
    assert content(Snapshot.load(packed(saved, list(members))))[0] == FILES
    link = tarfile.TarInfo(rest[0][0])
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    sparse = tarfile.TarInfo(rest[0][0])
    sparse.type = tarfile.GNUTYPE_SPARSE
    cases: list[tuple[list[Any], str]] = [
        (rest, f"should be|is where '{MANIFEST}'"),
        ([first, *rest[1:]], "is where"),
        ([first, rest[0]], "is where|no snapshot"),
        ([first, (link, b""), *rest[1:]], "no regular file"),
        ([first, (sparse, b""), *rest[1:]], "no regular file"),
        ([*members, ("data/more", b"x")], "something follows"),
        ([(MANIFEST, b" " * (17 << 20)), *rest], "the limit is"),
        ([("n" * 5000, b""), *members], "a name has 5001 bytes"),
    ]
    for given_members, told in cases:
        with pytest.raises(SnapshotError, match=told):
            Snapshot.load(packed(saved, given_members))


def test_a_bomb_is_not_unpacked(saved: Path) -> None:
    """It announces nothing, and unpacks to a gigabyte of zeros."""
    members = unpacked(saved)
    packed(saved, list(members))
    beginning = gzip.decompress(saved.read_bytes())
    zeros = gzip.compress(bytes(64 << 20), 9)
    saved.write_bytes(gzip.compress(beginning) + zeros * 16)
    with pytest.raises(SnapshotError, match="does not end"):
        Snapshot.load(saved)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_file_that_was_cut(saved: Path, share: float) -> None:
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(SnapshotError, match=r"copy it again"):
        Snapshot.load(saved)


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.integers(0), st.integers(1, 255)), min_size=1, max_size=4), st.data())
def test_damage_is_noticed(
    saved: Path, changes: list[tuple[int, int]], data: st.DataObject
) -> None:
    """Flipped bits, of the file and of what is in it, are refused or harmless."""
    before = saved.read_bytes()
    try:
        inside = data.draw(st.booleans())
        changed = bytearray(gzip.decompress(before) if inside else before)
        for position, bits in changes:
            changed[position % len(changed)] ^= bits
        saved.write_bytes(gzip.compress(changed, 1) if inside else changed)
        try:
            read = Snapshot.load(saved)
        except SnapshotError:
            return
        files, folders = content(read)
        assert files == FILES
        # An empty folder stands in the manifest alone, which gzip's checksum protects.
        assert inside or folders == set(FOLDERS)
    finally:
        saved.write_bytes(before)


# -- data directories ------------------------------------------------------------------------------


def test_a_data_directory_and_back(tmp_path: Path) -> None:
    snapshot = Snapshot(a_disk(), AT)
    snapshot.write_data_dir(tmp_path / "new" / "data")
    again = Snapshot.from_data_dir(tmp_path / "new" / "data", "again")
    assert content(again) == (FILES, set(FOLDERS))
    assert again.name == "again"
    with pytest.raises(SnapshotError, match="is not empty"):
        snapshot.write_data_dir(tmp_path / "new" / "data")


def test_what_is_no_data_directory(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match=r"it has no meta\.properties"):
        Snapshot.from_data_dir(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()
    Snapshot(a_disk(), AT).write_data_dir(tmp_path / "data")
    (tmp_path / "data/orders-0/x.log").symlink_to("/etc/passwd")
    with pytest.raises(SnapshotError, match=r"x\.log is neither a file nor a folder"):
        Snapshot.from_data_dir(tmp_path / "data")
