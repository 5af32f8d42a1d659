"""What is known of the cluster: brokers, topics, who leads which partition, who coordinates what.

It is asked for when a topic is new, when an answer says that it is out of date, and every
``max_age_ms``. An answer that is older than what is known (a lower leader epoch, KIP-320) does not
replace it, because brokers learn of an election one after the other. Who does not lead may name who
does (KIP-951, ``leaders.py``), which is taken at once. The age and the back-off are
kept here; asking is the adapter's.
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
    """Who leads a partition; ``node_id`` is -1 while there is an election."""

    node_id: int
    epoch: int


@dataclass(slots=True)
class Topic:
    """A topic as the last answer had it; with an error code there may be no partitions."""

    name: str
    error_code: int = 0
    topic_id: bytes = bytes(16)
    is_internal: bool = False
    leaders: dict[int, Leader] = field(default_factory=dict)

    @property
    def partition_count(self) -> int:
        """How many partitions; they are numbered from 0."""
        return len(self.leaders)


def is_legal_name(topic: str) -> bool:
    """Whether a topic can have this name: what cannot be is not even asked for."""
    return _LEGAL_NAME.fullmatch(topic) is not None and topic not in {".", ".."}


class Cluster:
    """The picture of one cluster."""

    def __init__(self, backoff: Backoff, max_age_ms: int = 300_000) -> None:
        self.nodes: dict[int, Node] = {}
        self.topics: dict[str, Topic] = {}
        self.wanted: set[str] = set()
        """Topics that the next request asks for."""
        self.wants_all = False
        self.cluster_id: str | None = None
        self.controller_id = NO_LEADER
        self.deserted: dict[tuple[str, int], None] = {}
        """Where brokers were that no answer names any more: they are fenced, or gone. Of addresses
        that always change (containers) the last ones, the oldest first."""
        self.doubted: set[tuple[str, int]] = set()
        """Who may not know what the cluster looks like by now: all others are asked before them."""
        self.updates = 0
        """How many answers were taken; whoever waits for news waits for it to grow."""
        self._backoff = backoff
        self._max_age_ms = max_age_ms
        self._refresh_at_ms: int | None = 0

    # -- asking --------------------------------------------------------------------------------

    def deadline(self) -> int | None:
        """When Metadata should be asked for next."""
        return self._refresh_at_ms

    def want(self, topic: str, now_ms: int) -> None:
        """Somebody needs this topic; one that is not known is asked for at once."""
        self.wanted.add(topic)
        if topic not in self.topics:
            self._refresh_at_ms = now_ms

    def refresh(self, now_ms: int) -> None:
        """Something said that the picture is out of date; ask again, but not in a tight loop."""
        at_ms = now_ms + self._backoff.next_ms()
        if self._refresh_at_ms is None or at_ms < self._refresh_at_ms:
            self._refresh_at_ms = at_ms

    def doubt(self, node_id: int) -> None:
        """A broker may be cut off from the controller: the next answer should be another's."""
        node = self.nodes.get(node_id)
        if node is not None:
            self.doubted.add((node.host, node.port))

    def request(self) -> MetadataRequest:
        """What to ask any broker."""
        if self.wants_all:
            return MetadataRequest(None)
        return MetadataRequest([MetadataRequestTopic(name=name) for name in sorted(self.wanted)])

    def failed(self, now_ms: int) -> None:
        """No broker answered."""
        self._refresh_at_ms = now_ms + self._backoff.next_ms()

    def answered(self, response: MetadataResponse, now_ms: int) -> None:
        """Take an answer."""
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
        """Leaders that another answer has named (KIP-951); gives those that are news."""
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
        made: dict[tuple[int, int], Leader] = {}
        for partition in answer.partitions:
            # A few brokers lead all: partitions share what is equal.
            of = partition.leader_id, partition.leader_epoch
            leader = made.get(of) or made.setdefault(of, Leader(*of))
            if known is not None and known.topic_id == topic.topic_id:
                before = known.leaders.get(partition.partition_index, leader)
                if leader.epoch < before.epoch:
                    leader = before
            topic.leaders[partition.partition_index] = leader
        return topic

    # -- looking up ----------------------------------------------------------------------------

    def leader(self, topic: str, partition: int) -> int | None:
        """The node that leads a partition, if there is one that we know the address of."""
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
        """The topic's id; zeros if there is none, or none is known (KIP-516)."""
        known = self.topics.get(topic)
        return known.topic_id if known is not None else bytes(16)

    def leader_epoch(self, topic: str, partition: int) -> int:
        """The epoch that goes with the leader, or -1."""
        known = self.topics.get(topic)
        leader = known.leaders.get(partition) if known is not None else None
        return leader.epoch if leader is not None else UNKNOWN_EPOCH
