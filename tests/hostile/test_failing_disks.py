"""Disks that fail at any byte, in a short form; ``make failing-disks`` runs many rounds."""

from __future__ import annotations

import pytest

from tests.hostile.failing_disks import LIVES, STEPS, run_round


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_on_a_failing_disk_with_kills() -> None:
    promised = run_round("short")
    assert promised.done == LIVES * STEPS
    assert promised.refused > 20
    assert len(promised.values) > 20
