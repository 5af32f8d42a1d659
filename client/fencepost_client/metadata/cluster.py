"""What a client knows about its cluster: brokers, topics, and the leaders of partitions.

Metadata is requested when a topic is new, when an answer shows that it is out of date, and every
``max_age_ms``. An answer with a lower leader epoch (KIP-320) does not replace a leader, because
brokers learn of an election one after the other. A broker that no longer leads may name the leader
(KIP-951, ``new_leaders.py``), which is used at once. Age and backoff are kept here; the metadata
updater sends the requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from fencepost_protocol.errors import RETRIABLE
from fencepost_protocol.generated.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)

from fencepost_client.requests.backoff import Backoff
from fencepost_client.types import TopicPartition

NO_LEADER: Final = -1
UNKNOWN_EPOCH: Final = -1
DESERTED_MAX: Final = 1000
_LEGAL_NAME: Final = re.compile("[a-zA-Z0-9._-]{1,249}")


class Node(NamedTuple):
    """A broker."""

    id: int
    host: str
    port: int
    rack: str | None = None


class Leader(NamedTuple):
    """The leader of a partition; ``node_id`` is -1 during an election."""

    node_id: int
    epoch: int


@dataclass(slots=True)
class Topic:
    """A topic of the last answer; with an error code it may have no partitions."""

    name: str
    error_code: int = 0
    topic_id: bytes = bytes(16)
    is_internal: bool = False
    leaders: dict[int, Leader] = field(default_factory=dict)
    racks: dict[int, frozenset[str]] = field(default_factory=dict)
    """The racks of each partition's replicas; empty if no broker has a rack."""

    @property
    def partition_count(self) -> int:
        """The number of partitions, which are numbered from 0."""
        return len(self.leaders)


def is_legal_name(topic: str) -> bool:
    """Whether a topic can have this name."""
    return _LEGAL_NAME.fullmatch(topic) is not None and topic not in {".", ".."}


