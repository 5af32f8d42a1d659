"""The tap's datagrams, as both sides read them, and the machine that answers them.

The input is a datagram, sent to a tap that has a subscriber: it is read or refused, the answer can
be read, and nobody else's subscription is touched.
"""

from __future__ import annotations

from typing import cast

from fencepost_broker.tap.datagrams import (
    AskStats,
    AskTopics,
    Cookie,
    DatagramError,
    Events,
    Hello,
    Leave,
    Subscribe,
    Topics,
    decode,
    encode,
)
from fencepost_broker.tap.leases import Leases, Limits

from tests.support.tap import FakeFacts, event

HERE, THERE = ("127.0.0.1", 4000), ("127.0.0.1", 4001)


def _tap() -> Leases:
    return Leases(b"secret", Limits(8, 10_000, 1024), FakeFacts())


def _cookie(leases: Leases) -> bytes:
    answer = leases.receive(0, encode(Hello()), HERE)
    assert answer is not None
    return cast(Cookie, decode(answer)).cookie


_COOKIE = _cookie(_tap())
SEEDS = [
    encode(datagram)
    for datagram in (
        Hello(), Subscribe(_COOKIE, 100, (26, 3), ("shop*",)), Leave(_COOKIE),
        AskTopics(_COOKIE, (bytes([1]) * 16,)), AskStats(_COOKIE, 0, 0),
        Topics(((bytes(16), "orders"),)),
        Events(((1, event(frame=b"abc", size=3)), (2, event(client_id=None, reason="gone")))),
    )
]  # fmt: skip


def target(data: bytes) -> None:
    """One run."""
    try:
        decoded = decode(data)
    except DatagramError:
        pass
    else:
        assert decode(encode(decoded)) is not None
    leases = _tap()
    there = leases.receive(0, encode(Hello()), THERE)
    assert there is not None
    leases.receive(0, encode(Subscribe(cast(Cookie, decode(there)).cookie)), THERE)
    answer = leases.receive(0, data, HERE)
    if answer is not None:
        decode(answer)
        assert len(answer) < len(data) or data[7:23] == _COOKIE
    assert THERE in leases.active
