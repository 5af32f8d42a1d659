"""Names of topics for their ids (KIP-516), for protocols that have only ids."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fencepost_protocol.generated.index import ApiKey
from fencepost_protocol.generated.metadata import MetadataRequest, MetadataRequestTopic

from fencepost_client.errors import KafkaError
from fencepost_client.requests.connection import Build
from fencepost_client.requests.procedures import ANY_NODE, Ask, Procedure

_IDS_TOGETHER: Final = 500
"""The number of ids in a request."""


class TopicNames:
    """The names that a client knows."""

    def __init__(self) -> None:
        self._names: dict[bytes, str] = {}

    def name_of(self, topic_id: bytes) -> str | None:
        """The name of a topic, if it is known."""
        return self._names.get(topic_id)

    def learn(self, topic_ids: Iterable[bytes]) -> Procedure[None]:
        """Ask for missing names; an unknown id stays without a name."""
        unknown = [topic_id for topic_id in topic_ids if topic_id not in self._names]
        for first in range(0, len(unknown), _IDS_TOGETHER):
            some = unknown[first : first + _IDS_TOGETHER]
            try:
                answer = yield Ask(ANY_NODE, ApiKey.METADATA, _asking_for(some))
            except KafkaError:
                return  # they are asked for again with the next answer
            for topic in answer.topics:
                if not topic.error_code and topic.name is not None:
                    self._names[topic.topic_id] = topic.name


def _asking_for(topic_ids: Iterable[bytes]) -> Build:
    wanted = [MetadataRequestTopic(topic_id, None) for topic_id in topic_ids]
    request = MetadataRequest(wanted, allow_auto_topic_creation=False)
    return lambda _: request
