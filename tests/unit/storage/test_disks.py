"""Both disks keep the promises of `storage/log/disk.py`; so do their fallbacks."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from fencepost_broker.storage.disk import room
from fencepost_broker.storage.disk.files import FileDisk
from fencepost_broker.storage.disk.memory import MemoryDisk
from fencepost_broker.storage.disk.memory_chunks import CHUNK_SIZE, MemoryBudget, SpillFile
from fencepost_broker.storage.log import Disk, LockedError, StorageError

KINDS = ["files", "files by seeking", "memory", "spilled", "half spilled"]


@pytest.fixture(params=KINDS)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    match request.param:
        case "files":
            yield FileDisk(tmp_path)
        case "files by seeking":
            yield FileDisk(tmp_path, positional=False)
        case "memory":
            yield MemoryDisk()
        case "spilled":
            yield MemoryDisk(MemoryBudget(0, SpillFile(str(tmp_path))))
        case "half spilled":
            yield MemoryDisk(MemoryBudget(CHUNK_SIZE + CHUNK_SIZE // 2, SpillFile(str(tmp_path))))


def content(disk: Disk, path: str) -> bytes:
    file = disk.open(path)
    return b"".join(file.views(0, file.size()))


def test_writing_and_reading(disk: Disk) -> None:
    file = disk.open("a")
    assert (file.size(), bytes(file.pread(0, 10)), disk.exists("a")) == (0, b"", False)
    file.pwrite(0, b"hello")
    file.pwrite(5, memoryview(b" world"))
    file.pwrite(0, bytearray(b"J"))
    assert (file.size(), bytes(file.pread(0, 100)), disk.exists("a")) == (11, b"Jello world", True)
    assert bytes(file.pread(6, 3)) == b"wor"
    assert bytes(file.pread(11, 3)) == b""
    file.close()
    assert bytes(file.pread(0, 5)) == b"Jello"
    assert bytes(disk.open("a").pread(0, 5)) == b"Jello"


def test_large_files_of_odd_pieces(disk: Disk) -> None:
    file = disk.open("a")
    expected = bytearray()
    for number in range(40):
        piece = bytes([number]) * (number * 7919 % 200_000)
        file.pwrite(len(expected), piece)
        expected += piece
    assert file.size() == len(expected)
    assert content(disk, "a") == expected
    for position in (0, 5, CHUNK_SIZE - 3, CHUNK_SIZE, 2 * CHUNK_SIZE - 1, len(expected) - 1):
        for length in (1, 10, CHUNK_SIZE + 5):
            wanted = expected[position : position + length]
            assert bytes(file.pread(position, length)) == wanted
            assert b"".join(file.views(position, length)) == wanted
    file.seal()
    assert b"".join(file.views(0, len(expected))) == expected


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux can")
@pytest.mark.parametrize("end", ["seal", "close", "truncate"])
def test_room_is_reserved_ahead_of_large_writes_and_given_back(tmp_path: Path, end: str) -> None:
    path, piece = tmp_path / "a", bytes(256 * 1024)
    file = FileDisk(tmp_path).open("a")
    for number in range(4):
        file.pwrite(number * len(piece), piece)
    file.sync_later()()  # before this, ext4 does not count the blocks of what was written
    if path.stat().st_blocks * 512 < 2 * path.stat().st_size:
        assert not _reserves(tmp_path / "probe")
        pytest.skip("this file system reserves no room")
    assert path.stat().st_size == 4 * len(piece)
    if end == "truncate":
        file.truncate(file.size())
    else:
        getattr(file, end)()
    assert path.stat().st_blocks * 512 < path.stat().st_size + 64 * 1024
    assert path.read_bytes() == 4 * piece


def _reserves(path: Path) -> bool:
    with path.open("wb") as file:
        room.reserve_room(file.fileno(), 0, 1 << 20)
        return os.fstat(file.fileno()).st_blocks > 0


def test_writes_go_on_where_no_room_can_be_reserved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def refuse(*arguments: int) -> int:
        asked.append(arguments)
        return -1

    monkeypatch.setattr(room, "_find_fallocate", lambda: refuse)
    file, piece = FileDisk(tmp_path).open("a"), bytes(128 * 1024)
    for number in range(100):
        file.pwrite(number * len(piece), piece)
    assert file.size() == 100 * len(piece)
    assert 1 <= len(asked) <= 10  # a full disk is not asked again at each write


def test_writing_behind_the_end_fills_with_zeros(disk: Disk) -> None:
    file = disk.open("a")
    file.pwrite(10, b"x")
    assert content(disk, "a") == bytes(10) + b"x"


def test_writing_nothing_makes_the_file(disk: Disk) -> None:
    disk.open("a").pwrite(0, b"")
    assert disk.exists("a")
    assert disk.read("a") == b""


def test_truncating(disk: Disk) -> None:
    file = disk.open("a")
    file.truncate(0)
    file.pwrite(0, b"x" * (CHUNK_SIZE + 100))
    for size in (CHUNK_SIZE + 50, CHUNK_SIZE, 17, 0):
        file.truncate(size)
        assert content(disk, "a") == b"x" * size
    file.pwrite(0, b"again")
    assert content(disk, "a") == b"again"


@pytest.mark.parametrize("sealed", [True, False])
def test_views_keep_their_bytes(disk: Disk, sealed: bool) -> None:
    file = disk.open("a")
    file.pwrite(0, b"a" * 10_000)
    if sealed:
        file.seal()
    views = file.views(5_000, 5_000)
    assert all(view.readonly for view in views)
    file.pwrite(10_000, b"b" * 10)
    file.truncate(6_000)
    file.pwrite(6_000, b"c" * 8_000)
    assert b"".join(views) == b"a" * 5_000
    assert bytes(file.pread(5_999, 2)) == b"ac"
    more = file.views(0, 14_000)
    file.close()
    disk.rename("a", "b")
    disk.remove("b")
    assert b"".join(views) == b"a" * 5_000
    assert b"".join(more) == b"a" * 6_000 + b"c" * 8_000


def test_a_sealed_file_may_be_written_again(disk: Disk) -> None:
    file = disk.open("a")
    file.pwrite(0, b"one")
    file.seal()
    assert b"".join(file.views(0, 3)) == b"one"
    file.pwrite(3, b"two")
    assert b"".join(file.views(0, 6)) == b"onetwo"


def test_an_empty_sealed_file_has_no_views(disk: Disk) -> None:
    file = disk.open("a")
    file.pwrite(0, b"")
    file.seal()
    assert b"".join(file.views(0, 10)) == b""


def test_reserving(disk: Disk) -> None:
    file = disk.open("a")
    file.reserve(5_000)
    file.pwrite(0, b"x")
    file.truncate(1)
    assert content(disk, "a") == b"x"


def test_small_files(disk: Disk) -> None:
    assert disk.read("a") is None
    for durable in (True, False):
        disk.write("a", b"one", durable=durable)
        disk.write("a", b"two", durable=durable)
        assert disk.read("a") == b"two"
    assert [entry.name for entry in disk.list_folder("")] == ["a"]


def test_files_are_for_this_user_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        disk = FileDisk(tmp_path / "data")
        disk.make_folder("f")
        disk.open("f/log").pwrite(0, b"x")
        disk.write("f/whole", b"x", durable=True)
        lock = disk.lock(".lock")
        modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.rglob("*")}
        lock.release()
    finally:
        os.umask(before)
    assert {name: oct(mode) for name, mode in modes.items() if mode & 0o077} == {}


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    disk = FileDisk(tmp_path)
    disk.write("f", b"", durable=False)
    with pytest.raises(StorageError, match="make the folder"):
        disk.make_folder("f")


def test_folders(disk: Disk) -> None:
    disk.make_folder("f")
    disk.make_folder("f")
    disk.open("f/one").pwrite(0, b"1")
    disk.write("f/two", b"22", durable=False)
    disk.write("top", b"333", durable=False)
    assert sorted(disk.list_folder("f")) == [("one", 1, False), ("two", 2, False)]
    assert sorted(disk.list_folder("")) == [("f", 0, True), ("top", 3, False)]
    assert disk.list_folder("missing") == []
    disk.rename("f", "g")
    assert not disk.exists("f")
    assert disk.read("g/two") == b"22"
    disk.remove_folder("g")
    disk.remove_folder("g")
    assert not disk.exists("g/one")
    assert sorted(disk.list_folder("")) == [("top", 3, False)]


def test_renaming_replaces(disk: Disk) -> None:
    disk.write("a", b"a", durable=False)
    disk.write("b", b"b", durable=False)
    disk.rename("a", "b")
    assert disk.read("b") == b"a"
    assert disk.read("a") is None
    with pytest.raises(StorageError):
        disk.rename("missing", "c")


def test_removing_what_is_not_there(disk: Disk) -> None:
    disk.remove("missing")


def test_a_folder_that_is_not_there_is_an_error(disk: Disk) -> None:
    with pytest.raises(StorageError, match="missing/file"):
        disk.open("missing/file").pwrite(0, b"x")
    with pytest.raises(StorageError):
        disk.write("missing/file", b"x", durable=True)


def test_syncing_outlives_closing_and_removing(disk: Disk) -> None:
    file = disk.open("a")
    file.sync_later()()
    file.pwrite(0, b"x")
    syncs = [file.sync_later(), disk.sync_folder_later("")]
    file.close()
    disk.remove("a")
    for sync in syncs:
        sync()
        sync()


def test_one_lock_at_a_time(disk: Disk, tmp_path: Path) -> None:
    lock = disk.lock(".lock")
    with pytest.raises(LockedError):
        disk.lock(".lock")
    if isinstance(disk, FileDisk):  # another process does not get it either
        code = f"""
            import sys
            from fencepost_broker.storage.disk.files import FileDisk
            from fencepost_broker.storage.log import LockedError
            try:
                FileDisk({str(tmp_path)!r}).lock(".lock")
            except LockedError as error:
                print(error)
            else:
                print("locked")
        """

        def try_it() -> str:
            command = [sys.executable, "-c", textwrap.dedent(code)]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout

        assert "another broker" in try_it()
        lock.release()
        assert try_it() == "locked\n"
    else:
        lock.release()
    disk.lock(".lock").release()


def test_usage(disk: Disk) -> None:
    usage = disk.usage()
    assert 0 <= usage.usable_bytes <= usage.total_bytes or isinstance(disk, MemoryDisk)


# --- real files -----------------------------------------------------------------------------------


def test_files_are_opened_when_needed_and_only_so_many(tmp_path: Path) -> None:
    disk = FileDisk(tmp_path, open_files_max=4)
    files = [disk.open(f"f{number}") for number in range(20)]
    assert disk.open_files == 0
    for number, file in enumerate(files):
        file.pwrite(0, b"%d" % number)
        assert disk.open_files <= 4
    for number, file in enumerate(files):
        assert bytes(file.pread(0, 5)) == b"%d" % number
        file.seal()
        assert b"".join(file.views(0, 2)) == b"%d" % number
        assert disk.open_files <= 4
    assert not list(tmp_path.glob("*.tmp"))


def test_a_file_in_use_stays_open_longer(tmp_path: Path) -> None:
    disk = FileDisk(tmp_path, open_files_max=3)
    hot = disk.open("hot")
    hot.pwrite(0, b"x")
    opened: list[str] = []
    real_open = os.open

    def noting(path: str, *arguments: int) -> int:
        opened.append(Path(path).name)
        return real_open(path, *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", noting)
        for number in range(30):
            disk.open(f"f{number}").pwrite(0, b"x")
            hot.pwrite(0, b"y")
    assert "hot" not in opened


def test_errors_of_the_system_become_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = FileDisk(tmp_path)
    file = disk.open("a")
    file.pwrite(0, b"x")

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(StorageError, match="No space left on device") as caught:
        file.pwrite(0, b"y")
    assert caught.value.no_space
    assert caught.value.path.endswith("/a")


def test_a_short_write_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: real(fd, bytes(data)[:3], at))
    file = FileDisk(tmp_path).open("a")
    file.pwrite(2, b"0123456789")
    assert bytes(file.pread(0, 100)) == b"\0\0" + b"0123456789"


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write")
def test_a_read_only_directory(tmp_path: Path) -> None:
    disk = FileDisk(tmp_path)
    disk.open("a").pwrite(0, b"x")
    (tmp_path / "a").chmod(0o444)
    tmp_path.chmod(0o555)
    assert bytes(disk.open("a").pread(0, 5)) == b"x"
    with pytest.raises(StorageError):
        disk.open("a").pwrite(0, b"y")
    with pytest.raises(StorageError):
        disk.write("b", b"y", durable=False)


# --- memory ---------------------------------------------------------------------------------------


def test_memory_is_bounded_and_the_rest_lies_in_one_unlinked_file(tmp_path: Path) -> None:
    spill = SpillFile(str(tmp_path))
    budget = MemoryBudget(3 * CHUNK_SIZE, spill)
    disk = MemoryDisk(budget)
    block = bytes(range(256)) * 1024
    for number in range(8):
        file = disk.open(f"f{number}")
        for position in range(0, 2 * CHUNK_SIZE, len(block)):
            file.pwrite(position, block)
        assert budget.used_bytes <= budget.limit_bytes
    assert spill.size == 13 * CHUNK_SIZE
    assert list(tmp_path.iterdir()) == []
    for number in range(8):
        assert content(disk, f"f{number}") == block * (2 * CHUNK_SIZE // len(block))
    for number in range(8):
        disk.remove(f"f{number}")
    assert (budget.used_bytes, spill.size) == (0, 0)


def test_a_hard_budget_is_a_full_disk() -> None:
    budget = MemoryBudget(4096)
    disk = MemoryDisk(budget)
    file = disk.open("a")
    file.pwrite(0, bytes(3000))
    with pytest.raises(StorageError, match="budget") as caught:
        file.pwrite(3000, bytes(3000))
    assert caught.value.no_space
    assert file.size() == 3000
    file.truncate(0)
    disk.open("b").pwrite(0, bytes(3000))


needs_maps = pytest.mark.skipif(sys.platform != "linux", reason="chunks are no memory maps here")


def marked_chunks(budget: MemoryBudget, count: int) -> list[memoryview]:
    """Chunks that begin with a byte which new memory does not have."""
    chunks = []
    for _ in range(count):
        assert budget.take(CHUNK_SIZE)
        chunk = budget.memory(CHUNK_SIZE)
        chunk[0] = 7
        chunks.append(chunk)
    return chunks


@needs_maps
def test_memory_that_was_given_back_is_used_again() -> None:
    budget = MemoryBudget(2 * CHUNK_SIZE)
    (chunk,) = marked_chunks(budget, 1)
    budget.give_back_memory(chunk)
    assert budget.used_bytes == 0
    assert budget.memory(CHUNK_SIZE)[0] == 7


@needs_maps
def test_memory_that_is_kept_counts_as_used_for_what_is_new() -> None:
    budget = MemoryBudget(2 * CHUNK_SIZE)
    for chunk in marked_chunks(budget, 2):
        budget.give_back_memory(chunk)
    assert budget.take(CHUNK_SIZE // 2)
    budget.memory(CHUNK_SIZE // 2)
    assert budget.memory(CHUNK_SIZE)[0] == 7
    assert budget.memory(CHUNK_SIZE)[0] == 0, "the other one had to make room"


def test_memory_with_views_is_not_used_again() -> None:
    disk = MemoryDisk(MemoryBudget(2 * CHUNK_SIZE))
    disk.open("a").pwrite(0, b"a" * CHUNK_SIZE)
    (view,) = disk.open("a").views(0, CHUNK_SIZE)
    disk.remove("a")
    disk.open("b").pwrite(0, b"b" * 2 * CHUNK_SIZE)
    assert bytes(view) == b"a" * CHUNK_SIZE


def test_idle_files_take_little_memory() -> None:
    budget = MemoryBudget(1 << 30)
    disk = MemoryDisk(budget)
    for number in range(1000):
        disk.open(f"f{number}").pwrite(0, b"x" * 50)
    assert budget.used_bytes <= 1024 * 1000


def test_nothing_is_left_after_a_kill(tmp_path: Path) -> None:
    code = f"""
        import os, signal
        from fencepost_broker.storage.disk.memory import *
        disk = MemoryDisk(MemoryBudget(0, SpillFile({str(tmp_path)!r})))
        disk.open("a").pwrite(0, bytes(5 << 20))
        print(os.listdir({str(tmp_path)!r}))
        import sys; sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout == "[]\n"
    assert result.returncode == -9
    assert list(tmp_path.iterdir()) == []
