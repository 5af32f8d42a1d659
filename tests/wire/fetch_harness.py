"""Frames of Fetch requests."""

from __future__ import annotations

from fencepost_protocol.framing import encode_request
from fencepost_protocol.generated.fetch import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
)

FETCH_VERSION, PRODUCE_VERSION = 11, 9


def fetch(topic: str, *, wait_ms: int, correlation_id: int = 1, min_bytes: int = 1) -> bytes:
    wanted = FetchTopic(topic, partitions=[FetchPartition(0, partition_max_bytes=1 << 30)])
    request = FetchRequest(
        max_wait_ms=wait_ms, min_bytes=min_bytes, max_bytes=1 << 30, topics=[wanted]
    )
    return bytes(encode_request(request, FETCH_VERSION, correlation_id))
