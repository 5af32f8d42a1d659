"""``fencepost up --user``: who has to log in, and how clients do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fencepost_broker.config import Settings

_PREFERRED: Final = "SCRAM-SHA-256"


def read_users(given: Iterable[str]) -> dict[str, str]:
    """Users and passwords of ``--user NAME:PASSWORD``; a ValueError says what is wrong."""
    users: dict[str, str] = {}
    for text in given:
        name, colon, password = text.partition(":")
        if not colon or not password:
            raise ValueError(f"--user {name}: it must be NAME:PASSWORD")
        if name in users:
            raise ValueError(f"--user {name} is there twice")
        users[name] = password
    return users


def how_to_log_in(settings: Settings, users: Iterable[str]) -> str:
    """Lines for a client's properties, listener by listener; without any password."""
    first = next(iter(users), "...").partition(":")[0]
    lines = []
    for endpoint in settings.advertised_endpoints:
        protocol = settings.protocol(endpoint.name) or "PLAINTEXT"
        if protocol == "PLAINTEXT":
            continue
        lines += [
            "",
            f"for {endpoint.name} a client.properties needs",
            f"  security.protocol={protocol}",
        ]
        if protocol.startswith("SASL"):
            from fencepost_broker.config.security import MODULES

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
                "  ssl.truststore.location=FILE  # with the certificate, or who has signed it",
            ]
    return "\n".join(lines)
