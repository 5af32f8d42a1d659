"""What the cluster's benchmark makes of its rounds; and some of its rows, for a moment each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.client.results import Samples
from tests.bench.cluster import results
from tests.bench.cluster.__main__ import main
from tests.bench.cluster.clusters import KAFKA, OURS
from tests.bench.cluster.rows import ACKS_1, FIRST, P99, RATE, ROWS, TRANSACTIONS
from tests.bench.judged import MET, MISSED, OPEN

BY_NAME = {row.name: row for row in ROWS}


def of(*told: tuple[str, str, list[float]]) -> Samples:
    samples = Samples()
    for contender, metric, values in told:
        for value in values:
            samples.add(contender, {metric: value})
    return samples


@pytest.mark.parametrize(
    ("values", "verdict"), [([900, 1400, 9000], MET), ([1501], MISSED), ([], OPEN)]
)
def test_a_bound_is_for_our_median(values: list[float], verdict: str) -> None:
    samples = of((OURS, FIRST, values), (KAFKA, FIRST, [1]))
    (found,) = results.judged(BY_NAME["start"], samples)
    assert found.verdict == verdict


def test_more_is_better_of_rates_and_less_of_times() -> None:
    samples = of(
        (OURS, RATE, [20, 10]), (KAFKA, RATE, [10, 10]),
        (OURS, P99, [20, 10]), (KAFKA, P99, [10, 5]),
    )  # fmt: skip
    rate, p99 = results.judged(BY_NAME["replication"], samples)
    assert (rate.result, rate.verdict) == ("1.50 times", MET)
    assert (p99.result, p99.verdict) == ("0.50 times", MISSED)


@pytest.mark.parametrize(
    ("transactional", "is_established"),
    [([80, 81, 79, 82], True), ([80, 81, 79], False), ([80, 81, 79, 101], False)],
)
def test_a_difference_that_not_all_rounds_have_is_none(
    transactional: list[float], is_established: bool
) -> None:
    plain = f"{OURS}, {ACKS_1}", RATE, [100.0] * 4
    samples = of((f"{OURS}, {TRANSACTIONS}", RATE, transactional), plain)
    found = results.slowed_by(samples, OURS, ACKS_1)
    assert found[0] == pytest.approx(20)
    assert results.established(found) is is_established


def test_what_is_kept_is_read_again_and_makes_the_page(tmp_path: Path) -> None:
    page = tmp_path / results.PAGE
    page.write_text(f"by hand\n{results.BEGIN}\nold\n<!-- end of what was measured -->\n")
    ways = ((f"{KAFKA}, {way}", RATE, [70.0]) for way in (TRANSACTIONS, ACKS_1))
    kept = results.Kept({"slide": of(*ways)}, {"slide": "2026-11-22, a quiet machine"})
    results.write(kept, tmp_path)
    assert results.read(tmp_path) == kept
    text = page.read_text()
    assert text.startswith("by hand\n")
    assert "old" not in text
    assert "2026-11-22, a quiet machine" in text
    assert "not established: 0 %" in text


@pytest.mark.slow
def test_some_rows_for_a_moment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--quick", "--clusters", "fencepost", "--only", "move,producer-ids"]
    assert main([*arguments, "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    for name in ("move", "producer-ids"):
        assert f"### {BY_NAME[name].title}" in told
    assert "fails" not in told
    assert "fencepost, no prefetch" in told
    assert not list(tmp_path.iterdir())
