"""Finds what an operation names, or refuses it with the nearest right name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode

from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import RecordFamily
from fencepost_broker.metadata.image.model import Partition as PartitionImage
from fencepost_broker.operations import OperationRefusedError

if TYPE_CHECKING:
    from fencepost_broker.coordinator.runtime.shard import Shard
    from fencepost_broker.replication.partition import Partition
    from fencepost_broker.server.broker_server import BrokerServer

_LISTED_MAX: Final = 8


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, 1)
    if near:
        return f"; did you mean {near[0]!r}?"
    if not names:
        return "; there is none"
    more = ", ..." if len(names) > _LISTED_MAX else ""
    return f"; there are {', '.join(map(repr, names[:_LISTED_MAX]))}{more}"


def described(server: BrokerServer, topic: str, number: int) -> PartitionImage:
    """Return a partition of the cluster's metadata."""
    topics = server.image.topics.by_name
    if topic not in topics:
        raise OperationRefusedError(f"there is no topic {topic!r}{did_you_mean(topic, topics)}")
    found = topics[topic].partitions.get(number)
    if found is None:
        last = len(topics[topic].partitions) - 1
        raise OperationRefusedError(
            f"topic {topic!r} has no partition {number}; its partitions are 0 to {last}"
        )
    return found


def led_here(server: BrokerServer, topic: str, number: int) -> Partition:
    """Return a partition that this broker leads."""
    image = described(server, topic, number)
    partition = server.table.find(topic, number)
    if partition is None or not partition.leads:
        raise OperationRefusedError(
            f"broker {server.identity.node_id} does not lead {topic}-{number}:"
            f" {_ask_broker(image.leader)}",
            image.leader,
        )
    return partition


def shard_of(server: BrokerServer, family: RecordFamily, coordinator_id: str) -> Shard:
    """Return the loaded coordinator of a group or transactional id, which may not exist."""
    runtime = server.coordinators.runtime
    shard = runtime.shard(family, coordinator_id)
    if shard is not None:
        return shard
    kind = NAMES[family]
    number = number_of(server, family, coordinator_id)
    leader = described(server, family.value, number).leader
    where = f"the coordinator of {kind} {coordinator_id!r} ({family.value}-{number})"
    if leader != server.identity.node_id:
        raise OperationRefusedError(
            f"{where} is not in broker {server.identity.node_id}: {_ask_broker(leader)}", leader
        )
    if runtime.refusal(family, coordinator_id) is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        raise OperationRefusedError(f"{where} is not loaded: wait for it, or use load-coordinator")
    raise OperationRefusedError(f"{where} is unloaded: use load-coordinator first")


def number_of(server: BrokerServer, family: RecordFamily, coordinator_id: str) -> int:
    """Return the partition of the coordinator's topic that has a group or transactional id."""
    topic = server.image.topics.by_name.get(family.value)
    if topic is None:
        raise OperationRefusedError(
            f"there is no {NAMES[family]} {coordinator_id!r}; there is none at all"
        )
    return partition_of(coordinator_id, len(topic.partitions))


def _ask_broker(leader: int) -> str:
    return "it has no leader now" if leader < 0 else f"perform this at broker {leader}"


NAMES: Final = {RecordFamily.GROUPS: "group", RecordFamily.TRANSACTIONS: "transactional id"}
