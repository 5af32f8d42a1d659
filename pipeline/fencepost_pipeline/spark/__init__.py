"""Spark's data sources. PySpark is imported by this package only.

``format("fencepost")`` is a broker over the wire, ``format("fencepost-log")`` the files of one.

::

    from fencepost_pipeline.spark import register

    register(spark)
    orders = (
        spark.read.format("fencepost")
        .option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "orders")
        .load()
    )
    written = spark.read.format("fencepost-log").option("topics", "orders").load("/var/lib/kafka")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from fencepost_pipeline.spark.exactly_once import exactly_once_sink

__all__ = ["exactly_once_sink", "register"]


def __getattr__(name: str) -> Any:
    """Import what needs PySpark when it is asked for (PEP 562)."""
    if name == "exactly_once_sink":
        from fencepost_pipeline.spark.exactly_once import exactly_once_sink

        return exactly_once_sink
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def register(spark: SparkSession) -> None:
    """Make the data sources known to a session, by the names of their formats."""
    from fencepost_pipeline.spark.data_source import FencepostDataSource
    from fencepost_pipeline.spark.log_source import LogDataSource

    spark.dataSource.register(FencepostDataSource)
    spark.dataSource.register(LogDataSource)
