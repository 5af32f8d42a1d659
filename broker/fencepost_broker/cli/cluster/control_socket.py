"""Client of a cluster's control socket: one line of JSON each way."""

from __future__ import annotations

import json
import os
import socket
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from fencepost_client.commands.errors import NotDoneError

from fencepost_broker.cli.cluster.supervisor import SOCKET


def run_dir_of(given: str | None) -> Path:
    """Return the run directory of this user's cluster: the given one, or a private default.

    Another user may create the default directory first, so its owner and mode are checked; a
    NotDoneError says what is wrong.
    """
    return Path(given) if given else _private(Path(tempfile.gettempdir()))


def _private(folder: Path) -> Path:
    user = os.getuid()
    path = folder / f"fencepost-{user}"
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    wrong = None
    if not stat.S_ISDIR(found.st_mode):
        wrong = "it is not a directory"
    elif found.st_uid != user:
        wrong = f"it belongs to user {found.st_uid}, and you are user {user}"
    elif found.st_mode & 0o077:
        wrong = f"others may use it (its mode is {stat.S_IMODE(found.st_mode):o}, not 700)"
    if wrong is not None:
        raise NotDoneError(
            f"{path} cannot be trusted: {wrong}; remove it, or name another one with --run-dir"
        )
    return path


def ask_supervisor(
    run_dir: Path, what: str, node_id: int | None = None, timeout_s: float | None = None
) -> dict[str, Any]:
    """Send a command to the supervisor and return its answer; raises NotDoneError.

    The command itself (a broker that starts or shuts down) is waited for without a limit.
    """
    path = run_dir / SOCKET
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout_s)
        try:
            connection.connect(str(path))
        except OSError as error:
            raise NotDoneError(
                f"no cluster runs from {run_dir}: start one with `fencepost up --brokers N`,"
                " or name its directory with --run-dir"
            ) from error
        connection.sendall(json.dumps({"do": what, "id": node_id}).encode() + b"\n")
        with connection.makefile("r", encoding="utf-8") as answers:
            try:
                line = answers.readline()
            except TimeoutError as error:
                raise NotDoneError(
                    f"the process that runs the cluster from {run_dir} does not answer within "
                    f"{timeout_s:g} s: is it paused?"
                ) from error
    if not line:
        raise NotDoneError("the cluster ended before it answered")
    told: dict[str, Any] = json.loads(line)
    if "error" in told:
        raise NotDoneError(told["error"])
    return told
