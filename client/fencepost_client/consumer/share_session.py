"""The share session of a member with one broker (KIP-932), and what it has to acknowledge there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import share_acknowledge as a
from fencepost_protocol.generated import share_fetch as f

Key = tuple[bytes, int]
"""A topic's id, and a partition's number."""
GAP: Final = 0
_FINAL_EPOCH: Final = -1
_EPOCH_MAX: Final = (1 << 31) - 1
ENDED: Final = frozenset({ErrorCode.SHARE_SESSION_NOT_FOUND, ErrorCode.INVALID_SHARE_SESSION_EPOCH})
"""The errors after which a new session has to be opened."""
RENEWALS_FROM: Final = 2
"""The version of both requests that can renew locks."""


class AcknowledgeType(IntEnum):
    """What becomes of a record."""

    ACCEPT = 1
    """It was processed."""
    RELEASE = 2
    """It was not: it may be delivered again."""
    REJECT = 3
    """It cannot be processed: it is not delivered again."""
    RENEW = 4
    """It is being processed: it needs more time (KIP-1222)."""


@dataclass(frozen=True, slots=True)
class ShareFetchSettings:
    """By Kafka's names: fetch.max.bytes and so on."""

    min_bytes: int = 1
    max_bytes: int = 50 << 20
    max_wait_ms: int = 500
    max_records: int = 500
    is_strict: bool = False
    """Whether answers have at most ``max_records`` (share.acquire.mode=record_limit)."""


Acknowledgements = dict[Key, dict[int, int]]
"""By partition, offset and type."""


@dataclass(slots=True)
class ShareSession:
    """One session; one request at a time."""

    group_id: str
    member_id: str
    epoch: int = 0
    era: int = 0
    """Counts the sessions before this one."""
    is_busy: bool = False
    waiting: Acknowledgements = field(default_factory=dict)
    """Acknowledgements that were not sent yet."""
    _known: frozenset[Key] = frozenset()
    """The partitions of the session."""

    def acknowledge(self, key: Key, offset: int, kind: int) -> None:
        """Note an acknowledgement for the next request."""
        self.waiting.setdefault(key, {})[offset] = kind

    @property
    def renews(self) -> bool:
        """Whether a lock has to be renewed, which a request does that fetches nothing."""
        kind = AcknowledgeType.RENEW
        return any(kind in kinds.values() for kinds in self.waiting.values())

    def fetch(
        self, wanted: frozenset[Key], settings: ShareFetchSettings
    ) -> tuple[f.ShareFetchRequest, Acknowledgements]:
        """Return the next fetch, and what it acknowledges."""
        sent, self.waiting = self.waiting, {}
        gone = self._known - wanted
        named = (wanted - self._known) | sent.keys()
        topics: dict[bytes, f.FetchTopic] = {}
        for topic_id, number in sorted(named):
            batches = [
                f.AcknowledgementBatch(*each) for each in _ranges(sent.get((topic_id, number), {}))
            ]
            topic = topics.setdefault(topic_id, f.FetchTopic(topic_id))
            topic.partitions.append(f.FetchPartition(number, batches))
        forgotten: dict[bytes, f.ForgottenTopic] = {}
        for topic_id, number in sorted(gone):
            forgotten.setdefault(topic_id, f.ForgottenTopic(topic_id)).partitions.append(number)
        self._known = wanted
        request = f.ShareFetchRequest(
            self.group_id,
            self.member_id,
            self.epoch,
            settings.max_wait_ms,
            settings.min_bytes,
            settings.max_bytes,
            settings.max_records,
            settings.max_records,
            int(settings.is_strict),
            topics=list(topics.values()),
            forgotten_topics_data=list(forgotten.values()),
        )
        return request, sent

    def acknowledgement(
        self, *, is_last: bool = False
    ) -> tuple[a.ShareAcknowledgeRequest, Acknowledgements]:
        """Return a request that acknowledges what there is; the last one ends the session."""
        is_renewal = self.renews
        sent, self.waiting = self.waiting, {}
        topics: dict[bytes, a.AcknowledgeTopic] = {}
        for (topic_id, number), kinds in sorted(sent.items()):
            batches = [a.AcknowledgementBatch(*each) for each in _ranges(kinds)]
            topic = topics.setdefault(topic_id, a.AcknowledgeTopic(topic_id))
            topic.partitions.append(a.AcknowledgePartition(number, batches))
        epoch = _FINAL_EPOCH if is_last else self.epoch
        return (
            a.ShareAcknowledgeRequest(
                self.group_id, self.member_id, epoch, is_renewal, list(topics.values())
            ),
            sent,
        )

    def answered(self, code: int) -> None:
        """Note the answer to a request: the session goes on, or a new one has to be opened."""
        if code:
            self.lost()
        else:
            self.epoch = 1 if self.epoch == _EPOCH_MAX else self.epoch + 1

    def lost(self) -> None:
        """Open a new session with the next fetch."""
        self.epoch = 0
        self.era += 1
        self._known = frozenset()

    @property
    def is_open(self) -> bool:
        """Whether the broker knows the session."""
        return self.epoch > 0


def _ranges(kinds: Mapping[int, int]) -> Iterator[tuple[int, int, list[int]]]:
    """Yield adjacent offsets with the same acknowledgement as first, last and its type."""
    begin = last = kind = -1
    for offset in sorted(kinds):
        if offset == last + 1 and kinds[offset] == kind:
            last = offset
            continue
        if last >= 0:
            yield begin, last, [kind]
        begin = last = offset
        kind = kinds[offset]
    if last >= 0:
        yield begin, last, [kind]


def errors_of(
    sent: Acknowledgements, results: Iterable[tuple[Key, int, str | None]], code: int
) -> dict[Key, tuple[int, str | None]]:
    """Return the partitions whose acknowledgements failed; ``code`` is that of the request."""
    told = {key: (int(result), text) for key, result, text in results}
    missing = (code or int(ErrorCode.UNKNOWN_SERVER_ERROR), None)
    found = {key: told.get(key, missing) if not code else (code, None) for key in sent}
    return {key: each for key, each in found.items() if each[0]}
