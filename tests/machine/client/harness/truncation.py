"""A fetcher that has to ask a new leader about its position."""

from __future__ import annotations

from fencepost_client.consumer.list_offsets import EARLIEST
from fencepost_client.consumer.truncation import EpochCheck
from fencepost_protocol.generated.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)

from tests.machine.client.harness.fetcher import Rig, batch, cluster_of


def answer(rig: Rig, check: EpochCheck, epoch: int, end_offset: int, code: int = 0) -> None:
    end = EpochEndOffset(code, 0, epoch, end_offset)
    response = OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult("t", [end])])
    rig.fetcher.checked(rig.now_ms, check, response)


def at_a_new_leader(reset_to: int | None = EARLIEST) -> Rig:
    """Four records of epoch 0 were fetched, two of them were taken; now there is a new leader."""
    rig = Rig(reset_to=reset_to)
    rig.fetch(batch(0), batch(2))
    assert rig.take(2) == [0, 1]
    rig.cluster = cluster_of(1, epoch=3, node_id=2)
    return rig
