"""Subscriptions of the tap: who subscribes, until when, and what waits to be sent.

Anybody can send to a UDP port with a forged address. So the broker sends nothing to an address
before it has returned a cookie, which proves that it receives there; the answer to a datagram
without a cookie is smaller than the datagram; and the number of answers in a second is limited.

Each subscription numbers its events. Events that do not fit into its outbox are dropped; the
subscriber notices the missing numbers.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import deque
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from fencepost_protocol.dissect.filters import Chosen

from fencepost_broker.observability.tap.datagrams import (
    COOKIE_BYTES,
    EVENTS_START,
    RUN_BYTES,
    AskStats,
    AskTopics,
    Cookie,
    Datagram,
    DatagramError,
    Hello,
    Leased,
    Leave,
    Left,
    Refused,
    Stats,
    Subscribe,
    Topics,
    decode,
    encode,
    event_run,
)

Address = tuple[Any, ...]
"""Address as the socket gives it; it is only compared and hashed here."""

COOKIE_MS: Final = 60_000
"""A cookie is valid for at least this long, and at most twice as long."""
ANSWERS_PER_SECOND: Final = 500
SNAPSHOT_MS: Final = 250
"""Shortest time between two collections of counters, which is expensive with many topics."""
OUTBOX_DATAGRAMS: Final = 64
"""Datagrams that may wait for one subscriber; the sender empties it every few milliseconds."""
_STATS_HEAD_BYTES: Final = 32


class TapLimits(NamedTuple):
    """The tap's settings."""

    subscribers_max: int
    lease_ms: int
    datagram_bytes_max: int


class Facts(Protocol):
    """What subscribers may ask for."""

    node_id: int
    cluster_id: str

    def topic_name(self, topic_id: bytes) -> str | None:
        """Return the name of the topic with this id, if there is one."""

    def stats(self) -> bytes:
        """Return all counters as JSON."""


class Lease:
    """One subscription."""

    def __init__(self, address: Address, asked: Subscribe, limits: TapLimits) -> None:
        self.address = address
        self.sequence = 0
        self.until_ms = 0
        self._bytes_max = limits.datagram_bytes_max
        self._filling: list[bytes] = []
        self._filled = len(EVENTS_START)
        self._outbox: deque[bytes] = deque()
        self.ask(asked)

    def ask(self, asked: Subscribe) -> None:
        """Take the filters of a subscriber, who may change them."""
        self.cookie = asked.cookie
        self.wants = Chosen(asked.api_keys, asked.client_ids).wants
        """Whether the filters accept an event of an API and client id."""
        self.snap_bytes = min(asked.snap_bytes or self._bytes_max, self._bytes_max)

    def add(self, head: bytes, frame: bytes) -> bool:
        """Number an event and queue it; returns false if it was dropped."""
        self.sequence += 1
        room = self._bytes_max - len(EVENTS_START) - RUN_BYTES - len(head)
        frame = frame[: max(0, min(room, self.snap_bytes))]
        size = RUN_BYTES + len(head) + len(frame)
        if self._filled + size > self._bytes_max:
            self._close_datagram()
        if len(self._outbox) >= OUTBOX_DATAGRAMS:
            return False
        self._filling.append(event_run(self.sequence, head, frame))
        self._filled += size
        return True

    def _close_datagram(self) -> None:
        if self._filling:
            self._outbox.append(EVENTS_START + b"".join(self._filling))
            self._filling = []
            self._filled = len(EVENTS_START)

    def take(self) -> bytes | None:
        """Return the next datagram, if any."""
        if not self._outbox:
            self._close_datagram()
        return self._outbox.popleft() if self._outbox else None


