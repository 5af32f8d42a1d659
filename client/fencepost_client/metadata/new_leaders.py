"""Leaders in Fetch and Produce answers with errors, which save a Metadata request (KIP-951)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fencepost_protocol.generated.fetch import FetchResponse
from fencepost_protocol.generated.produce import ProduceResponse

from fencepost_client.metadata.cluster import Leader, Node
from fencepost_client.types import TopicPartition

NamedLeaders = tuple[dict[TopicPartition, Leader], list[Node]]


def leaders_of_fetch(response: FetchResponse, names: Mapping[bytes, str]) -> NamedLeaders:
    """New leaders and their nodes; ``names`` has the topics that were requested by id."""
    if not response.node_endpoints:
        return {}, []
    return _named(
        (
            (
                TopicPartition(topic.topic or names.get(topic.topic_id, ""), part.partition_index),
                part,
            )
            for topic in response.responses
            for part in topic.partitions
        ),
        response.node_endpoints,
    )


def leaders_of_produce(response: ProduceResponse, names: Mapping[bytes, str]) -> NamedLeaders:
    """New leaders and their nodes; see :func:`leaders_of_fetch`."""
    if not response.node_endpoints:
        return {}, []
    return _named(
        (
            (TopicPartition(topic.name or names.get(topic.topic_id, ""), part.index), part)
            for topic in response.responses
            for part in topic.partition_responses
        ),
        response.node_endpoints,
    )


def _named(parts: Iterable[tuple[TopicPartition, Any]], endpoints: Iterable[Any]) -> NamedLeaders:
    nodes = [Node(each.node_id, each.host, each.port, each.rack) for each in endpoints]
    leaders = {
        where: Leader(part.current_leader.leader_id, part.current_leader.leader_epoch)
        for where, part in parts
        if part.current_leader is not None and part.current_leader.leader_id >= 0
    }
    return leaders, nodes
