"""Fetch sessions (KIP-227): a client names its partitions once, and then gets only the changes.

    epoch -1, any id     no session; a session with that id ends
    epoch 0, any id      a session with that id ends; a new one begins if there is room
    epoch n, known id    the session continues with its partitions changed; the next epoch is n + 1
    epoch n, unknown     FETCH_SESSION_ID_NOT_FOUND
    another epoch        INVALID_FETCH_SESSION_EPOCH; the session is unchanged
    names for ids        FETCH_SESSION_TOPIC_ID_ERROR, also for ids in place of names
    no partition left    the session ends, and the answer is one without a session

Epochs run from 1 to 2^31 - 1 and begin again at 1. The answers of a session that continues leave
out a partition unless it has records or an error, or its high watermark or log start offset has
changed since it was last sent. A partition that had records moves to the end of the order, so that
all get their turn when an answer is full.

A request for more than ``OF_ONE_MAX`` partitions gets no session: it is answered without one, or
the client has to begin again, as if there were no room. Kafka has no such limit; clients handle
either answer.

When all slots are taken, a new session replaces the one that was idle for longest, if it was idle
longer than the limit; else the smallest one that is older than the limit and smaller than the new
one. The number of partitions in all sessions is limited, too, with the same consequences. Sessions
are soft state: they are not logged, and a client whose session is gone opens another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, TypeAlias

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)

from fencepost_broker.ports import Chance

_NO_ERROR: Final = ErrorCode.NONE
NO_SESSION: Final = 0
FIRST_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
EPOCH_MAX: Final = (1 << 31) - 1
IDLE_MS_MAX: Final = 120_000
PARTITIONS_MAX: Final = 250_000
"""The most partitions in all sessions together: slots do not limit the memory."""
OF_ONE_MAX: Final = 10_000
"""The most partitions in one session: each of its requests, however small, visits all of them."""
_UNTOLD: Final = -2

Key: TypeAlias = tuple[str | bytes, int]
"""A topic's name or id, whichever the client uses, and a partition's number."""


class Asked(NamedTuple):
    """One partition to read."""

    topic: FetchTopic
    entry: FetchPartition


class _Told:
    """One partition of a session: what the client asks for, and the offsets that it was sent."""

    __slots__ = ("asked", "high_watermark", "log_start_offset", "quiet")

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.high_watermark = _UNTOLD
        self.log_start_offset = _UNTOLD
        self.quiet: Any = None
        """Used in followers' sessions only: see ``apis/fetch/followers.py``."""

    def tell(self, data: PartitionData) -> bool:
        """Note what the client is sent; return whether any of it is new."""
        is_new = bool(
            data.records
            or data.error_code
            or data.diverging_epoch is not None
            or data.preferred_read_replica >= 0
            or data.high_watermark != self.high_watermark
            or data.log_start_offset != self.log_start_offset
        )
        # After an error the partition is sent again, even if its offsets have not changed.
        self.high_watermark = _UNTOLD if data.error_code else data.high_watermark
        self.log_start_offset = data.log_start_offset
        return is_new


class FetchSession:
    """A client's session: its partitions, in the order in which they are read."""

    __slots__ = ("by_id", "created_ms", "epoch", "partitions", "session_id", "used_ms")

    def __init__(self, now_ms: int, *, by_id: bool) -> None:
        self.session_id = NO_SESSION
        self.by_id = by_id
        self.created_ms = self.used_ms = now_ms
        self.epoch = 1
        """The epoch that the next request has to have."""
        self.partitions: dict[Key, _Told] = {}

    def asked(self) -> list[Asked]:
        """Return all partitions to read."""
        return [told.asked for told in self.partitions.values()]

    def news(
        self, answers: Iterable[tuple[FetchTopic, PartitionData]], *, everything: bool
    ) -> list[tuple[FetchTopic, PartitionData]]:
        """Return the answers that have to be sent, and note them as sent.

        Pass ``everything`` for the first answer of a session.
        """
        news = []
        for topic, data in answers:
            key = _key(topic, data.partition_index, by_id=self.by_id)
            told = self.partitions.get(key)
            # While this request was parked, another one may have removed a partition.
            is_new = True if told is None else told.tell(data)
            if is_new or everything:
                news.append((topic, data))
            if told is not None and data.records and not everything:
                del self.partitions[key]
                self.partitions[key] = told
        return news

    def add(self, topics: Iterable[FetchTopic]) -> None:
        """Add partitions, or update those that are in the session already."""
        for topic in topics:
            named = FetchTopic(topic.topic, topic.topic_id)
            for entry in topic.partitions:
                key = _key(topic, entry.partition, by_id=self.by_id)
                told = self.partitions.get(key)
                if told is None:
                    self.partitions[key] = _Told(Asked(named, entry))
                else:
                    told.asked = Asked(named, entry)
                    told.quiet = None

    def told(self, topic: FetchTopic, entry: FetchPartition) -> _Told | None:
        """Return the session's entry for a partition."""
        return self.partitions.get(_key(topic, entry.partition, by_id=self.by_id))

    def forget(self, message: FetchRequest) -> None:
        """Remove the partitions that a request forgets; unknown ones are ignored."""
        for each in message.forgotten_topics_data:
            for number in each.partitions:
                self.partitions.pop((each.topic_id if self.by_id else each.topic, number), None)


