"""``format("fencepost")``: the class by which Spark gets readers and writers.

Both are imported on first use, because a process of Spark needs only one of them.
"""

from __future__ import annotations

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from fencepost_pipeline.spark.source_options import SourceOptions


class FencepostDataSource(DataSource):
    """Topics of a Kafka cluster."""

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "fencepost"

    def schema(self) -> StructType:
        """The columns of Spark's own Kafka source."""
        from fencepost_pipeline.spark.source import source_schema

        return source_schema(SourceOptions.read(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:
        """The reader of batch queries."""
        from fencepost_pipeline.spark.source import BatchReader

        return BatchReader(SourceOptions.read(self.options), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """The reader of streams."""
        from fencepost_pipeline.spark.source import StreamReader

        return StreamReader(SourceOptions.read(self.options), schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """The writer of batch queries, with one transaction."""
        from fencepost_pipeline.spark.sink import batch_sink

        return batch_sink(self.options, schema, overwrite=overwrite)

    def streamWriter(  # noqa: N802
        self, schema: StructType, overwrite: bool
    ) -> DataSourceStreamWriter:
        """The writer of streams, exactly once."""
        del overwrite  # of the output mode "complete": the rows are what is to be written
        from fencepost_pipeline.spark.sink import stream_sink

        return stream_sink(self.options, schema)
