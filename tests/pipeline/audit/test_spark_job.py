"""The same audit by Spark: the same verdicts, findings and pieces as on one machine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_pipeline.audit.audit_run import Audit, Wishes, audit
from fencepost_pipeline.audit.checks.acknowledged_records import ToldRecord, Trace
from fencepost_pipeline.audit.checks.consume_transform_produce import Transform
from fencepost_pipeline.audit.data_directories import DataDirectory
from fencepost_pipeline.audit.parquet_tables import tables

from tests.pipeline.audit.traffic import GROUP, INVOICES, ORDERS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.conformance]  # Spark needs a JVM

TRACE = Trace({(ORDERS, 0): [ToldRecord(1, 19), ToldRecord(2, 99)]})
WISHES = Wishes(trace=TRACE, transform=Transform(GROUP, ORDERS, INVOICES))


def comparable(found: Audit) -> dict[str, list[dict[str, object]]]:
    return {
        name: sorted(table.to_pylist(), key=str) if name != "verdicts" else table.to_pylist()
        for name, table in tables(found).items()
    }


def test_it_finds_the_same(clean_folder: Path, tmp_path: Path, spark: SparkSession) -> None:
    from fencepost_pipeline.audit.spark_job import audit_with_spark

    folder = Path(shutil.copytree(clean_folder, tmp_path / "data"))
    (log,) = (folder / "orders-0").glob("*.log")
    data = bytearray(log.read_bytes())
    data[100] ^= 1  # a wrong checksum
    log.write_bytes(data)
    (log,) = (folder / "pairs-1").glob("*.log")
    data = bytearray(log.read_bytes())
    data[8] ^= 0x55  # a length that leads nowhere
    log.write_bytes(data + data[:20])
    (folder / "empty-0").mkdir()
    (folder / "empty-0" / "00000000000000000000.log").touch()
    expected = comparable(audit(DataDirectory([folder]), WISHES))
    found = comparable(audit_with_spark(spark, DataDirectory([folder]), WISHES))
    assert found == expected
    failing = {row["invariant"] for row in found["verdicts"] if row["findings"]}
    assert {"readable", "acknowledged"} <= failing
    assert len([row for row in found["findings"] if row["invariant"] == "readable"]) == 2
