"""Requests to describe and to change a static quorum of one voter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from fencepost_protocol.apis import Message
from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated import add_raft_voter, update_raft_voter
from fencepost_protocol.generated.add_raft_voter import AddRaftVoterRequest
from fencepost_protocol.generated.describe_cluster import DescribeClusterRequest
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from fencepost_protocol.generated.remove_raft_voter import RemoveRaftVoterRequest
from fencepost_protocol.generated.update_raft_voter import (
    KRaftVersionFeature,
    UpdateRaftVoterRequest,
)
from fencepost_protocol.primitives import ZERO_UUID

from tests.support.broker import Client

VOTER: Final = 1
"""The node id of the one voter."""
EXPECTED: Final = Path(__file__).with_name("raft_voters.txt")
_STRANGER: Final = 7
_BROKERS, _CONTROLLERS = 1, 2
_DIRECTORY: Final = bytes(15) + b"\x07"
_ELSEWHERE: Final = "AAAAAAAAAAAAAAAAAAAAAA"
_PLACE: Final = ("CONTROLLER", "127.0.0.1", 9093)


async def of_controller(controller: str) -> list[str]:
    """Ask what a controller's listener answers."""
    lines = await of_any(controller)
    async with Client(controller) as client:
        for version in range(3):
            lines.append(f"describe, version {version}: {await _described(client, version)}")
        cluster_id = await _cluster_id(client)
        for label, message in _updates(cluster_id):
            answer = await client.ask(message, 0)
            leader = answer.current_leader
            assert f"{leader.host}:{leader.port}" == controller
            told = f"leader {leader.leader_id} of epoch {leader.leader_epoch}"
            lines.append(f"update: {label}: {ErrorCode(answer.error_code).name}, {told}")
    return lines


async def of_any(bootstrap: str) -> list[str]:
    """Ask what brokers and controllers answer alike."""
    lines = []
    async with Client(bootstrap) as client:
        for label, message, version in _changes(await _cluster_id(client)):
            answer = await client.ask(message, version)
            message_or_none = "no" if answer.error_message is None else "a"
            code = ErrorCode(answer.error_code).name
            lines.append(f"{label}: {code}, {message_or_none} message")
    return lines


async def _cluster_id(client: Client) -> str:
    for kind in (_BROKERS, _CONTROLLERS):
        answer = await client.ask(DescribeClusterRequest(endpoint_type=kind), 1)
        if not answer.error_code:
            break
    found: str = answer.cluster_id
    return found


def _changes(cluster_id: str) -> Iterator[tuple[str, Message, int]]:
    def add(
        cluster: str | None, timeout_ms: int, voter: int, directory: bytes,
        places: Sequence[tuple[str, str, int]] = (_PLACE,), version: int = 1, *,
        ack_when_committed: bool = True,
    ) -> tuple[Message, int]:  # fmt: skip
        listeners = [add_raft_voter.Listener(*each) for each in places]
        request = AddRaftVoterRequest(
            cluster, timeout_ms, voter, directory, listeners, ack_when_committed
        )
        return request, version

    of, zero = cluster_id, ZERO_UUID
    yield "add", *add(of, 1000, _STRANGER, _DIRECTORY)
    yield "add, version 0", *add(of, 1000, _STRANGER, _DIRECTORY, version=0)
    yield "add, not committed", *add(of, 1000, _STRANGER, _DIRECTORY, ack_when_committed=False)
    yield "add to another cluster", *add(_ELSEWHERE, 1000, _STRANGER, _DIRECTORY)
    yield "add to another cluster, id -1", *add(_ELSEWHERE, 1000, -1, _DIRECTORY, places=())
    yield "add to cluster ''", *add("", 1000, _STRANGER, _DIRECTORY)
    yield "add to no cluster", *add(None, 1000, _STRANGER, _DIRECTORY)
    yield "add without listeners", *add(of, 1000, _STRANGER, _DIRECTORY, places=())
    other = ("OTHER", *_PLACE[1:])
    yield "add, another listener", *add(of, 1000, _STRANGER, _DIRECTORY, places=(other,))
    yield "add, two listeners", *add(of, 1000, _STRANGER, _DIRECTORY, places=(other, _PLACE))
    lower = ("controller", *_PLACE[1:])
    yield "add, listener in lower case", *add(of, 1000, _STRANGER, _DIRECTORY, places=(lower,))
    twice = (_PLACE, ("CONTROLLER", "127.0.0.1", 9094))
    yield "add, a listener twice", *add(of, 1000, _STRANGER, _DIRECTORY, places=twice)
    nowhere = ("CONTROLLER", "host.invalid", 0)
    yield "add, unknown host", *add(of, 1000, _STRANGER, _DIRECTORY, places=(nowhere,))
    empty = ("CONTROLLER", "", 0)
    yield "add, empty host", *add(of, 1000, _STRANGER, _DIRECTORY, places=(empty,))
    yield "add the voter", *add(of, 1000, VOTER, _DIRECTORY)
    yield "add the voter, no directory", *add(of, 1000, VOTER, zero)
    yield "add id -1", *add(of, 1000, -1, _DIRECTORY)
    yield "add id -1, no directory", *add(of, 1000, -1, zero)
    yield "add, no directory", *add(of, 1000, _STRANGER, zero)
    yield "add in -1 ms", *add(of, -1, _STRANGER, _DIRECTORY)
    yield "remove", RemoveRaftVoterRequest(of, _STRANGER, _DIRECTORY), 0
    yield "remove the voter", RemoveRaftVoterRequest(of, VOTER, _DIRECTORY), 0
    yield "remove the voter, no directory", RemoveRaftVoterRequest(of, VOTER, zero), 0
    yield "remove from another cluster", RemoveRaftVoterRequest(_ELSEWHERE, VOTER, _DIRECTORY), 0
    yield "remove from no cluster", RemoveRaftVoterRequest(None, VOTER, _DIRECTORY), 0
    yield "remove id -1", RemoveRaftVoterRequest(of, -1, _DIRECTORY), 0
    yield "remove id -1, no directory", RemoveRaftVoterRequest(of, -1, zero), 0
    yield "remove, no directory", RemoveRaftVoterRequest(of, _STRANGER, zero), 0


