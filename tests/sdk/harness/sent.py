"""The requests that clients in the test's process send."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest


class Sent(NamedTuple):
    """A request as it was encoded, and its version."""

    request: Any
    version: int


def requests_sent(patch: pytest.MonkeyPatch, kind: type[Any]) -> list[Sent]:
    """Return a list to which each request of a class is added from now on when it is encoded."""
    encode, sent = kind.encode, list[Sent]()

    def keep(request: Any, version: int, out: bytearray) -> None:
        sent.append(Sent(request, version))
        encode(request, version, out)

    patch.setattr(kind, "encode", keep)
    return sent
