"""A sink that writes nothing: what Spark itself takes for a sink in Python."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from fencepost_pipeline.spark.worker_process import keep_modules
from pyspark.sql.datasource import DataSource, DataSourceStreamArrowWriter, WriterCommitMessage
from pyspark.sql.types import StructType


class EmptyWriter(DataSourceStreamArrowWriter):
    """Takes rows, and does nothing with them; garbage collection costs it as little as us."""

    def __getstate__(self) -> dict[str, Any]:
        """In the planner's process."""
        keep_modules()
        return self.__dict__

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        """In a task."""
        keep_modules()
        for _ in iterator:
            pass
        return WriterCommitMessage()

    def commit(self, messages: list[Any], batchId: int) -> None:  # noqa: N803
        """In the driver."""
        del messages, batchId
        keep_modules()

    def abort(self, messages: list[Any], batchId: int) -> None:  # noqa: N803
        """In the driver."""


class EmptyDataSource(DataSource):
    """``format("empty")``, for streams."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "empty"

    def streamWriter(self, schema: StructType, overwrite: bool) -> EmptyWriter:  # noqa: N802
        """The writer."""
        del schema, overwrite
        return EmptyWriter()
