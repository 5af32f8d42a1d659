"""Builds dist/fencepost, one file with Python inside, from the wheels in dist/: `make binary`.

PyInstaller makes a folder, and this appends it to launcher.c's program. Built twice from the same
wheels and packages, the bytes are the same.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PARTS = 4
"""As in launcher.c: a thread unpacks each."""
LEVEL = 19


def main() -> int:
    """Build the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="the Python that is put in")
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist", help="the wheels' folder")
    parser.add_argument("--work", type=Path, default=ROOT / "build/binary")
    parser.add_argument("--out", type=Path, default=ROOT / "dist/fencepost")
    options = parser.parse_args()
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    folder = freeze(environment(options.python, options.wheels, work), work)
    launcher = compile_launcher(work)
    options.out.write_bytes(appended(launcher, packed(folder)))
    options.out.chmod(0o755)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")
    return 0


def environment(python: str, wheels: Path, work: Path) -> Path:
    """Make an environment with the wheels and the packages of requirements.txt."""
    subprocess.run([python, "-m", "venv", work / "environment"], check=True)
    inside = work / "environment/bin/python"
    subprocess.run(
        [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--requirement", HERE / "requirements.txt", *sorted(wheels.glob("*.whl"))],
        check=True,
    )  # fmt: skip
    return inside


def freeze(python: Path, work: Path) -> Path:
    """Return the folder that PyInstaller makes."""
    subprocess.run(
        [python, "-m", "PyInstaller", "--log-level", "WARN", "--workpath", work / "work",
         "--distpath", work / "frozen", HERE / "fencepost.spec"],
        check=True,
        # An order of sets would be an order of bytes.
        env=os.environ | {"PYTHONHASHSEED": "1", "SOURCE_DATE_EPOCH": "1700000000"},
    )  # fmt: skip
    return work / "frozen/fencepost"


def compile_launcher(work: Path) -> bytes:
    """Return the program that unpacks and starts the folder."""
    program = work / "launcher"
    subprocess.run(
        ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-o", program,
         HERE / "launcher.c", "-lzstd", "-pthread"],
        check=True,
    )  # fmt: skip
    return program.read_bytes()


def packed(folder: Path) -> list[bytes]:
    """Return the folder's files in parts of like size, each after its path, mode and size."""
    parts = [bytearray() for _ in range(PARTS)]
    files = [path for path in sorted(folder.rglob("*")) if not path.is_dir()]
    for path in sorted(files, key=lambda path: path.stat().st_size, reverse=True):
        name = str(path.relative_to(folder)).encode()
        data = path.read_bytes()
        mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
        part = min(parts, key=len)
        part += struct.pack("=IIQ", len(name), mode, len(data)) + name + data
    end = struct.pack("=IIQ", 0, 0, 0)
    return [zstd.compress(bytes(part + end), LEVEL) for part in parts]


def appended(launcher: bytes, parts: list[bytes]) -> bytes:
    """Return the file, which ends in a trailer of launcher.c's."""
    digest = hashlib.sha256(launcher + b"".join(parts)).hexdigest()[:16].encode()
    file = launcher + bytes(-len(launcher) % 4096)
    offsets = [len(file)]
    for part in parts:
        file += part
        offsets.append(len(file))
    return file + struct.pack(f"=16s{PARTS + 1}Q", digest, *offsets)


if __name__ == "__main__":
    sys.exit(main())
