"""Producer ids for this broker's clients, from blocks that the controller allocates (KIP-730)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from fencepost_protocol.errors import ErrorCode
from fencepost_protocol.generated.allocate_producer_ids import AllocateProducerIdsResponse

_PREFETCH_AT: Final = 0.9
_AGAIN_MS: Final = 50

Answered = Callable[[AllocateProducerIdsResponse | None], None]
"""A callback for the controller's answer; ``None`` means that there is no answer."""


class ProducerIdSource:
    """Hands out ids one by one and requests the next block when 90 % of the current one is used.

    So InitProducerId does not wait for a block, and a short outage of the controller often has no
    effect. The rest of a block is lost when the broker stops, as in Kafka.
    """

    def __init__(
        self,
        allocate: Callable[[Answered], None],
        call_later: Callable[[int, Callable[[], None]], Any],
        refused: Callable[[ErrorCode], None],
    ) -> None:
        """``refused`` is called with errors that an operator has to fix."""
        self._allocate = allocate
        self._call_later = call_later
        self._refused = refused
        self._block = range(0)
        self._following = range(0)
        self._next = 0
        self._prefetch_at = 0
        self._is_asking = False
        self._is_fetching = False
        self._refusal = ErrorCode.NONE
        self._is_stopped = False
        self._is_throttled = False
        """Whether the controller's throttle time is still running."""

    def take(self) -> tuple[ErrorCode, int]:
        """Return a fresh producer id, or the reason why there is none."""
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

    @property
    def left(self) -> list[range]:
        """The ids that are not handed out yet: of the current block, and of the one after it."""
        blocks = range(self._next, self._block.stop), self._following
        return [each for each in blocks if each]

    def stop(self) -> None:
        """Send no further requests."""
        self._is_stopped = True

    def begin(self) -> None:
        """Request the first block, so that the first producer does not wait for it."""
        self._prefetch()

    def _prefetch(self) -> None:
        self._is_asking = False
        if self._is_stopped or self._following or self._next < self._prefetch_at:
            return  # a block may have been fetched in the meantime
        if self._fetch() and not self._is_fetching and not self._is_throttled:
            self._ask_again()

    def _throttled(self) -> None:
        """Continue after the throttle time."""
        self._is_throttled = False
        self._prefetch()

    def _ask_again(self) -> None:
        if not (self._is_asking or self._is_stopped):
            self._is_asking = True
            self._call_later(_AGAIN_MS, self._prefetch)

    def _fetch(self) -> ErrorCode:
        """Request a block, unless a request is in flight; succeed if the answer comes at once."""
        if not (self._is_fetching or self._is_throttled or self._is_stopped):
            self._is_fetching = True
            self._refusal = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS  # Kafka's error without a block
            is_here = True

            def answered(answer: AllocateProducerIdsResponse | None) -> None:
                self._take_in(answer)
                if self._refusal and not is_here:
                    self._ask_again()

            self._allocate(answered)
            is_here = False
        if self._following:
            return ErrorCode.NONE
        return self._refusal or ErrorCode.COORDINATOR_LOAD_IN_PROGRESS

    def _take_in(self, answer: AllocateProducerIdsResponse | None) -> None:
        self._is_fetching = False
        if answer is None:
            return  # the block may be allocated and lost: the next request gets another one
        if answer.throttle_time_ms > 0:
            self._is_throttled = True
            self._call_later(answer.throttle_time_ms, self._throttled)
        if not answer.error_code:
            start = answer.producer_id_start
            self._following = range(start, start + answer.producer_id_len)
            self._refusal = ErrorCode.NONE
        elif answer.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
            self._is_stopped = True  # a retry is useless until an operator fixes the permissions
            self._refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        elif answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR:
            self._refusal = ErrorCode.UNKNOWN_SERVER_ERROR  # all ids are used up
            self._refused(ErrorCode.UNKNOWN_SERVER_ERROR)
