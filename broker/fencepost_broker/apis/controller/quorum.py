"""DescribeQuorum: describe the voters and observers of the metadata log (KIP-595).

Behaviour: there is one voter, the controller, which leads; brokers in other processes follow its
log and are observers. As in Kafka, a request for anything but exactly partition 0 of the metadata
topic gets UNKNOWN_TOPIC_OR_PARTITION for every partition, without an error at the top level.

Version notes: 1 brought the times of the last fetch (for the leader, the current time), 2 directory
ids and the nodes with their listeners (KIP-853). The voter's directory id is zero, as in Kafka at
level 0 of ``kraft.version``. The address of a controller in the broker's own process is that of the
listener that the client used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestTopicData,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
    Listener,
    Node,
    ReplicaState,
)
from fencepost_protocol.primitives import ZERO_UUID

from fencepost_broker.apis.request import Answer, Request
from fencepost_broker.controller.channel.local import LocalController, Observer
from fencepost_broker.metadata.advertised_brokers import advertised_brokers
from fencepost_broker.metadata.log.metadata_log import LEADER_EPOCH, METADATA_TOPIC

if TYPE_CHECKING:
    from fencepost_broker.apis.context import HandlerContext

_TIMES_FROM: Final = 1
_DIRECTORIES_FROM: Final = 2
_ALONE: Final = f"only partition 0 of {METADATA_TOPIC} can be described"


def describe_quorum(
    context: HandlerContext, request: Request, message: DescribeQuorumRequest
) -> Answer:
    """Answer DescribeQuorum, versions 0 to 2."""
    version = request.version
    if not _is_of_metadata(message.topics):
        return _unknown(message.topics, version)
    controller = context.controller
    assert isinstance(controller, LocalController), "brokers forward it to the controller"
    end = context.image.next_offset
    voter = ReplicaState(context.identity.node_id, log_end_offset=end)
    response = DescribeQuorumResponse()
    if version >= _TIMES_FROM:
        voter.last_fetch_timestamp = voter.last_caught_up_timestamp = context.clock.now_ms()
    if version >= _DIRECTORIES_FROM:
        found = [Listener(*each) for each in context.controller_addresses]
        if not found:  # a single process: the controller has the broker's address
            listener = request.peer.listener
            found = [
                Listener(listener, host, port)
                for node_id, host, port, _ in advertised_brokers(context.image, listener)
                if node_id == context.identity.node_id
            ]
        response.nodes = [Node(context.identity.node_id, found)]
    partition = DescribeQuorumResponsePartitionData(
        0,
        leader_id=context.identity.node_id,
        leader_epoch=LEADER_EPOCH,
        high_watermark=end,
        current_voters=[voter],
        observers=[
            ReplicaState(broker_id, *_told(each, version))
            for broker_id, each in sorted(controller.observers.items())
        ],
    )
    response.topics = [DescribeQuorumResponseTopicData(METADATA_TOPIC, [partition])]
    return response


def _told(observer: Observer, version: int) -> tuple[bytes, int, int, int]:
    """Return an observer's log end, and its directory and times if the version has them."""
    times = (observer.fetched_ms, observer.caught_up_ms) if version >= _TIMES_FROM else (-1, -1)
    directory = observer.directory_id if version >= _DIRECTORIES_FROM else ZERO_UUID
    return directory, observer.end_offset, *times


def _is_of_metadata(topics: list[DescribeQuorumRequestTopicData]) -> bool:
    asked = [(each.topic_name, part.partition_index) for each in topics for part in each.partitions]
    return len(topics) == 1 and asked == [(METADATA_TOPIC, 0)]


def _unknown(topics: list[DescribeQuorumRequestTopicData], version: int) -> DescribeQuorumResponse:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    text = _ALONE if version >= _DIRECTORIES_FROM else ""
    return DescribeQuorumResponse(
        topics=[
            DescribeQuorumResponseTopicData(
                each.topic_name,
                [
                    DescribeQuorumResponsePartitionData(part.partition_index, code, text)
                    for part in each.partitions
                ],
            )
            for each in topics
        ]
    )
