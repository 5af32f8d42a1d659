"""The program in front of the single file: it unpacks a folder once, whatever happens meanwhile."""

from __future__ import annotations

import importlib.util
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[2] / ".ci/binary/build.py"
CONTENT_BYTES = 3_000_000
PROGRAM = "#!/bin/sh\ncat ${0%/*}/content-0 ${0%/*}/content-3 | wc -c\n"
AN_HOUR_AGO_S = 3700
MIDDLE_BYTES = 1 << 20
"""Whole writes of the launcher: the next one is not cut short, and so kills it."""

pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or not Path("/usr/include/zstd.h").exists(),
    reason="needs a C compiler and libzstd-dev",
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A single file with a shell's script instead of Python."""
    spec = importlib.util.spec_from_file_location("build_of_the_file", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    build: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(build)
    work = tmp_path_factory.mktemp("launcher")
    folder = work / "folder"
    for number in range(4):
        path = folder / f"content-{number}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(os.urandom(1000) * (CONTENT_BYTES // 1000))
    program = folder / "fencepost"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    file = work / "fencepost"
    file.write_bytes(build.appended(build.compile_launcher(work), build.packed(folder)))
    file.chmod(0o755)
    return file


def start(file: Path, home: Path, largest_file: int = -1) -> subprocess.Popen[str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.Popen(
        [file], env={"HOME": str(home), "PATH": os.environ["PATH"], "TMPDIR": "/dev/null"},
        stdout=subprocess.PIPE, text=True, preexec_fn=limit,
    )  # fmt: skip


def check(started: subprocess.Popen[str]) -> None:
    said, _ = started.communicate(timeout=120)
    assert (started.returncode, said.strip()) == (0, str(2 * CONTENT_BYTES))


def test_starts_at_the_same_time_unpack_one_folder(file: Path, tmp_path: Path) -> None:
    for started in [start(file, tmp_path) for _ in range(4)]:
        check(started)
    assert len(list((tmp_path / ".cache/fencepost").iterdir())) == 1
    check(start(file, tmp_path))


def test_a_start_after_one_that_was_killed_while_it_unpacked(file: Path, tmp_path: Path) -> None:
    """The kernel kills it at the first byte that its files may not have."""
    killed = start(file, tmp_path, MIDDLE_BYTES)
    killed.communicate(timeout=120)
    assert killed.returncode == -signal.SIGXFSZ
    (leftover,) = (tmp_path / ".cache/fencepost").iterdir()
    again = start(file, tmp_path, MIDDLE_BYTES)
    again.communicate(timeout=120)
    assert again.returncode == -signal.SIGXFSZ
    (other,) = set((tmp_path / ".cache/fencepost").iterdir()) - {leftover}
    then = leftover.stat().st_mtime - AN_HOUR_AGO_S
    os.utime(leftover, (then, then))
    check(start(file, tmp_path))
    assert not leftover.exists(), "it is an hour old"
    assert other.exists(), "somebody may be unpacking there"


def test_a_file_that_is_damaged_starts_nothing(file: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    data = bytearray(file.read_bytes())
    middle = len(data) - 1500
    data[middle : middle + 200] = bytes(200)
    damaged.write_bytes(data)
    damaged.chmod(0o755)
    started = start(damaged, tmp_path)
    started.communicate(timeout=120)
    assert started.returncode == 71
    assert list((tmp_path / ".cache/fencepost").iterdir()) == []
