"""The controller under any sequence of commands, clock moves and restarts.

What ``Cluster`` checks after each step: deciding changes nothing; replaying all records, or a
snapshot, gives the live image; a snapshot of that has the same bytes. Here in addition: who
leads may lead, and no producer id is in two blocks.
"""

from __future__ import annotations

import itertools
import random

from fencepost_broker.controller.bootstrap import registration
from fencepost_broker.metadata.image.model import NO_LEADER, Endpoint
from fencepost_protocol.apis import Message
from fencepost_protocol.generated import alter_configs as legacy
from fencepost_protocol.generated import incremental_alter_configs as incremental
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsRequest
from fencepost_protocol.generated.broker_heartbeat import BrokerHeartbeatRequest
from fencepost_protocol.generated.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from fencepost_protocol.generated.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from fencepost_protocol.generated.delete_topics import DeleteTopicsRequest, DeleteTopicState
from fencepost_protocol.generated.elect_leaders import ElectLeadersRequest, TopicPartitions
from fencepost_protocol.generated.unregister_broker import UnregisterBrokerRequest
from fencepost_protocol.generated.update_features import FeatureUpdateKey, UpdateFeaturesRequest
from fencepost_protocol.primitives import ZERO_UUID
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.machine.controller.cluster import CLUSTER_ID, Cluster

names = st.sampled_from(["a", "b.c", "b_c", "d", "", "no way", "__cluster_metadata"])
brokers = st.integers(0, 4)
numbers = st.integers(-2, 4)
partitions = st.integers(-1, 3)
config_names = st.sampled_from(["retention.ms", "cleanup.policy", "flush.ms", "foo"])
config_values = st.sampled_from(["1", "x", "compact", "delete", ""]) | st.none()
assignments = st.lists(brokers, max_size=3)
resources = st.tuples(st.sampled_from([2, 2, 2, 4, 16, 32, 3]), names | st.sampled_from(["1", "2"]))


@st.composite
def create_topics(draw: st.DrawFn) -> Message:
    topics = []
    for _ in range(draw(st.integers(1, 3))):
        manual = draw(st.lists(st.tuples(partitions, assignments), max_size=3))
        configs = draw(st.lists(st.tuples(config_names, config_values), max_size=2))
        topics.append(
            CreatableTopic(
                draw(names),
                -1 if manual else draw(numbers),
                -1 if manual else draw(numbers),
                [CreatableReplicaAssignment(*item) for item in manual],
                [CreatableTopicConfig(*item) for item in configs],
            )
        )
    return CreateTopicsRequest(topics, validate_only=draw(st.booleans()))


@st.composite
def delete_topics(draw: st.DrawFn, cluster: Cluster) -> Message:
    known = [topic.topic_id for topic in cluster.image.topics.by_name.values()]
    ids = st.sampled_from([*known, ZERO_UUID, b"x" * 16])
    states = draw(st.lists(st.tuples(st.none() | names, ids), max_size=3))
    return DeleteTopicsRequest([DeleteTopicState(*state) for state in states])


@st.composite
def create_partitions(draw: st.DrawFn) -> Message:
    topics = []
    for _ in range(draw(st.integers(1, 2))):
        manual = draw(st.none() | st.lists(assignments, max_size=2))
        by_hand = None if manual is None else [CreatePartitionsAssignment(ids) for ids in manual]
        topics.append(CreatePartitionsTopic(draw(names), draw(st.integers(-1, 6)), by_hand))
    return CreatePartitionsRequest(topics)


@st.composite
def alter_configs(draw: st.DrawFn) -> Message:
    altered = []
    replaced = []
    for resource in draw(st.lists(resources, max_size=3)):
        changes = draw(st.lists(st.tuples(config_names, numbers, config_values), max_size=3))
        items = [incremental.AlterableConfig(*change) for change in changes]
        altered.append(incremental.AlterConfigsResource(*resource, items))
        values = [legacy.AlterableConfig(name, value) for name, _, value in changes]
        replaced.append(legacy.AlterConfigsResource(*resource, values))
    if draw(st.booleans()):
        return legacy.AlterConfigsRequest(replaced)
    return incremental.IncrementalAlterConfigsRequest(altered)


@st.composite
def about_brokers(draw: st.DrawFn, cluster: Cluster) -> Message:
    broker_id = draw(brokers)
    known = cluster.image.cluster.brokers.get(broker_id)
    epoch = known.epoch if known and draw(st.integers(0, 9)) else draw(numbers)
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return UnregisterBrokerRequest(broker_id)
    if kind < 4 or known is None:
        incarnation_id = bytes([broker_id, draw(st.integers(0, 1))]) * 8
        directory = bytes([broker_id + 1]) * 16
        where = [Endpoint("PLAINTEXT", "localhost", 9092)]
        rack = draw(st.none() | st.sampled_from("ab"))
        return registration(broker_id, CLUSTER_ID, incarnation_id, where, [directory], rack)
    flags = (draw(st.integers(0, 5)) == 0, draw(st.integers(0, 5)) == 0)
    return BrokerHeartbeatRequest(broker_id, epoch, cluster.image.last_offset, *flags)


