"""Requests about many items, each with its own outcome and its own retries.

A repeated request would fail for items that are done. So outcomes are kept per item, and only items
with a retriable error are asked for again, at their current targets. An error is raised when no
item is left, with all outcomes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import KINDS, RETRIABLE, ErrorCode
from fencepost_protocol.primitives import uuid_text

from fencepost_client.errors import KafkaError, RetriableError, UnsupportedVersionError, admin_error
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import Ask, Moved, Pause, Procedure, Target
from fencepost_client.types import TopicPartition, distinct

K = TypeVar("K")
V = TypeVar("V")

ITEMS_AT_ONCE: Final = 1000
_MAYBE_DONE: Final = "An earlier attempt got no answer; the broker may have carried it out."


class ItemResult(NamedTuple, Generic[K, V]):
    """The result for an item; the value is valid without an error code."""

    item: K
    code: int
    message: str | None
    value: V


@dataclass(slots=True)
class Routes(Generic[K]):
    """The targets of items; items without a target or an error are tried again."""

    by_target: dict[Target, list[K]] = field(default_factory=dict)
    refused: dict[K, KafkaError] = field(default_factory=dict)
    because: KafkaError | None = None
    """The reason why items have no target."""


Route: TypeAlias = Callable[[Sequence[K]], Procedure[Routes[K]]]


@dataclass(slots=True)
class ItemRequest(Generic[K, V]):
    """A request about some items, and how to read its answer."""

    doing: str
    """What is done to an item, for error messages."""
    api_key: int
    build: Callable[[int, Sequence[K]], Message]
    read: Callable[[Any, Sequence[K]], Iterable[ItemResult[K, V]]]
    """Reads the results from an answer."""
    final: frozenset[int] = frozenset()
    """Codes that are not retriable here, although they are in general."""
    version_max: int | None = None
    at_once: int = ITEMS_AT_ONCE

    def ask(self, target: Target, items: Sequence[K]) -> Ask:
        """The request for items."""
        return Ask(
            target, self.api_key, lambda version: self.build(version, items), self.version_max
        )

    def error(self, told: ItemResult[K, V]) -> KafkaError:
        """The error of an item."""
        return admin_error(told.code, told.message, state=f"{self.doing} {named(told.item)}")


class _Outcomes(Generic[K, V]):
    """The outcomes of items so far."""

    def __init__(self, question: ItemRequest[K, V], items: Iterable[K]) -> None:
        self.question = question
        self.wanted = distinct(items)
        self.left = dict.fromkeys(self.wanted)
        self.done: dict[K, V] = {}
        self.failed: dict[K, KafkaError] = {}
        self.because: KafkaError | None = None
        self.maybe_done = False

    def fail(self, item: K, error: KafkaError) -> None:
        self.left.pop(item, None)
        self.failed[item] = error

    def take(self, asked: Sequence[K], answer: Any) -> bool:
        """Read an answer; whether a target has moved."""
        moved = False
        expected = set(asked)
        for told in self.question.read(answer, asked):
            if told.item not in expected:
                continue
            if told.code == ErrorCode.NONE:
                self.left.pop(told.item, None)
                self.done[told.item] = told.value
            elif told.code in RETRIABLE and told.code not in self.question.final:
                self.because = self.question.error(told)
                moved |= KINDS[told.code] == "refresh" or told.code == ErrorCode.NOT_CONTROLLER
            else:
                self.fail(told.item, self.question.error(told))
        return moved

    def sorted(self) -> tuple[dict[K, V], dict[K, KafkaError]]:
        if self.failed and self.maybe_done:
            for error in set(self.failed.values()):
                error.add_note(_MAYBE_DONE)
        done = {item: self.done[item] for item in self.wanted if item in self.done}
        failed = {item: self.failed[item] for item in self.wanted if item in self.failed}
        return done, failed


def gather(
    question: ItemRequest[K, V], items: Iterable[K], route: Route[K], backoff: Backoff
) -> Procedure[dict[K, V]]:
    """Return the value of each item, in order; raises the first error, with all outcomes.

    Requests without an answer are repeated, so use it only for requests that may be carried out
    twice, or that report it.
    """
    done, failed = yield from gather_all(question, items, route, backoff)
    return settle(done, failed)


def gather_all(
    question: ItemRequest[K, V], items: Iterable[K], route: Route[K], backoff: Backoff
) -> Procedure[tuple[dict[K, V], dict[K, KafkaError]]]:
    """Return the values, and the errors of the other items."""
    outcomes = _Outcomes(question, items)
    while outcomes.left:
        routes = yield from route(list(outcomes.left))
        outcomes.because = routes.because or outcomes.because
        for item, error in routes.refused.items():
            outcomes.fail(item, error)
        for target, belonging in routes.by_target.items():
            for some in pieces(belonging, question.at_once):
                yield from _ask(outcomes, target, some)
        if outcomes.left:
            yield Pause(backoff.next_ms(), outcomes.because)
    return outcomes.sorted()


def _ask(outcomes: _Outcomes[K, V], target: Target, some: Sequence[K]) -> Procedure[None]:
    try:
        answer = yield outcomes.question.ask(target, some)
    except RetriableError as error:
        outcomes.because = error
        outcomes.maybe_done = True
        yield Moved(target)
    except KafkaError as error:
        for item in some:
            outcomes.fail(item, error)
    else:
        if outcomes.take(some, answer):
            yield Moved(target)


def settle(done: dict[K, V], failed: Mapping[K, KafkaError]) -> dict[K, V]:
    """Return the values; raises the first error, with all outcomes."""
    for error in failed.values():
        error.outcomes = {**done, **failed}
        raise error
    return done


def ask_each(target_of: Callable[[K], Target]) -> Route[K]:
    """A route by a function of the item."""

    def route(items: Sequence[K]) -> Procedure[Routes[K]]:
        routes = Routes[K]()
        for item in items:
            routes.by_target.setdefault(target_of(item), []).append(item)
        yield from ()  # it asks nobody
        return routes

    return route


def ask_at(target: Target) -> Route[Any]:
    """A route to one target."""
    return ask_each(lambda _: target)


def require(version: int, least: int, what: str) -> None:
    """Raise an error if the version does not support something."""
    if version < least:
        raise UnsupportedVersionError(
            f"The broker is too old: {what} needs version {least} of the request, and the broker "
            f"supports {version}."
        )


def pieces(items: Sequence[K], size: int) -> Iterator[Sequence[K]]:
    """Divide items into groups of a limited size."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def by_topic(partitions: Iterable[tuple[str, int]]) -> Mapping[str, list[int]]:
    """Partitions by topic, as requests have them."""
    topics: dict[str, list[int]] = {}
    for topic, partition in partitions:
        topics.setdefault(topic, []).append(partition)
    return topics


def named(item: object) -> str:
    """The name of an item in messages."""
    if isinstance(item, str):
        return repr(item)
    if isinstance(item, bytes):
        return uuid_text(item)
    if isinstance(item, TopicPartition):
        return f"{item.topic}-{item.partition}"
    return str(item)
