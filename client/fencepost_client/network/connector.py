"""Making connections: name resolution, socket, TLS and login, and explanations of failures.

Each attempt resolves the name again, because it may stand for another machine now. It tries all
addresses, each for its share of the time.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any

from fencepost_client.errors import AuthenticationError, KafkaError, NetworkError, TlsError
from fencepost_client.network import log
from fencepost_client.network.link import Link
from fencepost_client.network.security import Security


class Connector:
    """Makes connections for one client."""

    def __init__(
        self,
        security: Security,
        timeout_ms: int,
        make_link: Callable[[str], Link],
        on_open: Callable[[Link], None],
    ) -> None:
        self._context = security.context
        self._tokens = security.tokens
        self._timeout_ms = timeout_ms
        self._make_link = make_link
        self._on_open = on_open
        self._was_let_in = False
        self._failures: dict[str, log.Repeated] = {}
        """By address, the brokers whose last attempt failed."""

    async def connect(self, host: str, port: int) -> Link:
        """Connect and log in. Raises ``NetworkError`` or ``AuthenticationError``."""
        peer = f"{host}:{port}"
        try:
            link = await self._connect(peer, host, port)
        except KafkaError as error:
            if self._failures.setdefault(peer, log.Repeated()).is_due():
                log.unreachable(peer, error)
            raise
        self._failures.pop(peer, None)
        log.connected(peer)
        return link

    async def _connect(self, peer: str, host: str, port: int) -> Link:
        loop = asyncio.get_running_loop()
        if self._tokens is not None:
            await self._tokens.prepare(self._timeout_ms / 1000)
        end = loop.time() + self._timeout_ms / 1000
        addresses = await self._resolve(host, port)
        failures = []
        for number, address in enumerate(addresses):
            share = (end - loop.time()) / (len(addresses) - number)
            try:
                async with asyncio.timeout(share):
                    link = await self._attempt(peer, host, address)
            except AuthenticationError:
                raise
            except (OSError, TimeoutError, KafkaError) as error:
                where = f"{address[0]}: " if len(addresses) > 1 else ""
                failures.append(where + _told(error))
            else:
                self._was_let_in = True
                return link
        raise NetworkError(f"No connection to {peer}: {'; '.join(failures)}")

    async def _resolve(self, host: str, port: int) -> list[Any]:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError, TimeoutError, RuntimeError) as error:
            # A RuntimeError: the interpreter ends, and no thread resolves names any more.
            raise NetworkError(f"{host!r:.300} could not be resolved: {_told(error)}.") from error
        return list(dict.fromkeys(address for *_, address in found))

    async def _attempt(self, peer: str, host: str, address: Any) -> Link:
        link = self._make_link(peer)
        server_hostname = host if self._context is not None else None
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: link, *address[:2], ssl=self._context, server_hostname=server_hostname
            )
            self._on_open(link)
            await link.ready
        except BaseException as error:
            link.close()
            if self._context is not None:
                self._explain(peer, error)
            raise
        return link

    def _explain(self, peer: str, error: BaseException) -> None:
        """Raise an explanation, if the configuration is likely to be wrong."""
        why = error.__cause__ if isinstance(error, NetworkError) else error
        if isinstance(why, ssl.SSLCertVerificationError):
            told = f"The certificate of {peer} is not accepted: {why.verify_message}."
            raise TlsError(told) from error
        if isinstance(why, ssl.SSLError):
            told = why.reason or str(why)
            raise TlsError(f"The TLS handshake with {peer} failed: {told}.") from error
        hung_up = isinstance(error, (ConnectionError, NetworkError))
        if hung_up and not isinstance(error, ConnectionRefusedError) and not self._was_let_in:
            # A broker that shuts down does the same, but this client had no connection before.
            raise TlsError(
                f"{peer} closed the connection at the TLS handshake: does it use TLS?"
            ) from error


def _told(error: BaseException) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, KafkaError):
        return error.message
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
