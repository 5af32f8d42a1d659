"""Answers to ListOffsets."""

from __future__ import annotations

from fencepost_protocol.generated.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)


def listed(*parts: tuple[int, int, int]) -> ListOffsetsResponse:
    """Partition, code and offset."""
    found = [
        ListOffsetsPartitionResponse(number, code, offset=offset) for number, code, offset in parts
    ]
    return ListOffsetsResponse(topics=[ListOffsetsTopicResponse("t", found)])
