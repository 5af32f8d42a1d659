"""What a broker's start leaves for later, to be quick and small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, Final

import pytest

LATER: Final = {
    "asyncio_dgram", "cramjam", "encodings.idna", "ipaddress", "pathlib", "shutil",
    "structlog", "tempfile", "urllib.parse", "zlib",
}  # fmt: skip
OURS_LATER: Final = (
    "fencepost_broker.coordinator.group", "fencepost_broker.coordinator.share",
    "fencepost_broker.network.tap.publisher", "fencepost_broker.storage.log.compaction",
)  # fmt: skip
LOOK: Final = """
import gc, json, os, sys
before, freeze = set(sys.modules), gc.freeze

def frozen():
    freeze()
    look = {
        "modules": sorted(set(sys.modules) - before),
        "frozen": gc.get_freeze_count(),
        "threads": len(os.listdir("/proc/self/task")) if os.path.exists("/proc") else 1,
    }
    os.write(1, json.dumps(look).encode())
    os._exit(0)

gc.freeze = frozen
from fencepost_broker.cli.main import main
main(sys.argv[1:])
"""


def started(*options: str) -> dict[str, Any]:
    """What a broker has when it listens, and freezes its objects."""
    done = subprocess.run(
        [sys.executable, "-c", LOOK, "up", "--port", "0", *options],
        stdout=subprocess.PIPE, check=True, timeout=120,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="all of the tap is made at the start there")
@pytest.mark.parametrize("is_on_disk", [False, True], ids=["memory", "disk"])
def test_what_a_first_answer_does_not_need_comes_later(
    tmp_path: os.PathLike[str], *, is_on_disk: bool
) -> None:
    look = started(*(["--data-dir", os.fspath(tmp_path)] if is_on_disk else []))
    modules = set(look["modules"])
    assert modules & LATER == set()
    assert [name for name in modules if name.startswith(OURS_LATER)] == []
    assert look["threads"] == 1, "uvloop looks up names in four threads"
    assert look["frozen"] > 10_000
