"""Quotas of the partitions that clients create and delete (KIP-599: ``controller_mutation_rate``).

The clients of a quota share a bucket of permits, one for each partition. It fills at the quota's
rate, up to what all windows together allow, and a request may take more than there are: the next
one then waits until the bucket is no longer empty. A strict request is refused until then; an older
one, whose client does not know the error, is carried out, and its answer says how long to wait.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fencepost_protocol.generated.error_code import ErrorCode

from fencepost_broker.controller.context import Refusal
from fencepost_broker.controller.ports import TopicCommand
from fencepost_broker.metadata.image.client_quotas import CONTROLLER_MUTATION_RATE, Sharing
from fencepost_broker.metadata.image.metadata_image import MetadataImage

WAIT_MS_MAX: Final = (1 << 31) - 1
"""The highest value of ThrottleTimeMs."""
_IDLE_LOOKED_AT: Final = 1000
"""With fewer buckets than this, full ones are not removed."""


class _Left(NamedTuple):
    """The permits of a bucket at a time, and when it would be full."""

    permits: float
    at_ms: int
    full_ms: float


class MutationsCharged(NamedTuple):
    """Soft state: permits that are left after a request."""

    sharing: Sharing
    left: _Left


class Permits:
    """The permits of a client while one of its requests is decided."""

    def __init__(
        self, sharing: Sharing, quota: float, left: float, most: float, now_ms: int, *, strict: bool
    ) -> None:
        self._sharing = sharing
        self._quota = quota
        self._left = left
        self._most = most
        self._now_ms = now_ms
        self._is_strict = strict
        self.wait_ms = 0
        """How long the client is told to wait."""

    def take(self, count: int) -> None:
        """Take permits; a strict request without any gets a Refusal."""
        if self._is_strict and self._left < 0:
            self.wait_ms = self._time_to_wait_ms()
            raise Refusal(
                ErrorCode.THROTTLING_QUOTA_EXCEEDED,
                f"the quota {CONTROLLER_MUTATION_RATE} allows this client to create and delete"
                f" {self._quota:g} partitions a second: try again in {self.wait_ms} ms",
            )
        self._left -= count
        if not self._is_strict:
            self.wait_ms = self._time_to_wait_ms()

    def _time_to_wait_ms(self) -> int:
        return max(0, round(min(-self._left / self._quota * 1000, WAIT_MS_MAX)))

    def charged(self) -> MutationsCharged:
        """Return what is left, to be kept."""
        full_ms = self._now_ms + (self._most - self._left) / self._quota * 1000
        return MutationsCharged(self._sharing, _Left(self._left, self._now_ms, full_ms))


class MutationQuotas:
    """The buckets of all clients that have such a quota."""

    def __init__(self, window_ms: int) -> None:
        """A bucket holds what the quota allows in ``window_ms``."""
        self._window_ms = window_ms
        self._left: dict[Sharing, _Left] = {}
        self._looked_at = _IDLE_LOOKED_AT

    def permits(self, image: MetadataImage, command: TopicCommand, now_ms: int) -> Permits | None:
        """Return what a client may create and delete now; ``None`` without a quota."""
        found = image.client_quotas.of_client(
            CONTROLLER_MUTATION_RATE, command.user, command.client_id
        )
        if found is None:
            return None
        sharing, quota = found
        most = quota * self._window_ms / 1000
        before, left = self._left.get(sharing), most
        if before is not None:
            passed_ms = max(0, now_ms - before.at_ms)
            left = min(most, before.permits + quota * passed_ms / 1000)
        return Permits(sharing, quota, left, most, now_ms, strict=command.is_strict)

    def apply(self, charged: MutationsCharged) -> None:
        """Keep what is left."""
        if len(self._left) >= self._looked_at and charged.sharing not in self._left:
            now_ms = charged.left.at_ms
            self._left = {by: left for by, left in self._left.items() if left.full_ms > now_ms}
            self._looked_at = max(_IDLE_LOOKED_AT, 2 * len(self._left))
        self._left[charged.sharing] = charged.left

    def jumped(self, by_ms: int) -> None:
        """Let buckets fill as fast as before, now that the clock was set."""
        for sharing, left in self._left.items():
            self._left[sharing] = _Left(left.permits, left.at_ms + by_ms, left.full_ms + by_ms)
