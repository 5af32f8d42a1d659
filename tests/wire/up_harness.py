"""A process of fencepost up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

COMMAND = [sys.executable, "-m", "fencepost_broker", "up"]


@contextmanager
def broker(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A running broker and what it said when it was ready."""
    process = subprocess.Popen(
        [*COMMAND, "--port", "0", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | environment,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate()
