"""How errors of the SDK read."""

from __future__ import annotations

import pytest
from fencepost_client.errors import KafkaError


@pytest.mark.parametrize("message", ["broker 2 is away", "broker 2 is away."])
def test_a_full_stop_stands_between_message_and_hint(message: str) -> None:
    error = KafkaError(message)
    assert str(error) == f"UNKNOWN_SERVER_ERROR: broker 2 is away. {error.hint}"
