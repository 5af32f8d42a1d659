"""The listening side: accepts connections, dispatches their frames, reaps the idle, stops cleanly.

One loop, one process. Handlers are plain functions; there is no task per connection or request.
"""

from __future__ import annotations

import asyncio
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, Protocol

from fencepost_protocol.apis import FLEXIBLE_FROM, WITHOUT_SCHEMA
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import read_request_head
from fencepost_protocol.generated.index import APIS, ApiKey

from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.apis.response_cache import RememberedAnswers
from fencepost_broker.apis.served import Served
from fencepost_broker.config import Settings
from fencepost_broker.config.network import parse_address_limits
from fencepost_broker.metadata.image import Image
from fencepost_broker.network.client_quotas import ClientQuotas
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.dispatcher import Dispatcher, Watcher
from fencepost_broker.network.large_requests.runner import LargeRequests
from fencepost_broker.network.listeners import listen, set_buffers
from fencepost_broker.network.queued_bytes import UNLIMITED, QueuedBytes
from fencepost_broker.network.receive_buffer import SharedBuffer
from fencepost_broker.observability.metrics import TIMED_MASK, Histogram, Metrics
from fencepost_broker.security.authorizer.authorizer import Authorizer

ENVELOPE_BYTES: Final = 1024
"""More than an Envelope adds: what a broker may take, its controller may."""
_FRAME_SHOWN: Final = 256
_NEVER: Final = 1 << 16
Handler = Callable[[Any, Request], Pieces | None]
Route = tuple[Handler, int, int, int, list[int], Histogram, RememberedAnswers | None]
"""Who answers; the lowest version, the highest, and the first flexible one; what is counted, and
known answers."""
_unpack_head: Final = struct.Struct(">hhih").unpack_from
_HEAD_BYTES: Final = 10
"""API key, version, correlation id and length of the client id, which follows."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one server lets its clients take."""

    frame_bytes_max: int = 104_857_600
    connections_max: int = 2**31 - 1
    connections_per_address_max: int = 2**31 - 1
    waiting_requests_max: int = 1000
    """Of one connection, behind one that is parked."""
    parked_requests_max: int = 100_000
    """Of all connections together."""
    answers_bytes_max: int = 65_536
    """Of one connection, before it is read no further."""
    idle_ms_max: int = 600_000
    """Negative is for ever."""
    connections_max_of_address: Mapping[str, int] = field(default_factory=dict)
    """Of single addresses, instead of ``connections_per_address_max``."""
    backlog: int = 1024
    receive_buffer_bytes: int = -1
    send_buffer_bytes: int = -1
    """The system's buffers of a connection; -1 leaves them as they are."""
    login_ms_max: int = 60_000
    """How long a handshake of TLS may take, if that is less than its own limit."""
    queued_bytes_max: int = UNLIMITED
    """Of all connections: requests that are in memory and not carried out."""

    @classmethod
    def from_settings(cls, settings: Settings) -> Limits:
        """Those that a broker's settings ask for."""
        return cls(
            settings.socket_request_max_bytes,
            settings.max_connections,
            settings.max_connections_per_ip,
            settings.connection_requests_max,
            settings.requests_parked_max,
            settings.connection_answers_max_bytes,
            settings.connections_max_idle_ms,
            parse_address_limits(settings.max_connections_per_ip_overrides),
            settings.socket_listen_backlog_size,
            settings.socket_receive_buffer_bytes,
            settings.socket_send_buffer_bytes,
            settings.connections_login_timeout_ms,
            settings.queued_max_request_bytes if settings.queued_max_request_bytes > 0
            else UNLIMITED,
        )  # fmt: skip


if TYPE_CHECKING:
    import ssl

    from fencepost_broker.network.tls import TlsListener


class Behind(Protocol):
    """What a server uses of the node behind it; its handlers use more."""

    metrics: Metrics
    image: Image
    authorizer: Authorizer | None
    remembered: Mapping[int, RememberedAnswers]


