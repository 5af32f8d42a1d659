"""Asking the process that runs a cluster: one line of JSON each way, by its socket."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from pathlib import Path
from typing import Any

from fencepost_client.adapters.running import NotDoneError

from fencepost_broker.adapters.supervising import SOCKET


def default_run_dir() -> Path:
    """Where a cluster of this user is, unless it is told to be elsewhere."""
    return Path(tempfile.gettempdir()) / f"fencepost-{os.getuid()}"


def ask_supervisor(run_dir: Path, what: str, node_id: int | None = None) -> dict[str, Any]:
    """Have something done; gives what there is then. A NotDoneError says why it is not done."""
    path = run_dir / SOCKET
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(str(path))
        except OSError as error:
            raise NotDoneError(
                f"no cluster runs from {run_dir}: `fencepost up --brokers N` starts one"
                " (--run-dir says where)"
            ) from error
        connection.sendall(json.dumps({"do": what, "id": node_id}).encode() + b"\n")
        with connection.makefile("r", encoding="utf-8") as answers:
            line = answers.readline()
    if not line:
        raise NotDoneError("the cluster ended before it answered")
    told: dict[str, Any] = json.loads(line)
    if "error" in told:
        raise NotDoneError(told["error"])
    return told
