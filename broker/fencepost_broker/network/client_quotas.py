"""Quotas of clients by user and client id, as in Kafka: bytes per second, and a share of the time.

A rate is measured over several windows. A client that exceeds its quota waits until its rate, over
the time that the windows span, would have fallen to the quota:

    wait = (rate - quota) / quota * span

The most specific quota applies to a client. Clients share a rate if they have the same user, the
same client id, or both, depending on what the quota names.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from fencepost_broker.metadata.image.client_quotas import (
    CONNECTION_CREATION_RATE,
    ClientQuotasImage,
    Sharing,
)

WAIT_MS_MAX: Final = (1 << 31) - 1
"""The highest value of ThrottleTimeMs."""
_IDLE_LOOKED_AT: Final = 1000
"""With fewer rates than this, idle ones are not removed."""


class Windows(NamedTuple):
    """The windows over which rates are measured; the last one is the current one."""

    number: int = 11
    """Kafka's ``quota.window.num``."""
    size_ms: int = 1000
    """Kafka's ``quota.window.size.seconds``."""

    @property
    def span_ms_min(self) -> int:
        """The shortest time that a rate is measured over."""
        return max(1, self.number - 1) * self.size_ms


class Rate:
    """What there is per second, over the last windows."""

    __slots__ = ("_of", "_windows")

    def __init__(self, windows: Windows) -> None:
        self._of = windows
        self._windows: list[list[float]] = []
        """For each window its start, the time of its last addition, and its sum."""

    def add(self, amount: float, now_ms: int) -> None:
        """Add an amount, which may be negative."""
        self.forget(now_ms)
        windows = self._windows
        if not windows or now_ms - windows[-1][0] >= self._of.size_ms:
            windows.append([now_ms, now_ms, 0.0])
        windows[-1][1] = now_ms
        windows[-1][2] += amount

    def forget(self, now_ms: int) -> bool:
        """Drop windows that are over; return whether none is left."""
        windows = self._windows
        if windows and windows[-1][0] > now_ms:
            windows.clear()  # the clock was set back
        while windows and now_ms - windows[0][1] >= self._of.number * self._of.size_ms:
            del windows[0]
        return not windows

    def wait_ms(self, quota: float, now_ms: int) -> int:
        """Return the time until the rate is not above the quota."""
        if self.forget(now_ms):
            return 0
        number, size_ms = self._of
        span_ms = now_ms - self._windows[0][0]
        missing = number - 1 - span_ms // size_ms
        span_ms = max(span_ms + max(missing, 0) * size_ms, 1)
        rate = sum(amount for _, _, amount in self._windows) * 1000 / span_ms
        return round(min((rate - quota) / quota * span_ms, WAIT_MS_MAX)) if rate > quota else 0


class Quota:
    """A client's quota, and the rate of all clients that share it."""

    __slots__ = ("_rate", "per_second")

    def __init__(self, per_second: float, rate: Rate) -> None:
        self.per_second = per_second
        self._rate = rate

    def charge(self, amount: float, now_ms: int) -> int:
        """Count what was used; return the throttle time in ms."""
        self._rate.add(amount, now_ms)
        return self._rate.wait_ms(self.per_second, now_ms)

    def take_back(self, amount: float, now_ms: int) -> None:
        """Subtract what was not used after all."""
        self._rate.add(-amount, now_ms)


class ClientQuotas:
    """All quotas of users and client ids, and the current rates."""

    def __init__(self, image: ClientQuotasImage, windows: Windows) -> None:
        self._image = image
        self.windows = windows
        self._rates: dict[Sharing, Rate] = {}
        self._looked_at = _IDLE_LOOKED_AT
        """The number of rates at which idle ones are removed."""
        self.keys = image.keys()
        """The kinds of quotas that are set for any client."""

    def refresh(self) -> None:
        """Apply the image's quotas, and keep the current rates."""
        self.keys = self._image.keys()

    def of(self, key: str, user: str, client_id: str, now_ms: int) -> Quota | None:
        """Return the quota of a client, if it has one."""
        if key not in self.keys:
            return None
        found = self._image.of_client(key, user, client_id)
        if found is None:
            return None
        sharing, value = found
        return Quota(value, self._rate(sharing, now_ms))

    def of_address(self, address: str, now_ms: int) -> Quota | None:
        """Return how many connections an address may open, if that is limited."""
        value = self._image.of_address(address)
        if value is None:
            return None
        sharing = Sharing(CONNECTION_CREATION_RATE, address, None)
        return Quota(value, self._rate(sharing, now_ms))

    def _rate(self, sharing: Sharing, now_ms: int) -> Rate:
        rate = self._rates.get(sharing)
        if rate is None:
            if len(self._rates) >= self._looked_at:
                self._rates = {
                    each: rate for each, rate in self._rates.items() if not rate.forget(now_ms)
                }
                # Raise the limit, or each new rate would search all if many are active.
                self._looked_at = max(_IDLE_LOOKED_AT, 2 * len(self._rates))
            rate = self._rates[sharing] = Rate(self.windows)
        return rate