def _updates(cluster_id: str) -> Iterator[tuple[str, Message]]:
    def update(
        cluster: str | None = cluster_id, epoch: int = 1, voter: int = VOTER,
        places: Sequence[tuple[str, str, int]] = (_PLACE,),
        levels: tuple[int, int] = (0, 1), directory: bytes = _DIRECTORY,
    ) -> Message:  # fmt: skip
        listeners = [update_raft_voter.Listener(*each) for each in places]
        feature = KRaftVersionFeature(*levels)
        return UpdateRaftVoterRequest(cluster, epoch, voter, directory, listeners, feature)

    yield "another cluster", update(_ELSEWHERE)
    yield "another cluster, epoch", update(_ELSEWHERE, epoch=99)
    yield "no cluster, a stranger", update(None, voter=_STRANGER)
    yield "epoch -1", update(epoch=-1)
    yield "epoch 0", update(epoch=0)
    yield "epoch 99", update(epoch=99)
    yield "epoch 99, id -1", update(epoch=99, voter=-1)
    yield "id -1", update(voter=-1)
    yield "id -1, no directory", update(voter=-1, directory=ZERO_UUID)
    yield "no listeners", update(places=())
    yield "another listener", update(places=(("OTHER", "127.0.0.1", 9093),))
    yield "levels 1 to 0", update(levels=(1, 0))
    yield "levels -1 to 1", update(levels=(-1, 1))
    yield "levels 0 to -1", update(levels=(0, -1))
    yield "levels 1 to 1", update(levels=(1, 1))
    yield "levels 5 to 9", update(levels=(5, 9))
    yield "a stranger", update(voter=_STRANGER)
    yield "a stranger, no directory", update(voter=_STRANGER, directory=ZERO_UUID)
    yield "a stranger, levels 1 to 1", update(voter=_STRANGER, levels=(1, 1))
    yield "a stranger, no listeners", update(voter=_STRANGER, places=())
    yield "the voter, no directory", update(directory=ZERO_UUID)
    # Not asked: the voter itself with all else right, which ends the process of Apache Kafka 4.3.1.


async def _described(client: Client, version: int) -> str:
    topic = DescribeQuorumRequestTopicData(
        "__cluster_metadata", [DescribeQuorumRequestPartitionData(0)]
    )
    answer = await client.ask(DescribeQuorumRequest([topic]), version)
    [part] = answer.topics[0].partitions
    voters = [
        f"{each.replica_id} in {each.replica_directory_id.hex()}"
        f"{', has all' if each.log_end_offset >= part.high_watermark > 0 else ''}"
        f"{', at times' if each.last_fetch_timestamp == each.last_caught_up_timestamp > 0 else ''}"
        for each in part.current_voters
    ]
    nodes = [(each.node_id, [at.name for at in each.listeners]) for each in answer.nodes]
    return (
        f"{answer.error_code} {answer.error_message!r}, {part.error_code} {part.error_message!r},"
        f" leader {part.leader_id} of epoch {part.leader_epoch}, voters {voters},"
        f" observers {part.observers}, nodes {nodes}"
    )
