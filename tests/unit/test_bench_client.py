"""What the client's benchmark makes of its rounds, without running them."""

from __future__ import annotations

from pathlib import Path

from tests.bench.client import report, results
from tests.bench.client.results import Kept, Samples, Stamp
from tests.bench.client.rows import BY_NAME, Goal, aiokafka, ours
from tests.bench.judged import MET, MISSED, OPEN

ROW = BY_NAME["transactions"]
FASTER = Goal(ours, aiokafka, "rate", 3)
SMALLER = Goal(ours, aiokafka, "kilobytes", 3)


def of(metric: str, mine: list[float], theirs: list[float]) -> Samples:
    samples = Samples()
    for who, values in ((ours, mine), (aiokafka, theirs)):
        for value in values:
            samples.add(who.name, {metric: value})
    return samples


def test_a_ratio_is_the_middle_of_the_rounds_ratios() -> None:
    samples = of("rate", [300, 100, 900], [100, 20, 900])
    assert samples.times(FASTER) == 3
    assert samples.verdict(FASTER) == MET


def test_less_memory_is_better() -> None:
    samples = of("kilobytes", [50], [100])
    assert samples.times(SMALLER) == 2
    assert samples.verdict(SMALLER) == MISSED


def test_who_has_failed_is_told_and_not_judged(tmp_path: Path) -> None:
    samples = of("rate", [300], [])
    samples.troubles[aiokafka.name] = "no such thing"
    assert samples.verdict(FASTER) == OPEN
    kept = Kept()
    kept.put(ROW, "kafka", samples, Stamp("2026-11-22", "abc", "a machine", "1 round", {}))
    report.write(kept, tmp_path)
    page = (tmp_path / report.PAGE).read_text()
    assert "aiokafka on Apache Kafka: no such thing" in page
    assert "| fencepost | 300 |" in page


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    kept = Kept(eos=[{"broker": "kafka"}])
    stamp = Stamp("2026-11-22", "abc", "a machine", "1 round", {"kafka": "4.3.1"})
    kept.put(ROW, "fencepost", of("rate", [300], [100]), stamp)
    results.write(kept, tmp_path)
    assert results.read(tmp_path) == kept
    # A row that was measured again replaces what was there of it, and only that.
    kept.put(ROW, "fencepost", of("rate", [1], [1]), stamp)
    assert kept.rows[ROW.name]["fencepost"].times(FASTER) == 1
