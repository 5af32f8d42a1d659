"""Producer ids for this broker's clients, from the blocks that the controller gives (KIP-730)."""

from __future__ import annotations

from collections.abc import Callable

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsResponse


class ProducerIdSource:
    """Hands out ids one by one and asks for the next block when one is used up.

    The controller is in the same process, so that a block is there at once; what is left of a
    block when the broker stops is lost, as in Kafka.
    """

    def __init__(self, allocate: Callable[[], AllocateProducerIdsResponse]) -> None:
        self._allocate = allocate
        self._next = 0
        self._end = 0

    def take(self) -> tuple[ErrorCode, int]:
        """A fresh producer id, or why there is none."""
        if self._next >= self._end:
            block = self._allocate()
            if block.error_code:
                return ErrorCode(block.error_code), -1
            self._next = block.producer_id_start
            self._end = block.producer_id_start + block.producer_id_len
        self._next += 1
        return ErrorCode.NONE, self._next - 1
