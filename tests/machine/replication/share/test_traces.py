"""Every trace in ``traces/`` comes out as it is written there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.machine.replication.share.trace_player import Player
from tests.support import traces

CASES = traces.cases(Path(__file__).parent / "traces")


@pytest.mark.parametrize(("path", "index"), CASES.values(), ids=CASES)
def test_a_trace(path: Path, index: int) -> None:
    traces.check(path, index, Player())


def test_there_are_traces() -> None:
    assert len(CASES) > 15
