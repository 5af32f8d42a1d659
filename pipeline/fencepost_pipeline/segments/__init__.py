"""The log files of a data directory, Fencepost's or Apache Kafka's, as tables.

::

    from fencepost_pipeline.segments import list_segments, read_batches, read_records, split

    for segment in list_segments(["/var/lib/kafka"], topics=["orders"]):
        for part in split(segment, target_bytes=64 << 20):
            for rows in read_records(part):      # pyarrow.RecordBatch, some thousand rows each
                ...

Files are only read, never locked, so a broker may write to them at the same time. Anything that
cannot be read is reported as a :class:`Problem` with file and position, and the rest is read.
"""

from fencepost_pipeline.segments.batches import BATCH_SCHEMA, read_batches
from fencepost_pipeline.segments.files import (
    Segment,
    Slice,
    UnreadablePathError,
    list_segments,
    split,
)
from fencepost_pipeline.segments.internal_records import (
    METADATA_TOPIC,
    OFFSETS_TOPIC,
    TRANSACTION_TOPIC,
)
from fencepost_pipeline.segments.metadata import METADATA_SCHEMA, read_metadata
from fencepost_pipeline.segments.offsets import (
    GROUP_SCHEMA,
    OFFSET_SCHEMA,
    read_groups,
    read_offsets,
)
from fencepost_pipeline.segments.problem_table import PROBLEM_SCHEMA, problem_rows, read_problems
from fencepost_pipeline.segments.problems import OnProblem, Problem, ProblemKind, raise_problem
from fencepost_pipeline.segments.records import RECORD_TABLE_SCHEMA, read_records
from fencepost_pipeline.segments.transactions import TRANSACTION_SCHEMA, read_transactions

__all__ = [
    "BATCH_SCHEMA",
    "GROUP_SCHEMA",
    "METADATA_SCHEMA",
    "METADATA_TOPIC",
    "OFFSETS_TOPIC",
    "OFFSET_SCHEMA",
    "PROBLEM_SCHEMA",
    "RECORD_TABLE_SCHEMA",
    "TRANSACTION_SCHEMA",
    "TRANSACTION_TOPIC",
    "OnProblem",
    "Problem",
    "ProblemKind",
    "Segment",
    "Slice",
    "UnreadablePathError",
    "list_segments",
    "problem_rows",
    "raise_problem",
    "read_batches",
    "read_groups",
    "read_metadata",
    "read_offsets",
    "read_problems",
    "read_records",
    "read_transactions",
    "split",
]
