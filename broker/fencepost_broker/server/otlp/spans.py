"""A span for each request of the sample, under the span of its transaction."""

from __future__ import annotations

from collections.abc import Callable
from time import time_ns
from typing import TYPE_CHECKING, Any, Final, cast

from fencepost_protocol.apis import request_class
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.generated.produce import ProduceRequest
from fencepost_protocol.generated.write_txn_markers import WriteTxnMarkersRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.faults.compiled import Arrived
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.dispatcher import Watcher
from fencepost_broker.network.watchers import unwatch, watch
from fencepost_broker.observability.metrics import errors_in
from fencepost_broker.server.control.events import Lost, cut
from fencepost_broker.server.control.frames import READ_BYTES_MAX, read_answer
from fencepost_broker.server.control.steps import TransactionStep
from fencepost_broker.server.otlp.resource import attribute
from fencepost_broker.server.otlp.trace_context import CONTEXTS_MAX, TraceContext, contexts_in
from fencepost_broker.server.otlp.transaction_spans import (
    TransactionSpan,
    TransactionSpans,
    bumped_span,
    random_context,
)

if TYPE_CHECKING:
    from msgspec import Struct

    from fencepost_broker.observability.logging import Logger
    from fencepost_broker.server.control.watching import WatchedBroker

NAMES_MAX: Final = 20
"""A span names no more topics."""
_SERVED: Final = {int(each.key): each for each in SERVED}
_IN_TRANSACTIONS: Final = frozenset(
    {
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.PRODUCE,
        ApiKey.TXN_OFFSET_COMMIT,
    }
)
_BUMPING: Final = {
    ApiKey.ADD_PARTITIONS_TO_TXN: 4,
    ApiKey.PRODUCE: 12,
    ApiKey.TXN_OFFSET_COMMIT: 5,
}
"""Requests that open transactions of producers with a new epoch for each, from these versions."""
_BUMPED: Final = 2
"""The transaction version whose markers have the epoch after that of the transaction."""


class _Asked:
    """A request without an answer, and its span."""

    __slots__ = ("bumps", "contexts", "of", "producer", "request", "span", "transactional_id")

    def __init__(self, request: Request, span: Span) -> None:
        self.request = request
        self.span = span
        self.transactional_id: str | None = None
        self.producer = -1, -1
        self.contexts: list[TraceContext] = []
        """The spans of clients, or those of the transactions whose markers it brings."""
        self.bumps = request.version >= _BUMPING.get(ApiKey(request.api_key), 1 << 15)
        self.of: TransactionSpan | None = None
        """The transaction that it belongs to."""


