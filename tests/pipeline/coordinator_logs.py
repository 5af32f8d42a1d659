"""Records of groups, as their coordinator writes them."""

from __future__ import annotations

import struct

from fencepost_protocol.apis import Message
from fencepost_protocol.generated.group_metadata import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
)
from fencepost_protocol.generated.legacy_offset_commit import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
)
from fencepost_protocol.generated.offset_commit import OffsetCommitKey, OffsetCommitValue

Pair = tuple[bytes | None, bytes | None]


def coordinator(key: Message, value: Message | None, version: int = 0) -> Pair:
    def encode(message: Message, lead: int, at: int) -> bytes:
        out = bytearray(struct.pack(">h", lead))
        message.encode(at, out)
        return bytes(out)

    record_type = key.RECORD_TYPE  # type: ignore[attr-defined]
    return encode(key, record_type, 0), None if value is None else encode(value, version, version)


OFFSETS: list[Pair] = [
    coordinator(
        OffsetCommitKey("g", "orders", 3),
        OffsetCommitValue(42, 6, "note", 1234, topic_id=bytes(15) + b"\1"),
        4,
    ),
    coordinator(OffsetCommitKey("g", "orders", 3), None),
    coordinator(LegacyOffsetCommitKey("old", "t", 1), LegacyOffsetCommitValue(7, "", 5), 0),
    coordinator(
        GroupMetadataKey("g"),
        GroupMetadataValue(
            "consumer", 4, "range", "m1", 88, [MemberMetadata("m1", None, "c", "/h", 1, 2, b"s")]
        ),
        3,
    ),
    coordinator(GroupMetadataKey("g"), None),
    (struct.pack(">h", 99) + b"a later Kafka's", b""),
]
