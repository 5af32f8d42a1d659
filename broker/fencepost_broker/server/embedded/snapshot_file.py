"""Snapshots in files: a compressed tar archive, which starts with a manifest.

    manifest.json                       what the snapshot is of, and all its files with their sums
    data/meta.properties                the files of the data directory, in the manifest's order
    data/orders-0/00000000000000000000.log

So ``tar -xzf`` unpacks a data directory. A file may come from a stranger: whatever is not exactly
what the manifest announces is refused, and nothing is unpacked beyond the announced sizes. Headers
are read here and not by ``tarfile``, which accepts much more than these files need.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

import msgspec
from fencepost_protocol import __version__

from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import CHUNK_SIZE

FORMAT: Final = "fencepost-snapshot"
VERSION: Final = 1
MANIFEST_BYTES_MAX: Final = 16 << 20
MANIFEST: Final = "manifest.json"
DATA: Final = "data/"
_BLOCK: Final = tarfile.BLOCKSIZE
_NAME_BYTES_MAX: Final = 1024
_COMPRESSION: Final = 4
_is_name: Final = re.compile(r"[A-Za-z0-9._-]{1,255}").fullmatch
_DAMAGED: Final = (msgspec.MsgspecError, tarfile.TarError, zlib.error, OSError, ValueError)
"""What reading damaged bytes may raise; ``gzip.BadGzipFile`` is an ``OSError``."""


class SnapshotError(ValueError):
    """A file is no snapshot that can be used, or no snapshot can be made of a directory."""


class ManifestFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file of a snapshot."""

    path: str
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a snapshot is of."""

    format: str = FORMAT
    version: int = VERSION
    fencepost: str = __version__
    """The version of Fencepost that wrote the file."""
    name: str
    node_id: int
    cluster_id: str
    time_ms: int
    """State time, in milliseconds since 1970."""
    ahead_ms: int
    """How far a running clock was ahead of the system's."""
    folders: list[str]
    files: list[ManifestFile]


class _Beginning(msgspec.Struct):
    """What a manifest of any version has."""

    format: str
    version: int


def check_path(path: str) -> None:
    """Raise ``SnapshotError`` for a path that no data directory has: it might lead out of one."""
    parts = path.split("/")
    if len(parts) > 2 or not all(_is_name(part) and part.strip(".") for part in parts):
        raise SnapshotError(f"{path!r:.300} is no path of a file in a data directory")


def described(disk: MemoryDisk) -> tuple[list[str], list[ManifestFile]]:
    """Return the folders of a disk, and its files with their sums."""
    folders = sorted(each.name for each in disk.list_folder("") if each.is_folder)
    files = []
    for path, file in disk.walk():
        total = hashlib.sha256()
        for position in range(0, file.size(), CHUNK_SIZE):
            total.update(file.pread(position, CHUNK_SIZE))
        files.append(ManifestFile(path=path, size=file.size(), sha256=total.hexdigest()))
    return folders, files


def write(path: Path, manifest: Manifest, disk: MemoryDisk) -> None:
    """Write a snapshot's file; an older one of this name is replaced once it is complete."""
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=1)
    if len(text) > MANIFEST_BYTES_MAX:
        raise SnapshotError(f"{path}: {len(manifest.files)} files are too many for one snapshot")
    unfinished = path.with_name(f"{path.name}.tmp")
    try:
        with (
            gzip.open(unfinished, "wb", compresslevel=_COMPRESSION) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as archive,
        ):
            seconds = manifest.time_ms // 1000
            archive.addfile(header_of(MANIFEST, len(text), seconds), io.BytesIO(text))
            for each in manifest.files:
                # One chunk at a time: some of them may be in the spill file.
                source = io.BufferedReader(_MemoryReader(disk, each.path), CHUNK_SIZE)
                archive.addfile(header_of(DATA + each.path, each.size, seconds), source)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def header_of(name: str, size: int, seconds: int) -> tarfile.TarInfo:
    """Return the header of a file in an archive."""
    header = tarfile.TarInfo(name)
    header.size, header.mtime, header.mode = size, seconds, 0o600
    return header


class _MemoryReader(io.RawIOBase):
    """Reads a file of a memory disk."""

    def __init__(self, disk: MemoryDisk, path: str) -> None:
        self._file = disk.open(path)
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        data = self._file.pread(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)


def read(path: Path, bytes_max: int) -> tuple[Manifest, MemoryDisk]:
    """Read a snapshot's file; raises ``SnapshotError`` for any other, and for a damaged one."""
    with path.open("rb") as packed, refusing(path):
        return read_from(packed, bytes_max)


