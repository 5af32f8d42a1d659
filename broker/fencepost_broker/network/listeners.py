"""Addresses to listen on: bound as settings name them, and what is wrong when they cannot be."""

from __future__ import annotations

import asyncio
import errno
import socket
from typing import Any, Final


class ListenError(OSError):
    """An address on which nobody can listen here."""

    def __init__(self, host: str, port: int, error: OSError) -> None:
        where = f"port {port} of {host or 'every address'}"
        # From 3.13 on asyncio tells of an address that is not there without a number.
        number = error.errno or errno.EADDRNOTAVAIL
        reason = _REASONS.get(number, error.strerror or str(error))
        super().__init__(number, f"cannot listen on {where}: {reason}")

    def __str__(self) -> str:
        return self.strerror or ""


_REASONS: Final = {
    errno.EADDRINUSE: "another program listens there already; port 0 takes a free one",
    errno.EACCES: "only an administrator may; ports from 1024 on are for everybody",
    errno.EADDRNOTAVAIL: "this machine does not have that address",
    errno.EAFNOSUPPORT: "this machine does not have addresses of that kind",
    socket.EAI_NONAME: "there is no such host",
}


async def listen(host: str, port: int, backlog: int, make: Any) -> asyncio.Server:
    """A server that is bound and does not accept yet; no host stands for every address.

    All its sockets have one port, also where the system chooses it.
    """
    loop = asyncio.get_running_loop()
    try:
        if not host:
            sock = _on_every_address(port)
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


async def bound_sockets(host: str, port: int, backlog: int) -> list[socket.socket]:
    """Sockets that listen already, for who accepts by itself."""
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


def _is_address(host: str) -> bool:
    """Whether it is no name, which would have to be looked up (at first, 5 ms of imports)."""
    return ":" in host or host.replace(".", "").isdigit()


async def _one_address_of(host: str) -> str:
    """A name may stand for several addresses, which would all get ports of their own."""
    found = await asyncio.get_running_loop().getaddrinfo(host, 0, type=socket.SOCK_STREAM)
    found.sort(key=lambda each: each[0] != socket.AF_INET)
    return str(found[0][4][0])


def set_buffers(server: Any, receive_bytes: int, send_bytes: int) -> None:
    """Give the connections of a server buffers of these sizes; -1 is the system's own."""
    for sock in server.sockets:
        if receive_bytes >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        if send_bytes >= 0:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_bytes)


def name_of_this_machine() -> str:
    """What others are told who ask for a broker that listens on every address, as Kafka does."""
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return "localhost"
    return name
