"""The server behind the listeners. It dispatches requests and closes idle connections.

A process has one event loop. Handlers are plain functions; there is no task per request.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterable
from functools import partial
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, cast

from fencepost_protocol.apis import FLEXIBLE_FROM, WITHOUT_SCHEMA
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.framing import read_request_head
from fencepost_protocol.generated.index import APIS, ApiKey

from fencepost_broker.apis.context import HandlerContext
from fencepost_broker.apis.request import Answer, CompletedRequest, Pieces, Request
from fencepost_broker.apis.response_cache import RememberedAnswers
from fencepost_broker.apis.served import Decode, Encode, Handler, Served, Step, carry_out, loaded
from fencepost_broker.config import Settings
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.network.connection import Connection, Ending
from fencepost_broker.network.connection_quotas import ConnectionQuotas
from fencepost_broker.network.dispatcher import Watcher
from fencepost_broker.network.large_requests.runner import LargeRequests
from fencepost_broker.network.limits import Limits
from fencepost_broker.network.queued_bytes import QueuedBytes
from fencepost_broker.network.quota_manager import QuotaManager
from fencepost_broker.network.receive_buffer import SharedBuffer
from fencepost_broker.observability.metrics import TIMED_MASK, Histogram
from fencepost_broker.ports import ReadyList

ENVELOPE_BYTES: Final = 1024
"""More than an Envelope adds, so that a controller accepts all requests that brokers accept."""
_FRAME_SHOWN: Final = 256
_NEVER: Final = 1 << 16
Route = tuple[
    Decode, Handler, Encode, dict[int, int], int, int, Histogram, RememberedAnswers | None
]
"""The decoder, the handler and the encoder of an API; the number of requests by version; the first
flexible version; the size below which the handler follows the decoder directly; the histogram of
durations, and cached answers."""
_unpack_head: Final = struct.Struct(">hhih").unpack_from
_HEAD_BYTES: Final = 10
"""API key, version, correlation id and length of the client id, which follows."""

if TYPE_CHECKING:
    from fencepost_broker.network.faulted_request import Faults
    from fencepost_broker.network.tls import TlsListener


class SocketServer:
    """The listeners of a broker or a controller, and all their connections."""

    def __init__(
        self,
        context: HandlerContext,
        served: Iterable[Served],
        log: Any,
        limits: Limits,
        ready: ReadyList,
        quotas: QuotaManager | None = None,
    ) -> None:
        """Pass ``context`` to the handlers, and hold clients to ``quotas`` if any are given."""
        self.ready = ready
        self.served = tuple(served)
        self._log_of: Callable[[Connection], Any] = partial(_log_of, log)
        self.connection_quotas = ConnectionQuotas(limits, context.metrics, self._log_of)
        self._go_by(limits)
        self.parked_count = 0
        self._watcher: Watcher[Connection] | None = None
        self.resting: frozenset[int] = frozenset()
        """APIs whose requests the watcher does not see now; it has set this itself."""
        self.faults: Faults | None = None
        self._quotas = quotas
        self.beside: SocketServer | None = None
        """Another server of this process, which has the same watcher."""
        self._context = context
        self._image = context.image
        self.metrics = context.metrics
        self.large = LargeRequests()
        self.apis: dict[int, tuple[Served, tuple[Step, ...], int]] = {}
        self._routes: dict[int, Route] = {}
        self.make_routes()
        self.log = log
        self.shared = SharedBuffer(limits.queued_bytes_max)
        self.listeners: list[asyncio.Server | TlsListener] = []
        self.connections: dict[Connection, None] = {}
        self.names_users_by_certificate: set[str] = set()
        """Listeners without SASL, whose users are named by their TLS certificates."""
        self._reaper: asyncio.TimerHandle | None = None
        self.ended: asyncio.Event | None = None
        """Set when the last connection is closed; ``None`` unless the server stops."""
        if quotas is not None:
            quotas.listen(self.make_routes)

    def _go_by(self, limits: Limits) -> None:
        self.limits = self.connection_quotas.limits = limits
        self.frame_bytes_max = limits.frame_bytes_max
        if any(api.key == ApiKey.ENVELOPE for api in self.served):
            self.frame_bytes_max += ENVELOPE_BYTES
        self.waiting_max = limits.waiting_requests_max
        self.parked_max = limits.parked_requests_max
        self.answers_bytes_max = limits.answers_bytes_max

    def use(self, settings: Settings) -> None:
        """Apply other settings; open connections stay open."""
        self._go_by(Limits.from_settings(settings))

    def end_requests(self) -> None:
        """Take no more requests; each connection closes after its last answer."""
        if self.ended is not None:
            return
        self.ended = asyncio.Event()
        if self.faults is not None:
            self.faults.stop()
        if self._reaper is not None:
            self._reaper.cancel()
        for connection in list(self.connections):
            connection.end(Ending.AFTER_ANSWERING)

    def exchange(
        self, context: HandlerContext, ready: ReadyList, quotas: QuotaManager | None
    ) -> None:
        """Pass another context to the handlers; the caller has closed connections that wait."""
        self.ready, self._quotas = ready, quotas
        self._context, self._image = context, context.image
        self.metrics = self.connection_quotas.metrics = context.metrics
        for connection in self.connections:
            assert connection.is_idle, "it waits for the old machines"
            connection.metrics = context.metrics
        self.large = LargeRequests()
        self.make_routes()
        if quotas is not None:
            quotas.listen(self.make_routes)

    # -- what connections call -----------------------------------------------------------------

    def dispatch(self, connection: Connection, frame: memoryview) -> Pieces | None:
        """Carry out a request; a large one may be carried out in parts."""
        try:
            api_key, version, correlation_id, length = _unpack_head(frame)
            decode, handler, encode, counts, flexible_from, direct_below, took, remembered = (
                self._routes[api_key]
            )
            number = counts[version] = counts[version] + 1
        except (struct.error, KeyError):
            number = self._count_unknown(frame)
        started_ns = perf_counter_ns() if number & TIMED_MASK == 1 else 0
        if remembered is not None:
            pieces = remembered.find(
                connection, version, correlation_id, frame, self._image.last_offset
            )
            if pieces is not None:
                if started_ns:
                    took.add(perf_counter_ns() - started_ns)
                return pieces
        size = len(frame)
        try:
            body = _HEAD_BYTES + length
            if length < 0 or body >= size:
                raise ValueError  # noqa: TRY301 (costs nothing where it is not raised)
            client_id: str | None = str(frame[_HEAD_BYTES:body], "utf-8")
            if version >= flexible_from:
                if frame[body]:
                    raise ValueError  # noqa: TRY301
                body += 1
        except ValueError:  # an unusual header, or an invalid one
            *_, client_id, body = read_request_head(frame)
        if size < direct_below:
            request = Request(connection, api_key, version, correlation_id, client_id, frame, body)
            answer = handler(self._context, request, decode(frame, version, body)[0])
            if answer is None:
                connection.parked(request)
                return None
            if answer.__class__ is list:
                pieces = answer
            else:
                pieces = encode(request, answer)
                if remembered is not None and hasattr(request, "true_at"):
                    remembered.keep(request, pieces, request.true_at)
        else:
            _, steps, _ = self.apis[api_key]
            kind = Request if self._watcher is None and not steps else CompletedRequest
            pieces = self._carry_out(
                kind(connection, api_key, version, correlation_id, client_id, frame, body)
            )
            if pieces is None:
                return None
        if started_ns:
            took.add(perf_counter_ns() - started_ns)
        return pieces

    def _count_unknown(self, frame: memoryview) -> int:
        """Count a request of an unknown version that is answered anyway (ApiVersions)."""
        api_key, version, *_ = read_request_head(frame)
        if api_key not in self.apis or not self.apis[api_key][0].answers_any_version:
            accepted = self.apis[api_key][0].accepted if api_key in self.apis else None
            raise _unserved(api_key, version, accepted) from None
        metrics = self.metrics.apis[api_key]
        metrics.unknown += 1
        return metrics.unknown

    def _carry_out(self, request: Request) -> Pieces | None:
        """Carry out a request that is large or watched, or has steps before its handler."""
        connection = cast("Connection", request.peer)
        if self._watcher is not None:
            self._watcher.requested(request)
        api, steps, large_from = self.apis[request.api_key]
        answer: Answer | None
        faults = self.faults
        if faults is not None and faults.fire(api, request, self._handle, self.encode):
            self.park(connection, request)
            return None
        if len(request.frame) >= large_from and self.large.takes(request):
            self.large.start(self._context, request, api, steps)
            answer = None
        else:
            answer = self._handle(request)
        if answer is not None:
            return self._frame_of(request, answer)
        self.park(connection, request)
        return None

    def _handle(self, request: Request) -> Answer | None:
        """Carry out a request, with the steps before its handler."""
        api, steps, _ = self.apis[request.api_key]
        message, _ = self._routes[request.api_key][0](request.frame, request.version, request.body)
        return carry_out(steps, api.handler, self._context, request, message)

    def park(self, connection: Connection, request: Request) -> None:
        """Note that a request waits, and that its answer is released later."""
        connection.parked(request)
        if self._watcher is not None:
            self._watcher.parked(request)

    def _frame_of(self, request: Request, answer: Answer) -> Pieces:
        """Encode an answer, and tell the watcher."""
        if isinstance(request, CompletedRequest):
            answer = request.completed(answer)
        pieces = self.encode(request, answer)
        if self._watcher is not None:
            self._watcher.answered(request, pieces)
        if self.faults is not None:
            pieces = self.faults.with_late(request, pieces)
        return pieces

    def encode(self, request: Request, answer: Answer) -> Pieces:
        """Encode an answer."""
        api, *_ = self.apis[request.api_key]
        return answer if isinstance(answer, list) else api.encode(request, answer)

    def _first_decode(self, key: int, api: Served) -> Decode:
        """Return the decoder for an API's first request, which imports the API's modules."""

        def decode(frame: memoryview, version: int, body: int) -> tuple[Any, int]:
            self._routes[key] = api.reads, loaded(self._routes[key][1]), *self._routes[key][2:]
            return api.reads(frame, version, body)

        return decode

    def released(self, connection: Connection, request: Request, answer: Answer) -> Pieces:
        """Encode the answer to a request that was parked."""
        self.metrics.apis[request.api_key].waited.add(perf_counter_ns() - connection.parked_at_ns)
        return self._frame_of(request, answer)

    @property
    def queued(self) -> QueuedBytes:
        """The count of the bytes of requests that are not carried out yet."""
        return self.shared.queued

    @property
    def image(self) -> MetadataImage:
        """The cluster's metadata image of this process."""
        return self._image

    @property
    def watcher(self) -> Watcher[Connection] | None:
        """The watcher of all requests; ``None`` most of the time.

        Setting it rebuilds the routes, so that requests cost nothing extra without a watcher.
        """
        return self._watcher

    @watcher.setter
    def watcher(self, watcher: Watcher[Connection] | None) -> None:
        if watcher is not self._watcher:
            self._watcher, self.resting = watcher, frozenset()
            self.make_routes()
        if self.beside is not None:
            self.beside.watcher = watcher

    def use_faults(self, faults: Faults) -> None:
        """Show requests to fault rules, while there are any for their APIs."""
        self.faults = faults
        faults.listen(self.served, self.make_routes)
        if self.beside is not None:
            self.beside.use_faults(faults)

    def make_routes(self, apis: Iterable[Served] = ()) -> None:
        """Decide again how requests for these APIs are carried out; for all APIs, if none."""
        for api in apis or self.served:
            key = api.key.value
            self._routes[key] = self._route(key, api)

    def _steps(self, api: Served) -> tuple[Step, ...]:
        """Return the steps that run before the handler of an API."""
        steps: list[Step | None] = []
        if self._quotas is not None and self._quotas.quotas.keys:
            from fencepost_broker.network.throttling import quota_step

            steps.append(quota_step(api, self._quotas))
        if self._context.access.authorizer is not None:
            from fencepost_broker.apis.authorization.layer import rights_step

            steps.append(rights_step(api, self._context.access.authorizer))
        return tuple(step for step in steps if step is not None)

    def _route(self, key: int, api: Served) -> Route:
        lowest, highest = api.accepted
        metrics = self.metrics.api(key, range(lowest, highest + 1))
        # A watcher has to see all requests, and answers may depend on the user's rights.
        handler, is_watched = api.handler, self._watcher is not None and api.key not in self.resting
        is_remembered = api.is_remembered and self._context.access.authorizer is None
        if self.faults is not None and self.faults.takes(key):
            is_remembered, is_watched = False, is_watched or not self.faults.only_topics(api)
            handler = self.faults.guard(api, self._handle, self.encode)
        steps, large_from = self._steps(api), self.large.bytes_from(api)
        self.apis[key] = api, steps, large_from
        return (
            self._first_decode(key, api) if api.decode is None else api.decode,
            handler,
            api.encode,
            metrics.requests,
            FLEXIBLE_FROM.get(key, _NEVER),
            0 if steps or is_watched else large_from,
            metrics.took,
            RememberedAnswers() if is_remembered and not is_watched else None,
        )

    def opened(self, connection: Connection) -> bool:
        """Count a connection, unless there are too many, or the server stops."""
        if self.ended is not None:
            return False  # the loop had accepted it already
        if connection.listener in self.names_users_by_certificate:
            from fencepost_broker.network.tls import name_user

            name_user(connection, self._context.config.settings)
        if (excess := self.connection_quotas.open(connection)) is not None:
            if self._watcher is not None:
                self._watcher.dropped(connection, excess)
            return False
        self.connections[connection] = None
        self.metrics.connections_opened += 1
        if self._quotas is not None:
            self._quotas.opened(connection)
        if self._watcher is not None:
            self._watcher.opened(connection)
        return True

    def closed(self, connection: Connection, error: Exception | None) -> None:
        """Forget a connection."""
        connection.client.disconnected()
        if error is not None:
            self._log_of(connection).debug("connection lost", error=str(error))
        if self._watcher is not None:
            self._watcher.closed(connection, "" if error is None else str(error))
        if self.faults is not None:
            self.faults.forget(connection)
        if connection not in self.connections:
            return  # it was refused
        del self.connections[connection]
        self.connection_quotas.close(connection)
        self.metrics.bytes_in += connection.bytes_in
        self.metrics.bytes_out += connection.bytes_out
        if not self.connections:
            self.shared.forget()
            if self.ended is not None:
                self.ended.set()

    def dropped(self, connection: Connection, error: Exception, frame: memoryview) -> None:
        """Log why a connection is closed: the peer's violation, or a bug and its request."""
        if isinstance(error, RemoteProtocolError):
            reason = str(error)
            self._log_of(connection).warning("closing the connection", reason=reason)
        else:
            reason = f"a bug of the broker: {error!r}"
            self._log_of(connection).error(
                "a request made the broker fail: please report this",
                frame=frame[:_FRAME_SHOWN].hex(),
                exc_info=error,
            )
        self._tell_dropped(connection, reason)

    def _tell_dropped(self, connection: Connection, reason: str) -> None:
        self.metrics.connections_dropped += 1
        if self._watcher is not None:
            self._watcher.dropped(connection, reason)

    # -- counting ------------------------------------------------------------------------------

    def stats(self) -> dict[str, int]:
        """Return the counts of connections and bytes, for closed and open connections together."""
        return {
            "open": len(self.connections),
            "in_handshake": self.connection_quotas.handshakes,
            "opened": self.metrics.connections_opened,
            "dropped": self.metrics.connections_dropped,
            "queued_bytes": self.shared.queued.count,
            "waiting_frames": self.shared.queued.waiting,
            "parked_requests": sum(each.is_parked for each in self.connections),
            "bytes_in": self.metrics.bytes_in + sum(each.bytes_in for each in self.connections),
            "bytes_out": self.metrics.bytes_out + sum(each.bytes_out for each in self.connections),
        }

    # -- idle connections ----------------------------------------------------------------------

    def schedule_reaping(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close idle connections from now on."""
        if self.limits.idle_ms_max >= 0:
            self._reaper = loop.call_later(self.limits.idle_ms_max / 1_000, self._reap, loop)

    def _reap(self, loop: asyncio.AbstractEventLoop) -> None:
        self.reap()
        self.schedule_reaping(loop)

    def reap(self) -> None:
        """Close connections that have received nothing for one to two periods."""
        self.shared.forget()
        for connection in list(self.connections):
            if connection.reap():
                self._tell_dropped(connection, "idle for connections.max.idle.ms")


def _unserved(api_key: int, version: int, accepted: tuple[int, int] | None) -> RemoteProtocolError:
    """Return the error for an API, or a version of it, that is not among the accepted ones."""
    entry = APIS.get(api_key)
    if entry is None and api_key not in WITHOUT_SCHEMA:
        return RemoteProtocolError("there is no such API", api=f"API key {api_key}")
    name = WITHOUT_SCHEMA[api_key] if entry is None else entry[0]
    reason = "this broker does not serve this API, and ApiVersions does not list it"
    if accepted is not None:
        lowest, highest = accepted
        age = "too old" if version < lowest else "newer and did not use ApiVersions"
        reason = f"only versions {lowest} to {highest} are served; the client is {age}"
    return RemoteProtocolError(reason, api=name, version=version)


def _log_of(log: Any, connection: Connection) -> Any:
    """Return a logger whose lines name the connection."""
    bound = {"client": connection.client_host}
    transport = connection.transport
    if transport is not None and (peer := transport.get_extra_info("peername")):
        bound["client"] = f"{connection.client_host}:{peer[1]}"
    if connection.client_software_name:
        bound["software"] = connection.client_software_name
    return log.bind(**bound)
