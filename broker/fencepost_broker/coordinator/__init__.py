"""The coordinators: groups with their offsets, and transactions. Pure machines.

Each machine is one partition of ``__consumer_offsets`` or of ``__transaction_state``: it is loaded
by a replay of that partition's log. What both share is named here.
"""

from fencepost_broker.coordinator.effects import Reply, Tell
from fencepost_broker.coordinator.hashing import partition_of
from fencepost_broker.coordinator.records import (
    BatchTooLargeError,
    LogRecord,
    RecordFamily,
    UnknownRecordTypeError,
    decode_record,
    encode_batch,
    encode_key,
    encode_value,
)

__all__ = [
    "BatchTooLargeError",
    "LogRecord",
    "RecordFamily",
    "Reply",
    "Tell",
    "UnknownRecordTypeError",
    "decode_record",
    "encode_batch",
    "encode_key",
    "encode_value",
    "partition_of",
]
