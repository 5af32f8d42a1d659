"""Builds dist/fencepost-image.tar, for `docker load` and `podman load`: `make image`.

The image has the folder of `make binary`, the C library, bash and busybox of this Debian system:
tools for containers run `sh -c` in it. The packages buildah, bash-static and busybox-static are
needed, and no daemon.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
APPLETS = (
    "cat chmod cp date env grep hostname id kill ls mkdir mv nc ps rm sed sleep tail test touch"
)
USERS = "root:x:0:0::/:/bin/sh\nfencepost:x:1000:1000::/var/lib/fencepost:/bin/sh\n"
OUTSIDE = re.compile(r"=> (/\S+)|^\s*(/lib\S+ld-\S+)", re.MULTILINE)
TIMESTAMP = "1700000000"


def main() -> int:
    """Build the image."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frozen", type=Path, default=ROOT / "build/binary/frozen/fencepost")
    parser.add_argument("--work", type=Path, default=ROOT / "build/image")
    parser.add_argument("--out", type=Path, default=ROOT / "dist/fencepost-image.tar")
    options = parser.parse_args()
    missing = [tool for tool in ("buildah", "bash-static", "busybox") if not shutil.which(tool)]
    if missing:
        print(f"missing: {' '.join(missing)}: apt-get install buildah bash-static busybox-static")
        return 1
    work = options.work.resolve()
    shutil.rmtree(work, ignore_errors=True)
    (work / "data").mkdir(parents=True)
    put_together(work / "root", options.frozen.resolve())
    build(work, options.out.resolve())
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")
    return 0


def put_together(root: Path, frozen: Path) -> None:
    """Make the folder that is the image's file system."""
    for folder in ("bin", "usr/bin", "usr/lib", "etc/kafka/docker", "mnt/shared/config", "proc"):
        (root / folder).mkdir(parents=True)
    for folder in ("dev", "sys", "var/lib/fencepost"):
        (root / folder).mkdir(parents=True)
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)
    shutil.copytree(frozen, root / "usr/lib/fencepost")
    (root / "usr/bin/fencepost").symlink_to("../lib/fencepost/fencepost")
    shutil.copy("/bin/bash-static", root / "bin/bash")
    shutil.copy("/bin/busybox", root / "bin/busybox")
    (root / "bin/sh").symlink_to("bash")
    for applet in APPLETS.split():
        (root / "bin" / applet).symlink_to("busybox")
    for library in libraries(frozen):
        (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root / library[1:])
    shutil.copy(HERE / "run", root / "etc/kafka/docker/run")
    (root / "etc/passwd").write_text(USERS)
    (root / "etc/group").write_text("root:x:0:\nfencepost:x:1000:\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
    (root / "etc/nsswitch.conf").write_text("hosts: files dns\n")
    for package in ("bash-static", "busybox-static", "libc6"):
        (root / "usr/share/doc" / package).mkdir(parents=True)
        shutil.copy(f"/usr/share/doc/{package}/copyright", root / "usr/share/doc" / package)


def libraries(frozen: Path) -> list[str]:
    """Return the paths of the system's libraries that the folder's files need."""
    names = ("libnss_dns.so.2", "libresolv.so.2")  # opened by name
    found = {str(path) for name in names for path in Path("/lib").glob(f"*-linux-gnu/{name}")}
    inside = os.environ | {"LD_LIBRARY_PATH": str(frozen / "_internal")}
    # The program itself sets that path, so it does not have it.
    found |= outside(frozen / "fencepost", dict(os.environ))
    for path in frozen.rglob("*.so*"):
        found |= {each for each in outside(path, inside) if not each.startswith(str(frozen))}
    return sorted(found)


def outside(path: Path, environment: dict[str, str]) -> set[str]:
    """Return what the dynamic linker finds for a file."""
    listed = subprocess.run(
        ["ldd", path], check=False, capture_output=True, text=True, env=environment
    ).stdout
    return {one or other for one, other in OUTSIDE.findall(listed)}


def build(work: Path, out: Path) -> None:
    """Let buildah make the image, as a file that Docker and Podman load."""
    buildah = ["buildah", "--storage-driver", "vfs", "--root", work / "storage"]
    buildah += ["--runroot", work / "run"]
    subprocess.run(
        [*buildah, "bud", "--quiet", "--isolation", "chroot", "--format", "docker",
         "--timestamp", TIMESTAMP, "--file", HERE / "Containerfile", "--tag", "fencepost", work],
        check=True,
    )  # fmt: skip
    pushed = work / "pushed.tar"
    subprocess.run(
        [*buildah, "push", "--quiet", "fencepost", f"docker-archive:{pushed}:fencepost:latest"],
        check=True,
    )
    with tarfile.open(pushed) as one, tarfile.open(out, "w") as other:
        rewrite(one, other)


def rewrite(pushed: tarfile.TarFile, out: tarfile.TarFile) -> None:
    """Copy an image without the names of the container that built it, which are random."""
    [image] = json.loads(read(pushed, "manifest.json"))
    config = json.loads(read(pushed, image["Config"]))
    del config["container"]
    for part in ("config", "container_config"):
        config[part]["Hostname"] = ""
    data = json.dumps(config).encode()
    image["Config"] = f"{hashlib.sha256(data).hexdigest()}.json"
    for layer in image["Layers"]:
        add(out, layer, read(pushed, layer))
    add(out, image["Config"], data)
    add(out, "manifest.json", json.dumps([image]).encode())


def read(archive: tarfile.TarFile, name: str) -> bytes:
    """Return a file's content."""
    file = archive.extractfile(name)
    assert file is not None
    return file.read()


def add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    """Add a file without a time and an owner."""
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    sys.exit(main())
