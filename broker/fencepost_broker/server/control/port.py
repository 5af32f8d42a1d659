"""The control port: an HTTP server in the broker's event loop, whose routes are a table.

aiohttp bounds headers, pipelined requests and the time until a request's headers have arrived.
Bounded here: connections, bodies and the time for them, and the time for which a client may leave
an answer unread.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus
from typing import Any, Final, Protocol

import msgspec
from aiohttp import hdrs, web

from fencepost_broker.config.errors import SettingsError
from fencepost_broker.config.values.endpoints import parse_control_address
from fencepost_broker.network.listeners import listen, name_of_this_machine
from fencepost_broker.observability.logging import Logger
from fencepost_broker.ports import Address
from fencepost_broker.server.control.client import ControlClient
from fencepost_broker.server.control.console import console_routes, is_console
from fencepost_broker.server.control.decoding import read_request
from fencepost_broker.server.control.events import EventHub, Reader, cut
from fencepost_broker.server.control.guard import Guard, is_for_this_machine, read_token
from fencepost_broker.server.control.problems import CONTENT_TYPE, Problem, ProblemError
from fencepost_broker.server.control.routes import JSON, Asked, Route
from fencepost_broker.server.control.table import ROUTES

CONNECTIONS_MAX: Final = 128
BODY_BYTES_MAX: Final = 1 << 20
BODY_SECONDS: Final = 10.0
IDLE_SECONDS: Final = 30.0
"""How long a connection may wait for a request's headers, the first one included."""
UNREAD_SECONDS: Final = 60.0
"""How long a client may leave an answer, or a part of a stream, unread."""
HEARTBEAT_SECONDS: Final = 15.0
"""After this time without an event, a stream sends a comment, which shows whether it is read."""
_LOOPBACK: Final = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""Where this machine reaches a port that listens on every address."""
_BACKLOG: Final = 128
_STOP_SECONDS: Final = 0.5
_LINGER_SECONDS: Final = 1.0
_HEADER_BYTES_MAX: Final = 8190
_HEADERS_MAX: Final = 64
_QUIET: Final = logging.getLogger("fencepost.control")
"""aiohttp's own log, about requests that are not HTTP, which is not wanted."""
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False

_CLOSING: Final = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
"""After these errors the connection is closed: what is left of the request is not read."""

_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Controlled(Protocol):
    """What a control port controls: a broker, a cluster or a proxy."""

    events: EventHub

    def begin(self, port: ControlClient) -> None:
        """Begin to tell events; ``port`` asks this control port."""

    def carry_out(self, route: Route, asked: Asked) -> Any:
        """Return the answer, or an awaitable of it; raises ``ProblemError``."""

    async def close(self) -> None:
        """End what requests have begun."""


