"""The tap's datagrams, as both sides read them, and the machine that answers them.

The input is a datagram, sent to a tap that has a subscriber: it is read or refused, the answer can
be read, and nobody else's subscription is touched. Events in it, with whatever frames, can be shown
in one line.
"""

from __future__ import annotations

from typing import cast

from fencepost_broker.observability.tap import lines
from fencepost_broker.observability.tap.datagrams import (
    AskStats,
    AskTopics,
    Cookie,
    DatagramError,
    EventKind,
    Events,
    Hello,
    Leave,
    Subscribe,
    Topics,
    decode,
    encode,
)
from fencepost_broker.observability.tap.leases import Leases, TapLimits
from fencepost_broker.observability.tap.summary import summary_of, tree_of
from fencepost_protocol.dissect.render import Style
from fencepost_protocol.dissect.summary import Summary
from fencepost_protocol.framing import encode_request, encode_response
from fencepost_protocol.generated.end_txn import EndTxnRequest, EndTxnResponse

from tests.support.tap import FakeFacts, event

HERE, THERE = ("127.0.0.1", 4000), ("127.0.0.1", 4001)


def _tap() -> Leases:
    return Leases(b"secret", TapLimits(8, 10_000, 1024), FakeFacts())


def _cookie(leases: Leases) -> bytes:
    answer = leases.receive(0, encode(Hello()), HERE)
    assert answer is not None
    return cast("Cookie", decode(answer)).cookie


_COOKIE = _cookie(_tap())
_REQUEST = bytes(encode_request(EndTxnRequest("txn1", 5, 0, True), 3, 7, "shop"))[4:]
_RESPONSE = bytes(encode_response(EndTxnResponse(error_code=90), 3, 7))[4:]
SEEDS = [
    encode(datagram)
    for datagram in (
        Hello(), Subscribe(_COOKIE, 100, (26, 3), ("shop*",)), Leave(_COOKIE),
        AskTopics(_COOKIE, (bytes([1]) * 16,)), AskStats(_COOKIE, 0, 0),
        Topics(((bytes(16), "orders"),)),
        Events(((1, event(frame=b"abc", size=3)), (2, event(client_id=None, reason="gone")))),
        Events(((1, event(frame=_REQUEST, size=len(_REQUEST))),)),
        Events(((1, event(EventKind.RESPONSE, frame=_RESPONSE, size=900)),)),
    )
]  # fmt: skip


def _show(events: Events) -> None:
    for _, it in events.events:
        tree = tree_of(it, records=True)
        summary = Summary() if tree is None else summary_of(it, tree, {})
        assert "\n" not in lines.text_of(it, summary, Style())
        assert "\n" not in lines.object_of(it, summary, tree, with_hex=True)


def target(data: bytes) -> None:
    """One run."""
    try:
        decoded = decode(data)
    except DatagramError:
        pass
    else:
        assert decode(encode(decoded)) is not None
        if isinstance(decoded, Events):
            _show(decoded)
    leases = _tap()
    there = leases.receive(0, encode(Hello()), THERE)
    assert there is not None
    leases.receive(0, encode(Subscribe(cast("Cookie", decode(there)).cookie)), THERE)
    answer = leases.receive(0, data, HERE)
    if answer is not None:
        decode(answer)
        assert len(answer) < len(data) or data[7:23] == _COOKIE
    assert THERE in leases.active
