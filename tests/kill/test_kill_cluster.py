"""A cluster's processes die under load, once; ``make kill-cluster`` runs as many as you like."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.kill.cluster_rounds import FAILURES_PER_ROUND, KINDS, deck, run_round


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_whichever_process_dies() -> None:
    kinds = ["pause leader", "kill transactions"]
    result = run_round("ci", kinds)
    print(result)
    assert result.failures == kinds
    assert result.zombie_writes.total() > 0
    assert min(result.acknowledged, result.committed, result.transformed, result.batches) > 0


def test_every_kind_of_failure_comes_as_often_as_any_other() -> None:
    rounds = deck("seed", len(KINDS))
    assert {len(each) for each in rounds} == {FAILURES_PER_ROUND}
    assert set(Counter(kind for each in rounds for kind in each)) == set(KINDS)
    assert set(Counter(kind for each in rounds for kind in each).values()) == {FAILURES_PER_ROUND}
