"""Checks of requests for groups and their offsets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.apis.authorization.by_topics import ByTopics, Place, module_of
from fencepost_broker.apis.authorization.verdicts import Asked, Refused, Rest, Verdict
from fencepost_broker.apis.authorization.whole import refusal
from fencepost_broker.apis.authorized_operations import GROUP_OPERATIONS
from fencepost_broker.apis.error_responses import refused_elements
from fencepost_broker.apis.matching_lists import class_of
from fencepost_broker.security.authorizer.acls import AclResource, Operation

_DENIED: Final = ErrorCode.GROUP_AUTHORIZATION_FAILED
_GROUPS_FROM: Final = 8
_NULLABLE_PROTOCOL_FROM: Final = 7
"""Of JoinGroup."""
_PROTOCOL_FROM: Final = 5
"""Of SyncGroup."""


def describe_groups(asked: Asked) -> Verdict:
    """Check DESCRIBE of each group."""
    message = asked.message
    denied = [
        each for each in message.groups if not asked.rights.of_group(Operation.DESCRIBE, each)
    ]
    if not denied and not message.include_authorized_operations:
        return None
    message.groups = [
        each for each in message.groups if asked.rights.of_group(Operation.DESCRIBE, each)
    ]
    make = module_of(message).DescribedGroup
    made = [make(_DENIED, group_id=each) for each in denied]

    def complete(response: Any) -> None:
        _tell_operations(asked, response.groups)
        response.groups = [*made, *response.groups]

    return Rest(complete, is_left=bool(message.groups))


def _tell_operations(asked: Asked, groups: list[Any]) -> None:
    if asked.message.include_authorized_operations:
        for group in groups:
            if not group.error_code:
                group.authorized_operations = asked.rights.operations(
                    AclResource.GROUP, group.group_id, GROUP_OPERATIONS
                )


def delete_groups(asked: Asked) -> Verdict:
    """Check DELETE of each group."""
    message, may = asked.message, asked.rights.of_group
    denied = [each for each in message.groups_names if not may(Operation.DELETE, each)]
    if not denied:
        return None
    message.groups_names = [each for each in message.groups_names if may(Operation.DELETE, each)]
    make = module_of(message).DeletableGroupResult

    def complete(response: Any) -> None:
        response.results = [*response.results, *(make(each, _DENIED) for each in denied)]

    return Rest(complete, is_left=bool(message.groups_names))


def consumer_group_describe(asked: Asked) -> Verdict:
    """Check DESCRIBE of each group, and of the topics of its members."""
    return describe_members_topics(asked, ("assignment", "target_assignment"))


def describe_members_topics(asked: Asked, assignments: Sequence[str]) -> Verdict:
    """Check DESCRIBE of each group, and of the topics in its members' assignments, by name."""
    return describe_groups_with_topics(asked, lambda group: _topics_of(group, assignments))


def describe_groups_with_topics(asked: Asked, topics_of: Callable[[Any], set[str]]) -> Verdict:
    """Check DESCRIBE of each group, and of its topics."""
    message, rights = asked.message, asked.rights
    denied = [each for each in message.group_ids if not rights.of_group(Operation.DESCRIBE, each)]
    message.group_ids = [each for each in message.group_ids if each not in denied]
    make = module_of(message).DescribedGroup
    made = [make(_DENIED, None, each) for each in denied]

    def complete(response: Any) -> None:
        text = "the group has topics that the client may not describe"
        told = [
            group
            if all(rights.of_topic(Operation.DESCRIBE, each) for each in topics_of(group))
            else make(ErrorCode.TOPIC_AUTHORIZATION_FAILED, text, group.group_id)
            for group in response.groups
        ]
        _tell_operations(asked, told)
        response.groups = [*made, *told]

    return Rest(complete, is_left=bool(message.group_ids))


def _topics_of(group: Any, assignments: Sequence[str]) -> set[str]:
    return {
        topic.topic_name
        for member in group.members
        for name in assignments
        for topic in getattr(member, name).topic_partitions
    }


