"""Fetch sessions (KIP-227): a broker is told once what is wanted of it, and then what changes.

    epoch 0          a new session; one of that id ends. All that is wanted is sent
    epoch 1, 2, ...  goes on: what is new or asked differently is sent, what is not wanted forgotten
    -1               no session: all is sent, each time (brokers from before Fetch version 7);
                     with an id, that session is over

    FETCH_SESSION_ID_NOT_FOUND     the broker needed the room: a new one
    INVALID_FETCH_SESSION_EPOCH    an answer was lost: a new one, in the place of this one
    FETCH_SESSION_TOPIC_ID_ERROR   names for ids, or the other way round: likewise

An answer of session id 0 means that there is none: everything is sent again next time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
)

from fencepost_client.types import TopicPartition

NO_ID: Final = bytes(16)
SESSIONS_FROM: Final = 7
EPOCHS_FROM: Final = 12
"""The version of Fetch in which one says which leader epoch one has read up to."""
BY_ID_FROM: Final = 13
_NONE: Final = 0
_FIRST: Final = 0
_WITHOUT: Final = -1
_EPOCH_MAX: Final = (1 << 31) - 1
SESSION_ERRORS: Final = {
    ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
    ErrorCode.INVALID_FETCH_SESSION_EPOCH,
    ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
}


class Wanted(NamedTuple):
    """How one partition is asked for."""

    topic_id: bytes
    offset: int
    max_bytes: int
    leader_epoch: int
    fetched_epoch: int
    log_start: int = -1
    """Where the log of a follower starts; a consumer has none."""


@dataclass(slots=True)
class FetchSession:
    """The session with one broker."""

    id: int = _NONE
    epoch: int = _FIRST
    by_id: bool = False
    told: dict[TopicPartition, Wanted] = field(default_factory=dict)
    errors: int = 0
    """The number of consecutive session errors."""

    def fill(
        self, request: FetchRequest, wanted: Mapping[TopicPartition, Wanted], version: int
    ) -> None:
        """Put into a request what has to be told so that the broker knows what is wanted."""
        by_id = version >= BY_ID_FROM
        if by_id != self.by_id or version < SESSIONS_FROM:
            self.restart()
            self.by_id = by_id
        request.session_id = self.id
        request.session_epoch = self.epoch
        forgotten: list[tuple[TopicPartition, bytes]] = []
        changed = wanted
        if version < SESSIONS_FROM:
            request.session_epoch = _WITHOUT
        elif self.epoch != _FIRST:
            told = self.told
            changed = {where: each for where, each in wanted.items() if told.get(where) != each}
            for where, before in told.items():
                now = wanted.get(where)
                if now is None or (by_id and now.topic_id != before.topic_id):
                    forgotten.append((where, before.topic_id))
        self.told = dict(wanted)
        request.topics = _topics(changed, version)
        request.forgotten_topics_data = _forgotten(forgotten)

    @property
    def goes_on(self) -> bool:
        """Whether the broker knows what it was told; else ``fill`` has to tell all."""
        return self.epoch != _FIRST

    def fill_changes(
        self,
        request: FetchRequest,
        changed: Mapping[TopicPartition, Wanted],
        gone: Iterable[TopicPartition],
        version: int,
    ) -> None:
        """As ``fill``, for a session that goes on, by whoever knows what has changed.

        The others are wanted as before; what is gone and comes back is among the changed.
        """
        request.session_id = self.id
        request.session_epoch = self.epoch
        forgotten = []
        told = self.told
        for where in gone:
            before = told.pop(where, None)
            if before is not None:
                forgotten.append((where, before.topic_id))
        news = {}
        for where, each in changed.items():
            before = told.get(where)
            if before == each:
                continue
            if before is not None and before.topic_id != each.topic_id:
                forgotten.append((where, before.topic_id))
            news[where] = told[where] = each
        request.topics = _topics(news, version)
        request.forgotten_topics_data = _forgotten(forgotten)

    def answered(self, response: FetchResponse, answered: set[TopicPartition]) -> bool:
        """Whether the answer's partitions are to be taken; if not there is to be a new session."""
        if response.error_code:
            self.errors += 1
            if response.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND:
                self.id = _NONE
            self.restart()
            return False
        self.errors = 0
        if response.session_id == _NONE:
            self.id = _NONE
            self.restart()
        elif self.epoch == _FIRST:
            self.id = response.session_id
            self.epoch = _FIRST + 1
            if answered != self.told.keys():
                self.restart()  # the broker has not understood all of it
        elif response.session_id == self.id:
            self.epoch = _FIRST + 1 if self.epoch == _EPOCH_MAX else self.epoch + 1
        else:
            self.restart()
        return True

    def end(self) -> FetchRequest | None:
        """What tells the broker that the session is over, if there is one."""
        ended = FetchRequest(session_id=self.id, session_epoch=_WITHOUT)
        is_there, self.id = self.id != _NONE, _NONE
        self.restart()
        return ended if is_there else None

    def restart(self) -> None:
        """Begin anew: what the broker knows is not known."""
        self.epoch = _FIRST
        self.told = {}


def _topics(wanted: Mapping[TopicPartition, Wanted], version: int) -> list[FetchTopic]:
    topics: dict[str, FetchTopic] = {}
    for where, each in wanted.items():
        topic = topics.get(where.topic)
        if topic is None:
            topic = topics[where.topic] = FetchTopic(where.topic, each.topic_id)
        entry = FetchPartition(
            where.partition,
            current_leader_epoch=each.leader_epoch,
            fetch_offset=each.offset,
            partition_max_bytes=each.max_bytes,
            log_start_offset=each.log_start,
        )
        if version >= EPOCHS_FROM:
            entry.last_fetched_epoch = each.fetched_epoch
        topic.partitions.append(entry)
    return list(topics.values())


def _forgotten(partitions: list[tuple[TopicPartition, bytes]]) -> list[ForgottenTopic]:
    topics: dict[tuple[str, bytes], ForgottenTopic] = {}
    for where, topic_id in partitions:
        topic = topics.setdefault((where.topic, topic_id), ForgottenTopic(where.topic, topic_id))
        topic.partitions.append(where.partition)
    return list(topics.values())