def read_from(packed: IO[bytes], bytes_max: int) -> tuple[Manifest, MemoryDisk]:
    """Read a snapshot's file that is open, within ``refusing``."""
    archive = Archive(packed)
    manifest = _manifest(archive.take(MANIFEST, MANIFEST_BYTES_MAX))
    _check(manifest, bytes_max)
    disk = MemoryDisk()
    for folder in manifest.folders:
        disk.make_folder(folder)
    for each in manifest.files:
        _read_file(archive, each, disk)
    archive.finish()
    return manifest, disk


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Raise ``SnapshotError`` with the file's name for whatever reading damaged bytes raises."""
    try:
        yield
    except SnapshotError as error:
        raise SnapshotError(f"{path}: {error}") from error
    except EOFError as error:
        raise SnapshotError(f"{path}: the file is not complete: copy it again") from error
    except _DAMAGED as error:
        text = f"{path}: this is no snapshot of Fencepost, or it is damaged: {error!s:.300}"
        raise SnapshotError(text) from error


def _manifest(data: bytes) -> Manifest:
    check_beginning(data, FORMAT)
    return msgspec.json.decode(data, type=Manifest)


def check_beginning(data: bytes, wanted: str) -> None:
    """Raise ``SnapshotError`` for a manifest of another format or version."""
    beginning = msgspec.json.decode(data, type=_Beginning)
    if beginning.format != wanted:
        raise SnapshotError(f"its format is {beginning.format!r:.100}, not {wanted!r}")
    if beginning.version != VERSION:
        raise SnapshotError(
            f"its format has version {beginning.version}, and Fencepost {__version__} reads"
            f" version {VERSION}: use the Fencepost that wrote it"
        )


def _check(manifest: Manifest, bytes_max: int) -> None:
    folders = set(manifest.folders)
    for folder in manifest.folders:
        check_path(folder)
        if "/" in folder:
            raise SnapshotError(f"the folder {folder!r} is inside of another one")
    names = [*manifest.folders, *(each.path for each in manifest.files)]
    if len(set(names)) < len(names):
        raise SnapshotError("its manifest has a path twice")
    for each in manifest.files:
        check_path(each.path)
        folder, slash, _ = each.path.rpartition("/")
        if slash and folder not in folders:
            raise SnapshotError(f"its manifest has no folder for {each.path!r}")
        if each.size < 0:
            raise SnapshotError(f"{each.path!r} has {each.size} bytes")
    size = sum(each.size for each in manifest.files)
    if size > bytes_max:
        raise SnapshotError(
            f"it unpacks to {size} bytes, and the limit is {bytes_max}: if you trust the file,"
            f" load it with bytes_max={size}"
        )


def _read_file(archive: Archive, each: ManifestFile, disk: MemoryDisk) -> None:
    size = archive.begin(DATA + each.path)
    if size != each.size:
        raise SnapshotError(f"{each.path!r} has {size} bytes, and should have {each.size}")
    file, total, position = disk.make(each.path), hashlib.sha256(), 0
    for block in archive.content(size):
        file.pwrite(position, block)
        total.update(block)
        position += len(block)
    if total.hexdigest() != each.sha256:
        raise SnapshotError(f"{each.path!r} is damaged: its SHA-256 is not the manifest's")


class Archive:
    """A tar archive of regular files, read once from its beginning to its end."""

    def __init__(self, packed: IO[bytes]) -> None:
        self._unpacked = gzip.GzipFile(fileobj=packed, mode="rb")

    def _take(self, size: int) -> bytes:
        data = self._unpacked.read(size)
        while len(data) < size:
            more = self._unpacked.read(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data

    def begin(self, expected: str) -> int:
        """Read the header of the next file, which must have this name, and return its size."""
        header = self._header()
        name = header.name
        if header.type == tarfile.GNUTYPE_LONGNAME:
            if not 0 <= header.size <= _NAME_BYTES_MAX:
                raise SnapshotError(f"a name has {header.size} bytes")
            name = b"".join(self.content(header.size)).rstrip(b"\0").decode("ascii")
            header = self._header()
        if header.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise SnapshotError(f"{name!r:.300} is no regular file")
        if name != expected:
            raise SnapshotError(f"{name!r:.300} is where {expected!r} should be")
        return header.size

    def _header(self) -> tarfile.TarInfo:
        return tarfile.TarInfo.frombuf(self._take(_BLOCK), "ascii", "strict")

    def take(self, name: str, size_max: int) -> bytes:
        """Return the content of the next file, which must have this name."""
        size = self.begin(name)
        if not 0 <= size <= size_max:
            raise SnapshotError(f"{name} has {size} bytes; the limit is {size_max}")
        return b"".join(self.content(size))

    def content(self, size: int) -> Iterator[bytes]:
        """Yield the bytes of a file whose header was read."""
        padding = -size % _BLOCK
        while size:
            block = self._take(min(size, CHUNK_SIZE))
            size -= len(block)
            yield block
        self._take(padding)

    def finish(self) -> None:
        """Check that nothing follows."""
        for _ in range(2 * tarfile.RECORDSIZE // _BLOCK):
            block = self._unpacked.read(_BLOCK)
            if block.strip(b"\0"):
                raise SnapshotError("something follows its last file")
            if not block:
                return
        raise SnapshotError("it does not end after its last file")
