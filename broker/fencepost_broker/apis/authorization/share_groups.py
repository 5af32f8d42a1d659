"""Checks of requests for share groups and their offsets."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.apis.authorization.by_topics import module_of
from fencepost_broker.apis.authorization.groups import (
    consumer_group_heartbeat,
    describe_members_topics,
)
from fencepost_broker.apis.authorization.verdicts import Asked, Rest, Verdict
from fencepost_broker.apis.authorization.whole import refusal
from fencepost_broker.security.authorizer.acls import Operation

_DENIED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
_UNSEEN: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED

share_group_heartbeat: Final = consumer_group_heartbeat


def share_group_state(asked: Asked) -> Verdict:
    """Allow every request: the handler checks that a broker sends it."""
    del asked
    return None


def share_group_describe(asked: Asked) -> Verdict:
    """Check DESCRIBE of each group, and of the topics of its members."""
    return describe_members_topics(asked, ("assignment",))


def describe_share_group_offsets(asked: Asked) -> Verdict:
    """Check DESCRIBE of each group and topic; if all topics are requested, filter them."""
    message, rights = asked.message, asked.rights
    make = module_of(message).DescribeShareGroupOffsetsResponseGroup
    made: dict[int, Any] = {}
    kept = []
    unseen: dict[int, list[Any]] = {}
    for place, group in enumerate(message.groups):
        if not rights.of_group(Operation.DESCRIBE, group.group_id):
            made[place] = make(group.group_id, [], _DENIED)
            continue
        if group.topics is not None:
            unseen[place] = [each for each in group.topics if not _sees(asked, each.topic_name)]
            group.topics = [each for each in group.topics if _sees(asked, each.topic_name)]
        kept.append(group)
    count = len(message.groups)
    message.groups = kept

    def complete(response: Any) -> None:
        told = iter(response.groups)
        answers = [made[place] if place in made else next(told) for place in range(count)]
        for place, group in enumerate(answers):
            group.topics = [each for each in group.topics if _sees(asked, each.topic_name)]
            group.topics += _refused_rows(message, unseen.get(place, ()))
        response.groups = answers

    return Rest(complete, is_left=bool(kept))


def _sees(asked: Asked, topic: str) -> bool:
    return asked.rights.of_topic(Operation.DESCRIBE, topic)


def _refused_rows(message: Any, topics: Iterable[Any]) -> list[Any]:
    module = module_of(message)
    return [
        module.DescribeShareGroupOffsetsResponseTopic(
            topic.topic_name,
            partitions=[
                module.DescribeShareGroupOffsetsResponsePartition(
                    each, -1, 0, -1, _UNSEEN, _UNSEEN.name
                )
                for each in topic.partitions
            ],
        )
        for topic in topics
    ]


def alter_share_group_offsets(asked: Asked) -> Verdict:
    """Check READ of the group and of each topic."""
    message = asked.message
    if not asked.rights.of_group(Operation.READ, message.group_id):
        return refusal(asked, _DENIED)
    module = module_of(message)
    known = asked.image.topics.by_name
    made = [
        module.AlterShareGroupOffsetsResponseTopic(
            topic.topic_name,
            known[topic.topic_name].topic_id if topic.topic_name in known else ZERO_UUID,
            [
                module.AlterShareGroupOffsetsResponsePartition(
                    each.partition_index, _UNSEEN, _UNSEEN.name
                )
                for each in topic.partitions
            ],
        )
        for topic in _unread(asked)
    ]
    return _rest(asked, made)


def delete_share_group_offsets(asked: Asked) -> Verdict:
    """Check DELETE of the group and READ of each topic."""
    message = asked.message
    if not asked.rights.of_group(Operation.DELETE, message.group_id):
        return refusal(asked, _DENIED)
    make = module_of(message).DeleteShareGroupOffsetsResponseTopic
    made = [
        make(topic.topic_name, error_code=_UNSEEN, error_message=_UNSEEN.name)
        for topic in _unread(asked)
    ]
    return _rest(asked, made)


def _unread(asked: Asked) -> list[Any]:
    may = asked.rights.of_topic
    return [each for each in asked.message.topics if not may(Operation.READ, each.topic_name)]


def _rest(asked: Asked, made: list[Any]) -> Verdict:
    """Let the handler answer the topics that are not refused."""
    message = asked.message
    if not made:
        return None
    refused = {each.topic_name for each in made}
    message.topics = [each for each in message.topics if each.topic_name not in refused]

    def complete(response: Any) -> None:
        if not response.error_code:
            response.responses = [*response.responses, *made]

    return Rest(complete)  # the group is checked even if no topic is left
