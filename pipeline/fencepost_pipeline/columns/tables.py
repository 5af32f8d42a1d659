"""The columns of records, and the numpy types that stand behind them."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def list_of(kind: pa.DataType) -> pa.DataType:
    """A list type whose elements have the name that Spark gives them: it compares types by name."""
    return pa.list_(pa.field("element", kind))


HEADERS_TYPE: Final = list_of(pa.struct([("key", pa.string()), ("value", pa.binary())]))
"""As Spark's own Kafka source has it, so that queries move unchanged."""

RECORD_SCHEMA: Final = pa.schema(
    [
        ("offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("timestamp_type", pa.int8()),
        ("producer_id", pa.int64()),
        ("producer_epoch", pa.int16()),
        ("sequence", pa.int32()),
        ("transactional", pa.bool_()),
        ("control", pa.bool_()),
        ("key", pa.binary()),
        ("value", pa.binary()),
        ("headers", HEADERS_TYPE),
    ]
)
"""One row per record; which topic and partition it is from is for the caller to add.

``timestamp`` is in milliseconds, ``timestamp_type`` 0 for the producer's time and 1 for the
broker's. Without a producer id, ``producer_id``, ``producer_epoch`` and ``sequence`` are -1.
``headers`` is null where a record has none.
"""

Bytes: TypeAlias = npt.NDArray[np.uint8]
Numbers: TypeAlias = npt.NDArray[np.int64]
Flags: TypeAlias = npt.NDArray[np.bool_]

HEADER_FIELDS: Final = np.dtype(
    [
        ("base_offset", ">i8"),
        ("batch_length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp", ">i8"),
        ("max_timestamp", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("record_count", ">i4"),
    ]
)
"""A batch's header as numpy reads it, byte for byte."""
