"""Two brokers in one process: what the one leads the other follows.

    async with two() as both:
        both.place(both.leader.node, both.follower.node)
        await both.leader.produce("t", 0, b"x")

Each has a controller of its own, so the test tells both who is there and who leads.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from fencepost_broker.config import Value
from fencepost_broker.controller.bootstrap import first_heartbeat, registration
from fencepost_broker.controller.channel.local import LocalController
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.model import Endpoint
from fencepost_broker.replication.partition import Partition
from fencepost_broker.server.broker_server import BrokerServer
from fencepost_broker.storage.log import PartitionLog, UpperBound
from fencepost_protocol.apis import Message
from fencepost_protocol.generated.partition_change_record import PartitionChangeRecord
from fencepost_protocol.generated.partition_record import PartitionRecord
from fencepost_protocol.generated.topic_record import TopicRecord

from tests.support.broker import RunningBroker, running_broker

LEADER, FOLLOWER = 1, 7
QUICK = {"replica.fetch.backoff.ms": 20, "broker.session.timeout.ms": 1 << 30}


def tell(node: BrokerServer, *records: Message) -> None:
    """What a controller of both would have written down."""
    versions = {PartitionRecord: 2, PartitionChangeRecord: 2}
    assert isinstance(node.controller, LocalController)
    node.controller.commit(
        Decision(None, tuple(MetadataRecord(each, versions.get(type(each), 0)) for each in records))
    )


def introduce(node: BrokerServer, broker_id: int, host: str, port: int) -> None:
    """Let a broker's controller know of another broker."""
    directory = bytes([broker_id]) * 16
    endpoint = Endpoint("PLAINTEXT", host, port)
    introduced = registration(
        broker_id, node.identity.cluster_id, directory, [endpoint], [directory]
    )
    assert not node.controller.command(introduced).error_code
    assert not node.controller.command(first_heartbeat(node.image, broker_id)).is_fenced


class Two:
    """One that leads, unless it is said otherwise, and one that follows."""

    def __init__(self, leader: RunningBroker, follower: RunningBroker) -> None:
        self.leader = leader
        self.follower = follower
        introduce(leader.server, FOLLOWER, follower.host, follower.port)
        introduce(follower.server, LEADER, leader.host, leader.port)
        follower.server.registration.epoch = leader.server.image.cluster.brokers[FOLLOWER].epoch

    def place(
        self, *nodes: BrokerServer, topic: str = "t", in_sync: Sequence[int] = (LEADER,)
    ) -> None:
        """Let these know of a topic of one partition, which both have a replica of."""
        for node in nodes:
            partition = PartitionRecord(
                partition_id=0, topic_id=id_of(topic), replicas=[LEADER, FOLLOWER],
                isr=list(in_sync), leader=LEADER, leader_epoch=0, partition_epoch=0,
                directories=[bytes(16)] * 2,
            )  # fmt: skip
            tell(node, TopicRecord(topic, id_of(topic)), partition)

    def let_lead(
        self,
        leader: int,
        *nodes: BrokerServer,
        topic: str = "t",
        in_sync: Sequence[int] | None = None,
    ) -> None:
        """Tell these, or both, who leads in the next epoch."""
        isr = None if in_sync is None else list(in_sync)
        for node in nodes or (self.leader.server, self.follower.server):
            tell(node, PartitionChangeRecord(0, id_of(topic), leader=leader, isr=isr))

    def partitions(self, topic: str = "t") -> tuple[Partition, Partition]:
        """The partition as both have it."""
        tables = (self.leader.server.table, self.follower.server.table)
        leads, follows = (table.find(topic, 0) for table in tables)
        assert leads is not None
        assert follows is not None
        return leads, follows

    def logs(self, topic: str = "t") -> tuple[PartitionLog, PartitionLog]:
        """Its logs."""
        leads, follows = self.partitions(topic)
        return leads.log, follows.log

    def are_equal(self, topic: str = "t") -> bool:
        """Whether the follower has all, and knows how much of it is shown."""
        leader, follower = map(contents, self.logs(topic))
        return leader == follower


def id_of(topic: str) -> bytes:
    """A topic's id."""
    return topic.encode()[:16].ljust(16, b".")


def contents(log: PartitionLog) -> tuple[int, int, bytes]:
    """Where it begins, up to where it is shown, and all its bytes."""
    result = log.read(log.log_start_offset, 1 << 20, UpperBound.LOG_END, min_one_batch=True)
    data = b"".join(bytes(piece) for piece in result.pieces or ())
    return log.log_start_offset, log.high_watermark, data


@asynccontextmanager
async def two(settings: Mapping[str, Value] | None = None) -> AsyncIterator[Two]:
    """Two brokers that know each other."""
    given = {**QUICK, **(settings or {})}
    async with (
        running_broker({**given, "node.id": LEADER}) as leader,
        running_broker({**given, "node.id": FOLLOWER}) as follower,
    ):
        yield Two(leader, follower)
