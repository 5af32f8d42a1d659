"""Spans of transactions: from the first request until the coordinator has logged the end."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from secrets import token_bytes
from typing import Final

from opentelemetry.proto.trace.v1.trace_pb2 import Span

from fencepost_broker.coordinator.transaction.states import NAMES, State
from fencepost_broker.server.control.steps import TransactionStep
from fencepost_broker.server.otlp.resource import attribute
from fencepost_broker.server.otlp.trace_context import CONTEXTS_MAX, TraceContext

OPEN_MAX: Final = 1_000
"""So many transactions can have a span at once; the oldest ones end before the others."""
EVENTS_MAX: Final = 128
"""A span has no more events; it says how many it lacks."""
TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8
NAME: Final = "transaction"
_ENDS: Final = {
    NAMES[State.COMPLETE_COMMIT]: "commit",
    NAMES[State.COMPLETE_ABORT]: "abort",
    NAMES[State.EMPTY]: "",
    NAMES[State.DEAD]: "",
}
"""The states after which a transaction is over, and its outcome."""


def bumped_span(cluster_id: str, producer_id: int, epoch: int) -> TraceContext:
    """Return the span of a transaction whose producer has a new epoch for each (KIP-890).

    So all brokers of a cluster know it, although only one of them coordinates it.
    """
    made = sha256(f"{cluster_id} {producer_id} {epoch}".encode()).digest()
    return TraceContext(made[:TRACE_ID_BYTES], made[TRACE_ID_BYTES:][:SPAN_ID_BYTES])


class TransactionSpan:
    """The span of a transaction that is not over."""

    def __init__(self, step: TransactionStep, context: TraceContext, started_ns: int) -> None:
        self.context = context
        self.producer = step.producer_id, step.producer_epoch
        self.is_ongoing = True
        self.span = Span(
            trace_id=context.trace_id,
            span_id=context.span_id,
            name=NAME,
            kind=Span.SPAN_KIND_INTERNAL,
            start_time_unix_nano=started_ns,
            attributes=[
                attribute("messaging.system", "kafka"),
                attribute("kafka.transactional_id", step.transactional_id or ""),
                attribute("kafka.producer.id", step.producer_id),
                attribute("kafka.producer.epoch", step.producer_epoch),
            ],
        )

    def link(self, context: TraceContext) -> None:
        """Link a span of the client, unless it is linked."""
        links = self.span.links
        if len(links) < CONTEXTS_MAX and all(each.span_id != context.span_id for each in links):
            links.add(trace_id=context.trace_id, span_id=context.span_id)

    def tell(self, step: TransactionStep, now_ns: int) -> None:
        """Add an event for a state or a marker."""
        if len(self.span.events) >= EVENTS_MAX:
            self.span.dropped_events_count += 1
            return
        event = self.span.events.add(time_unix_nano=now_ns, name=step.state)
        if step.what == "marker":
            [at] = step.partitions
            event.name = "marker"
            event.attributes.extend(
                [
                    attribute("kafka.marker", step.state),
                    attribute("messaging.destination.name", at.topic),
                    attribute("messaging.destination.partition.id", str(at.partition)),
                    attribute("kafka.offset", at.offset),
                ]
            )


class TransactionSpans:
    """The spans of the transactions that this broker coordinates."""

    def __init__(self, end: Callable[[Span], None]) -> None:
        """``end`` is called with each span that has ended."""
        self._end = end
        self._open: OrderedDict[str, TransactionSpan] = OrderedDict()
        self._by_producer: dict[int, TransactionSpan] = {}

    def find(self, transactional_id: str | None) -> TransactionSpan | None:
        """Return the span of a transaction that is not over."""
        return None if transactional_id is None else self._open.get(transactional_id)

    def state_logged(
        self,
        step: TransactionStep,
        now_ns: int,
        begin: Callable[[], tuple[TraceContext, int]],
    ) -> None:
        """Note a state; ``begin`` returns a new span's context and start."""
        transactional_id = step.transactional_id or ""
        found = self._open.get(transactional_id)
        if step.state == NAMES[State.ONGOING]:
            if found is not None and found.producer != (step.producer_id, step.producer_epoch):
                self._over(transactional_id, "", now_ns)  # its end was logged elsewhere
                found = None
            if found is None:
                found = self._begin(transactional_id, TransactionSpan(step, *begin()), now_ns)
        if found is None:
            return
        found.tell(step, now_ns)
        found.is_ongoing = step.state == NAMES[State.ONGOING]
        if step.state in _ENDS:
            self._over(transactional_id, _ENDS[step.state], now_ns)

    def marker_written(self, step: TransactionStep, now_ns: int) -> None:
        """Note a marker; that of another broker's transaction has a request with a span."""
        found = self._by_producer.get(step.producer_id)
        if found is not None:
            found.tell(step, now_ns)

    def end_all(self, now_ns: int) -> None:
        """End all spans: the broker stops."""
        for each in list(self._open):
            self._over(each, "", now_ns)

    def _begin(self, transactional_id: str, made: TransactionSpan, now_ns: int) -> TransactionSpan:
        if len(self._open) >= OPEN_MAX:
            self._over(next(iter(self._open)), "", now_ns)
        self._open[transactional_id] = made
        self._by_producer[made.producer[0]] = made
        return made

    def _over(self, transactional_id: str, outcome: str, now_ns: int) -> None:
        found = self._open.pop(transactional_id)
        if self._by_producer.get(found.producer[0]) is found:
            del self._by_producer[found.producer[0]]
        if outcome:
            found.span.attributes.append(attribute("kafka.transaction.outcome", outcome))
        found.span.end_time_unix_nano = now_ns
        self._end(found.span)


def random_context() -> TraceContext:
    """Return the span of a new trace."""
    return TraceContext(token_bytes(TRACE_ID_BYTES), token_bytes(SPAN_ID_BYTES))
