"""A broker, a cluster or a proxy in another process, by its control port.

    broker = attach("127.0.0.1:9093")
    lost = broker.faults.drop_answer(api="EndTxn", times=1)
    ...
    await lost.wait_until_fired()

It has the methods of ``Broker`` that a control port offers. ``fencepost_broker.blocking.attach`` is
for programs without an event loop.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Generic, TypedDict, TypeVar, Unpack

import msgspec

from fencepost_broker.config.topic_spec import written
from fencepost_broker.config.values.endpoints import parse_control_address
from fencepost_broker.faults.compiled import RuleError
from fencepost_broker.faults.rule import Rule, Status, Touched
from fencepost_broker.observability.explained import ExplainedPartition, ExplainedTransaction
from fencepost_broker.operations import (
    AnyResult,
    HoldMarkers,
    Operation,
    OperationRefusedError,
    ReleaseMarkers,
)
from fencepost_broker.server.control.client import ControlClient, ControlError, path_of
from fencepost_broker.server.faults import BlockingFault, Fault, Faults, LoadedFault

if TYPE_CHECKING:
    from fencepost_broker.config import Value
    from fencepost_broker.server.control.seen import RequestSeen

T = TypeVar("T")
R = TypeVar("R")
F = TypeVar("F", bound=LoadedFault)
_WAIT_MS: Final = 1_000
"""How long one request waits for a rule to fire; a wait that is over ends after this."""


def attach(control: str | int, token: str | None = None) -> AttachedBroker:
    """Attach to a broker, a cluster or a proxy in another process, by its control port.

    ``control`` is ``HOST:PORT``, or a port at 127.0.0.1. Calls are HTTP requests, and raise
    ``ControlError`` if the port cannot be reached, or refuses one. They take a millisecond, for
    which they block the event loop; those that may take long are coroutines.
    """
    return attach_to(_client(control, token))


def attach_to(port: ControlClient) -> AttachedBroker:
    """Attach by a client of the control port."""
    return AttachedBroker(port, Fault)


def attach_blocking(control: str | int, token: str | None = None) -> BlockingAttachedBroker:
    """Attach as ``fencepost_broker.attach`` does, in a program without an event loop."""
    return BlockingAttachedBroker(_client(control, token), BlockingFault)


def _client(control: str | int, token: str | None) -> ControlClient:
    host, port = parse_control_address(str(control))
    client = ControlClient(host, port, token)
    client.ask("GET", "/v1/faults")  # it must be there, and take the token
    return client


class Attached(Generic[F]):
    """What both kinds of attached brokers have."""

    def __init__(self, port: ControlClient, make: type[F]) -> None:
        self._port = port
        self._make = make
        self.faults: Faults[F] = Faults(lambda: _Rules(port), make, lambda call: call())
        """Faults: what happens to requests and answers that match, and how often.

        In a cluster, each broker has the rule, and they count together: ``times=1`` is once.
        """
        self.clock = AttachedClock(port)
        """State time; ``advance`` moves it."""

    @property
    def bootstrap(self) -> str:
        """``host:port`` for a client's ``bootstrap.servers``; in a cluster, of all brokers."""
        found: str = self._port.ask("GET", "/v1/brokers")["bootstrap"]
        return found

    def broker_ids(self) -> list[int]:
        """Return the ids of the brokers of the cluster."""
        return [each["broker_id"] for each in self._port.ask("GET", "/v1/brokers")["brokers"]]

    def stats(self) -> dict[str, Any]:
        """Return counters of requests, errors, latencies, topics, ...; in a cluster, by node id."""
        found: dict[str, Any] = self._port.ask("GET", "/v1/stats")
        return found

    def requests(self, last: int = 100) -> list[RequestSeen]:
        """Return the last requests, the oldest first; the first call begins to keep them."""
        from fencepost_broker.server.control.seen import RequestSeen

        told = self._port.ask("GET", "/v1/requests", last=last)["requests"]
        return msgspec.convert(told, list[RequestSeen])

    def unfired_faults(self) -> list[str]:
        """Return the names of faults that never fired, unless they ``may_stay_unfired``."""
        return [
            each.name
            for each in self.faults.list()
            if not each.fired and not each.rule.may_stay_unfired
        ]

    def create_topic(
        self, name: str, partitions: int = -1, configs: Mapping[str, Value] | None = None
    ) -> None:
        """Create a topic, unless it exists."""
        new = {"name": name, "partitions": partitions, "configs": written(configs)}
        try:
            self._port.ask("POST", "/v1/topics", new)
        except ControlError as error:
            if error.status != HTTPStatus.CONFLICT:
                raise

    def hold_markers(
        self,
        transactional_id: str | None = None,
        topic: str | None = None,
        partition: int | None = None,
    ) -> AttachedHold:
        """Hold back markers of ended transactions, all or the selected ones, until ``release``."""
        hold = AttachedHold(self._port, transactional_id, topic, partition)
        _perform(
            self._port,
            HoldMarkers(transactional_id=transactional_id, topic=topic, partition=partition),
        )
        return hold

    def snapshot(self, name: str) -> None:
        """Keep the state as it is now under a name; ``restore`` goes back to it."""
        self._port.ask("POST", "/v1/snapshots", {"name": name})

    def explain_transaction(self, transactional_id: str) -> ExplainedTransaction | None:
        """Explain what a transaction waits for; ``None`` if no broker coordinates the id."""
        return self._found(path_of("transactions", transactional_id), ExplainedTransaction)

    def explain_partition(self, topic: str, partition: int) -> ExplainedPartition | None:
        """Explain how far readers of committed records can read; ``None``: it does not exist."""
        path = path_of("topics", topic, "partitions", partition)
        return self._found(path, ExplainedPartition)

    def _found(self, path: str, kind: type[T]) -> T | None:
        try:
            return msgspec.convert(self._port.ask("GET", path), kind)
        except ControlError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    # -- processes of a cluster ------------------------------------------------------------------

    def kill(self, node_id: int) -> None:
        """Kill a process of a cluster, as SIGKILL does."""
        self._change(node_id, "kill")

    def stop_broker(self, node_id: int) -> None:
        """Stop a process of a cluster in order: others take over first."""
        self._change(node_id, "stop")

    def start_broker(self, node_id: int) -> None:
        """Start a process of a cluster that was killed or stopped, at its old address."""
        self._change(node_id, "start")

    def pause_broker(self, node_id: int) -> None:
        """Pause a process of a cluster, as SIGSTOP does."""
        self._change(node_id, "pause")

    def resume_broker(self, node_id: int) -> None:
        """Let a paused process of a cluster run on."""
        self._change(node_id, "resume")

    def _change(self, node_id: int, what: str) -> None:
        self._port.ask("POST", path_of("processes", node_id, what), {})

    def __repr__(self) -> str:
        return f"<attached to {self._port.address}>"


