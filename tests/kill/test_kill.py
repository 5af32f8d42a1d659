"""A few rounds of kill -9 under load; ``make kill`` runs as many as you like."""

from __future__ import annotations

from pathlib import Path

import pytest
from fencepost_protocol.records.writer import build_batch

from tests.kill.rounds import run_round
from tests.support.up import Up

ROUNDS = 5


@pytest.mark.parametrize("number", range(ROUNDS))
def test_what_was_acknowledged_is_there_exactly_once(number: int) -> None:
    result = run_round(f"ci/{number}")
    print(f"starts after a kill: {result.starts_ms} ms, {result.megabytes:.1f} MB recovered")
    assert result.kills >= 3
    assert result.sent_again > 0
    assert result.segments > 4


def test_nothing_is_left_of_an_ephemeral_broker(tmp_path: Path) -> None:
    environment = {"TMPDIR": str(tmp_path)}
    with Up("-c", "memory.max.bytes=1000000", environment=environment) as broker:
        with broker.connect() as client:
            client.create("t", segment_bytes="1048576")
            batch = build_batch(None, [bytes(900_000)], 1_000)
            for _ in range(12):
                assert not client.produce("t", batch).error_code
            assert len(client.fetch("t")) == 12
        spilled = [
            link.readlink()
            for link in Path(f"/proc/{broker.pid}/fd").iterdir()
            if link.is_symlink() and str(tmp_path) in str(link.readlink())
        ]
        assert spilled, "past its memory the broker writes to a file"
        broker.kill()
        assert list(tmp_path.iterdir()) == []
