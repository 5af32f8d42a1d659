"""Which addresses a server binds itself, and which have to be looked up."""

from __future__ import annotations

import socket

import pytest
from fencepost_broker.network.listeners import family_of


@pytest.mark.parametrize(
    ("host", "family"),
    [
        ("127.0.0.1", socket.AF_INET),
        ("::1", socket.AF_INET6),
        ("fe80::1%eth0", None),
        ("localhost", None),
    ],
)
def test_an_address_needs_no_lookup_unless_it_has_a_scope(host: str, family: int | None) -> None:
    assert family_of(host) is family