class AttachedBroker(Attached[Fault]):
    """A broker, a cluster or a proxy in another process, for programs with an event loop."""

    async def perform(self, operation: Operation[R]) -> R:
        """Carry out an operation of ``fencepost_broker.operations``; returns what is then.

        Raises ``OperationRefusedError`` if it cannot work; then nothing has changed.
        """
        return await asyncio.to_thread(_perform, self._port, operation)

    async def restore(self, snapshot: str) -> None:
        """Go back to the snapshot with this name, at the same addresses."""
        await asyncio.to_thread(_restore, self._port, snapshot)

    async def reset(self) -> None:
        """Go back to the state right after the start; removes all faults."""
        await asyncio.to_thread(self._port.ask, "POST", "/v1/reset")

    def broker(self, node_id: int) -> AttachedBroker:
        """Return one broker of a cluster: what it is asked, it alone is asked."""
        return AttachedBroker(self._port.of_broker(node_id), self._make)


class BlockingAttachedBroker(Attached[BlockingFault]):
    """A broker, a cluster or a proxy in another process, for programs without an event loop."""

    def perform(self, operation: Operation[R]) -> R:
        """Carry out an operation of ``fencepost_broker.operations``; returns what is then.

        Raises ``OperationRefusedError`` if it cannot work; then nothing has changed.
        """
        return _perform(self._port, operation)

    def restore(self, snapshot: str) -> None:
        """Go back to the snapshot with this name, at the same addresses."""
        _restore(self._port, snapshot)

    def reset(self) -> None:
        """Go back to the state right after the start; removes all faults."""
        self._port.ask("POST", "/v1/reset")

    def broker(self, node_id: int) -> BlockingAttachedBroker:
        """Return one broker of a cluster: what it is asked, it alone is asked."""
        return BlockingAttachedBroker(self._port.of_broker(node_id), self._make)


def _perform(port: ControlClient, operation: Operation[R]) -> R:
    try:
        told = port.ask("POST", "/v1/operations", msgspec.to_builtins(operation))
    except ControlError as error:
        if error.status == HTTPStatus.CONFLICT:
            raise OperationRefusedError(str(error)) from None
        raise
    result: Any = msgspec.convert(told, AnyResult)
    return result  # type: ignore[no-any-return]  # its type is that of the operation


def _restore(port: ControlClient, name: str) -> None:
    port.ask("POST", path_of("snapshots", name, "restore"))


@dataclass(frozen=True)
class AttachedHold:
    """Markers that are held back."""

    _port: ControlClient
    transactional_id: str | None
    topic: str | None
    partition: int | None

    def release(self) -> None:
        """Release the markers."""
        _perform(
            self._port,
            ReleaseMarkers(
                transactional_id=self.transactional_id, topic=self.topic, partition=self.partition
            ),
        )