class Server:
    """Listeners of one broker and all connections that came by them."""

    def __init__(self, broker: Behind, served: Iterable[Served], log: Any, limits: Limits) -> None:
        self._served = tuple(served)
        self._go_by(limits)
        self.parked_count = 0
        self._watcher: Watcher[Connection] | None = None
        self._quotas: ClientQuotas | None = None
        self.beside: Server | None = None
        """Another one of this process, which the same watcher watches."""
        self._broker = broker
        self.metrics = broker.metrics
        self._large = LargeRequests()
        self._make_routes()
        self._log = log
        self._shared = SharedBuffer(limits.queued_bytes_max)
        self._listeners: list[asyncio.Server | TlsListener] = []
        self._connections: set[Connection] = set()
        self._per_address: dict[str, int] = {}
        self._arriving: dict[Connection, str] = {}
        """Those that shake hands, by TLS, and from where; they count as if they were open."""
        self._arriving_per_address: Counter[str] = Counter()
        self._reaper: asyncio.TimerHandle | None = None
        self._idle: asyncio.Event | None = None

    def _go_by(self, limits: Limits) -> None:
        self._limits = limits
        self.frame_bytes_max = limits.frame_bytes_max
        if any(api.key == ApiKey.ENVELOPE for api in self._served):
            self.frame_bytes_max += ENVELOPE_BYTES
        self.waiting_max = limits.waiting_requests_max
        self.parked_max = limits.parked_requests_max
        self.answers_bytes_max = limits.answers_bytes_max

    def use(self, settings: Settings) -> None:
        """Go by other settings; what is open already stays."""
        self._go_by(Limits.from_settings(settings))

    async def listen(
        self, name: str, host: str, port: int,
        front: Callable[[], Dispatcher[Connection]] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> tuple[str, int]:  # fmt: skip
        """Bind one listener; gives the address that it got. ``serve`` lets clients in.

        ``front`` makes who stands before the server while a connection is not let in yet.
        """
        limits = self._limits

        def connection() -> Connection:
            return Connection(self if front is None else front(), self._shared, name)

        listener: asyncio.Server | TlsListener
        if tls is None:
            listener = await listen(host, port, limits.backlog, connection)
        else:
            from fencepost_broker.network.tls import listen_with_tls

            listener = await listen_with_tls(
                host, port, limits.backlog, connection, self, tls, limits.login_ms_max, self._log
            )
        set_buffers(listener, limits.receive_buffer_bytes, limits.send_buffer_bytes)
        self._listeners.append(listener)
        address = listener.sockets[0].getsockname()
        return address[0], address[1]

    async def serve(self) -> None:
        """Accept connections from now on."""
        for listener in self._listeners:
            await listener.start_serving()
        self._schedule_reaping(asyncio.get_running_loop())

    def finish(self) -> None:
        """Take no more connections and requests; each connection closes once it is answered."""
        if self._idle is not None:
            return
        self._idle = asyncio.Event()
        for listener in self._listeners:
            listener.close()
        if self._reaper is not None:
            self._reaper.cancel()
        for connection in list(self._connections):
            connection.finish()

    async def stop(self, grace_s: float) -> None:
        """Finish, let what is being answered leave, then close the rest."""
        self.finish()
        if self._connections:
            assert self._idle is not None
            try:
                await asyncio.wait_for(self._idle.wait(), grace_s)
            except TimeoutError:
                for connection in list(self._connections):
                    connection.abort()
        await self._large.close()
        for listener in self._listeners:
            if ended := getattr(listener, "ended", None):
                await ended()

    # -- what connections call -----------------------------------------------------------------

    def dispatch(
        self, connection: Connection, frame: memoryview, *, is_large: bool = False
    ) -> Pieces | None:
        """Carry out one request; a large one may be carried out in parts."""
        try:
            api_key, version, correlation_id, length = _unpack_head(frame)
            handler, lowest, highest, flexible_from, requests, took, remembered = self._routes[
                api_key
            ]
        except (struct.error, KeyError):
            api_key, version, *_ = read_request_head(frame)
            raise self._unserved(api_key, version) from None
        if not lowest <= version <= highest:
            read_request_head(frame)
            raise self._unserved(api_key, version)
        try:
            number = requests[version] = requests[version] + 1
        except IndexError:  # ApiVersions answers every version: the unknown are counted together
            number = requests[-1] = requests[-1] + 1
        started_ns = perf_counter_ns() if number & TIMED_MASK == 1 else 0
        pieces = None
        if remembered is not None:
            pieces = remembered.find(
                connection, version, correlation_id, frame, self._broker.image.last_offset
            )
        if pieces is None:
            try:
                body = _HEAD_BYTES + length
                if length < 0 or body >= len(frame) or (version >= flexible_from and frame[body]):
                    raise ValueError  # noqa: TRY301 (costs nothing where it is not raised)
                client_id: str | None = str(frame[_HEAD_BYTES:body], "utf-8")
                body += version >= flexible_from
            except ValueError:  # a header that is not as most clients' are, or a wrong one
                *_, client_id, body = read_request_head(frame)
            if is_large:
                handler = self._large_handlers.get(api_key, handler)
            request = Request(connection, api_key, version, correlation_id, client_id, frame, body)
            pieces = handler(self._broker, request)
            if pieces is None:
                connection.parked(request)
                return None
        if started_ns:
            took.add(perf_counter_ns() - started_ns)
        return pieces

    @property
    def queued(self) -> QueuedBytes:
        """Where the bytes of requests are counted that are not carried out."""
        return self._shared.queued

    @property
    def image(self) -> Image:
        """The cluster, as the node behind it knows it."""
        return self._broker.image

    @property
    def watcher(self) -> Watcher[Connection] | None:
        """Who hears of every request; nobody, and requests cost nothing for it, most of the time.

        Routes lead through the watcher while there is one, and past it otherwise.
        """
        return self._watcher

    @watcher.setter
    def watcher(self, watcher: Watcher[Connection] | None) -> None:
        if watcher is not self._watcher:
            self._watcher = watcher
            self._make_routes()
        if self.beside is not None:
            self.beside.watcher = watcher

    def _make_routes(self) -> None:
        self._routes = {api.key.value: self._route(api) for api in self._served}
        self._large_handlers = {
            api.key.value: self._led(api, self._large.handler(api.key, api.handler))
            for api in self._served
            if not api.is_passed_on
        }

    def use_quotas(self, quotas: ClientQuotas) -> None:
        """Keep clients to these; where none are set, routes lead past them."""
        self._quotas = quotas
        self._make_routes()

    def _led(self, api: Served, handler: Handler) -> Handler:
        """The handler behind whatever has to hear of its requests."""
        if self._broker.authorizer is not None:
            from fencepost_broker.apis.authorization.layer import authorized

            authorizer = self._broker.authorizer
            handler = authorized(api.key, handler, authorizer, is_passed_on=api.is_passed_on)
        if self._quotas is not None and self._quotas.keys:
            from fencepost_broker.network.throttling import throttled

            handler = throttled(api.key, handler, self._quotas)
        return handler if self._watcher is None else _watched(handler, self._watcher)

    def _route(self, api: Served) -> Route:
        metrics = self.metrics.api(api.key, api.versions[1])
        # A watcher sees every request and answer, and what one user hears is not for another:
        # then nothing is answered past the handler.
        remembered = self._broker.remembered.get(api.key)
        if self._watcher is not None or self._broker.authorizer is not None:
            remembered = None
        # What is passed on is not read here, so there is nothing to read in parts.
        handler = api.handler if api.is_passed_on else self._large.for_any(api.key, api.handler)
        handler = self._led(api, handler)
        flexible_from = FLEXIBLE_FROM.get(api.key, _NEVER)
        return handler, *api.accepted, flexible_from, metrics.requests, metrics.took, remembered

    def released(self, connection: Connection, request: Request, pieces: Pieces) -> None:
        """A request that was parked has its answer."""
        waited_ns = perf_counter_ns() - connection.parked_at_ns
        self.metrics.apis[request.api_key].waited.add(waited_ns)
        if self._watcher is not None:
            self._watcher.answered(request, pieces)

    def _unserved(self, api_key: int, version: int) -> RemoteProtocolError:
        entry = APIS.get(api_key)
        if entry is None and api_key not in WITHOUT_SCHEMA:
            return RemoteProtocolError("there is no such API", api=f"API key {api_key}")
        name = WITHOUT_SCHEMA[api_key] if entry is None else entry[0]
        reason = "this broker does not serve it, and ApiVersions said so"
        if api_key in self._routes:
            lowest, highest = self._routes[api_key][1:3]
            age = "too old" if version < lowest else "newer and did not ask ApiVersions"
            reason = f"only versions {lowest} to {highest} are served; the client is {age}"
        return RemoteProtocolError(reason, api=name, version=version)

    def _log_of(self, connection: Connection) -> Any:
        """A logger whose lines say whose connection it is, made when there is something to say."""
        bound = {"client": connection.client_host}
        transport = connection.transport
        if transport is not None and (peer := transport.get_extra_info("peername")):
            bound["client"] = f"{connection.client_host}:{peer[1]}"
        if connection.client_software_name:
            bound["software"] = connection.client_software_name
        return self._log.bind(**bound)

    def arrives(self, connection: Connection, host: str) -> bool:
        """Count a connection that begins to shake hands, unless there are too many."""
        connection.client_host = host = f"/{host}"
        count = self._per_address.get(host, 0) + self._arriving_per_address[host] + 1
        if self._too_many(connection, len(self._connections) + len(self._arriving), count):
            self.metrics.connections_dropped += 1  # who watches has never heard of it
            return False
        self._arriving[connection] = host
        self._arriving_per_address[host] += 1
        return True

    def has_gone(self, connection: Connection) -> None:
        """It shakes hands no more: it is open, or was lost."""
        host = self._arriving.pop(connection, None)
        if host is not None:
            self._arriving_per_address[host] -= 1
            if not self._arriving_per_address[host]:
                del self._arriving_per_address[host]

    def opened(self, connection: Connection) -> bool:
        """Count a connection, unless there are too many."""
        host = connection.client_host
        if self._arriving:
            self.has_gone(connection)
        count = self._per_address.get(host, 0) + 1
        if too_many := self._too_many(connection, len(self._connections), count):
            self._tell_dropped(connection, too_many)
            return False
        self._per_address[host] = count
        self._connections.add(connection)
        self.metrics.connections_opened += 1
        if self._watcher is not None:
            self._watcher.opened(connection)
        return True

    def _too_many(self, connection: Connection, others: int, of_its_address: int) -> str | None:
        """Why one more may not come, which is logged; none if it may."""
        limits = self._limits
        if others >= limits.connections_max:
            self._log_of(connection).warning("too many connections", max_connections=others)
            return "too many connections"
        host = connection.client_host.removeprefix("/")
        most = limits.connections_max_of_address.get(host, limits.connections_per_address_max)
        if of_its_address > most:
            self._log_of(connection).warning(
                "too many connections from one address", connections=of_its_address
            )
            return "too many connections from one address"
        return None

    def closed(self, connection: Connection, error: Exception | None) -> None:
        """Forget a connection."""
        connection.client.is_connected = False
        if error is not None:
            self._log_of(connection).debug("connection lost", error=str(error))
        if self._watcher is not None:
            self._watcher.closed(connection, "" if error is None else str(error))
        if connection not in self._connections:
            return  # it was one too many
        self._connections.discard(connection)
        self.metrics.bytes_in += connection.bytes_in
        self.metrics.bytes_out += connection.bytes_out
        host = connection.client_host
        self._per_address[host] -= 1
        if not self._per_address[host]:
            del self._per_address[host]
        if not self._connections:
            self._shared.forget()
            if self._idle is not None:
                self._idle.set()

    def violated(self, connection: Connection, error: RemoteProtocolError) -> None:
        """Say what a peer did before its connection is closed."""
        self._log_of(connection).warning("closing the connection", reason=str(error))
        self._tell_dropped(connection, str(error))

    def failed(self, connection: Connection, frame: memoryview, error: Exception) -> None:
        """Say what of ours failed, with what is needed to repeat it."""
        self._log_of(connection).error(
            "a request made the broker fail: please report this",
            frame=frame[:_FRAME_SHOWN].hex(),
            exc_info=error,
        )
        self._tell_dropped(connection, f"a bug of the broker's: {error!r}")

    def _tell_dropped(self, connection: Connection, reason: str) -> None:
        self.metrics.connections_dropped += 1
        if self._watcher is not None:
            self._watcher.dropped(connection, reason)

    # -- counting ------------------------------------------------------------------------------

    def stats(self) -> dict[str, int]:
        """Connections and bytes: those that are closed were counted, open ones are asked."""
        metrics, connections = self.metrics, self._connections
        return {
            "open": len(connections),
            "opened": metrics.connections_opened,
            "dropped": metrics.connections_dropped,
            "queued_bytes": self._shared.queued.count,
            "waiting_frames": self._shared.queued.waiting,
            "parked_requests": sum(each.is_parked for each in connections),
            "bytes_in": metrics.bytes_in + sum(each.bytes_in for each in connections),
            "bytes_out": metrics.bytes_out + sum(each.bytes_out for each in connections),
        }

    # -- idle connections ----------------------------------------------------------------------

    def _schedule_reaping(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._limits.idle_ms_max < 0:
            return
        self._reaper = loop.call_later(self._limits.idle_ms_max / 1_000, self._reap, loop)

    def _reap(self, loop: asyncio.AbstractEventLoop) -> None:
        self.reap()
        self._schedule_reaping(loop)

    def reap(self) -> None:
        """Close what has not received anything for one to two periods; costs a flag per receive."""
        self._shared.forget()
        for connection in list(self._connections):
            if connection.reap():
                self._tell_dropped(connection, "idle for connections.max.idle.ms")


def _watched(handler: Handler, watcher: Watcher[Connection]) -> Handler:
    """The handler, with a watcher told of what goes in and what comes out."""

    def carry_out(broker: Any, request: Request) -> Pieces | None:
        watcher.requested(request)
        pieces = handler(broker, request)
        if pieces is None:
            watcher.parked(request)
        else:
            watcher.answered(request, pieces)
        return pieces

    return carry_out
