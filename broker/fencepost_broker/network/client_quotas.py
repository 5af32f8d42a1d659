"""Quotas of clients by user and client id, as in Kafka: bytes per second, and a share of the time.

A client that exceeds its quota waits until its rate has fallen to the quota.

The most specific quota applies to a client. Clients share a rate if they have the same user, the
same client id, or both, depending on what the quota names.
"""

from __future__ import annotations

from typing import Final

from fencepost_broker.metadata.image.client_quotas import (
    CONNECTION_CREATION_RATE,
    ClientQuotasImage,
    Sharing,
)
from fencepost_broker.observability.rates import Rate, Windows

_IDLE_LOOKED_AT: Final = 1000
"""With fewer rates than this, idle ones are not removed."""


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
