"""Checks of Metadata, DescribeTopicPartitions, DescribeCluster, CreateTopics and DeleteTopics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.apis.authorization.by_topics import module_of
from fencepost_broker.apis.authorization.verdicts import Asked, Rest, Verdict
from fencepost_broker.apis.authorized_operations import UNASKED
from fencepost_broker.config import internal_topics
from fencepost_broker.security.authorizer.acls import CLUSTER_NAME, AclResource, Operation

_DENIED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def told_operations(asked: Asked, resource_type: int, name: str, field: int) -> int:
    """Return the authorized operations on a resource as a bit field, if requested."""
    if field == UNASKED:
        return UNASKED
    return asked.rights.operations(resource_type, name, field)


def cluster_operations(asked: Asked, field: int) -> int:
    """Return the authorized operations on the cluster; none without DESCRIBE of it."""
    if field != UNASKED and not asked.rights.of_cluster(Operation.DESCRIBE):
        return 0
    return told_operations(asked, AclResource.CLUSTER, CLUSTER_NAME, field)


def describe_cluster(asked: Asked) -> Verdict:
    """Allow everything, and fill in the client's authorized operations."""
    if not asked.message.include_cluster_authorized_operations:
        return None

    def complete(response: Any) -> None:
        field = response.cluster_authorized_operations
        response.cluster_authorized_operations = cluster_operations(asked, field)

    return Rest(complete)


def metadata(asked: Asked) -> Verdict:
    """Check DESCRIBE of each topic, and CREATE of topics that this request would create."""
    message, image = asked.message, asked.image
    is_all = message.topics is None or (asked.version == 0 and not message.topics)
    made: list[Any] = []
    if is_all:
        is_changed = False
        hides = not all(map(_describes(asked), image.topics.by_name))
    else:
        made = _denied(asked)
        is_changed, hides = bool(made), False
    tells = (
        message.include_cluster_authorized_operations or message.include_topic_authorized_operations
    )
    if not (is_changed or hides or tells):
        return None
    is_nothing = not is_all and not message.topics

    def complete(response: Any) -> None:
        field = response.cluster_authorized_operations
        response.cluster_authorized_operations = cluster_operations(asked, field)
        if is_nothing:
            response.topics = []  # in version 0 an empty request means all topics
        if hides:
            may = _describes(asked)
            response.topics = [each for each in response.topics if may(each.name)]
        _tell_operations(asked, response.topics)
        response.topics = [*response.topics, *made]

    return Rest(complete)


def _describes(asked: Asked) -> Callable[[str], bool]:
    return lambda name: asked.rights.of_topic(Operation.DESCRIBE, name)


def _tell_operations(asked: Asked, topics: list[Any]) -> None:
    for topic in topics:
        if topic.name is not None:
            topic.topic_authorized_operations = told_operations(
                asked, AclResource.TOPIC, topic.name, topic.topic_authorized_operations
            )


def _denied(asked: Asked) -> list[Any]:
    """Remove topics that may not be described or created, and return their answers."""
    message, rights = asked.message, asked.rights
    may_describe = _describes(asked)
    make = module_of(message).MetadataResponseTopic
    kept, uncreated, undescribed = [], [], []
    by_id = any(topic.topic_id != ZERO_UUID for topic in message.topics)
    may_create_any = rights.of_cluster(Operation.CREATE)
    creates = message.allow_auto_topic_creation and asked.settings.auto_create_topics_enable
    for topic in message.topics:
        name = asked.name_of(topic) if by_id else topic.name
        if name is None:
            kept.append(topic)
        elif not may_describe(name):
            undescribed.append(
                make(_DENIED, None, topic.topic_id)
                if by_id
                else make(_DENIED, name, is_internal=internal_topics.is_internal(name))
            )
        elif (
            creates
            and name not in asked.image.topics.by_name
            and not may_create_any
            and not rights.of_topic(Operation.CREATE, name)
        ):
            uncreated.append(make(_DENIED, name, is_internal=internal_topics.is_internal(name)))
        else:
            kept.append(topic)
    message.topics = kept
    denied = {each.name or each.topic_id: each for each in (*uncreated, *undescribed)}
    return list(denied.values())