class ControlPort:
    """The listener of a control port."""

    def __init__(
        self, address: str, token_file: str | None, controlled: Controlled, log: Logger
    ) -> None:
        """``address`` is ``[HOST:]PORT``, as the setting ``control.address``."""
        self._address = address
        self._token_file = token_file
        self._controlled = controlled
        self.events = controlled.events
        self._log = log
        self._listener: asyncio.Server | None = None
        self._runner: web.AppRunner | None = None
        self._guard = Guard((), None)
        self.listens_at = ""
        """``address`` with the actual port instead of 0."""

    async def open(self) -> str:
        """Listen, and return the address.

        Raises ``ListenError``, and ``SettingsError`` for a token that is missing.
        """
        host, port = parse_control_address(self._address)
        token = _token(self._token_file)
        routes = [*console_routes(), *(self._adapted(route) for route in ROUTES)]
        self._runner = _runner(routes, self._middleware)
        await self._runner.setup()
        server = self._runner.server
        assert server is not None

        def connection() -> asyncio.BaseProtocol:
            full = len(server.connections) >= CONNECTIONS_MAX
            return _Refused() if full else server()

        try:
            self._listener = await listen(host, port, _BACKLOG, connection)
            bound = [sock.getsockname()[:2] for sock in self._listener.sockets]
            if token is None:
                _check_loopback(self._address, [each for each, _ in bound])
        except BaseException:
            await self.close()
            raise
        shown = name_of_this_machine() if host in _LOOPBACK else host
        self._guard = Guard((shown,), token)
        port = bound[0][1]
        reached = _LOOPBACK.get(host, host)
        self._controlled.begin(ControlClient(reached, port, token))
        await self._listener.start_serving()
        self.listens_at = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return Address("CONTROL", shown, port).bootstrap

    async def close(self) -> None:
        """End all streams and requests, and close the port."""
        if self._listener is not None:
            self._listener.close()
        await self._controlled.close()
        self.events.close()
        if self._runner is not None:
            await self._runner.cleanup()

    # -- requests -------------------------------------------------------------------------------

    @web.middleware
    async def _middleware(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        """Refuse what may not be answered, and answer with a problem whatever goes wrong."""
        try:
            socket_name = request.get_extra_info("sockname") or ("",)
            hosts = request.headers.getall(hdrs.HOST, [])
            is_page = is_console(request.path)
            self._guard.check(request.headers, hosts, socket_name[0], needs_token=not is_page)
            response = await handler(request)
        except ProblemError as error:
            response = _problem(error.problem)
        except web.HTTPException as error:
            response = self._refused_by_aiohttp(request, error)
        except TimeoutError:
            status = HTTPStatus.GATEWAY_TIMEOUT
            detail = "the broker did not carry this out in time"
            response = _problem(Problem(status.phrase, status.value, detail))
        except (ConnectionError, asyncio.CancelledError):
            raise
        except Exception:  # noqa: BLE001 (told, and answered as a bug)
            self._log.exception("the control port failed: please report this", path=request.path)
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            detail = "this is a bug: the broker's log has it; please report it"
            response = _problem(Problem(status.phrase, status.value, detail))
        if not response.prepared:
            await _sent(request, response)
        return response

    def _refused_by_aiohttp(self, request: web.Request, error: web.HTTPException) -> web.Response:
        status = HTTPStatus(error.status)
        detail = status.description or status.phrase
        advice = ""
        if status is HTTPStatus.NOT_FOUND:
            detail = f"there is no {cut(request.path)}"
            advice = "GET /openapi.json lists all paths."
        elif status is HTTPStatus.METHOD_NOT_ALLOWED:
            detail = f"{cut(request.path)} does not have the method {cut(request.method)}"
            advice = f"It has {error.headers.get(hdrs.ALLOW, '')}."
        elif status is HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            detail = f"the body has more than {BODY_BYTES_MAX} bytes"
        response = _problem(Problem(status.phrase, status.value, detail, advice=advice))
        if hdrs.ALLOW in error.headers:
            response.headers[hdrs.ALLOW] = error.headers[hdrs.ALLOW]
        return response

    def _adapted(self, route: Route) -> web.RouteDef:
        """Return a route as aiohttp has it."""

        async def handle(request: web.Request) -> web.StreamResponse:
            given, body = None, b""
            query = {**request.query}
            broker = _broker(query.pop("broker", None))
            if route.request is not None:
                body = await _body(request) if route.has_body else b""
                given = read_request(route, request.match_info, query, body)
            target = request.rel_url.with_query(query)
            asked = Asked(given, target.raw_path_qs, body, broker)
            answer = self._controlled.carry_out(route, asked)
            if inspect.isawaitable(answer):
                answer = await asyncio.shield(answer)  # it goes on if the client goes
            if route.is_stream:
                return await _streamed(request, answer)
            if route.response is None:
                return web.Response(status=HTTPStatus.NO_CONTENT)
            is_json = route.content_type == JSON
            body = msgspec.json.encode(answer) if is_json else answer.encode()
            return _response(route.status, route.content_type, body)

        return web.route(route.method, route.path, handle)


class _Refused(asyncio.Protocol):
    """A connection too many, which is closed at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def _runner(routes: Iterable[web.RouteDef], middleware: Any) -> web.AppRunner:
    app = web.Application(client_max_size=BODY_BYTES_MAX, middlewares=[middleware])
    app.add_routes(list(routes))
    return web.AppRunner(
        app,
        access_log=None,
        logger=_QUIET,
        auto_decompress=False,
        handler_cancellation=True,  # a stream ends when its client goes
        keepalive_timeout=IDLE_SECONDS,
        lingering_time=_LINGER_SECONDS,
        max_line_size=_HEADER_BYTES_MAX,
        max_field_size=_HEADER_BYTES_MAX,
        max_headers=_HEADERS_MAX,
        shutdown_timeout=_STOP_SECONDS,
    )


def _token(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return read_token(path)
    except ValueError as error:
        raise SettingsError([str(error)]) from None


def _check_loopback(given: str, bound: Iterable[str]) -> None:
    """Raise ``SettingsError`` if other machines reach one of these addresses."""
    if not is_for_this_machine(bound):
        raise SettingsError(
            [
                f"control.address={given}: other machines reach this address, so requests need a"
                " token: give a file with one as control.token.file (--control-token-file FILE)"
            ]
        )


def _broker(given: str | None) -> int | None:
    if given is None or (given.isascii() and given.isdigit()):
        return given if given is None else int(given)
    raise ProblemError(
        HTTPStatus.BAD_REQUEST, "it must be the id of a broker", where="query, $.broker"
    )


async def _body(request: web.Request) -> bytes:
    """Return the body of a request, which must be JSON, not too large and not too slow.

    A request without a body is one for the defaults.
    """
    if not request.body_exists and hdrs.CONTENT_TYPE not in request.headers:
        return b"{}"
    encoding = request.headers.get(hdrs.CONTENT_ENCODING, "identity")
    if request.content_type != JSON or encoding != "identity":
        raise ProblemError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "the body must be JSON that is not compressed",
            where="header Content-Type" if encoding == "identity" else "header Content-Encoding",
            advice=f"Send `Content-Type: {JSON}`.",
        )
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await request.read()
    except TimeoutError:
        raise ProblemError(
            HTTPStatus.REQUEST_TIMEOUT,
            f"the body did not arrive within {BODY_SECONDS:g} seconds",
            where="body",
        ) from None


def _response(status: int, content_type: str, body: bytes) -> web.Response:
    headers = {
        hdrs.CONTENT_TYPE: content_type,
        hdrs.CACHE_CONTROL: "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return web.Response(status=status, body=body, headers=headers)


def _problem(problem: Problem) -> web.Response:
    response = _response(problem.status, CONTENT_TYPE, msgspec.json.encode(problem))
    if problem.status == HTTPStatus.UNAUTHORIZED:
        response.headers[hdrs.WWW_AUTHENTICATE] = "Bearer"
    elif problem.status in _CLOSING:
        response.force_close()
    return response


async def _sent(request: web.Request, response: web.StreamResponse) -> None:
    """Send an answer; a client that leaves it unread loses its connection."""
    try:
        async with asyncio.timeout(UNREAD_SECONDS):
            await response.prepare(request)
            await response.write_eof()
    except TimeoutError:
        _abort(request)
        raise ConnectionResetError("the answer was not read") from None


async def _streamed(request: web.Request, reader: Reader) -> web.StreamResponse:
    """Send events until the client goes or does not read them, or the broker stops."""
    response = web.StreamResponse(
        headers={
            hdrs.CONTENT_TYPE: "text/event-stream",
            hdrs.CACHE_CONTROL: "no-store",
            "X-Content-Type-Options": "nosniff",
        }
    )
    try:
        await response.prepare(request)
        await response.write(b": the stream has begun\n\n")
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    events = await reader.take()
            except TimeoutError:
                events = b": nothing happened\n\n"
            if events is None:
                return response
            async with asyncio.timeout(UNREAD_SECONDS):
                await response.write(events)
    except (TimeoutError, ConnectionError):
        _abort(request)
        return response
    finally:
        reader.close()


def _abort(request: web.Request) -> None:
    if request.transport is not None:
        request.transport.abort()
