"""The five requests about share partitions: their rows, one for each, and answers made of such.

All have the same form: a group, topics by id, and a ``PartitionData`` for each partition. The
answer has topics by id and a ``PartitionResult`` for each partition.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Final

from fencepost_protocol.apis import Message
from fencepost_protocol.generated import (
    delete_share_group_state,
    initialize_share_group_state,
    read_share_group_state,
    read_share_group_state_summary,
    write_share_group_state,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.primitives import uuid_text


class ShareKey(tuple[str, bytes, int]):
    """A share partition: group, topic id, number."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the key by which FindCoordinator finds its coordinator."""
        group_id, topic_id, number = self
        return f"{group_id}:{uuid_text(topic_id)}:{number}"


@dataclass(slots=True)
class AskShare:
    """What a request says about one share partition: its ``PartitionData``."""

    key: ShareKey
    part: Any


_MODULES: Final[dict[str, tuple[ModuleType, str]]] = {
    "InitializeShareGroupStateRequest": (initialize_share_group_state, "InitializeStateResult"),
    "ReadShareGroupStateRequest": (read_share_group_state, "ReadStateResult"),
    "WriteShareGroupStateRequest": (write_share_group_state, "WriteStateResult"),
    "DeleteShareGroupStateRequest": (delete_share_group_state, "DeleteStateResult"),
    "ReadShareGroupStateSummaryRequest": (
        read_share_group_state_summary,
        "ReadStateSummaryResult",
    ),
}
"""The module of each request, and the class of its answer's topics."""
_RESULTS: Final = {module.PartitionData: module.PartitionResult for module, _ in _MODULES.values()}


def asked_of(message: Any) -> list[AskShare]:
    """Return the rows of a request; none without a group."""
    return [
        AskShare(ShareKey((message.group_id, topic.topic_id, part.partition)), part)
        for topic in message.topics
        for part in topic.partitions
        if message.group_id
    ]


def narrowed(message: Any, rows: Iterable[AskShare]) -> Message:
    """Return the request for some of its rows only."""
    topic_class = type(message.topics[0])
    topics: dict[bytes, list[Any]] = {}
    for row in rows:
        topics.setdefault(row.key[1], []).append(row.part)
    request: Message = type(message)(
        message.group_id, [topic_class(topic_id, parts) for topic_id, parts in topics.items()]
    )
    return request


def answer_to(message: Any, results: Iterable[tuple[AskShare, Any]]) -> Message:
    """Return the answer to a request, made of a ``PartitionResult`` for each row."""
    module, topic_class = _MODULES[message.NAME]
    topics: dict[bytes, list[Any]] = {}
    for row, result in results:
        topics.setdefault(row.key[1], []).append(result)
    make = getattr(module, topic_class)
    answer: Message = getattr(module, message.NAME.replace("Request", "Response"))(
        [make(topic_id, parts) for topic_id, parts in topics.items()]
    )
    return answer


def failed(row: AskShare, code: ErrorCode, text: str | None = None) -> Any:
    """Return the ``PartitionResult`` of a row that could not be carried out."""
    return _RESULTS[type(row.part)](row.part.partition, code, text or f"refused: {code.name}")
