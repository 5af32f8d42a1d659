"""Procedures that commit and fetch offsets, and the answers that they get."""

from __future__ import annotations

from collections.abc import Callable

from fencepost_client import (
    GroupMetadata,
    OffsetAndMetadata,
    TopicPartition,
)
from fencepost_client.consumer.committed_offsets import commit_offsets, fetch_committed, no_ids
from fencepost_client.requests.backoff import Backoff
from fencepost_client.requests.procedures import Procedure
from fencepost_protocol.generated.offset_commit import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from fencepost_protocol.generated.offset_fetch import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)

ZERO, ONE = TopicPartition("t", 0), TopicPartition("t", 1)
STRANGER, MEMBER = GroupMetadata("g"), GroupMetadata("g", 3, "me", "i")

ID = b"t" * 16
IdOf = Callable[[str], bytes | None]


def backoff() -> Backoff:
    return Backoff(lambda: 0.5)


def fetch(
    group: GroupMetadata = STRANGER, id_of: IdOf = no_ids
) -> Procedure[dict[TopicPartition, OffsetAndMetadata]]:
    return fetch_committed(group, [ZERO, ONE], backoff(), require_stable=True, id_of=id_of)


def commit(group: GroupMetadata = MEMBER, id_of: IdOf = no_ids) -> Procedure[None]:
    offsets = {ZERO: OffsetAndMetadata(5), ONE: OffsetAndMetadata(6, "note")}
    return commit_offsets(group, offsets, backoff(), id_of)


def id_of(name: str) -> bytes | None:
    return ID if name == "t" else None


def fetched(*parts: tuple[int, int], code: int = 0, by_id: bool = False) -> OffsetFetchResponse:
    """Offset and code of each partition."""
    found = [OffsetFetchResponsePartitions(n, *_of(part)) for n, part in enumerate(parts)]
    topic = OffsetFetchResponseTopics("" if by_id else "t", ID, found)
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup("g", [topic], code)])


def _of(part: tuple[int, int]) -> tuple[int, int, str, int]:
    return part[0], -1, "", part[1]


def committed(*codes: int) -> OffsetCommitResponse:
    parts = [OffsetCommitResponsePartition(number, code) for number, code in enumerate(codes)]
    return OffsetCommitResponse(topics=[OffsetCommitResponseTopic("t", partitions=parts)])
