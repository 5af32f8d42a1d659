"""Spark's data sources: ``format("fencepost")``. PySpark is imported by this package only.

::

    from fencepost_pipeline.spark import register

    register(spark)
    orders = (
        spark.read.format("fencepost")
        .option("kafka.bootstrap.servers", "localhost:9092")
        .option("subscribe", "orders")
        .load()
    )
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]


def register(spark: SparkSession) -> None:
    """Make the data sources known to a session, by the names of their formats."""
    from fencepost_pipeline.spark.data_source import FencepostDataSource

    spark.dataSource.register(FencepostDataSource)
