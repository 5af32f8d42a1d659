"""Routes of the control port, each declared once, and what their handlers are given."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.framing import read_response_head

from fencepost_broker.apis.loopback import Loopback
from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import Pieces
from fencepost_broker.server.control.problems import ProblemError

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime.coordinator_runtime import CoordinatorRuntime
    from fencepost_broker.faults.rules import FaultRules
    from fencepost_broker.ports import Address
    from fencepost_broker.server.broker_server import BrokerServer
    from fencepost_broker.server.clock import StateClock
    from fencepost_broker.server.control.client import ControlClient
    from fencepost_broker.server.control.events import EventHub
    from fencepost_broker.server.control.seen import RequestsSeen
    from fencepost_broker.server.control.steps import TransactionSteps
    from fencepost_broker.server.embedded.snapshot import Snapshot
    from fencepost_broker.server.process import BrokerProcess
    from fencepost_broker.storage.disk.faulty import DiskFaults

JSON: Final = "application/json"
_SIZE_BYTES: Final = 4
ASK_SECONDS: Final = 10.0
"""How long an answer of the broker to itself may take."""


class Embedded(Protocol):
    """The object that has started the process: a ``Broker``."""

    disk: DiskFaults
    snapshots: dict[str, Snapshot]

    def snapshot(self, name: str | None = None) -> Snapshot:
        """Return the state as it is now; raises ``NoSnapshotsError``, ``StorageError``."""

    async def restore(
        self, snapshot: Snapshot | str, connections: Literal["close", "keep"] = "close"
    ) -> None:
        """Continue from a snapshot; raises ``NoSnapshotsError``, ``StorageError``."""

    async def reset(self) -> None:
        """Go back to the state right after the start."""


class ControlContext:
    """The parts of a broker, or of a proxy, that handlers of the control port may use."""

    port: ControlClient
    """Asks this control port, once it is open."""

    def __init__(
        self,
        routes: Sequence[Route],
        events: EventHub,
        requests: RequestsSeen,
        steps: TransactionSteps,
        rules: Callable[[], FaultRules],
        now_ms: Callable[[], int],
        process: BrokerProcess | None = None,
        addresses: Sequence[Address] = (),
        embedded: Embedded | None = None,
    ) -> None:
        """Take what a proxy has, too; the rest is a broker's."""
        self.routes = routes
        """All routes of the control port."""
        self.events = events
        self.requests = requests
        self.steps = steps
        self.now_ms = now_ms
        """State time."""
        self.addresses = addresses
        """Where clients reach this broker."""
        self._rules = rules
        self._process = process
        self._embedded = embedded

    @property
    def fault_rules(self) -> FaultRules:
        """The fault rules; the first access shows requests to them."""
        return self._rules()

    @property
    def kind(self) -> str:
        """What is controlled: a broker, a controller by itself, or a proxy."""
        if self._process is None:
            return "proxy"
        return "broker" if "broker" in self._process.settings.process_roles else "controller"

    @property
    def process(self) -> BrokerProcess:
        """The process of this broker or controller; raises ``ProblemError`` in a proxy."""
        if self._process is None:
            raise ProblemError(
                HTTPStatus.CONFLICT,
                "a proxy cannot do this: it is not the broker, and has no clock, topics, groups or"
                " transactions",
                advice="It has fault rules, and the requests and events of its clients.",
            )
        return self._process

    @property
    def clock(self) -> StateClock:
        """State time."""
        return self.process.clock

    @property
    def embedded(self) -> Embedded:
        """The object that has started the process."""
        assert self.process is not None
        assert self._embedded is not None
        return self._embedded

    @property
    def server(self) -> BrokerServer:
        """The broker of this process; raises ``ProblemError`` if it is a controller by itself."""
        if "broker" not in self.process.settings.process_roles:
            raise ProblemError(
                HTTPStatus.CONFLICT,
                "this process is a controller by itself, and has no topics, groups or transactions",
                advice="Ask the control port of a broker.",
            )
        return self.process.broker

    @property
    def coordinators(self) -> CoordinatorRuntime:
        """The coordinators of this broker."""
        return self.server.coordinators.runtime

    async def ask(self, message: Message, version: int) -> Any:
        """Return this broker's response to a request of the protocol."""
        server = self.server
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Any] = loop.create_future()

        def then(told: Any) -> None:
            if not answer.done():  # it may have come too late
                answer.set_result(told)

        later = server.context.clock.call_later
        Loopback(server.context, SERVED, server.metrics, later).ask(message, version, then)
        async with asyncio.timeout(ASK_SECONDS):
            told = await answer
        return _decoded(told, message, version) if isinstance(told, list) else told


def _decoded(pieces: Pieces, message: Any, version: int) -> Message:
    """Decode a response that its handler has encoded already."""
    key = message.API_KEY
    frame = memoryview(b"".join(pieces))[_SIZE_BYTES:]
    _, body = read_response_head(frame, key, version)
    answer: Message = response_class(key).decode(frame, version, body)[0]
    return answer


InCluster: TypeAlias = Callable[..., Awaitable[Any]]
"""Called with the ``Cluster``, the route and what is asked; it returns the response."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to a route."""

    request: Any
    """The decoded request; ``None``: the route has none."""
    target: str
    """Path and query, as they were sent, but for ``broker``."""
    body: bytes = b""
    broker: int | None = None
    """The one broker that is asked, by its id."""


@dataclass(frozen=True, slots=True)
class Route:
    """A method and a path, with their handler.

    Fields of ``request`` that the path names are parts of the path; with GET and DELETE, the others
    are in the query, and otherwise in the body.
    """

    method: str
    path: str
    handler: Callable[..., Any]
    """Called with a ``ControlContext`` and with the request, if there is one; it may be a
    coroutine function. It returns the response, or raises ``ProblemError``."""
    summary: str
    request: Any = None
    """The type of the request, a struct or a union of structs; ``None``: it has no fields."""
    response: Any = None
    """The type of the response; ``None``: it has no content. For a stream, the type of an event."""
    errors: tuple[HTTPStatus, ...] = ()
    """The errors of this route alone; see ``openapi.ERRORS`` for those of all routes."""
    status: HTTPStatus = HTTPStatus.OK
    in_cluster: InCluster | None = None
    """Carries it out at the control port of a cluster; ``None``: it is for one broker alone."""
    is_stream: bool = False
    """Whether the response is a stream of Server-Sent Events; the handler returns a ``Reader``."""
    content_type: str = JSON
    """Of the response; if it is not JSON, the handler returns a ``str``."""

    @property
    def names_in_path(self) -> list[str]:
        """The names in braces in the path."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    @property
    def has_body(self) -> bool:
        """Whether requests have a body."""
        return self.request is not None and self.method not in ("GET", "DELETE")

    @property
    def name(self) -> str:
        """The name of the operation, for generated clients."""
        return self.handler.__name__

    @property
    def family(self) -> str:
        """The name of the family that it belongs to."""
        return self.handler.__module__.rpartition(".")[2]
