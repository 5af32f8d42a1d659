"""PLAIN: a user who is unknown costs what one with another password costs."""

from __future__ import annotations

import hmac

import pytest
from fencepost_broker.security.authentication.exchanges import PlainExchange, RefusedError


def test_unknown_users_cost_the_same_comparison(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[int, int]] = []
    real = hmac.compare_digest

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return real(one, other)

    monkeypatch.setattr(hmac, "compare_digest", compare)
    users = {"alice": "a password of some length", "bob": "x"}
    for user in ("alice", "bob", "nobody"):
        for password in ("y", "a password of some other length"):
            with pytest.raises(RefusedError):
                PlainExchange(users).receive(f"\0{user}\0{password}".encode())
    assert len(compared) == 6
    assert len(set(compared)) == 1, "lengths of passwords can be told by the time that it takes"
    one, other = compared[0]
    assert one == other


def test_the_right_password_logs_in() -> None:
    exchange = PlainExchange({"alice": "secret"})
    exchange.receive(b"\0alice\0secret")
    assert exchange.user == "alice"
    with pytest.raises(RefusedError, match="there is no PLAIN user"):
        PlainExchange({}).receive(b"\0nobody\0\x01")