class Spans(Watcher[Connection]):
    """Makes spans of what the watch of a broker tells, until it is closed."""

    def __init__(
        self,
        watched: WatchedBroker,
        end: Callable[[Span], None],
        log: Logger,
        now_ns: Callable[[], int] = time_ns,
    ) -> None:
        """``end`` is called with each span that has ended."""
        self._watched = watched
        self._server = watched.process.server
        self._end = end
        self._log = log
        self._now_ns = now_ns
        self._transactions = TransactionSpans(end)
        self._open: dict[tuple[Connection, int], _Asked] = {}
        self._told_of_sample = False
        watch(watched.sample, self)
        watched.events.listeners.append(self._heard)
        self._end_steps = watched.steps.stream(with_requests=False)

    def close(self) -> None:
        """Watch no more, and end the spans of transactions."""
        self._end_steps()
        self._watched.events.listeners.remove(self._heard)
        unwatch(self._watched.sample, self)
        self._open.clear()
        self._transactions.end_all(self._now_ns())

    # -- what coordinators and partitions have logged -------------------------------------------

    def _heard(self, event: Struct) -> None:
        if isinstance(event, Lost):
            if not self._told_of_sample:
                self._told_of_sample = True
                apis = ", ".join(event.requests)
                self._log.info("there are too many requests to trace all: a sample is", apis=apis)
        elif isinstance(event, TransactionStep):
            now_ns = self._now_ns()
            if event.what == "state":
                self._transactions.state_logged(event, now_ns, lambda: self._begun(event, now_ns))
            elif event.what == "marker":
                self._transactions.marker_written(event, now_ns)

    def _begun(self, step: TransactionStep, now_ns: int) -> tuple[TraceContext, int]:
        """Return the span of a transaction that begins, and the start of its first request."""
        producer = step.producer_id, step.producer_epoch
        for asked in self._open.values():
            if asked.transactional_id == step.transactional_id and asked.producer == producer:
                started_ns = asked.span.start_time_unix_nano
                found = self._bumped(producer) if asked.bumps else None
                return found or random_context(), started_ns
        return random_context(), now_ns

    def _bumped(self, producer: tuple[int, int]) -> TraceContext | None:
        """Return the span that all brokers of a cluster can name; one alone needs none.

        After a reset, a single broker gives the same producer ids again.
        """
        if len(self._server.image.cluster.brokers) == 1:
            return None
        return bumped_span(self._server.identity.cluster_id, *producer)

    # -- what the server tells ------------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        """Do nothing: connections have no spans."""

    def requested(self, request: Request) -> None:
        """Begin a span; what this takes is not in it."""
        if self._watched.process.server is not self._server:
            self._use_restored()
        connection = cast("Connection", request.peer)
        made = random_context()
        span = Span(
            trace_id=made.trace_id,
            span_id=made.span_id,
            name=APIS[request.api_key][0],
            kind=Span.SPAN_KIND_SERVER,
            attributes=[
                attribute("messaging.system", "kafka"),
                attribute("messaging.client.id", cut(request.client_id or "")),
                attribute("client.address", connection.client_host.lstrip("/")),
                attribute("kafka.api.version", request.version),
                attribute("kafka.broker.id", self._watched.node_id),
                attribute("kafka.correlation_id", request.correlation_id),
            ],
        )
        asked = _Asked(request, span)
        served = _SERVED.get(request.api_key)
        if served is not None and len(request.frame) <= READ_BYTES_MAX:
            try:
                kind = request_class(request.api_key)
                message, _ = kind.decode(request.frame, request.version, request.body)
            except RemoteProtocolError:
                pass  # it is refused, and the log says why
            else:
                self._describe(asked, Arrived(served, request, message, self._watched.states()))
        if request.api_key in _IN_TRANSACTIONS:
            found = self._transaction_of(asked)
            if found is not None and (found.is_ongoing or request.api_key == ApiKey.END_TXN):
                asked.of = found
        self._open[connection, request.correlation_id] = asked
        span.start_time_unix_nano = self._now_ns()

    def parked(self, request: Request) -> None:
        """Note that a request waits."""
        asked = self._open.get(_key(request))
        if asked is not None:
            asked.span.events.add(time_unix_nano=self._now_ns(), name="waits")

    def answered(self, request: Request, pieces: Pieces) -> None:
        """End a span."""
        asked = self._open.pop(_key(request), None)
        if asked is None:
            return
        asked.span.end_time_unix_nano = self._now_ns()
        answer = read_answer(request, pieces)
        errors = [] if answer is None else sorted(errors_in(answer))
        if errors:
            asked.span.attributes.append(attribute("error.type", errors[0]))
            asked.span.status.CopyFrom(
                Status(code=Status.STATUS_CODE_ERROR, message=", ".join(errors))
            )
        if asked.of is None and request.api_key in _IN_TRANSACTIONS:
            asked.of = self._transaction_of(asked)
        self._over(asked, failed=bool(errors))

    def dropped(self, connection: Connection, reason: str) -> None:
        """End the spans of a connection that the broker closes."""
        self.closed(connection, reason)

    def closed(self, connection: Connection, reason: str) -> None:
        """End the spans of a closed connection."""
        for key in [each for each in self._open if each[0] is connection]:
            asked = self._open.pop(key)
            asked.span.end_time_unix_nano = self._now_ns()
            message = cut(reason) or "the client closed the connection"
            asked.span.status.CopyFrom(Status(code=Status.STATUS_CODE_ERROR, message=message))
            self._over(asked, failed=True)

    def _use_restored(self) -> None:
        """Hear of the coordinators of a broker whose snapshot was restored; none goes on here."""
        self._server = self._watched.process.server
        self._watched.steps.listen()
        self._transactions.end_all(self._now_ns())

    # -- spans ----------------------------------------------------------------------------------

    def _describe(self, asked: _Asked, arrived: Arrived) -> None:
        """Add what a request names."""
        add = asked.span.attributes.append
        topics = list(dict.fromkeys(topic for topic, _ in arrived.entries))
        if len(topics) == 1:
            add(attribute("messaging.destination.name", topics[0]))
            if len(arrived.entries) == 1 and (number := arrived.entries[0][1]) is not None:
                add(attribute("messaging.destination.partition.id", str(number)))
        elif topics:
            add(attribute("kafka.topics", topics[:NAMES_MAX]))
        for entity, name in (
            ("group", "messaging.consumer.group.name"),
            ("transactional_id", "kafka.transactional_id"),
        ):
            if found := _first(arrived, entity):
                add(attribute(name, cut(found)))
        asked.transactional_id = _first(arrived, "transactional_id")
        producer_id, epoch = _first(arrived, "producer_id"), _first(arrived, "producer_epoch")
        if isinstance(producer_id, int) and producer_id >= 0:
            asked.producer = producer_id, epoch
            add(attribute("kafka.producer.id", producer_id))
            add(attribute("kafka.producer.epoch", epoch))
        if isinstance(arrived.message, ProduceRequest):
            asked.contexts = contexts_in(arrived.message)
        elif isinstance(arrived.message, WriteTxnMarkersRequest):
            found = [
                self._bumped((each.producer_id, each.producer_epoch - 1))
                for each in arrived.message.markers[:CONTEXTS_MAX]
                if each.transaction_version >= _BUMPED
            ]
            asked.contexts = [each for each in found if each is not None]

    def _transaction_of(self, asked: _Asked) -> TransactionSpan | None:
        """Return the transaction of the producer that has sent a request."""
        found = self._transactions.find(asked.transactional_id)
        return found if found is not None and found.producer == asked.producer else None

    def _over(self, asked: _Asked, *, failed: bool) -> None:
        """End a span where it belongs: in a transaction, or else under the one span it names."""
        span, contexts, parent = asked.span, asked.contexts, None
        if asked.of is not None:
            parent = asked.of.context
            for each in contexts:
                asked.of.link(each)
        elif asked.transactional_id is not None and asked.bumps and not failed:
            parent = self._bumped(asked.producer)  # another broker coordinates it
        if parent is None and len(contexts) == 1:
            parent, contexts = contexts[0], []
        if parent is not None:
            span.trace_id, span.parent_span_id = parent
        for each in contexts:
            span.links.add(trace_id=each.trace_id, span_id=each.span_id)
        self._end(span)


def _key(request: Request) -> tuple[Connection, int]:
    return cast("Connection", request.peer), request.correlation_id


def _first(arrived: Arrived, entity: str) -> Any:
    return next(arrived.values(entity), None)