def consumer_group_heartbeat(asked: Asked) -> Verdict:
    """Check READ of the group, and DESCRIBE of each subscribed topic."""
    message, rights = asked.message, asked.rights
    if not rights.of_group(Operation.READ, message.group_id):
        return refusal(asked, _DENIED, is_told=False)
    names = message.subscribed_topic_names or ()
    if not all(rights.of_topic(Operation.DESCRIBE, each) for each in names):
        return refusal(asked, ErrorCode.TOPIC_AUTHORIZATION_FAILED, is_told=False)
    return None


def join_group(asked: Asked) -> Verdict:
    """Check READ of the group."""
    if asked.rights.of_group(Operation.READ, asked.message.group_id):
        return None
    nothing = None if asked.version >= _NULLABLE_PROTOCOL_FROM else ""
    response = module_of(asked.message).JoinGroupResponse
    return Refused(response(error_code=_DENIED, protocol_name=nothing))


def sync_group(asked: Asked) -> Verdict:
    """Check READ of the group; as in Kafka, an error in the protocol fields goes first."""
    message = asked.message
    if asked.rights.of_group(Operation.READ, message.group_id):
        return None
    code = _DENIED
    if asked.version >= _PROTOCOL_FROM and None in (message.protocol_type, message.protocol_name):
        code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return Refused(module_of(message).SyncGroupResponse(error_code=code))


def _fetched(asked: Asked, group: Any, answer: type) -> list[Any]:
    """Remove the denied topics of a group from the request, and return their answers."""
    kept, denied = [], []
    for topic in group.topics or ():
        name = asked.name_of(topic)
        if name is None or asked.rights.of_topic(Operation.DESCRIBE, name):
            kept.append(topic)
        else:
            denied.append(topic)
    if group.topics is not None:
        group.topics = kept
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return refused_elements(class_of(group), answer, "topics", denied, code, None)


def offset_fetch(asked: Asked) -> Verdict:
    """Check DESCRIBE of each group and topic; if all topics are requested, filter them."""
    if asked.version >= _GROUPS_FROM:
        return _fetch_of_groups(asked)
    message = asked.message
    if not asked.rights.of_group(Operation.DESCRIBE, message.group_id):
        return refusal(asked, _DENIED)
    made = _fetched(asked, message, module_of(message).OffsetFetchResponse)

    def complete(response: Any) -> None:
        response.topics = [*(each for each in response.topics if _is_told(asked, each)), *made]

    if not made and message.topics is not None:
        return None
    return Rest(complete, is_left=message.topics is None or bool(message.topics))


def _is_told(asked: Asked, topic: Any) -> bool:
    name = asked.name_of(topic)
    return name is None or asked.rights.of_topic(Operation.DESCRIBE, name)


def _fetch_of_groups(asked: Asked) -> Verdict:
    message = asked.message
    make = module_of(message).OffsetFetchResponseGroup
    made: dict[int, Any] = {}
    """The refused groups, by their positions in the request."""
    of_topics: dict[str, list[Any]] = {}
    kept = []
    for place, group in enumerate(message.groups):
        if not asked.rights.of_group(Operation.DESCRIBE, group.group_id):
            made[place] = make(group.group_id, error_code=_DENIED)
            continue
        of_topics[group.group_id] = _fetched(asked, group, make)
        if group.topics == [] and of_topics[group.group_id]:
            made[place] = make(group.group_id, of_topics[group.group_id])
            continue
        kept.append(group)
    count = len(message.groups)
    message.groups = kept

    def complete(response: Any) -> None:
        told = iter(response.groups)
        answers = [made[place] if place in made else next(told) for place in range(count)]
        for place, group in enumerate(answers):
            if place not in made:
                group.topics = [each for each in group.topics if _is_told(asked, each)]
                if not group.error_code:
                    group.topics += of_topics.get(group.group_id, ())
        response.groups = answers

    return Rest(complete, is_left=bool(kept))


COMMITTED: Final = ByTopics(Operation.READ, Place.FIRST)
DELETED: Final = ByTopics(Operation.READ, Place.FIRST)
