"""Partitions that do not exist, in requests to commit and delete offsets.

As in Kafka, the broker answers for them itself, before all others, and the group gets what is left.
So a broker that does not coordinate the group, and a group that refuses the member, still answer
UNKNOWN_TOPIC_OR_PARTITION for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from fencepost_protocol.apis import Message, response_class
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.framing import api_key_of

from fencepost_broker.apis.error_responses import refused_elements
from fencepost_broker.apis.matching_lists import class_of

if TYPE_CHECKING:
    from fencepost_broker.apis.context import BrokerContext


def take_unknown(context: BrokerContext, message: Any, *, by_id: bool = False) -> list[Any]:
    """Leave in a request only the partitions that exist; return the topics that answer the others.

    ``by_id`` says that topics have ids; the names that belong to them are put into the request.
    """
    topics = context.image.topics
    kept: list[Any] = []
    unknown: list[Any] = []
    for topic in message.topics:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if by_id:
            known = topics.by_id.get(topic.topic_id)
            topic.name = "" if known is None else known.name
            code = ErrorCode.UNKNOWN_TOPIC_ID if known is None else code
        else:
            known = topics.by_name.get(topic.name)
        there = () if known is None else known.partitions
        existing = [each for each in topic.partitions if each.partition_index in there]
        if len(existing) == len(topic.partitions) and existing:
            kept.append(topic)
            continue
        others = [each for each in topic.partitions if each.partition_index not in there]
        if others or known is None:
            unknown += _answers(message, _with(topic, others), code)
        if existing:
            kept.append(_with(topic, existing))
    message.topics = kept
    return unknown


def put_first(unknown: Sequence[Any], response: Message) -> Message:
    """Put the answers of ``take_unknown`` before those of the group; each topic is there once."""
    told: Any = response
    if unknown and not getattr(response, "error_code", False):
        found: dict[tuple[str, bytes], Any] = {}
        for topic in [*unknown, *told.topics]:
            first = found.setdefault((topic.name, getattr(topic, "topic_id", b"")), topic)
            if first is not topic:
                first.partitions += topic.partitions
        told.topics = list(found.values())
    return response


def _with(topic: Any, partitions: list[Any]) -> Any:
    changed = copy(topic)
    changed.partitions = partitions
    return changed


def _answers(message: Message, topic: Any, code: ErrorCode) -> list[Any]:
    kinds = class_of(message), response_class(api_key_of(message))
    return refused_elements(*kinds, "topics", [topic], code, None)
