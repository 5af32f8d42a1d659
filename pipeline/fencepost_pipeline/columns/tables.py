"""The columns of records, and the numpy types that stand behind them."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

HEADERS_TYPE: Final = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
"""As Spark's own Kafka source has it, so that queries move unchanged."""

RECORD_SCHEMA: Final = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("timestamp", pa.int64(), nullable=False),
        pa.field("timestamp_type", pa.int8(), nullable=False),
        pa.field("producer_id", pa.int64(), nullable=False),
        pa.field("producer_epoch", pa.int16(), nullable=False),
        pa.field("sequence", pa.int32(), nullable=False),
        pa.field("transactional", pa.bool_(), nullable=False),
        pa.field("control", pa.bool_(), nullable=False),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", HEADERS_TYPE),
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
