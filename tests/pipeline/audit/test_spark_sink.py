"""The audit of what Spark and our own sink have written, exactly once."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from fencepost_client import NewTopic
from fencepost_client.blocking import Admin, Producer
from fencepost_pipeline.audit.command import COMMAND

from tests.support.up import Up

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.conformance]  # Spark needs a JVM
ORDERS = 3_000


def audit(*arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    COMMAND.add_arguments(parser)
    return COMMAND.run(parser.parse_args([str(each) for each in arguments]))


def test_a_good_run_of_spark_is_no_false_alarm(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    with Up("--data-dir", str(data)) as broker:
        where = f"127.0.0.1:{broker.port}"
        with Admin(where) as admin:
            admin.create_topics([NewTopic(name, 3) for name in ("orders", "doubled")])
        with Producer(where) as producer:
            for number in range(ORDERS):
                producer.send("orders", b"%d" % number, key=b"%d" % (number % 100))
        servers = {"kafka.bootstrap.servers": where}
        options = {
            "subscribe": "orders",
            "startingOffsets": "earliest",
            "maxOffsetsPerTrigger": "1000",
        }
        orders = spark.readStream.format("fencepost").options(**servers, **options).load()
        doubled = orders.selectExpr("key", "CAST(2 * CAST(value AS STRING) AS STRING) AS value")
        writer = (
            doubled.coalesce(1)
            .writeStream.format("fencepost")
            .options(
                **servers,
                topic="doubled",
                sinkId="doubling",
                checkpointLocation=str(tmp_path / "at"),
            )
        )
        writer.trigger(availableNow=True).start().awaitTermination()
        assert broker.stop() == 0
    group = "spark-sink-doubling"
    code = audit(data, "--group", group, "--input", "orders", "--output", "doubled")
    said = capsys.readouterr().out
    assert "inside the broker: yes" in said
    assert "FAILS" not in said
    print(said)
    assert code == 0
