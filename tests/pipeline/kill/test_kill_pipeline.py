"""Some rounds of the kill loop; all of it is `make kill-pipeline`."""

from __future__ import annotations

import random
import shutil

import pytest

from tests.pipeline.kill import rounds


def test_every_kind_has_its_turn() -> None:
    """In twenty rounds, also when some of them miss."""
    for seed in range(50):
        chance = random.Random(seed)
        kinds = rounds.Kinds(chance)
        hit: set[str] = set()
        misses = 20 - len(rounds.KINDS)
        for _ in range(20):
            kind = kinds.next()
            if misses and chance.random() < 0.4:
                misses -= 1
                kinds.missed(kind)
            else:
                hit.add(kind)
        assert hit == set(rounds.KINDS)


@pytest.mark.slow
@pytest.mark.conformance  # Spark needs a JVM
def test_some_rounds() -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed: pip install fencepost[spark]")
    if shutil.which("java") is None:
        pytest.skip("Spark needs a Java runtime: there is no 'java' on the PATH")
    # Two starts of Spark for all of it: the first two leave the session as it is.
    found = rounds.run("fencepost", 3, seed=105, only=["broker", "worker:1", "commit:3"])
    ends = [each.ended for each in found]
    assert ends == ["went on", "started again", "died", "done"]
