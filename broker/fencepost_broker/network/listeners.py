"""Binding of listeners' addresses, with errors that say what is wrong."""

from __future__ import annotations

import asyncio
import errno
import socket
from contextlib import suppress
from typing import Any, Final


class ListenError(OSError):
    """An address cannot be bound."""

    def __init__(self, host: str, port: int, error: OSError) -> None:
        where = f"port {port} of {host or 'every address'}"
        # Since Python 3.13 asyncio reports an unavailable address without an error number.
        number = error.errno or errno.EADDRNOTAVAIL
        reason = _REASONS.get(number, error.strerror or str(error))
        super().__init__(number, f"cannot listen on {where}: {reason}")

    def __str__(self) -> str:
        return self.strerror or ""


_REASONS: Final = {
    errno.EADDRINUSE: "the port is in use already; port 0 selects a free one",
    errno.EACCES: "permission denied; ports from 1024 on need no privileges",
    errno.EADDRNOTAVAIL: "this machine does not have that address",
    errno.EAFNOSUPPORT: "this machine does not support that address family",
    socket.EAI_NONAME: "there is no such host",
}


async def listen(host: str, port: int, backlog: int, make: Any) -> asyncio.Server:
    """Bind a server that does not accept yet; an empty host means all addresses.

    All its sockets have the same port, even if the system selects it.
    """
    loop = asyncio.get_running_loop()
    try:
        family = family_of(host) if _is_of_uvloop(loop) else None
        if not host or family is not None:
            sock = _on_every_address(port) if family is None else _bound_to(host, port, family)
            try:
                return await loop.create_server(
                    make, sock=sock, backlog=backlog, start_serving=False
                )
            except BaseException:
                sock.close()
                raise
        if port == 0 and not _is_address(host):
            host = await _one_address_of(host)
        return await loop.create_server(make, host, port, backlog=backlog, start_serving=False)
    except OSError as error:
        raise ListenError(host, port, error) from error


def close(listener: Any) -> None:
    """Accept no more connections; the last ones that were accepted are still made.

    asyncio would leave open what its server has accepted and not made when it is closed.
    """
    if not isinstance(listener, asyncio.Server):
        listener.close()
        return
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # Windows' loop has no readers
        for each in listener.sockets:
            loop.remove_reader(each.fileno())
    loop.call_soon(listener.close)


async def bound_sockets(host: str, port: int, backlog: int) -> list[socket.socket]:
    """Return listening sockets, for a caller that accepts by itself."""
    loop = asyncio.get_running_loop()
    found: list[socket.socket] = []
    try:
        if not host:
            found.append(_on_every_address(port))
        else:
            if port == 0 and not _is_address(host):
                host = await _one_address_of(host)
            for family, _, _, _, address in await loop.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            ):
                found.append(socket.create_server(address[:2], family=family, backlog=backlog))
        for sock in found:
            sock.listen(backlog)
            sock.setblocking(False)
    except OSError as error:
        for sock in found:
            sock.close()
        raise ListenError(host, port, error) from error
    return found


def _on_every_address(port: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        try:
            return socket.create_server(
                ("", port), family=socket.AF_INET6, dualstack_ipv6=True, reuse_port=False
            )
        except OSError as error:
            if error.errno not in (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL):
                raise
    return socket.create_server(("", port))


def _is_of_uvloop(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether the loop would look up an address as if it were a name.

    uvloop starts four threads for lookups, and imports a codec.
    """
    return type(loop).__module__.partition(".")[0] == "uvloop"


def _bound_to(address: str, port: int, family: int) -> socket.socket:
    sock = socket.socket(family)
    try:
        # Windows means something else by it, and has no uvloop.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind((address, port))
    except BaseException:
        sock.close()
        raise
    return sock


def family_of(host: str) -> socket.AddressFamily | None:
    """Return the family of an address; ``None`` for a name, and for an address with a scope.

    Those have to be looked up. A scope is a number for ``bind``, and stands apart from the address.
    """
    if not _is_address(host) or "%" in host:
        return None
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _is_address(host: str) -> bool:
    """Whether the host is an IP address; a name needs a lookup, which imports for 5 ms."""
    return ":" in host or host.replace(".", "").isdigit()


async def _one_address_of(host: str) -> str:
    """Resolve a host to its first address, because several would get different ports."""
    found = await asyncio.get_running_loop().getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    found.sort(key=lambda each: each[0] != socket.AF_INET)
    return str(found[0][4][0])


def set_buffers(server: Any, receive_bytes: int, send_bytes: int) -> None:
    """Set the buffer sizes of a server's connections; -1 keeps the system's default."""
    for sock in server.sockets:
        if receive_bytes >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        if send_bytes >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_bytes)


def name_of_this_machine() -> str:
    """Return the host to advertise for a listener on all addresses, as Kafka does."""
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return "localhost"
    return name