def describe_topic_partitions(asked: Asked) -> Verdict:
    """Check DESCRIBE of each topic; if all topics are requested, filter them."""
    message = asked.message
    may_describe = _describes(asked)
    made: list[Any] = []
    hidden: set[str] = set()
    if message.topics:
        make = module_of(message).DescribeTopicPartitionsResponseTopic
        denied = sorted({each.name for each in message.topics if not may_describe(each.name)})
        message.topics = [each for each in message.topics if may_describe(each.name)]
        made = [make(_DENIED, name) for name in denied]
    else:
        hidden = {name for name in asked.image.topics.by_name if not may_describe(name)}
        message.topics = [
            module_of(message).TopicRequest(name)
            for name in asked.image.topics.by_name
            if hidden and name not in hidden
        ]

    def complete(response: Any) -> None:
        _tell_operations(asked, response.topics)
        response.topics = [*response.topics, *made]

    is_changed = bool(made or hidden)
    return Rest(complete, is_left=not is_changed or bool(message.topics))


def create_topics(asked: Asked) -> Verdict:
    """Check CREATE of the cluster or of each topic, and DESCRIBE_CONFIGS for its settings."""
    message, rights = asked.message, asked.rights
    may_any = rights.of_cluster(Operation.CREATE)
    kept: list[Any] = []
    denied: list[Any] = []
    times = Counter(topic.name for topic in message.topics)
    for topic in message.topics:
        # A topic that is repeated in the request is refused for that, by the controller.
        may = may_any or times[topic.name] > 1 or rights.of_topic(Operation.CREATE, topic.name)
        (kept if may else denied).append(topic)
    silent = {
        topic.name for topic in kept if not rights.of_topic(Operation.DESCRIBE_CONFIGS, topic.name)
    }
    if not denied and not silent:
        return None
    message.topics = kept
    make = module_of(message).CreatableTopicResult
    text = "not authorized to create the topic: TOPIC_AUTHORIZATION_FAILED"
    made = [make(topic.name, error_code=_DENIED, error_message=text) for topic in denied]

    def complete(response: Any) -> None:
        for topic in response.topics:
            if topic.name in silent and not topic.error_code:
                topic.topic_config_error_code = _DENIED
                topic.num_partitions = topic.replication_factor = -1
                topic.configs = []
        response.topics = [*response.topics, *made]

    return Rest(complete, is_left=bool(kept))


def delete_topics(asked: Asked) -> Verdict:
    """Check DELETE of each topic; without DESCRIBE the answer hides whether it exists."""
    message, rights = asked.message, asked.rights
    make = module_of(message).DeletableTopicResult
    made: list[Any] = []

    def is_denied(name: str | None, topic_id: bytes) -> bool:
        by_id = topic_id != ZERO_UUID
        if by_id:
            topic = asked.image.topics.by_id.get(topic_id)
            name = None if topic is None else topic.name
        if name is None or rights.of_topic(Operation.DELETE, name):
            return False
        if not by_id or rights.of_topic(Operation.DESCRIBE, name):
            made.append(make(name, topic_id, _DENIED, "not authorized to delete the topic"))
        else:
            made.append(make(None, topic_id, _DENIED, "not authorized to delete the topic"))
        return True

    message.topics = [each for each in message.topics if not is_denied(each.name, each.topic_id)]
    message.topic_names = [each for each in message.topic_names if not is_denied(each, ZERO_UUID)]
    if not made:
        return None

    def complete(response: Any) -> None:
        response.responses = [*response.responses, *made]

    return Rest(complete, is_left=bool(message.topics or message.topic_names))
