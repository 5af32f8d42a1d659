"""What a server does over time: it listens, serves, and stops.

``SocketServer`` has no coroutine itself, since it may be compiled: an exception that reaches a
compiled one while it waits brings a DeprecationWarning of mypyc's making, from Python 3.12 on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from fencepost_broker.network.connection import Connection, Ending
from fencepost_broker.network.listeners import close, listen, set_buffers

if TYPE_CHECKING:
    from fencepost_broker.network.dispatcher import Dispatcher
    from fencepost_broker.network.socket_server import SocketServer
    from fencepost_broker.network.tls import TlsListener
    from fencepost_broker.network.watched_context import WatchedContext


async def add_listener(
    server: SocketServer, name: str, host: str, port: int,
    front: Callable[[], Dispatcher[Connection]] | None = None,
    tls: WatchedContext | None = None,
) -> tuple[str, int]:  # fmt: skip
    """Bind one listener and return its address; ``serve`` starts to accept.

    ``front`` makes the dispatcher of a login. With TLS alone, the certificate names the user.
    """
    limits = server.limits
    if tls is not None and front is None:
        server.names_users_by_certificate.add(name)

    def connection() -> Connection:
        return Connection(server if front is None else front(), server.shared, name)

    listener: asyncio.Server | TlsListener
    if tls is None:
        listener = await listen(host, port, limits.backlog, connection)
    else:
        from fencepost_broker.network.tls import listen_with_tls

        listener = await listen_with_tls(
            host, port, limits.backlog, connection, server.connection_quotas, tls.current,
            limits.login_ms_max, server.log,
        )  # fmt: skip
    set_buffers(listener, limits.receive_buffer_bytes, limits.send_buffer_bytes)
    server.listeners.append(listener)
    address = listener.sockets[0].getsockname()
    return address[0], address[1]


async def serve(server: SocketServer) -> None:
    """Start to accept connections."""
    for listener in server.listeners:
        await listener.start_serving()
    server.schedule_reaping(asyncio.get_running_loop())


def finish(server: SocketServer) -> None:
    """Accept no more connections and requests; each connection closes after its last answer."""
    if server.ended is None:
        for listener in server.listeners:
            close(listener)
        server.end_requests()


async def stop(server: SocketServer, grace_s: float) -> None:
    """Finish, wait at most ``grace_s`` for the last answers, then close the rest."""
    finish(server)
    if server.connections:
        assert server.ended is not None
        try:
            await asyncio.wait_for(server.ended.wait(), grace_s)
        except TimeoutError:
            for connection in list(server.connections):
                connection.end(Ending.AT_ONCE)
    await server.large.close()
    for listener in server.listeners:
        if ended := getattr(listener, "ended", None):
            await ended()


async def close_connections(server: SocketServer, *, keep_idle: bool = False) -> bool:
    """Close connections, all or those with a request; return whether it was not stopped."""
    while closed := [each for each in server.connections if not (keep_idle and each.is_idle)]:
        for connection in closed:
            connection.end(Ending.AT_ONCE)
        await asyncio.sleep(0)  # the loop reports a loss in a later turn
    await server.large.close()
    return server.ended is None
