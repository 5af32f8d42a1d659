"""Who may use the control port: checks of each request before anything else looks at it.

The port does what it is told, so web pages must not reach it. A page of another origin is known by
its ``Origin`` or ``Sec-Fetch-Site`` header; a page whose name was pointed at this machine (DNS
rebinding) by its ``Host``. On any address but loopback, requests also need a token.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fencepost_broker.server.control.problems import ProblemError

TOKEN_LENGTH_MIN: Final = 16
_TOKEN_LENGTH_MAX: Final = 4096
_OWN_SITES: Final = ("same-origin", "none")
_SCHEME: Final = "bearer"


class Guard:
    """Refuses requests that may not be answered."""

    def __init__(self, names: Iterable[str], token: str | None) -> None:
        """``names`` are the hosts that a request may name, besides loopback's."""
        self._names = {name.lower() for name in names if name}
        self._token = None if token is None else token.encode()

    def check(
        self,
        headers: Mapping[str, str],
        hosts: Sequence[str],
        reached_at: str,
        *,
        needs_token: bool = True,
    ) -> None:
        """Raise ``ProblemError`` unless the request may be answered.

        ``hosts`` are all its Host headers, and ``reached_at`` is the address of this machine that
        it came to.
        """
        self._check_host(hosts, reached_at)
        self._check_origin(headers, hosts[0])
        if needs_token:
            self._check_token(headers.get("Authorization", ""))

    def _check_host(self, hosts: Sequence[str], reached_at: str) -> None:
        host = _name_in(hosts[0]) if len(hosts) == 1 else None
        if host is None or not (
            host in self._names or host == "localhost" or _is_loopback(host) or host == reached_at
        ):
            raise ProblemError(
                HTTPStatus.MISDIRECTED_REQUEST,
                "this host name is not the control port's",
                where="header Host",
                advice="Use 127.0.0.1, localhost, or the address that the control port listens on.",
            )

    def _check_origin(self, headers: Mapping[str, str], host: str) -> None:
        origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
        if origin not in (None, f"http://{host}") or site not in (None, *_OWN_SITES):
            raise ProblemError(
                HTTPStatus.FORBIDDEN,
                "web pages of other origins may not use the control port",
                where="header Origin" if site in (None, *_OWN_SITES) else "header Sec-Fetch-Site",
            )

    def _check_token(self, given: str) -> None:
        if self._token is None:
            return
        scheme, _, token = given.partition(" ")
        is_it = hmac.compare_digest(token.strip().encode(errors="replace"), self._token)
        if scheme.lower() != _SCHEME or not is_it:
            raise ProblemError(
                HTTPStatus.UNAUTHORIZED,
                "the token is wrong" if given else "this control port needs a token",
                where="header Authorization",
                advice="Send `Authorization: Bearer TOKEN`, with the content of the token file.",
            )


def read_token(path: str) -> str:
    """Return the token in a file; raises ValueError if there is none."""
    try:
        token = Path(path).read_text(encoding="ascii").strip()
    except OSError as error:
        raise ValueError(f"control.token.file={path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        token = ""
    if (
        not TOKEN_LENGTH_MIN <= len(token) <= _TOKEN_LENGTH_MAX
        or not token.isprintable()
        or " " in token
    ):
        raise ValueError(
            f"control.token.file={path}: the token must have {TOKEN_LENGTH_MIN} to"
            f" {_TOKEN_LENGTH_MAX} visible ASCII characters"
        )
    return token


def is_for_this_machine(addresses: Iterable[str]) -> bool:
    """Whether only this machine can reach all of these addresses."""
    return all(map(_is_loopback, addresses))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _name_in(host: str) -> str | None:
    """Return the name or address in a Host header, without its port; ``None`` if it is invalid."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, ""
    if port and not (port.isascii() and port.isdigit()):
        return None
    is_v6 = name.startswith("[") and name.endswith("]")
    if ":" in name and not is_v6:
        return None
    return name.strip("[]").lower() or None
