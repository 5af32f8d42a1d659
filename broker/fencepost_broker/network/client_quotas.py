"""Byte-rate quotas for clients, by user and client id, as in Kafka.

A rate is measured over the last eleven windows of one second. A client that exceeds its quota waits
until its rate, over the time that the windows span, would have fallen to the quota:

    wait = (rate - quota) / quota * span

The most specific quota applies to a client (``_PRECEDENCE``). Clients share a rate if they have the
same user, the same client id, or both, depending on what the quota names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from fencepost_broker.controller.client_quotas import CLIENT_ID, USER, Entity, quotas_by_entity
from fencepost_broker.metadata.image.metadata_image import MetadataImage

WINDOW_MS: Final = 1000
"""Kafka's ``quota.window.size.seconds``."""
WINDOWS: Final = 11
"""Kafka's ``quota.window.num``; the last one is the current one."""
SPAN_MS_MIN: Final = (WINDOWS - 1) * WINDOW_MS
WAIT_MS_MAX: Final = (1 << 31) - 1
"""The highest value of ThrottleTimeMs."""
_IDLE_LOOKED_AT: Final = 1000
"""With fewer rates than this, idle ones are not removed."""

_NAME, _DEFAULT, _NONE = range(3)
_PRECEDENCE: Final = (
    (_NAME, _NAME),
    (_NAME, _DEFAULT),
    (_NAME, _NONE),
    (_DEFAULT, _NAME),
    (_DEFAULT, _DEFAULT),
    (_DEFAULT, _NONE),
    (_NONE, _NAME),
    (_NONE, _DEFAULT),
)
"""The entities of quotas, by user and client id, the most specific first."""
Sharing: TypeAlias = tuple[str, str | None, str | None]
"""Quota, user and client id; clients with the same three share a rate."""


class Rate:
    """Bytes per second over the last windows."""

    __slots__ = ("_windows",)

    def __init__(self) -> None:
        self._windows: list[list[float]] = []
        """For each window its start, the time of its last addition, and its sum."""

    def add(self, amount: float, now_ms: int) -> None:
        """Add an amount, which may be negative."""
        self.forget(now_ms)
        windows = self._windows
        if not windows or now_ms - windows[-1][0] >= WINDOW_MS:
            windows.append([now_ms, now_ms, 0.0])
        windows[-1][1] = now_ms
        windows[-1][2] += amount

    def forget(self, now_ms: int) -> bool:
        """Drop windows that are over; return whether none is left."""
        windows = self._windows
        if windows and windows[-1][0] > now_ms:
            windows.clear()  # the clock was set back
        while windows and now_ms - windows[0][1] >= WINDOWS * WINDOW_MS:
            del windows[0]
        return not windows

    def wait_ms(self, quota: float, now_ms: int) -> int:
        """Return the time until the rate is not above the quota."""
        if self.forget(now_ms):
            return 0
        span_ms = now_ms - self._windows[0][0]
        missing = WINDOWS - 1 - span_ms // WINDOW_MS
        span_ms += max(missing, 0) * WINDOW_MS
        rate = sum(amount for _, _, amount in self._windows) * 1000 / span_ms
        return round(min((rate - quota) / quota * span_ms, WAIT_MS_MAX)) if rate > quota else 0


class Quota:
    """A client's quota, and the rate of all clients that share it."""

    __slots__ = ("_rate", "bytes_per_second")

    def __init__(self, bytes_per_second: float, rate: Rate) -> None:
        self.bytes_per_second = bytes_per_second
        self._rate = rate

    @property
    def at_once_max(self) -> float:
        """The size above which a single answer exceeds the quota."""
        return self.bytes_per_second * SPAN_MS_MIN / 1000

    def charge(self, size: int, now_ms: int) -> int:
        """Count bytes that were sent or fetched; return the throttle time in ms."""
        self._rate.add(size, now_ms)
        return self._rate.wait_ms(self.bytes_per_second, now_ms)

    def take_back(self, size: int, now_ms: int) -> None:
        """Subtract bytes that were not sent after all."""
        self._rate.add(-size, now_ms)


class ClientQuotas:
    """All quotas of users and client ids, and the current rates."""

    def __init__(self) -> None:
        self._by_entity: Mapping[Entity, Mapping[str, float]] = {}
        self._rates: dict[Sharing, Rate] = {}
        self._looked_at = _IDLE_LOOKED_AT
        """The number of rates at which idle ones are removed."""
        self.keys: frozenset[str] = frozenset()
        """The kinds of quotas that are set for any client."""

    def use(self, image: MetadataImage) -> None:
        """Apply the image's quotas, and keep the current rates."""
        self._by_entity = quotas_by_entity(image)
        self.keys = frozenset(key for values in self._by_entity.values() for key in values)

    def of(self, key: str, user: str, client_id: str, now_ms: int) -> Quota | None:
        """Return the quota of a client, if it has one."""
        for by_user, by_client in _PRECEDENCE:
            named = {}
            if by_user != _NONE:
                named[USER] = user if by_user == _NAME else None
            if by_client != _NONE:
                named[CLIENT_ID] = client_id if by_client == _NAME else None
            value = self._by_entity.get(tuple(sorted(named.items())), {}).get(key)
            if value is not None:
                sharing = key, user if USER in named else None, (
                    client_id if CLIENT_ID in named else None
                )  # fmt: skip
                return Quota(value, self._rate(sharing, now_ms))
        return None

    def _rate(self, sharing: Sharing, now_ms: int) -> Rate:
        rate = self._rates.get(sharing)
        if rate is None:
            if len(self._rates) >= self._looked_at:
                self._rates = {
                    each: rate for each, rate in self._rates.items() if not rate.forget(now_ms)
                }
                # Raise the limit, or each new rate would search all if many are active.
                self._looked_at = max(_IDLE_LOOKED_AT, 2 * len(self._rates))
            rate = self._rates[sharing] = Rate()
        return rate
