"""Producer id blocks (KIP-730): each is allocated once, by a record."""

from __future__ import annotations

from typing import Final

from fencepost_protocol.generated.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from fencepost_protocol.generated.error_code import ErrorCode
from fencepost_protocol.generated.producer_ids_record import ProducerIdsRecord

from fencepost_broker.controller.context import Context
from fencepost_broker.controller.producer_id_import import ImportedBlock, ImportRefusedError
from fencepost_broker.metadata.decision import Decision, MetadataRecord
from fencepost_broker.metadata.image.metadata_image import MetadataImage

BLOCK_SIZE: Final = 1000
MAX_PRODUCER_ID: Final = (1 << 63) - 1
NO_EPOCH: Final = -1
"""Broker epoch in the record of an imported block: ZooKeeper had none."""


def allocate_producer_ids(
    context: Context, request: AllocateProducerIdsRequest
) -> Decision[AllocateProducerIdsResponse]:
    """Allocate the next block to a broker that is registered with this epoch.

    A repeated request gets another block: the first one may be in use already.
    """
    may_have = context.settings.producer_id_brokers
    if may_have and request.broker_id not in may_have:
        return _refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    broker = context.image.cluster.brokers.get(request.broker_id)
    if broker is None or broker.epoch != request.broker_epoch:
        return _refused(ErrorCode.STALE_BROKER_EPOCH)
    start = context.image.producer_ids.latest.next_producer_id
    if start > MAX_PRODUCER_ID - BLOCK_SIZE:
        return _refused(ErrorCode.UNKNOWN_SERVER_ERROR)  # all ids have been given away
    record = ProducerIdsRecord(request.broker_id, request.broker_epoch, start + BLOCK_SIZE)
    answer = AllocateProducerIdsResponse(producer_id_start=start, producer_id_len=BLOCK_SIZE)
    return Decision(answer, (MetadataRecord(record, 0),))


def import_block(image: MetadataImage, block: ImportedBlock) -> tuple[MetadataRecord, ...]:
    """Return the records that continue after an imported block, or after later allocations.

    If ids before its end were allocated here first, they may be used by the other cluster, too.
    """
    following = image.producer_ids.latest.next_producer_id
    if following > block.end:
        return ()  # it was taken over at an earlier start
    if following:
        raise ImportRefusedError(
            f"producer ids up to {following - 1} are already allocated here: the block from "
            f"{block.start} to {block.end} can only be imported before the first allocation"
        )
    if block.end == MAX_PRODUCER_ID:
        raise ImportRefusedError(f"there are no producer ids after {block.end}")
    record = ProducerIdsRecord(block.broker_id, NO_EPOCH, block.end + 1)
    return (MetadataRecord(record, 0),)


def _refused(code: ErrorCode) -> Decision[AllocateProducerIdsResponse]:
    return Decision(AllocateProducerIdsResponse(error_code=code))