class Leases:
    """All subscriptions of a broker."""

    def __init__(self, secret: bytes, limits: TapLimits, facts: Facts) -> None:
        self.limits = limits
        self.active: dict[Address, Lease] = {}
        self.ignored = 0
        """Datagrams that were malformed, had no valid cookie, or were too many."""
        self._secret = secret
        self._facts = facts
        self._answers_left = ANSWERS_PER_SECOND
        self._second = 0
        self._snapshot = b""
        self._snapshot_ms = -SNAPSHOT_MS
        self._snapshot_number = 0

    def receive(self, now_ms: int, data: bytes, address: Address) -> bytes | None:
        """Return the answer to a datagram, or ``None``."""
        second = now_ms // 1000
        if second != self._second:
            self._second, self._answers_left = second, ANSWERS_PER_SECOND
        answer = self._answer(now_ms, data, address) if self._answers_left > 0 else None
        if answer is None:
            self.ignored += 1
            return None
        self._answers_left -= 1
        return encode(answer)

    def _answer(self, now_ms: int, data: bytes, address: Address) -> Datagram | None:
        try:
            asked = decode(data)
        except DatagramError:
            return None
        if isinstance(asked, Hello):
            return Cookie(self._cookie(now_ms // COOKIE_MS, address))
        answers = self._ANSWERS.get(type(asked))
        if answers is None or not self._is_good(asked.cookie, now_ms, address):  # type: ignore[union-attr]
            return None
        return answers(self, now_ms, asked, address)

    def _subscribe(self, now_ms: int, asked: Subscribe, address: Address) -> Datagram:
        self.expire(now_ms)
        lease = self.active.get(address)
        if lease is not None:
            lease.ask(asked)
        elif len(self.active) >= self.limits.subscribers_max:
            return Refused(
                f"the limit of {self.limits.subscribers_max} subscribers is reached"
                " (tap.subscribers.max)"
            )
        else:
            lease = self.active[address] = Lease(address, asked, self.limits)
        lease.until_ms = now_ms + self.limits.lease_ms
        return Leased(
            self.limits.lease_ms, lease.sequence, self._facts.node_id, self._facts.cluster_id
        )

    def _leave(self, _now_ms: int, _asked: Leave, address: Address) -> Datagram:
        lease = self.active.pop(address, None)
        return Left(0 if lease is None else lease.sequence)

    def _tell_topics(self, _now_ms: int, asked: AskTopics, _address: Address) -> Datagram:
        name_of = self._facts.topic_name
        return Topics(tuple((each, name_of(each) or "") for each in asked.topic_ids))

    def _tell_stats(self, now_ms: int, asked: AskStats, _address: Address) -> Datagram:
        if not asked.snapshot and now_ms - self._snapshot_ms >= SNAPSHOT_MS:
            self._snapshot_ms = now_ms
            self._snapshot = self._facts.stats()
            self._snapshot_number = self._snapshot_number % 0xFFFF_FFFF + 1
        size = self.limits.datagram_bytes_max - _STATS_HEAD_BYTES
        parts = -(-len(self._snapshot) // size)
        if asked.snapshot not in (0, self._snapshot_number) or asked.part >= parts:
            return Refused(
                "another subscriber has asked for the counters in the meantime: ask again"
            )
        part = self._snapshot[asked.part * size : (asked.part + 1) * size]
        return Stats(self._snapshot_number, asked.part, parts, part)

    _ANSWERS: Final[dict[type, Callable[..., Datagram]]] = {
        Subscribe: _subscribe,
        Leave: _leave,
        AskTopics: _tell_topics,
        AskStats: _tell_stats,
    }

    # -- time ----------------------------------------------------------------------------------

    def expire(self, now_ms: int) -> None:
        """End subscriptions that were not renewed."""
        over = [each.address for each in self.active.values() if each.until_ms <= now_ms]
        for address in over:
            del self.active[address]

    def deadline(self) -> int | None:
        """Return when the next subscription ends."""
        return min((each.until_ms for each in self.active.values()), default=None)

    # -- cookies -------------------------------------------------------------------------------

    def _cookie(self, period: int, address: Address) -> bytes:
        said = f"{period} {address!r}".encode()
        return hashlib.blake2s(said, key=self._secret, digest_size=COOKIE_BYTES).digest()

    def _is_good(self, cookie: bytes, now_ms: int, address: Address) -> bool:
        lease = self.active.get(address)
        if lease is not None and hmac.compare_digest(cookie, lease.cookie):
            return True  # A subscriber that renews its lease needs no new HELLO.
        period = now_ms // COOKIE_MS
        return any(
            hmac.compare_digest(cookie, self._cookie(each, address))
            for each in (period, period - 1)
        )
