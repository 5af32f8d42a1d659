"""The parts of a frame that a connection has sent."""

from __future__ import annotations

from typing import Any

from fencepost_protocol.framing import read_request_head


def head_of(sent: Any) -> tuple[int, int, int]:
    frame = memoryview(b"".join(sent) if isinstance(sent, list) else sent)[4:]
    key, version, correlation_id, client_id, _ = read_request_head(frame)
    assert client_id == "me"
    return key, version, correlation_id
