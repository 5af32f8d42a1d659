"""The benchmarks of source and sink with a few rows, without Spark's own connector."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.bench.pipeline import sink, source
from tests.bench.pipeline.rounds import Budget
from tests.bench.pipeline.spark_runs import Place
from tests.support.up import Up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.conformance]  # Spark needs a JVM


def test_all_of_ours_take_part(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (source, sink):
        monkeypatch.setattr(module, "SIZES", (100,))
    monkeypatch.setattr(sink, "BATCHES", 1)
    with Up("--data-dir", str(tmp_path / "data")) as up:
        place = Place("Fencepost", f"127.0.0.1:{up.port}", tmp_path / "data", up.pid)
        budget = Budget(0)
        ours = [source.OURS, source.LOG]
        lines, _ = source.measure(spark, place, 100, 1, budget, ours)
        assert [line[0] for line in lines] == ours
        both = [sink.OURS, sink.AT_LEAST_ONCE]
        lines, told = sink.measure_writes(spark, place, 100, 1, budget, both)
        assert [line[0] for line in lines] == both
        assert len(told) == 1
        both = [sink.OURS, sink.EMPTY]
        lines, told = sink.measure_stream(spark, place, 1, budget, both, "fencepost")
        assert [line[0] for line in lines] == both
        assert len(told) == 1
