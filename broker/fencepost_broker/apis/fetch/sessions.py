"""Fetch sessions (KIP-227): a consumer names its partitions once, and hears what changed.

    epoch -1, any id     no session; one of that id ends
    epoch 0, any id      one of that id ends; a new one begins, if there is room (else: none)
    epoch n, known id    goes on: partitions are added, changed, forgotten; the next epoch is n + 1
    epoch n, unknown     FETCH_SESSION_ID_NOT_FOUND
    another epoch        INVALID_FETCH_SESSION_EPOCH; the session stays as it is
    names for ids        FETCH_SESSION_TOPIC_ID_ERROR, and the other way round
    nothing left in it   the session ends, and the answer is one without a session

Epochs run from 1 to 2^31 - 1 and begin again at 1. In the answer of a session that goes on, a
partition is left out unless it has records or an error, or its high watermark or its log's start
is not what was told last. One that had records goes to the end of the order, so that all get
their turn when an answer is full.

More than some thousand partitions get no session: they are answered without one, or have to begin
again, as if there were no room. Kafka has no such bound, and clients live with either answer.

When all slots are taken, a new session takes the place of the one that was idle for longest, if
that is longer than the bound; else of the smallest one that is older than the bound and smaller
than the new one. What all sessions hold together is bounded, too: what does not fit is answered
without a session, or has to begin again. This is soft state: nothing of it is logged, and a client
whose session is gone opens another one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
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

NO_SESSION: Final = 0
FIRST_EPOCH: Final = 0
FINAL_EPOCH: Final = -1
EPOCH_MAX: Final = (1 << 31) - 1
IDLE_MS_MAX: Final = 120_000
PARTITIONS_MAX: Final = 250_000
"""Of all sessions together: a slot costs little, but a client says how much it holds."""
OF_ONE_MAX: Final = 10_000
"""Of one session, all of which are looked at for each of its requests, however small they are."""
_UNTOLD: Final = -2

Key: TypeAlias = tuple[str | bytes, int]
"""A topic by the name or the id that the client uses, and a partition's number."""


class Asked(NamedTuple):
    """One partition to read."""

    topic: FetchTopic
    entry: FetchPartition


@dataclass(slots=True)
class _Told:
    """One partition of a session: what is asked, and what the client knows."""

    asked: Asked
    high_watermark: int = _UNTOLD
    log_start_offset: int = _UNTOLD
    quiet: Any = None
    """Of a follower's session: see ``apis/fetch/followers.py``."""

    def tell(self, data: PartitionData) -> bool:
        """Take note of an answer; says whether there is anything new in it."""
        is_new = bool(
            data.records
            or data.error_code
            or data.diverging_epoch is not None
            or data.preferred_read_replica >= 0
            or data.high_watermark != self.high_watermark
            or data.log_start_offset != self.log_start_offset
        )
        # After an error the client hears of the partition again, even if nothing moved since.
        self.high_watermark = _UNTOLD if data.error_code else data.high_watermark
        self.log_start_offset = data.log_start_offset
        return is_new


@dataclass(slots=True, eq=False)
class FetchSession:
    """What one client fetches, in the order in which it is read."""

    session_id: int
    by_id: bool
    created_ms: int
    used_ms: int
    epoch: int = 1
    """What the next request has to carry."""
    partitions: dict[Key, _Told] = field(default_factory=dict)

    def asked(self) -> list[Asked]:
        """All partitions to read."""
        return [told.asked for told in self.partitions.values()]

    def news(
        self, answers: Iterable[tuple[FetchTopic, PartitionData]], *, everything: bool
    ) -> list[tuple[FetchTopic, PartitionData]]:
        """What of the answers has to be sent, which the client knows from then on.

        ``everything`` is sent in the first answer of a session.
        """
        news = []
        for topic, data in answers:
            key = _key(topic, data.partition_index, by_id=self.by_id)
            told = self.partitions.get(key)
            # A request that was parked may have been overtaken by one that forgot a partition.
            is_new = True if told is None else told.tell(data)
            if is_new or everything:
                news.append((topic, data))
            if told is not None and data.records and not everything:
                del self.partitions[key]
                self.partitions[key] = told
        return news

    def add(self, topics: Iterable[FetchTopic]) -> None:
        """Add partitions, or change what is asked of those that are there."""
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
        """What is known of one partition."""
        return self.partitions.get(_key(topic, entry.partition, by_id=self.by_id))

    def forget(self, message: FetchRequest) -> None:
        """Drop the partitions that a request names; unknown ones make no difference."""
        for each in message.forgotten_topics_data:
            for number in each.partitions:
                self.partitions.pop((each.topic_id if self.by_id else each.topic, number), None)


class Opened(NamedTuple):
    """What a request leads to: an error, or what to read."""

    error: ErrorCode
    session: FetchSession | None = None
    """None without a session: everything is answered, with session id 0."""
    asked: tuple[Asked, ...] = ()
    is_first: bool = True
    """Everything is answered, whether it is news or not."""

    @property
    def session_id(self) -> int:
        """What the answer carries."""
        return NO_SESSION if self.session is None else self.session.session_id


class FetchSessions:
    """All sessions of a broker."""

    def __init__(self, slots: int, chance: Chance, idle_ms_max: int = IDLE_MS_MAX) -> None:
        self._slots = slots
        self._chance = chance
        self._idle_ms_max = idle_ms_max
        self._sessions: dict[int, FetchSession] = {}
        """The one that was idle for longest stands first."""
        self._held = 0
        """Partitions of all of them."""

    def __len__(self) -> int:
        return len(self._sessions)

    def open(self, now_ms: int, message: FetchRequest, *, by_id: bool) -> Opened:
        """Begin, go on with or end a session; ``by_id`` is for version 13 and above."""
        if message.session_epoch in (FIRST_EPOCH, FINAL_EPOCH):
            self._drop(message.session_id)
            session = None
            if message.session_epoch == FIRST_EPOCH:
                session = self._begin(now_ms, message, by_id=by_id)
            asked = (Asked(topic, entry) for topic in message.topics for entry in topic.partitions)
            return Opened(ErrorCode.NONE, session, tuple(asked))
        return self._go_on(now_ms, message, by_id=by_id)

    def end(self, session_id: int) -> None:
        """Forget a session, if there is one: its client was not told of it."""
        self._drop(session_id)

    def untell(self, session_id: int, lost: FetchResponse) -> None:
        """An answer was not sent: what stood in it is news as long as its client has not heard."""
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
        session = FetchSession(NO_SESSION, by_id, now_ms, now_ms)
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
        """Whether so many partitions can be held, if need be instead of idle sessions."""
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