class Step(TypedDict, total=False):
    """How far to move state time: the sum of all."""

    days: float
    hours: float
    minutes: float
    seconds: float
    ms: int


class AttachedClock:
    """State time of a broker in another process, or of all processes of a cluster."""

    def __init__(self, port: ControlClient) -> None:
        self._port = port

    def now_ms(self) -> int:
        """Return state time, in milliseconds since 1970."""
        now_ms: int = self._port.ask("GET", "/v1/clock")["now_ms"]
        return now_ms

    @property
    def is_manual(self) -> bool:
        """Whether time stands still, unless it is moved."""
        is_manual: bool = self._port.ask("GET", "/v1/clock")["manual"]
        return is_manual

    def pause(self) -> None:
        """Let state time stand still; ``advance`` and ``jump`` still move it."""
        self._port.ask("POST", "/v1/clock/pause")

    def resume(self) -> None:
        """Let state time run on from where it stands."""
        self._port.ask("POST", "/v1/clock/resume")

    def jump(self, **step: Unpack[Step]) -> None:
        """Set the clock forward, or back by a negative number; no time passes by that."""
        self._port.ask("POST", "/v1/clock/jump", step)

    def advance(self, **step: Unpack[Step]) -> None:
        """Move state time forward, and do everything that becomes due before this returns."""
        self._port.ask("POST", "/v1/clock/advance", step)


class _Rules:
    """The fault rules of another process, as ``Faults`` uses them."""

    def __init__(self, port: ControlClient) -> None:
        self._port = port

    def add(self, *rules: Rule) -> list[_LoadedRule]:
        """Add rules, all or none; raises ``RuleError`` for one that cannot work."""
        plan = {"fault": msgspec.to_builtins(rules)}
        try:
            added = self._port.ask("POST", "/v1/fault-plans", plan)["faults"]
        except ControlError as error:
            if error.status == HTTPStatus.BAD_REQUEST:
                raise RuleError(str(error)) from None
            raise
        return [_LoadedRule(self._port, msgspec.convert(each, Status).rule) for each in added]

    def get(self, name: str) -> _LoadedRule:
        """Return a rule; raises ``KeyError``."""
        try:
            told = self._port.ask("GET", path_of("faults", name))
        except ControlError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                raise KeyError(str(error)) from None
            raise
        return _LoadedRule(self._port, msgspec.convert(told, Status).rule)

    def remove(self, name: str) -> None:
        """Remove a rule."""
        self._port.ask("DELETE", path_of("faults", name))

    def clear(self) -> None:
        """Remove all rules."""
        self._port.ask("DELETE", "/v1/faults")

    def statuses(self) -> list[Status]:
        """Return what all rules have done."""
        return msgspec.convert(self._port.ask("GET", "/v1/faults")["faults"], list[Status])


class _LoadedRule:
    """A fault rule of another process."""

    def __init__(self, port: ControlClient, rule: Rule) -> None:
        self._port = port
        self.rule = rule

    @property
    def name(self) -> str:
        """Its name."""
        return self.rule.name

    @property
    def _status(self) -> Status:
        return msgspec.convert(self._port.ask("GET", path_of("faults", self.name)), Status)

    @property
    def fired(self) -> int:
        """How often it has fired."""
        return self._status.fired

    @property
    def matched(self) -> int:
        """How many requests had all that the match asks for."""
        return self._status.matched

    @property
    def holds(self) -> Sequence[None]:
        """One for each request or answer that it holds."""
        return (None,) * self._status.held

    @property
    def refused(self) -> str:
        """Why its operation could not be performed the last time, or ``""``."""
        return self._status.refused

    @property
    def touched(self) -> list[Touched]:
        """The last requests that it fired on."""
        told = self._port.ask("GET", path_of("faults", self.name, "requests"))["requests"]
        return msgspec.convert(told, list[Touched])

    @property
    def is_removed(self) -> bool:
        """Whether it was removed."""
        try:
            return self._status is None
        except ControlError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return True
            raise

    def release(self) -> int:
        """Let what it holds go on; return how many requests and answers that is."""
        released: int = self._port.ask("POST", path_of("faults", self.name, "release"), {})[
            "released"
        ]
        return released

    def when_fired(self, count: int, then: Callable[[], None]) -> Callable[[], None]:
        """Call ``then``, in another thread, once it has fired so often or cannot be asked.

        Returns what stops the waiting.
        """
        stopped = threading.Event()
        threading.Thread(target=partial(self._wait, count, then, stopped), daemon=True).start()
        return stopped.set

    def _wait(self, count: int, then: Callable[[], None], stopped: threading.Event) -> None:
        path = path_of("faults", self.name, "fired")
        while not stopped.is_set():
            try:
                self._port.ask("GET", path, times=count, timeout_ms=_WAIT_MS)
            except ControlError as error:
                if error.status == HTTPStatus.REQUEST_TIMEOUT:
                    continue
            break
        if not stopped.is_set():
            then()
