"""A PostgreSQL whose changes can be followed, at localhost:5432, gone at the end.

with running(folder):
    execute("CREATE TABLE invoices (id int PRIMARY KEY, note text)")
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.conformance.clients.clients import ClientUnavailableError
from tests.support.waiting import polled

_INSTALLED: Final = Path("/usr/lib/postgresql")
"""Where Debian's packages put it, a folder for each version."""
_NOT_ROOT: Final = ("unshare", "--map-user=1000", "--map-group=1000")
"""It refuses to be root, which the user of a network of its own is: to it, that user is another."""
_AT: Final = {**os.environ, "PGHOST": "localhost", "PGUSER": "postgres"}


def program(name: str) -> str:
    for path in sorted(_INSTALLED.glob(f"*/bin/{name}"), reverse=True):
        return str(path)
    raise ClientUnavailableError(f"it needs PostgreSQL: there is no {name} below {_INSTALLED}")


@contextmanager
def running(folder: Path) -> Iterator[None]:
    """``folder`` is empty, or not there."""
    initdb = [program("initdb"), "-D", str(folder), "-U", "postgres", "-A", "trust", "--no-sync"]
    subprocess.run([*_NOT_ROOT, *initdb], check=True, stdout=subprocess.DEVNULL)
    settings = {
        "wal_level": "logical",
        "listen_addresses": "localhost",
        "unix_socket_directories": "",
        "fsync": "off",
    }
    words = [word for name in settings for word in ("-c", f"{name}={settings[name]}")]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            [*_NOT_ROOT, program("postgres"), "-D", str(folder), *words], stdout=log, stderr=log
        )
    try:
        polled(_answers, "PostgreSQL does not answer")
        yield
    finally:
        process.send_signal(signal.SIGQUIT)
        process.wait()


def execute(statements: str) -> None:
    """Each statement is a transaction, unless they say BEGIN."""
    subprocess.run(
        [program("psql"), "-q", "-v", "ON_ERROR_STOP=1"],
        input=statements,
        env=_AT,
        text=True,
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _answers() -> bool:
    return subprocess.run([program("pg_isready"), "-q"], env=_AT, check=False).returncode == 0
