"""The control socket of a cluster: one line of JSON each way.

It is a port of the loopback address. A file in the run directory, which only this user can read,
has its number and a token; every question repeats the token.
"""

from __future__ import annotations

import getpass
import json
import os
import secrets
import socket
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from fencepost_client.commands.errors import NotDoneError

LOOPBACK: Final = "127.0.0.1"
_FILE: Final = "control"
_TOKEN_BYTES: Final = 32


def run_dir_of(given: str | None) -> Path:
    """Return the run directory of this user's cluster: the given one, or a private default.

    Another user may create the default directory first, so its owner and mode are checked; a
    NotDoneError says what is wrong.
    """
    return Path(given) if given else _private(Path(tempfile.gettempdir()))


def _private(folder: Path) -> Path:
    if not hasattr(os, "getuid"):  # Windows: each user has a temporary directory
        return folder / f"fencepost-{getpass.getuser()}"
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


def make_run_dir(run_dir: Path) -> None:
    """Make the directory for this user alone, unless it is there; a NotDoneError says why not."""
    try:
        run_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    except FileExistsError:
        why = "it is not a directory"
    except OSError as error:
        why = str(error.strerror)
    else:
        if os.access(run_dir, os.W_OK | os.X_OK):
            return
        why = "you may not write there"
    raise NotDoneError(f"--run-dir {run_dir}: {why}: name a directory that you may make or write")


def write_address(run_dir: Path, port: int) -> str:
    """Write the file by which commands find the socket, and return the new token."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    unfinished = run_dir / f"{_FILE}.new"
    unfinished.unlink(missing_ok=True)
    unfinished.touch(mode=0o600, exist_ok=False)
    unfinished.write_text(json.dumps({"port": port, "token": token}), encoding="ascii")
    unfinished.replace(run_dir / _FILE)
    return token


def remove_address(run_dir: Path) -> None:
    """Remove the file."""
    with suppress(OSError):
        (run_dir / _FILE).unlink()


def question(run_dir: Path, what: str, **more: object) -> tuple[int, bytes]:
    """Return the port to ask, and the line to send; raises OSError if no cluster runs."""
    address = json.loads((run_dir / _FILE).read_bytes())
    return address["port"], json.dumps(
        {"do": what, "token": address["token"], **more}
    ).encode() + b"\n"


def ask_supervisor(
    run_dir: Path, what: str, node_id: int | None = None, timeout_s: float | None = None
) -> dict[str, Any]:
    """Send a command to the supervisor and return its answer; raises NotDoneError.

    The command itself (a broker that starts or shuts down) is waited for without a limit.
    """
    try:
        port, line = question(run_dir, what, id=node_id)
        connection = socket.create_connection((LOOPBACK, port), timeout_s)
    except OSError as error:
        raise NotDoneError(
            f"no cluster runs from {run_dir}: start one with `fencepost up --brokers N`,"
            " or name its directory with --run-dir"
        ) from error
    with connection:
        connection.sendall(line)
        with connection.makefile("r", encoding="utf-8") as answers:
            try:
                answer = answers.readline()
            except TimeoutError as error:
                raise NotDoneError(
                    f"the process that runs the cluster from {run_dir} does not answer within "
                    f"{timeout_s:g} s: is it paused?"
                ) from error
    if not answer:
        raise NotDoneError("the cluster ended before it answered")
    told: dict[str, Any] = json.loads(answer)
    if "error" in told:
        raise NotDoneError(told["error"])
    return told
