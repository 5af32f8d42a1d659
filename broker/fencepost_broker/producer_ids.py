"""Producer ids for this broker's clients, from the blocks that the controller gives (KIP-730)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsResponse

_PREFETCH_AT: Final = 0.9
_AGAIN_MS: Final = 50


class ProducerIdSource:
    """Hands out ids one by one; the next block is asked for when nine tenths of one are used.

    So no InitProducerId waits for a block, and one that cannot be written down at the moment may
    not be missed at all. What is left of a block when the broker stops is lost, as in Kafka.
    """

    def __init__(
        self,
        allocate: Callable[[], AllocateProducerIdsResponse],
        call_later: Callable[[int, Callable[[], None]], Any],
    ) -> None:
        self._allocate = allocate
        self._call_later = call_later
        self._block = range(0)
        self._following = range(0)
        self._next = 0
        self._prefetch_at = 0
        self._is_asking = False
        self._is_stopped = False

    def take(self) -> tuple[ErrorCode, int]:
        """A fresh producer id, or why there is none."""
        if self._next >= self._block.stop:
            if not self._following:
                error = self._fetch()
                if error:
                    return error, -1
            block, self._following = self._following, range(0)
            self._block, self._next = block, block.start
            self._prefetch_at = block.start + int(len(block) * _PREFETCH_AT)
        taken = self._next
        self._next += 1
        if taken >= self._prefetch_at and not (self._following or self._is_asking):
            self._is_asking = True
            self._call_later(0, self._prefetch)
        return ErrorCode.NONE, taken

    def stop(self) -> None:
        """Ask for nothing more."""
        self._is_stopped = True

    def _prefetch(self) -> None:
        self._is_asking = False
        if self._is_stopped or self._following or self._next < self._prefetch_at:
            return  # or it was needed at once meanwhile
        if self._fetch():
            self._is_asking = True
            self._call_later(_AGAIN_MS, self._prefetch)

    def _fetch(self) -> ErrorCode:
        answer = self._allocate()
        if not answer.error_code:
            start = answer.producer_id_start
            self._following = range(start, start + answer.producer_id_len)
            return ErrorCode.NONE
        if answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR:
            return ErrorCode.UNKNOWN_SERVER_ERROR  # there are no more
        return ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # what Kafka says while it has none
