"""Listeners: parsing of ``NAME://HOST:PORT``."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

PORT_MAX: Final = 65_535
PROTOCOLS: Final = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
NO_HOST: Final = "it must be a name or an address, without a port"

# An IPv6 address stands in brackets, so that its colons are none of the port's.
_LISTENER: Final = r"(?P<name>[\w.-]+)://(\[(?P<v6>[^\]]*)\]|(?P<host>[^:\[\]/]*)):(?P<port>[0-9]+)"


class Endpoint(NamedTuple):
    """One listener: its name in capitals, and its address; an empty host is every address."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.name}://{host}:{self.port}"


def parse_endpoint(given: str) -> Endpoint:
    """Parse ``NAME://HOST:PORT``; raises ValueError."""
    match = re.fullmatch(_LISTENER, given)
    if match is None:
        raise ValueError(f"{given} is not of the form NAME://HOST:PORT")
    host = match["v6"] if match["v6"] is not None else match["host"]
    port = int(match["port"])
    if port > PORT_MAX:
        raise ValueError(f"{given}: the highest port is {PORT_MAX}")
    if match["v6"] is not None and ":" not in host:
        raise ValueError(f"{given}: brackets are for IPv6 addresses")
    return Endpoint(match["name"].upper(), host, port)


def is_host(given: str) -> bool:
    """Return whether this can be a listener's host: a name or an address, without a port."""
    if ":" in given:
        import ipaddress

        try:
            ipaddress.IPv6Address(given)
        except ValueError:
            return False
    return re.fullmatch(_LISTENER, str(Endpoint("NAME", given, 0))) is not None


def parse_control_address(given: str) -> tuple[str, int]:
    """Parse ``PORT``, which is at 127.0.0.1, or ``HOST:PORT``; raises ValueError."""
    try:
        endpoint = parse_endpoint(
            f"CONTROL://127.0.0.1:{given}" if given.isdigit() else f"CONTROL://{given}"
        )
    except ValueError:
        raise ValueError(
            f"{given} is neither PORT nor HOST:PORT, with a port up to {PORT_MAX}"
        ) from None
    return endpoint.host, endpoint.port


def check_control_address(given: str) -> str | None:
    """Return what is wrong with control.address, or ``None``."""
    try:
        parse_control_address(given)
    except ValueError as error:
        return str(error)
    return None


def check_http_url(given: str) -> str | None:
    """Return what is wrong with the base of HTTP addresses, or ``None``; it has no password."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(given)
        is_right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port
        is_right = False
    if is_right and not (parts.query or parts.fragment or "@" in parts.netloc):
        return None
    return f"{given} is not of the form http://HOST:PORT or https://HOST:PORT"


@lru_cache(64)
def parse_endpoints(given: tuple[str, ...]) -> tuple[Endpoint, ...]:
    """Parse a list of listeners that was checked before."""
    return tuple(map(parse_endpoint, given))


def parse_protocol_map(given: str) -> dict[str, str]:
    """Parse the security protocol of each listener name; raises ValueError."""
    found: dict[str, str] = {}
    for word in filter(None, (word.strip() for word in given.split(","))):
        name, colon, protocol = (part.strip().upper() for part in word.partition(":"))
        if not (name and colon and protocol):
            raise ValueError(f"{word} is not of the form NAME:PROTOCOL")
        if protocol not in PROTOCOLS:
            raise ValueError(f"{protocol} is not one of {', '.join(PROTOCOLS)}")
        if name in found:
            raise ValueError(f"{name} is given twice")
        found[name] = protocol
    return found


def check_protocol_map(given: str) -> str | None:
    """Return what is wrong with listener.security.protocol.map, or ``None``."""
    try:
        parse_protocol_map(given)
    except ValueError as error:
        return str(error)
    return None


def check_listeners(words: tuple[str, ...]) -> str | None:
    """Return what is wrong with a list of listeners by itself, or ``None``."""
    names: set[str] = set()
    for word in words:
        try:
            endpoint = parse_endpoint(word)
        except ValueError as error:
            return str(error)
        if endpoint.name in names:
            return f"two listeners are named {endpoint.name}"
        names.add(endpoint.name)
    return None
