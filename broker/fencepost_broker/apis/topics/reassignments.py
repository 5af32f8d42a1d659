"""AlterPartitionReassignments and ListPartitionReassignments: move replicas (KIP-455).

Behaviour: the controller decides about moves and about cancelling them. Current moves are read from
this broker's metadata; unknown topics, and partitions that are not being moved, are left out.

Version notes: AlterPartitionReassignments 1 may forbid a change of the replication factor
(KIP-860).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
)
from fencepost_protocol.generated.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

from fencepost_broker.apis.request import Answer, Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fencepost_broker.apis.context import HandlerContext
    from fencepost_broker.metadata.image.metadata_image import MetadataImage


def alter_partition_reassignments(
    context: HandlerContext, _request: Request, message: AlterPartitionReassignmentsRequest
) -> Answer:
    """Answer AlterPartitionReassignments, versions 0 and 1."""
    answer: Message = context.controller.command(message)
    return answer


def list_partition_reassignments(
    context: HandlerContext, _request: Request, message: ListPartitionReassignmentsRequest
) -> Answer:
    """Answer ListPartitionReassignments, version 0."""
    return reassignments_under_way(context.image, message)


def reassignments_under_way(
    image: MetadataImage, message: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """Build the response from a metadata image."""
    asked: Iterable[tuple[str, Iterable[int]]]
    if message.topics is None:
        asked = [(topic.name, sorted(topic.partitions)) for topic in image.topics.by_name.values()]
    else:
        asked = [(topic.name, topic.partition_indexes) for topic in message.topics]
    response = ListPartitionReassignmentsResponse(error_message=None)
    for name, numbers in asked:
        ongoing = [found for each in numbers if (found := _ongoing(image, name, each)) is not None]
        if ongoing:
            response.topics.append(OngoingTopicReassignment(name, ongoing))
    return response


def _ongoing(image: MetadataImage, name: str, number: int) -> OngoingPartitionReassignment | None:
    partition = image.topics.partition(name, number)
    if partition is None or not (partition.adding_replicas or partition.removing_replicas):
        return None
    return OngoingPartitionReassignment(
        number,
        list(partition.replicas),
        list(partition.adding_replicas),
        list(partition.removing_replicas),
    )
