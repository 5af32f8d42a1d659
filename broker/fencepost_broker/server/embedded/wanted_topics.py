"""Topics that a program wants: the request that creates one, and what its answer means."""

from __future__ import annotations

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

from fencepost_broker.config.topic_spec import WantedTopic


class TopicRefusedError(ValueError):
    """A topic of the start cannot be created."""


def creation_of(wanted: WantedTopic) -> CreateTopicsRequest:
    """Return the request that creates a topic."""
    configs = [CreatableTopicConfig(name, value) for name, value in wanted.configs.items()]
    topic = CreatableTopic(wanted.name, wanted.partitions, -1, configs=configs)
    return CreateTopicsRequest(topics=[topic])


def check_created(wanted: WantedTopic, answer: CreateTopicsResponse | None) -> None:
    """Raise ``TopicRefusedError`` if a topic was not created, unless it exists."""
    if answer is None:
        raise TopicRefusedError(f"topic {wanted.name!r}: the connection to the controller was lost")
    result = answer.topics[0]
    if result.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS):
        raise TopicRefusedError(f"topic {wanted.name!r}: {result.error_message}")
