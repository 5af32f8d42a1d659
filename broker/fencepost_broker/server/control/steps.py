"""The steps of transactions, told as they happen, for those who ask for them.

A step is a request of the transactional protocol and its answer, a state that the coordinator has
logged, or a marker that a partition has got. Nothing of this is made unless a stream wants steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, cast

from fencepost_protocol.apis import request_class
from fencepost_protocol.exceptions import RemoteProtocolError
from fencepost_protocol.generated.index import APIS, ApiKey
from fencepost_protocol.generated.produce import (
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from fencepost_protocol.primitives import Buffer, uuid_text
from fencepost_protocol.records.batch import split_batches
from msgspec import Meta, Struct
from msgspec.structs import replace

from fencepost_broker.apis.registry import SERVED
from fencepost_broker.apis.request import Pieces, Request
from fencepost_broker.coordinator.transaction.states import NAMES, State, logged_state
from fencepost_broker.faults.compiled import Arrived, States
from fencepost_broker.network.connection import Connection
from fencepost_broker.network.watchers import Watched, unwatch, watch
from fencepost_broker.observability.metrics import errors_in
from fencepost_broker.server.clock import wall_ms
from fencepost_broker.server.control.events import SAMPLED, BrokerId, EventHub, cut
from fencepost_broker.server.control.frames import READ_BYTES_MAX, read_answer
from fencepost_broker.server.control.seen import address_of

if TYPE_CHECKING:
    from fencepost_broker.coordinator.records import LogRecord
    from fencepost_broker.coordinator.runtime.coordinators import Coordinators

KIND: Final = SAMPLED[1]
_TOLD: Final = frozenset(
    {
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.END_TXN,
        ApiKey.FIND_COORDINATOR,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.OFFSET_COMMIT,
        ApiKey.PRODUCE,
        ApiKey.TXN_OFFSET_COMMIT,
    }
)
_SERVED: Final = {int(each.key): each for each in SERVED if each.key in _TOLD}
_PARTITIONS_MAX: Final = 100
KEPT_MAX: Final = 4_000
"""So many of the last steps are kept for those who ask later."""
_OUTCOMES: Final = {True: "commit", False: "abort"}


class StepPartition(Struct, frozen=True):
    """A partition that a step concerns."""

    topic: str
    partition: int
    offset: Annotated[int, Meta(description="of its first record or its marker; -1: unknown")] = -1
    records: Annotated[int, Meta(description="how many records were sent to it")] = 0


class TransactionStep(Struct, frozen=True, kw_only=True, tag=KIND):
    """A step of a transaction: a request or its answer, a state in the log, or a marker."""

    what: Annotated[
        Literal["request", "waits", "answer", "state", "marker"],
        Meta(
            description="request: it has arrived; waits: it is answered later; answer: it is"
            " answered; state: the coordinator's log has it; marker: the partition has it"
        ),
    ]
    at_ms: Annotated[int, Meta(description="the machine's time, in milliseconds since 1970")]
    number: Annotated[int, Meta(description="the same for a request and its answer; else 0")] = 0
    api: str = ""
    client_id: str | None = None
    address: Annotated[str, Meta(description="the client's host and port")] = ""
    transactional_id: str | None = None
    group: str | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    state: Annotated[
        str, Meta(description="of a transaction, by Kafka's name; of ends: commit or abort")
    ] = ""
    partitions: list[StepPartition] = []
    errors: dict[str, int] = {}
    broker: BrokerId = -1


class TransactionSteps:
    """Watches the requests, coordinators and partitions of a broker, or the requests of a proxy."""

    def __init__(
        self,
        server: Watched[Any],
        events: EventHub,
        states: Callable[[], States],
        node_of: Callable[[Any], int],
        coordinators: Callable[[], Coordinators | None],
        now_ms: Callable[[], int] = wall_ms,
    ) -> None:
        """``coordinators`` are others after a snapshot was restored."""
        self._now_ms = now_ms
        self._server = server
        self._events = events
        self._states = states
        self._node_of = node_of
        self._coordinators = coordinators
        self._node_id = -1
        self._streams = 0
        self._streams_with_requests = 0
        self._count = 0
        self._open: dict[tuple[Connection, int], TransactionStep] = {}
        """Requests without an answer, by connection and correlation id."""
        self._kept: deque[TransactionStep] = deque(maxlen=KEPT_MAX)

    def last(self, count: int) -> list[TransactionStep]:
        """Return the last steps that streams were told, the oldest first."""
        return list(self._kept)[-count:] if count else []

    def stream(self, *, with_requests: bool = True) -> Callable[[], None]:
        """Watch for a stream; returns the function that ends this."""
        self._streams += 1
        self._streams_with_requests += with_requests
        if with_requests:
            watch(self._server, self)
        self.listen()

        def end() -> None:
            self._streams -= 1
            self._streams_with_requests -= with_requests
            if not self._streams_with_requests:
                unwatch(self._server, self)
                self._open.clear()
            if not self._streams and (coordinators := self._coordinators()) is not None:
                coordinators.listener = None

        return end

    def listen(self) -> None:
        """Hear of states and markers; those who see requests call this, as a restore ends it."""
        coordinators = self._coordinators()
        if coordinators is not None and coordinators.listener is not self:
            coordinators.listener = self

    # -- what the coordinators and partitions tell ----------------------------------------------

    def states_logged(self, records: Sequence[LogRecord]) -> None:
        """Tell states that the coordinator of a transaction has logged."""
        for record in records:
            key: Any = record.key
            value: Any = record.value
            state = State.DEAD if value is None else logged_state(value.transaction_status)
            listed = () if value is None else value.transaction_partitions or ()
            self._tell(
                TransactionStep(
                    what="state",
                    at_ms=self._now_ms(),
                    transactional_id=cut(key.transactional_id),
                    producer_id=-1 if value is None else value.producer_id,
                    producer_epoch=-1 if value is None else value.producer_epoch,
                    state=NAMES[state],
                    partitions=[
                        StepPartition(each.topic, number)
                        for each in listed
                        for number in each.partition_ids
                    ][:_PARTITIONS_MAX],
                    broker=self._node_id,
                )
            )

    def marker_written(
        self,
        topic: str,
        partition: int,
        offset: int,
        producer_id: int,
        producer_epoch: int,
        *,
        committed: bool,
    ) -> None:
        """Tell a marker that a partition has got."""
        self._tell(
            TransactionStep(
                what="marker",
                at_ms=self._now_ms(),
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                state=_OUTCOMES[committed],
                partitions=[StepPartition(topic, partition, offset)],
                broker=self._node_id,
            )
        )

    # -- what the server tells ------------------------------------------------------------------

    def opened(self, connection: Connection) -> None:
        """Do nothing: connections are no steps."""

    def requested(self, request: Request) -> None:
        """Tell a request, if it belongs to a transaction or writes records."""
        connection = cast("Connection", request.peer)
        self._node_id = self._node_of(connection)
        self.listen()
        if request.api_key not in _TOLD or len(request.frame) > READ_BYTES_MAX:
            return
        kind = request_class(request.api_key)
        try:
            message, _ = kind.decode(request.frame, request.version, request.body)
        except RemoteProtocolError:
            return  # it is refused, and the log says why
        arrived = Arrived(_SERVED[request.api_key], request, message, self._states())
        transactional_id = _first(arrived, "transactional_id")
        api = APIS[request.api_key][0]
        if transactional_id is None and api == "FindCoordinator":
            return
        self._count += 1
        step = TransactionStep(
            what="request",
            at_ms=self._now_ms(),
            number=self._count,
            api=api,
            client_id=None if request.client_id is None else cut(request.client_id),
            address=address_of(connection),
            transactional_id=transactional_id,
            group=_first(arrived, "group"),
            producer_id=_number(arrived, "producer_id"),
            producer_epoch=_number(arrived, "producer_epoch"),
            state=_OUTCOMES[message.committed] if api == "EndTxn" else "",
            partitions=list(_partitions(arrived))[:_PARTITIONS_MAX],
            broker=self._node_id,
        )
        self._open[connection, request.correlation_id] = step
        self._tell(step)

    def parked(self, request: Request) -> None:
        """Tell that a request waits."""
        step = self._open.get(_key(request))
        if step is not None:
            self._tell(_after(step, "waits", self._now_ms()))

    def answered(self, request: Request, pieces: Pieces) -> None:
        """Tell an answer."""
        step = self._open.pop(_key(request), None)
        if step is None:
            return
        answer = read_answer(request, pieces)
        if answer is None:
            self._tell(_after(step, "answer", self._now_ms()))
            return
        told: dict[str, Any] = {"errors": errors_in(answer)}
        if step.api == "InitProducerId":
            told["producer_id"] = cast("Any", answer).producer_id
            told["producer_epoch"] = cast("Any", answer).producer_epoch
        elif isinstance(answer, ProduceResponse):
            told["partitions"] = _written(step, answer, self._states())
        self._tell(_after(step, "answer", self._now_ms(), **told))

    def dropped(self, connection: Connection, reason: str) -> None:
        """Forget the requests of a connection that the broker closes."""
        self.closed(connection, reason)

    def closed(self, connection: Connection, reason: str) -> None:
        """Forget the requests of a closed connection."""
        del reason
        for key in [each for each in self._open if each[0] is connection]:
            del self._open[key]

    def _tell(self, step: TransactionStep) -> None:
        self._kept.append(step)
        self._events.publish(step)


def _key(request: Request) -> tuple[Connection, int]:
    return cast("Connection", request.peer), request.correlation_id


def _after(
    step: TransactionStep, what: Literal["waits", "answer"], at_ms: int, **changes: Any
) -> TransactionStep:
    return replace(step, what=what, at_ms=at_ms, **changes)


def _first(arrived: Arrived, entity: str) -> str | None:
    found = next(arrived.values(entity), None)
    return cut(found) if found else None


def _number(arrived: Arrived, entity: str) -> int:
    found = next(arrived.values(entity), None)
    return found if isinstance(found, int) else -1


def _partitions(arrived: Arrived) -> Iterator[StepPartition]:
    if isinstance(arrived.message, ProduceRequest):
        for topic in arrived.message.topic_data:
            name = _name_of(topic, arrived.states)
            for each in topic.partition_data:
                yield StepPartition(name, each.index, -1, _count(each.records or b""))
        return
    for name, number in arrived.entries:
        if number is not None:
            yield StepPartition(name, number)


def _written(step: TransactionStep, answer: ProduceResponse, states: States) -> list[StepPartition]:
    """Return the partitions of a Produce request with the offsets of its answer."""
    offsets = {
        (_name_of(topic, states), each.index): each.base_offset
        for topic in answer.responses
        for each in topic.partition_responses
    }
    return [
        replace(each, offset=offsets.get((each.topic, each.partition), -1))
        for each in step.partitions
    ]


def _name_of(topic: TopicProduceData | TopicProduceResponse, states: States) -> str:
    """Return a topic's name, or its id if the name is not known."""
    topic_id = bytes(topic.topic_id)
    return topic.name or states.topic_name(topic_id) or uuid_text(topic_id)


def _count(records: Buffer) -> int:
    try:
        return sum(header.record_count for header, _ in split_batches(records))
    except RemoteProtocolError:
        return 0
