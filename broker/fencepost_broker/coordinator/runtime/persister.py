"""Requests about share partitions, carried to the share coordinators that answer them.

Each partition's coordinator is the leader of its partition of ``__share_group_state``, a topic that
the first request creates. A coordinator in this broker is asked directly, another by a request.
While a coordinator moves or loads, the request is repeated for a while.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Protocol

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.coordinator.runtime.peer_brokers import PeerBrokers
from fencepost_broker.coordinator.runtime.shard import AppendRefusedError, Shard
from fencepost_broker.coordinator.share.messages import (
    AskShare,
    ShareKey,
    answer_to,
    asked_of,
    failed,
    narrowed,
)
from fencepost_broker.metadata.image.metadata_image import MetadataImage
from fencepost_broker.ports import Clock, ReadyList

_ATTEMPTS: Final = 8
_BACK_OFF_MS: Final = 20
_RETRIED: Final = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NETWORK_EXCEPTION,
        ErrorCode.NOT_COORDINATOR,
    }
)


class Coordinators(Protocol):
    """The coordinators of this broker."""

    image: MetadataImage

    def shard(self, family: RecordFamily, coordinator_id: str) -> Shard | None:
        """Return the loaded shard of an id; ``None`` if there is none here."""

    def refusal(self, family: RecordFamily, coordinator_id: str) -> ErrorCode:
        """Return the error if ``shard`` has returned ``None``."""

    def create_topic(self, family: RecordFamily) -> ErrorCode:
        """Create the topic of these coordinators, unless it exists."""


def asked_here(runtime: Coordinators, row: AskShare) -> tuple[Shard | None, Any]:
    """Return the shard of a row with its result, or ``None`` with the row's refusal."""
    key = str(row.key)
    shard = runtime.shard(RecordFamily.SHARES, key)
    if shard is None:
        return None, failed(row, runtime.refusal(RecordFamily.SHARES, key))
    try:
        return shard, shard.submit(row)
    except AppendRefusedError as error:
        return shard, error


def result_of(row: AskShare, told: Any) -> Any:
    """Return a row's result; it is an error if the state could not be written."""
    return failed(row, told.error) if isinstance(told, AppendRefusedError) else told


class Persister:
    """Asks share coordinators for the other parts of this broker."""

    def __init__(
        self, runtime: Coordinators, clock: Clock, ready: ReadyList, peers: PeerBrokers
    ) -> None:
        self.runtime = runtime
        self.peers = peers
        self._clock = clock
        self.ready = ready

    def ask(self, message: Message, then: Callable[[Any], None]) -> None:
        """Carry out a request; ``then`` is called with its whole answer, never during this call."""
        errand = _Errand(self, message, then)
        self.ready.add(partial(errand.send, asked_of(message)))

    def again(self, attempt: int, call: Callable[[], None]) -> bool:
        """Call soon for another attempt; return whether there is one."""
        if attempt >= _ATTEMPTS:
            return False
        self._clock.call_later(_BACK_OFF_MS << attempt, call)
        return True


class _Errand:
    """One request until all of its rows have results."""

    def __init__(self, persister: Persister, message: Message, then: Callable[[Any], None]) -> None:
        self._persister = persister
        self._message = message
        self._then = then
        self._results: dict[ShareKey, tuple[AskShare, Any]] = {}
        self._attempt = 0
        self._left = 0
        """How many rows of this attempt have no result yet."""

    def send(self, rows: list[AskShare]) -> None:
        """Ask the coordinators of these rows."""
        self._attempt += 1
        self._left = len(rows)
        by_leader: dict[int | None, list[AskShare]] = {}
        for row in rows:
            by_leader.setdefault(self._leader_of(row.key), []).append(row)
        for leader, asked in by_leader.items():
            if leader is None:
                for row in asked:
                    self._ask_here(row)
            else:
                request = narrowed(self._message, asked)
                self._persister.peers.ask(leader, request, partial(self._answered, asked))
        if not rows:
            self._go_on()

    def _leader_of(self, key: ShareKey) -> int | None:
        """Return the broker to ask; ``None`` for this one.

        It also refuses partitions without a leader.
        """
        runtime = self._persister.runtime
        runtime.create_topic(RecordFamily.SHARES)
        topic = runtime.image.topics.by_name.get(RecordFamily.SHARES.value)
        if topic is None:
            return None
        number = partition_of(str(key), len(topic.partitions))
        return self._persister.peers.leader_of(topic.name, number)

    def _ask_here(self, row: AskShare) -> None:
        shard, told = asked_here(self._persister.runtime, row)
        if shard is not None:
            told = shard.settle(told, partial(self._take, row))
        if told is not None:
            self._persister.ready.add(partial(self._take, row, told))

    def _answered(self, rows: Iterable[AskShare], answer: Any) -> None:
        found = {
            (topic.topic_id, each.partition): each
            for topic in ([] if answer is None else answer.results)
            for each in topic.partitions
        }
        for row in rows:
            told = found.get(row.key[1:])
            self._take(row, failed(row, ErrorCode.NETWORK_EXCEPTION) if told is None else told)

    def _take(self, row: AskShare, told: Any) -> None:
        self._results[row.key] = row, result_of(row, told)
        self._left -= 1
        if not self._left:
            self._go_on()

    def _go_on(self) -> None:
        results = self._results.values()
        again = [row for row, result in results if result.error_code in _RETRIED]
        if not again or not self._persister.again(self._attempt, partial(self.send, again)):
            self._then(answer_to(self._message, results))