class Opened(NamedTuple):
    """The outcome of opening a session: an error, or the partitions to read."""

    error: ErrorCode
    session: FetchSession | None = None
    """``None`` if there is no session: all partitions are answered, with session id 0."""
    asked: tuple[Asked, ...] = ()
    is_first: bool = True
    """Whether all partitions are answered, changed or not."""

    @property
    def session_id(self) -> int:
        """The session id for the response."""
        return NO_SESSION if self.session is None else self.session.session_id


class FetchSessions:
    """All sessions of a broker."""

    def __init__(self, slots: int, chance: Chance, idle_ms_max: int = IDLE_MS_MAX) -> None:
        self._slots = slots
        self._chance = chance
        self._idle_ms_max = idle_ms_max
        self._sessions: dict[int, FetchSession] = {}
        """The session that was idle for longest is the first."""
        self._held = 0
        """The number of partitions in all sessions."""

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, now_ms: int, message: FetchRequest, *, by_id: bool) -> Opened:
        """Begin, continue or end a session; ``by_id`` is for version 13 and above."""
        if message.session_epoch in (FIRST_EPOCH, FINAL_EPOCH):
            self._drop(message.session_id)
            session = None
            if message.session_epoch == FIRST_EPOCH:
                session = self._begin(now_ms, message, by_id=by_id)
            asked = [Asked(topic, entry) for topic in message.topics for entry in topic.partitions]
            return Opened(_NO_ERROR, session, _each_once(asked))
        return self._go_on(now_ms, message, by_id=by_id)

    def partitions_of(self, session_id: int) -> list[Key]:
        """Return the partitions of a session; none if there is no such session."""
        session = self._sessions.get(session_id)
        return [] if session is None else list(session.partitions)

    def end(self, session_id: int) -> None:
        """Remove a session, if it exists, that its client was never told about."""
        self._drop(session_id)

    def untell(self, session_id: int, lost: FetchResponse) -> None:
        """Note that a response was not sent, so that its partitions are sent again."""
        session = self._sessions.get(session_id)
        if session is None:
            return
        for topic in lost.responses:
            name = topic.topic_id if session.by_id else topic.topic
            for data in topic.partitions:
                told = session.partitions.get((name, data.partition_index))
                if told is not None:
                    told.high_watermark = _UNTOLD

    def _go_on(self, now_ms: int, message: FetchRequest, *, by_id: bool) -> Opened:
        session = self._sessions.get(message.session_id)
        if session is None:
            return Opened(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if message.session_epoch != session.epoch:
            return Opened(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if by_id != session.by_id:
            return Opened(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        self._drop(session.session_id)
        if _count(message) > OF_ONE_MAX:
            return Opened(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        session.add(message.topics)
        session.forget(message)
        if not session.partitions:
            return Opened(ErrorCode.NONE)
        if not self._fits(now_ms, len(session.partitions)):
            return Opened(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        self._keep(session)
        session.used_ms = now_ms
        session.epoch = 1 if session.epoch == EPOCH_MAX else session.epoch + 1
        return Opened(ErrorCode.NONE, session, tuple(session.asked()), is_first=False)

    def _begin(self, now_ms: int, message: FetchRequest, *, by_id: bool) -> FetchSession | None:
        if _count(message) > OF_ONE_MAX:
            return None
        session = FetchSession(now_ms, by_id=by_id)
        session.add(message.topics)
        size = len(session.partitions)
        if not (self._make_room(now_ms, size) and self._fits(now_ms, size)):
            return None
        while session.session_id == NO_SESSION or session.session_id in self._sessions:
            session.session_id = 1 + self._chance.randrange(EPOCH_MAX)
        self._keep(session)
        return session

    def _keep(self, session: FetchSession) -> None:
        self._sessions[session.session_id] = session
        self._held += len(session.partitions)

    def _drop(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self._held -= len(session.partitions)

    def _fits(self, now_ms: int, size: int) -> bool:
        """Make room for so many partitions by ending idle sessions; return whether they fit."""
        if size > OF_ONE_MAX:
            return False
        while self._sessions and self._held + size > PARTITIONS_MAX:
            idle = next(iter(self._sessions.values()))
            if idle.used_ms >= now_ms - self._idle_ms_max:
                return False
            self._drop(idle.session_id)
        return True

    def _make_room(self, now_ms: int, size: int) -> bool:
        if len(self._sessions) < self._slots:
            return True
        if not self._sessions:
            return False
        latest = now_ms - self._idle_ms_max
        idle = next(iter(self._sessions.values()))
        if idle.used_ms < latest:
            self._drop(idle.session_id)
            return True
        smallest = min(
            (each for each in self._sessions.values() if each.created_ms < latest),
            key=lambda each: len(each.partitions),
            default=None,
        )
        if smallest is None or len(smallest.partitions) >= size:
            return False
        self._drop(smallest.session_id)
        return True


def _count(message: FetchRequest) -> int:
    return sum(len(topic.partitions) for topic in message.topics)


def _key(topic: FetchTopic, number: int, *, by_id: bool) -> Key:
    return topic.topic_id if by_id else topic.topic, number


def _each_once(asked: list[Asked]) -> tuple[Asked, ...]:
    """Return each partition once, as it was asked for last, like Kafka."""
    if len(asked) > 1:
        by_place = {(a.topic.topic, a.topic.topic_id, a.entry.partition): a for a in asked}
        return tuple(by_place.values())
    return tuple(asked)
