"""``fencepost up --user``: who must log in, where passwords come from, how clients log in."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from fencepost_broker.config import Settings

_PREFERRED: Final = "SCRAM-SHA-256"
_VARIABLE: Final = "FENCEPOST_PASSWORD_"
_FILE_BYTES_MAX: Final = 1 << 20


def add_user_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for users to a command."""
    parser.add_argument(
        "--user", action="append", default=[], metavar="NAME[:PASSWORD]",
        help="require clients to log in as this user, with PLAIN or SCRAM; may be repeated."
        " Other users of this machine can see a password on the command line: without one, it is"
        f" read from the environment variable {_VARIABLE}NAME",
    )  # fmt: skip
    parser.add_argument(
        "--users-file", metavar="FILE",
        help="read users from a file with NAME:PASSWORD on each line",
    )  # fmt: skip


def users_of(
    options: argparse.Namespace, environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return users and passwords of all sources; errors do not contain passwords."""
    variables = os.environ if environment is None else environment
    users: dict[str, str] = {}
    for name, password, place in (
        *_from_options(options.user, variables),
        *_from_file(options.users_file),
    ):
        if name in users:
            raise ValueError(f"{place}: user {name} is given twice")
        users[name] = password
    return users


def write_users(users: Mapping[str, str], path: Path) -> None:
    """Write a file for ``--users-file`` that only this user can read."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.writelines(f"{name}:{password}\n" for name, password in users.items())


def _from_options(
    given: Iterable[str], environment: Mapping[str, str]
) -> Iterator[tuple[str, str, str]]:
    for text in given:
        name, _, password = text.partition(":")
        variable = _VARIABLE + re.sub(r"\W", "_", name, flags=re.ASCII).upper()
        password = password or environment.get(variable, "")
        if not name:
            raise ValueError("--user: the name is missing: write NAME:PASSWORD, or NAME")
        if not password:
            raise ValueError(
                f"--user {name}: the password is missing: write NAME:PASSWORD, set {variable} in"
                " the environment, or use --users-file FILE with NAME:PASSWORD on a line"
            )
        yield name, password, f"--user {name}"


def _from_file(path: str | None) -> Iterator[tuple[str, str, str]]:
    if path is None:
        return
    from pathlib import Path

    try:
        with Path(path).open("rb") as file:
            content = file.read(_FILE_BYTES_MAX + 1)
        text = content.decode()
    except OSError as error:
        raise ValueError(f"--users-file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"--users-file {path}: it is not UTF-8 text") from None
    if len(content) > _FILE_BYTES_MAX:
        raise ValueError(f"--users-file {path}: it is larger than {_FILE_BYTES_MAX} bytes")
    if not text.strip():
        # Such as one that is not mounted yet: without users, everybody could use the broker.
        raise ValueError(
            f"--users-file {path}: there are no users in it: write NAME:PASSWORD on a line, or"
            " leave the option out, and no client has to log in"
        )
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        name, colon, password = line.partition(":")
        place = f"--users-file {path}, line {number}"
        if not (name and colon and password):
            raise ValueError(f"{place}: it must be NAME:PASSWORD")
        yield name, password, place


def how_to_log_in(settings: Settings, users: Iterable[str]) -> str:
    """Return the client properties for each listener that needs them, without passwords."""
    first = next(iter(users), "...")
    lines = []
    for endpoint in settings.advertised_endpoints:
        protocol = settings.protocol(endpoint.name) or "PLAINTEXT"
        if protocol == "PLAINTEXT":
            continue
        lines += [
            "",
            f"clients of listener {endpoint.name} need these properties",
            f"  security.protocol={protocol}",
        ]
        if protocol.startswith("SASL"):
            from fencepost_broker.config.tables.security import MODULES

            mechanisms = settings.mechanisms(endpoint.name)
            mechanism = _PREFERRED if _PREFERRED in mechanisms else mechanisms[0]
            lines[-2] += f" (mechanisms are {', '.join(mechanisms)})"
            lines += [
                f"  sasl.mechanism={mechanism}",
                f"  sasl.jaas.config={MODULES[mechanism]} required"
                f' username="{first}" password="...";',
            ]
        if protocol.endswith("SSL"):
            lines += [
                "  ssl.truststore.type=PEM",
                "  ssl.truststore.location=FILE  # the broker's certificate, or its CA's",
            ]
    return "\n".join(lines)
