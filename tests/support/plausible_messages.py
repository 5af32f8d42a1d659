"""Messages as a cluster would really send them: small, and with real content in their blobs.

A foreign dissector opens what is inside (record batches, group metadata), so random bytes there
would make it complain about the content instead of the message around it.
"""

from __future__ import annotations

from typing import Any

from fencepost_protocol.generated.consumer_protocol_assignment import (
    ConsumerProtocolAssignment,
)
from fencepost_protocol.generated.consumer_protocol_assignment import TopicPartition as Assigned
from fencepost_protocol.generated.consumer_protocol_subscription import (
    ConsumerProtocolSubscription,
)
from fencepost_protocol.records.writer import build_batch
from fencepost_protocol.schema.model import Array, Field, Message, Primitive

from tests.support.random_messages import MessageMaker

WORDS = ("orders", "payments", "group-1", "txn-a", "range", "consumer", "client", "rack-1", "t")


class PlausibleMaker(MessageMaker):
    """As ``MessageMaker``, within the bounds of everyday traffic."""

    def __init__(self, schema: Message, rng: Any) -> None:
        super().__init__(schema, rng, own_tags=False)

    def value(self, field: Field, version: int) -> Any:
        kind = field.type
        if field.name == "ProtocolType":
            return "consumer"
        if isinstance(kind, Primitive) and kind.name in {"bytes", "records"}:
            return self._blob(field)
        if isinstance(kind, Array) and isinstance(kind.element, Primitive):
            return [self._primitive(kind.element.name) for _ in range(self.rng.choice([1, 2, 3]))]
        return super().value(field, version)

    def _blob(self, field: Field) -> bytes:
        if field.name == "Records":
            count = self.rng.randint(1, 4)
            values = [self.rng.randbytes(20) for _ in range(count)]
            return bytes(build_batch(None, values, 1_700_000_000_000))
        if field.name in {"Metadata", "ProtocolMetadata", "MemberMetadata"}:
            return with_version(ConsumerProtocolSubscription(topics=["orders"]))
        if field.name in {"Assignment", "MemberAssignment"}:
            return with_version(ConsumerProtocolAssignment([Assigned("orders", [0, 1])]))
        return self.rng.randbytes(12)

    def _primitive(self, kind: str) -> Any:
        if kind == "string":
            return self.rng.choice(WORDS)
        if kind in {"bool", "uuid", "float64"}:
            return super()._primitive(kind)
        return self.rng.randint(0, 100)


def with_version(message: Any) -> bytes:
    """The consumer protocol's own framing: its version, then the message."""
    out = bytearray(b"\0\0")
    message.encode(0, out)
    return bytes(out)