@st.composite
def other(draw: st.DrawFn, cluster: Cluster) -> Message:
    kind = draw(st.integers(0, 2))
    if kind == 0:
        known = sorted(cluster.image.cluster.brokers)
        broker_id = draw(st.sampled_from(known) if known else brokers)
        broker = cluster.image.cluster.brokers.get(broker_id)
        epoch = broker.epoch if broker and draw(st.integers(0, 4)) else draw(numbers)
        return AllocateProducerIdsRequest(broker_id, epoch)
    if kind == 1:
        feature = st.sampled_from(["transaction.version", "group.version", "metadata.version", "x"])
        updates = draw(st.lists(st.tuples(feature, numbers, numbers), max_size=2))
        keys = [FeatureUpdateKey(name, level, False, how) for name, level, how in updates]
        return UpdateFeaturesRequest(feature_updates=keys)
    asked = draw(st.none() | st.lists(st.tuples(names, st.lists(partitions)), max_size=2))
    wanted = None if asked is None else [TopicPartitions(*item) for item in asked]
    return ElectLeadersRequest(draw(st.integers(0, 2)), wanted)


def commands(cluster: Cluster) -> st.SearchStrategy[Message]:
    return st.one_of(
        create_topics(),
        create_topics(),
        delete_topics(cluster),
        create_partitions(),
        alter_configs(),
        about_brokers(cluster),
        about_brokers(cluster),
        other(cluster),
    )


def check_partitions(cluster: Cluster) -> None:
    image = cluster.image
    for topic in image.topics.by_name.values():
        assert list(topic.partitions) == list(range(len(topic.partitions)))
        for partition in topic.partitions.values():
            has_all = {*partition.isr, *partition.eligible_leader_replicas}
            assert has_all <= set(partition.replicas)
            assert len(has_all) == len(partition.isr) + len(partition.eligible_leader_replicas)
            # Somebody is in sync, eligible, or led last: or nobody could ever lead again.
            assert has_all or partition.last_known_elr
            assert len(partition.directories) == len(partition.replicas)
            if partition.leader != NO_LEADER:
                assert partition.leader in partition.isr
                assert image.cluster.brokers[partition.leader].is_active


@given(data=st.data(), seed=st.integers(0, 99))
@settings(max_examples=150, deadline=None)
def test_any_history(data: st.DataObject, seed: int) -> None:
    cluster = Cluster(seed=seed).up(1, 2)
    blocks: list[tuple[int, int]] = []
    for _ in range(data.draw(st.integers(5, 25))):
        what = data.draw(st.integers(0, 15))
        if what == 0:
            cluster = cluster.restarted(seed=seed)
        elif what == 1:
            cluster.advance(data.draw(st.integers(1, 9000)))
        else:
            answer = cluster.ask(data.draw(commands(cluster)))
            length = getattr(answer, "producer_id_len", 0)
            if length:
                blocks.append((answer.producer_id_start, length))
        check_partitions(cluster)
    ends = [start + length for start, length in blocks]
    assert all(start >= end for (start, _), end in zip(blocks[1:], ends, strict=False))


@given(data=st.data())
@settings(max_examples=200, deadline=None)
def test_no_two_blocks_overlap(data: st.DataObject) -> None:
    """Brokers and the controller restart, answers get lost, requests come twice.

    A request that was decided may be lost with the controller before it was written: then its
    answer was never sent. Or its answer may be lost after it was written: then its block is.
    """
    cluster = Cluster(check=False).up(1, 2, 3)
    given_out: list[range] = []
    for _ in range(data.draw(st.integers(1, 40))):
        broker_id = data.draw(st.integers(1, 3))
        match data.draw(st.integers(0, 5)):
            case 0:
                cluster = cluster.restarted()
            case 1:
                cluster.now_ms += 10_000
                cluster.register(broker_id, incarnation=data.draw(st.integers(0, 255)))
            case 2:  # decided, and the controller dies before it could write
                epoch = cluster.image.cluster.brokers[broker_id].epoch
                cluster.controller.handle(0, AllocateProducerIdsRequest(broker_id, epoch))
                cluster = cluster.restarted()
            case _:
                epoch = cluster.image.cluster.brokers[broker_id].epoch
                answer = cluster.ask(AllocateProducerIdsRequest(broker_id, epoch))
                start, length = answer.producer_id_start, answer.producer_id_len
                assert length == 1000
                given_out.append(range(start, start + length))
    starts = sorted(block.start for block in given_out)
    assert all(later - earlier >= 1000 for earlier, later in itertools.pairwise(starts))


def test_the_same_seed_gives_the_same_log() -> None:
    logs = []
    for _ in range(2):
        chance = random.Random(3)
        cluster = Cluster(seed=3, check=False).up(1, 2, 3)
        for number in range(50):
            cluster.topic(f"t{number}", chance.randrange(1, 5), chance.randrange(1, 4))
        logs.append(cluster.log)
    assert logs[0] == logs[1]