class Cluster:
    """The metadata of a cluster."""

    def __init__(self, backoff: Backoff, max_age_ms: int = 300_000) -> None:
        self.nodes: dict[int, Node] = {}
        self.topics: dict[str, Topic] = {}
        self.wanted: set[str] = set()
        """The topics of the next request."""
        self.wants_all = False
        self.cluster_id: str | None = None
        self.controller_id = NO_LEADER
        self.deserted: dict[tuple[str, int], None] = {}
        """Addresses of brokers that the last answer did not list: they are fenced, or have
        stopped. The oldest is first; there is a limit, because containers change addresses."""
        self.doubted: set[tuple[str, int]] = set()
        """Brokers that may be out of date: they are asked last."""
        self.updates = 0
        """The number of answers."""
        self._backoff = backoff
        self._max_age_ms = max_age_ms
        self._refresh_at_ms: int | None = 0

    # -- asking --------------------------------------------------------------------------------

    def deadline(self) -> int | None:
        """The time of the next Metadata request."""
        return self._refresh_at_ms

    def want(self, topic: str, now_ms: int) -> None:
        """Include a topic in requests; an unknown one is asked for at once."""
        self.wanted.add(topic)
        if topic not in self.topics:
            self._refresh_at_ms = now_ms

    def forget_topics(self) -> None:
        """Know no topics and want none, as at the beginning."""
        self.topics.clear()
        self.wanted.clear()

    def refresh(self, now_ms: int) -> None:
        """Ask again soon, after a pause, because something is out of date."""
        at_ms = now_ms + self._backoff.next_ms()
        if self._refresh_at_ms is None or at_ms < self._refresh_at_ms:
            self._refresh_at_ms = at_ms

    def doubt(self, node_id: int) -> None:
        """Ask other brokers first, because this one may be cut off from the controller."""
        node = self.nodes.get(node_id)
        if node is not None:
            self.doubted.add((node.host, node.port))

    def request(self) -> MetadataRequest:
        """The next Metadata request."""
        if self.wants_all:
            return MetadataRequest(None)
        return MetadataRequest([MetadataRequestTopic(name=name) for name in sorted(self.wanted)])

    def failed(self, now_ms: int) -> None:
        """Ask again after a pause, because no broker has answered."""
        self._refresh_at_ms = now_ms + self._backoff.next_ms()

    def answered(self, response: MetadataResponse, now_ms: int) -> None:
        """Take a Metadata answer."""
        self.updates += 1
        self.cluster_id = response.cluster_id
        self.controller_id = response.controller_id
        if response.brokers:
            before = [(node.host, node.port) for node in self.nodes.values()]
            self.nodes = {
                broker.node_id: Node(broker.node_id, broker.host, broker.port, broker.rack)
                for broker in response.brokers
            }
            self._leave(before)
        unsettled = False
        for answer in response.topics:
            if answer.name is not None:
                topic = self.topics[answer.name] = self._merged(answer)
                unsettled |= topic.error_code in RETRIABLE or any(
                    leader.node_id == NO_LEADER for leader in topic.leaders.values()
                )
        if self.wants_all:
            named = {answer.name for answer in response.topics}
            self.topics = {name: topic for name, topic in self.topics.items() if name in named}
        if unsettled:
            self._refresh_at_ms = now_ms + self._backoff.next_ms()
        else:
            self._backoff.reset()
            self._refresh_at_ms = now_ms + self._max_age_ms

    def _leave(self, before: Iterable[tuple[str, int]]) -> None:
        now = {(node.host, node.port) for node in self.nodes.values()}
        for address in before:
            if address not in now:
                self.deserted[address] = None
        for address in now:
            self.deserted.pop(address, None)
        while len(self.deserted) > DESERTED_MAX:
            del self.deserted[next(iter(self.deserted))]

    def take_leaders(
        self, leaders: Mapping[TopicPartition, Leader], nodes: Iterable[Node]
    ) -> set[TopicPartition]:
        """Take leaders that another answer has named (KIP-951); return the changed partitions."""
        for node in nodes:
            if node.id not in self.nodes:
                self.nodes[node.id] = node
                self.deserted.pop((node.host, node.port), None)
        news = set()
        for where, leader in leaders.items():
            known = self.topics.get(where.topic)
            before = known.leaders.get(where.partition) if known is not None else None
            if before is not None and leader.epoch > before.epoch and leader.node_id in self.nodes:
                self.topics[where.topic].leaders[where.partition] = leader
                news.add(where)
        return news

    def _merged(self, answer: MetadataResponseTopic) -> Topic:
        assert answer.name is not None
        topic = Topic(answer.name, answer.error_code, answer.topic_id, answer.is_internal)
        known = self.topics.get(answer.name)
        racks = {node.id: node.rack for node in self.nodes.values() if node.rack}
        made: dict[tuple[int, int], Leader] = {}
        made_racks: dict[frozenset[str], frozenset[str]] = {}
        for partition in answer.partitions:
            # Few brokers in few racks have all partitions, so these share equal objects.
            of = partition.leader_id, partition.leader_epoch
            leader = made.get(of) or made.setdefault(of, Leader(*of))
            if known is not None and known.topic_id == topic.topic_id:
                before = known.leaders.get(partition.partition_index, leader)
                if leader.epoch < before.epoch:
                    leader = before
            topic.leaders[partition.partition_index] = leader
            if racks:
                found = frozenset(racks[each] for each in partition.replica_nodes if each in racks)
                topic.racks[partition.partition_index] = made_racks.setdefault(found, found)
        return topic

    def racks_of(self, topics: Iterable[str]) -> dict[str, list[frozenset[str]]]:
        """Return the racks of the replicas of each partition, as far as they are known."""
        known = [self.topics[name] for name in topics if name in self.topics]
        return {
            topic.name: [topic.racks.get(each, frozenset()) for each in sorted(topic.leaders)]
            for topic in known
        }

    # -- looking up ----------------------------------------------------------------------------

    def leader(self, topic: str, partition: int) -> int | None:
        """The node that leads a partition, if its address is known."""
        known = self.topics.get(topic)
        leader = known.leaders.get(partition) if known is not None else None
        return leader.node_id if leader is not None and leader.node_id in self.nodes else None

    def leads_nothing(self, host: str, port: int) -> bool:
        """Whether a broker leads no partition of the topics that are known."""
        ids = {node.id for node in self.nodes.values() if (node.host, node.port) == (host, port)}
        return not any(
            leader.node_id in ids
            for topic in self.topics.values()
            for leader in topic.leaders.values()
        )

    def topic_id(self, topic: str) -> bytes:
        """The id of a topic (KIP-516); zeros if it is unknown."""
        known = self.topics.get(topic)
        return known.topic_id if known is not None else bytes(16)

    def leader_epoch(self, topic: str, partition: int) -> int:
        """The leader epoch of a partition, or -1."""
        known = self.topics.get(topic)
        leader = known.leaders.get(partition) if known is not None else None
        return leader.epoch if leader is not None else UNKNOWN_EPOCH
