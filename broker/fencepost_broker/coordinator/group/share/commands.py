"""What share groups ask of share coordinators, and what they are told of the outcome."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from fencepost_protocol.apis import Message


@dataclass(slots=True)
class InitializeShares:
    """An effect: share coordinators have to begin the state of these share partitions."""

    group_id: str
    request: Message


@dataclass(slots=True)
class SharesInitialized:
    """Note the answers of share coordinators; a later heartbeat asks again for what is not done."""

    group_id: str
    done: Mapping[bytes, Collection[int]]
    """By topic id: the partitions whose state has begun."""
    failed: Mapping[bytes, Collection[int]]


def shares_initialized(group_id: str, answer: Any) -> SharesInitialized:
    """Return the command that tells a group the answer to InitializeShareGroupState."""
    done: dict[bytes, set[int]] = {}
    failed: dict[bytes, set[int]] = {}
    for topic in answer.results:
        for each in topic.partitions:
            found = failed if each.error_code else done
            found.setdefault(topic.topic_id, set()).add(each.partition)
    return SharesInitialized(group_id, done, failed)


@dataclass(slots=True)
class SharesDeleted:
    """Share coordinators have deleted the state of all partitions of these topics."""

    group_id: str
    topic_ids: Collection[bytes]


@dataclass(slots=True)
class DeleteShareGroup:
    """Delete a group without members, whose share partitions' state is gone."""

    group_id: str


@dataclass(slots=True)
class Errand:
    """An answer that depends on share coordinators, and what has to be asked of them."""

    answer: Any
    request: Message | None
    """``None``: nothing; the answer is complete."""
